"""A comparison in a terminal: for each tokenizer a table of scripts and one of languages."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from .compare import Comparison, Row

N_ROWS = 25


def print_comparison(console: Console, comparison: Comparison, *, n_rows: int = N_ROWS) -> None:
    """Prints the tables; those with most tokens come first, and the files have all."""
    keys = dict.fromkeys((row.tokenizer, row.world) for row in comparison.rows)
    for tokenizer, world in keys:
        unit = "bytes" if world == "byte" else "tokens"
        title = "byte models: bytes of the sequence" if world == "byte" else f"tokenizer {tokenizer}, frozen: tokens"
        for kind in ("script", "lang"):
            rows = [row for row in comparison.rows if row.tokenizer == tokenizer and row.kind in (kind, "total")]
            console.print(_table(f"{title} by {'language' if kind == 'lang' else kind}", unit, rows, n_rows))
    confidence = 100 * comparison.bootstrap.confidence
    console.print(
        f"{comparison.documents:,} documents, {comparison.n_rejected:,} rejected. Change against UTF-8 and its "
        f"{confidence:g} % interval over documents; = is within the noise, ? has too few documents to say.",
        markup=False,
    )
    seconds = sum(one["seconds"] for one in comparison.seconds)
    parts = [f"{_what(one)} {one['seconds']:.1f}" for one in comparison.seconds]
    console.print(f"{seconds:.1f} s: {', '.join(parts)}", markup=False, soft_wrap=True)


def _what(one: dict[str, str]) -> str:
    return " ".join(part for part in (one["what"], one["tokenizer"], one["variant"]) if part)


def _table(title: str, unit: str, rows: Sequence[Row], n_rows: int) -> Table:
    variants = list(dict.fromkeys(_variant(row) for row in rows))
    table = Table(title=title, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in ("docs", "chars", unit, *variants):
        table.add_column(name, justify="right", no_wrap=True)
    by_name: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_name.setdefault(row.name, {})[_variant(row)] = row
    names = [name for name in by_name if name != "total"]
    for name in names[:n_rows]:
        _add(table, name, by_name[name], variants)
    if len(names) > n_rows:
        table.add_row(f"… {len(names) - n_rows} more")
    table.add_section()
    if "total" in by_name:
        _add(table, "total", by_name["total"], variants)
    return table


def _add(table: Table, name: str, rows: dict[str, Row], variants: Sequence[str]) -> None:
    one = next(iter(rows.values()))
    cells = [f"{one.documents:,}", f"{one.n_codepoints:,}", f"{one.n_text_tokens:,}"]
    table.add_row(name, *cells, *(shown_change(rows[variant]) for variant in variants))


def _variant(row: Row) -> str:
    extra = [row.framing] * (row.framing != "control") + ["barrier"] * row.barrier
    return row.policy + (f" ({', '.join(extra)})" if extra else "")


def shown_change(row: Row) -> str:
    """Returns the change against UTF-8 as a cell: `-25.0 % [-25.4, -24.6]`.

    `=` is within the noise, `?` stands for too few documents.
    """
    if row.verdict == "no routed ids":
        return "n/a"
    if row.saving is None:
        return "–"
    change = _percent(-row.saving)
    if row.saving_low is None or row.saving_high is None:
        return f"{change} ?"
    if row.verdict == "none":
        return "=" if not row.saving and row.saving_low == row.saving_high else f"= [{_interval(row)}]"
    return f"{change} [{_interval(row)}]"


def _percent(value: float) -> str:
    return f"{100 * value:+.1f} %" if abs(value) >= 0.0005 else f"{100 * value:+.3f} %"


def _interval(row: Row) -> str:
    low, high = -(row.saving_high or 0.0), -(row.saving_low or 0.0)
    digits = 1 if max(abs(low), abs(high)) >= 0.0005 else 3
    return f"{100 * low:+.{digits}f}, {100 * high:+.{digits}f}"
