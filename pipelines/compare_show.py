"""A comparison in a terminal: for each tokenizer a table of scripts and one of languages."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from byteroute_ops.comparison import Estimate

from .calibrate import Calibration
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
            _print_whole(console, _table(f"{title} by {'language' if kind == 'lang' else kind}", unit, rows, n_rows))
    confidence = 100 * comparison.bootstrap.confidence
    console.print(
        f"{comparison.documents:,} documents, {comparison.n_rejected:,} rejected. Change against UTF-8 and its "
        f"{confidence:g} % interval over documents; = is within the noise, ? has too few documents to say.",
        markup=False,
    )
    seconds = sum(one["seconds"] for one in comparison.seconds)
    parts = [f"{_what(one)} {one['seconds']:.1f}" for one in comparison.seconds]
    console.print(f"{seconds:.1f} s: {', '.join(parts)}", markup=False, soft_wrap=True)


def _print_whole(console: Console, table: Table) -> None:
    """Prints a table in the width it needs, whatever the console's: cut figures are no figures."""
    needed = console.measure(table, options=console.options.update(max_width=10_000)).maximum
    console.width = max(console.width, needed)
    console.print(table)


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
    """Returns the change against UTF-8 as a cell; see `shown_estimate`."""
    if row.verdict == "no routed ids":
        return "n/a"
    verdict: Any = row.verdict
    return shown_estimate(Estimate(row.saving, row.saving_low, row.saving_high, verdict))


def shown_estimate(found: Estimate) -> str:
    """Returns a change against UTF-8 as a cell.

    `=` is within the noise, `?` stands for too few documents.

    >>> shown_estimate(Estimate(0.25, 0.246, 0.254, "fewer"))
    '-25.0 % [-25.4, -24.6]'
    """
    if found.saving is None:
        return "–"
    change = f"{100 * -found.saving:+.{_digits(found.saving)}f} %" if found.saving else "="
    if found.low is None or found.high is None:
        return f"{change} ?"
    digits = _digits(max(abs(found.low), abs(found.high)))
    interval = f"[{-100 * found.high:+.{digits}f}, {-100 * found.low:+.{digits}f}]"
    if found.verdict != "none":
        return f"{change} {interval}"
    return f"= {interval}" if found.low < found.high else "="


def _digits(fraction: float) -> int:
    return 1 if abs(fraction) >= 0.0005 else 3


def print_calibration(console: Console, found: Calibration) -> None:
    """Prints what was found of each script, those that are routed first."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("script", no_wrap=True)
    for name in ("tokens", "tried", "choose", "confirm"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in sorted(found.findings, key=lambda one: not one.routed):
        cells = [f"{one.n_text_tokens:,}", one.encoding or "", shown_estimate(one.choose), shown_estimate(one.confirm)]
        table.add_row(one.script, *cells, f"routed: {one.reason}" if one.routed else one.reason)
    _print_whole(console, table)
    policy = found.policy
    sample = policy["evidence"]["sample"]
    routed = " ".join(f"{script} {encoding}" for script, encoding in policy["scripts"].items()) or "nothing"
    console.print(
        f"policy {policy['name']}: {routed}; segments from {policy['min_codepoints']} code points on. "
        f"{sample['documents']:,} documents: {sample['choose']:,} to choose, {sample['confirm']:,} to confirm.",
        markup=False,
    )
