"""The closing table of a run: what each script costs, and what routing changed."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from byteroute_ops.records import ADDED

_COLUMNS = ("docs", "chars", "UTF-8 B", "routed B", "change", "tokens", "tok/char", "routed tok", "change")

MIN_WIDTH = 118
"""Columns of text that the table needs; files and pipes get them whatever COLUMNS says."""


def wide_console() -> Console:
    """Returns a console for standard output that never folds the table."""
    console = Console(highlight=False)
    console.width = max(console.width, MIN_WIDTH)
    return console


def _saving(before: int | None, after: int | None) -> str:
    if after is None or before is None:
        return "n/a"
    if not before:
        return "–"
    change = 100 * (after - before) / before
    return "0.0 %" if abs(change) < 0.05 else f"{change:+.1f} %"


def script_table(budget: pa.Table, tokenizer: str) -> Table:
    """Returns the script × cost table of one tokenizer, most tokens first, totals last."""
    rows = [row for row in budget.to_pylist() if row["tokenizer"] == tokenizer]
    rows.sort(key=lambda row: (row["script"] == ADDED, -row["n_text_tokens"], row["script"]))
    table = Table(
        title=f"tokenizer {tokenizer}", title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    table.add_column("script", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        _add(table, row["script"], row)
    if len(rows) > 1:
        table.add_section()
        _add(table, "total", _total(rows), documents="")
    return table


def _total(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens")
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in names}
    routed = [row["n_routed_tokens"] for row in rows]
    return total | {"n_routed_tokens": None if None in routed else sum(routed)}


def _add(table: Table, name: str, row: dict[str, Any], *, documents: str | None = None) -> None:
    characters = row["n_codepoints"]
    table.add_row(
        name,
        f"{row['documents']:,}" if documents is None else documents,
        f"{characters:,}",
        f"{row['n_utf8_bytes']:,}",
        f"{row['n_routed_bytes']:,}",
        _saving(row["n_utf8_bytes"], row["n_routed_bytes"]),
        f"{row['n_text_tokens']:,}",
        f"{row['n_text_tokens'] / characters:.3f}" if characters else "–",
        "n/a" if row["n_routed_tokens"] is None else f"{row['n_routed_tokens']:,}",
        _saving(row["n_text_tokens"], row["n_routed_tokens"]),
    )


def routing_verdict(manifest: dict[str, Any], budget: pa.Table) -> list[str]:
    """Returns what routing did to bytes and to each tokenizer's tokens, in one line each."""
    policy, totals = manifest["policy"]["name"], manifest["totals"]
    lines = [f"routing ({policy}): bytes {_saving(totals['n_utf8_bytes'], totals['n_routed_bytes'])}"]
    for one in manifest["tokenizers"]:
        total = _total([row for row in budget.to_pylist() if row["tokenizer"] == one["name"]])
        text, routed = total["n_text_tokens"], total["n_routed_tokens"]
        if routed is None:
            lines.append(f"  {one['name']}: no ids for routed bytes ({one['routed_reason']})")
        elif routed > text:
            lines.append(f"  {one['name']}: tokens {_saving(text, routed)}, so frozen it pays less with --policy utf-8")
        else:
            lines.append(f"  {one['name']}: tokens {_saving(text, routed)}")
    return lines


def print_run(console: Console, manifest: dict[str, Any], budget: pa.Table, output: str) -> None:
    """Prints what a finished run did: the table of each tokenizer, rows in and out, rejects by reason."""
    for one in manifest["tokenizers"]:
        console.print(script_table(budget, one["name"]))
    for line in routing_verdict(manifest, budget):
        console.print(line, markup=False)
    totals = manifest["totals"]
    rejected = totals["rejects"]
    console.print(
        f"{totals['records']:,} records in, {totals['documents']:,} documents out, "
        f"{sum(rejected.values()):,} rejected, {totals['not_sampled']:,} not sampled"
    )
    for reason, count in sorted(rejected.items(), key=lambda item: (-item[1], item[0])):
        console.print(f"  {reason}: {count:,}")
    if repeated := totals.get("duplicates"):
        console.print(
            f"{repeated:,} documents have the id of an earlier one of their range: see {output}/duplicates/, "
            "and byteroute verify --unique",
            markup=False,
        )
    removed = {kind: count for kind, count in totals["removed"].items() if count}
    if removed:
        console.print("cleaning removed " + ", ".join(f"{count:,} {kind}" for kind, count in removed.items()))
    for warning in manifest["warnings"]:
        console.print(f"warning: {warning}", style="yellow", markup=False)
    shards = [one for one in manifest["files"] if one["kind"] == "shard"]
    console.print(
        f"{len(shards)} shards, {sum(one['bytes'] for one in shards) / 1e6:,.1f} MB in {output}", markup=False
    )
