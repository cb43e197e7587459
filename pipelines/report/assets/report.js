"use strict";
(() => {
  const root = document.documentElement;
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => { element[key] = value; });
    element.append(...children);
    return element;
  };

  // Theme: the system's, until the reader chooses.
  const theme = document.getElementById("theme");
  const setTheme = (name) => {
    root.dataset.theme = name;
    theme.textContent = name === "dark" ? "Light theme" : "Dark theme";
  };
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = false;
  setTheme(system.matches ? "dark" : "light");
  system.addEventListener("change", () => { if (!chosen) setTheme(system.matches ? "dark" : "light"); });
  theme.addEventListener("click", () => { chosen = true; setTheme(root.dataset.theme === "dark" ? "light" : "dark"); });
  theme.hidden = false;

  // A cell's value: the exact one where the text is rounded; numbers after nothing at all, text by itself.
  const valueOf = (cell, isNumber) => {
    if (!isNumber) return cell.textContent;
    const number = parseFloat(cell.dataset.v ?? cell.textContent.replaceAll(",", "").replace("\u2212", "-"));
    return Number.isNaN(number) ? null : number;
  };
  const compare = (a, b, direction) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * (typeof a === "string" ? a.localeCompare(b, "en") : a - b);
  };

  const setUp = (box) => {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...body.rows];
    const tools = make("div", { className: "tools" });
    const count = make("output", {});
    const state = { needle: "", grouped: false };

    const groupHead = (script, members) => {
      const column = (label) => heads.findIndex((head) => head.textContent.trim() === label);
      const sum = (label) => members.reduce((total, row) => total + (valueOf(row.cells[column(label)], true) ?? 0), 0);
      const tokens = sum("tokens");
      const text = `${script}: ${members.length} languages, ${tokens.toLocaleString("en")} tokens, ` +
        `${(tokens / (sum("characters") || 1)).toFixed(3)} tokens / char`;
      return make("tr", { className: "group" }, make("th", { scope: "rowgroup", colSpan: heads.length, textContent: text }));
    };
    const show = () => {
      const matches = state.needle ? rows.filter((row) => textOf(row).includes(state.needle)) : rows;
      count.textContent = matches.length === rows.length ? `${rows.length} rows` : `${matches.length} of ${rows.length} rows`;
      if (!state.grouped) { body.replaceChildren(...matches); return; }
      const groups = new Map();
      matches.forEach((row) => {
        const script = row.cells[1].textContent;
        groups.set(script, [...(groups.get(script) ?? []), row]);
      });
      const names = [...groups.keys()].sort((a, b) => groups.get(b).length - groups.get(a).length || a.localeCompare(b, "en"));
      body.replaceChildren(...names.flatMap((name) => [groupHead(name, groups.get(name)), ...groups.get(name)]));
    };

    // Only what is text is searched. Found out when first asked for: opening a page with a thousand rows stays quick.
    const words = heads.map((head, i) => [head, i]).filter(([head]) => !head.classList.contains("n")).map((pair) => pair[1]);
    const findable = new Map();
    const textOf = (row) => {
      if (!findable.has(row)) findable.set(row, words.map((i) => row.cells[i].textContent).join(" ").toLowerCase());
      return findable.get(row);
    };
    heads.forEach((head, i) => {
      if (!head.textContent || (rows[0] && rows[0].cells[i].querySelector("svg"))) return;
      const isNumber = head.classList.contains("n");
      const button = make("button", { type: "button", textContent: head.textContent });
      button.addEventListener("click", () => {
        const usual = isNumber ? "descending" : "ascending";
        const other = isNumber ? "ascending" : "descending";
        const order = head.getAttribute("aria-sort") === usual ? other : usual;
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        const direction = order === "ascending" ? 1 : -1;
        const keyed = rows.map((row) => [valueOf(row.cells[i], isNumber), row]);
        keyed.sort((a, b) => compare(a[0], b[0], direction));
        rows.splice(0, rows.length, ...keyed.map((pair) => pair[1]));
        show();
      });
      head.replaceChildren(button);
    });
    if ("search" in box.dataset) {
      const field = make("input", { type: "search", placeholder: "search" });
      field.setAttribute("aria-label", `Search in: ${table.caption.textContent}`);
      field.addEventListener("input", () => { state.needle = field.value.trim().toLowerCase(); show(); });
      tools.append(field);
    }
    const checkbox = (label, change) => {
      const field = make("input", { type: "checkbox" });
      field.addEventListener("change", () => change(field.checked));
      tools.append(make("label", {}, field, ` ${label}`));
    };
    if ("groups" in box.dataset) checkbox("group by script", (on) => { state.grouped = on; show(); });
    if ("extra" in box.dataset) checkbox("all columns", (on) => box.classList.toggle("all", on));
    if (tools.children.length) {
      count.textContent = `${rows.length} rows`;
      tools.append(count);
      box.prepend(tools);
    }
  };
  document.querySelectorAll(".table[data-tools]").forEach(setUp);

  // Several tokenizers: one at a time.
  const tokenizers = [...document.querySelectorAll(".tokenizer")];
  if (tokenizers.length > 1) {
    const choice = make("select", { id: "tokenizer" });
    tokenizers.forEach((one, i) => choice.append(make("option", { value: i, textContent: one.dataset.name })));
    const choose = () => tokenizers.forEach((one, i) => { one.hidden = i !== Number(choice.value); });
    choice.addEventListener("change", choose);
    tokenizers[0].before(make("p", {}, make("label", { textContent: "Tokenizer: " }, ), choice));
    choice.previousSibling.htmlFor = "tokenizer";
    choose();
  }
})();
