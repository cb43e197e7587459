"""The workshop's reports as tables for people, and as JSON where the report is no JSON yet."""

from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from byteroute_ops.workshop.auditing import Audit
from byteroute_ops.workshop.vocabulary import Vocabulary

_EXAMPLES = 6
_WIDTH = 150
"""Columns of text that the widest table needs."""


def workshop_console() -> Console:
    """Returns a console for standard output that never cuts the tables."""
    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    return console


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def print_training(console: Console, report: dict[str, Any], output: str) -> None:
    """Prints what a tokenizer was trained on."""
    facts = report["trained_on"]
    languages = sum(bool(n) for n in facts["by_language"].values())
    empty = len(facts["by_language"]) - languages
    if empty:
        console.print(f"{empty:,} languages have no document that is as short as their share; more --characters help")
    if report["ids"] < report["size"]:
        console.print(f"the sample holds too little for {report['size']:,} ids: nothing more to merge or to keep")
    console.print(
        f"{report['kind']} of {report['ids']:,} ids on {report['on']} (cuts: {report['cuts']}): "
        f"{facts['characters']:,} characters, {facts['documents']:,} documents, {languages:,} languages\n"
        f"{output}/tokenizer.json",
        markup=False,
    )


def print_bench(console: Console, report: dict[str, Any]) -> None:
    """Prints the comparison of tokenizers: use of the vocabulary and lengths, then premiums."""
    first = report["tokenizers"][0]
    console.print(
        f"{first['documents']:,} documents, {first['sentences']:,} sentences, {first['characters']:,} characters; "
        f"one thread of {report['cpu']}, engine {report['engine']}, cuts {report['cuts']}",
        markup=False,
    )
    columns = ("ids", "used", "tokens", "tok/doc", "tok/sent", "tok/char", "unknown", "bytes", "Rényi 2.5", "sent/s")
    table = _table("on the corpus", "tokenizer", *columns)
    for row in report["tokenizers"]:
        speed = row["sentences_per_second"]
        table.add_row(
            row["name"], f"{row['vocab_size']:,}", _percent(row["utilisation"]), f"{row['tokens']:,}",
            f"{row['tokens_per_document']:,.1f}", f"{row['tokens_per_sentence']:.2f}",
            f"{row['tokens_per_character']:.4f}", _percent(row["unknown_rate"]), _percent(row["fallback_rate"]),
            f"{row['renyi_efficiency']:.4f}", "–" if speed is None else f"{speed:,.0f}",
        )  # fmt: skip
    console.print(table)
    if "parallel" in first:
        console.print(_premium_table(report))
        left_out = len(first["parallel"]["repeated_languages"]), len(first["parallel"]["dropped_languages"])
        if any(left_out):
            console.print("languages left out: {} with a unit more than once, {} that lack units".format(*left_out))
    failed = sum(row["failed"] for row in report["tokenizers"])
    if failed or report["corpus"]["rejected"]:
        console.print(f"left out: {report['corpus']['rejected']:,} records rejected, {failed:,} tokenizer failures")


def _premium_table(report: dict[str, Any]) -> Table:
    first = report["tokenizers"][0]["parallel"]
    title = f"the same content in {first['languages']:,} languages ({first['units']:,} units); reference "
    columns = ("total", "reference", "Gini", "mean", "median", "p90", "max", "min")
    table = _table(title + first["reference"], "tokenizer", *columns)
    for row in report["tokenizers"]:
        one = row["parallel"]
        figures = (f"{one[name]:.3f}" for name in ("mean", "median", "p90", "maximum", "minimum"))
        table.add_row(
            row["name"], f"{one['total']:,.0f}", f"{one['reference_tokens']:,.0f}", f"{one['gini']:.4f}", *figures
        )
    return table


def print_audit(console: Console, vocabulary: Vocabulary, audit: Audit, **model: Any) -> None:
    """Prints what a vocabulary wastes."""
    whole, wasted = audit.embedding_bytes(**model)
    head = "one matrix" if model["tied"] else "embedding and output head"
    console.print(
        f"{vocabulary.name}: {vocabulary.kind}, {audit.n_ids:,} ids, {audit.n_tokens:,} tokens\n"
        f"never used: {audit.unused.size:,} ids ({_percent(audit.unused.size / audit.n_ids)})\n"
        f"{head} at width {model['width']:,} in {model['dtype']}: {whole / 1e6:,.1f} MB, "
        f"of which {wasted / 1e6:,.1f} MB for ids never used",
        markup=False,
    )
    table = _table("junk and fragments", "kind", "ids", "unused", "tokens", "examples")
    kinds = {**audit.junk, "part of characters": audit.fragments}
    for name, ids in kinds.items():
        examples = " ".join(repr_token(vocabulary, index) for index in ids[:_EXAMPLES].tolist())
        unused = int(np.count_nonzero(audit.counts[ids] == 0))
        table.add_row(name, f"{ids.size:,}", f"{unused:,}", f"{int(audit.counts[ids].sum()):,}", examples[:50])
    console.print(table)
    table = _table("by script", "script", "ids", "share", "unused", "tokens", "share")
    for row in audit.scripts:
        table.add_row(
            row.script, f"{row.n_ids:,}", _percent(row.n_ids / audit.n_ids), f"{row.n_unused:,}",
            f"{row.n_tokens:,}", _percent(row.n_tokens / max(audit.n_tokens, 1)),
        )  # fmt: skip
    console.print(table)


def repr_token(vocabulary: Vocabulary, index: int) -> str:
    """Returns a token of a vocabulary in print: its text in quotes, or its bytes in hex."""
    token = vocabulary.content[index] or b""
    return token.hex() if vocabulary.is_fragment[index] else ascii(token.decode())


def audit_json(vocabulary: Vocabulary, audit: Audit, **model: Any) -> dict[str, Any]:
    """Returns an audit with all ids."""
    whole, wasted = audit.embedding_bytes(**model)
    return {
        "tokenizer": vocabulary.name,
        "kind": vocabulary.kind,
        "ids": audit.n_ids,
        "tokens": audit.n_tokens,
        "model": model,
        "embedding_and_head_bytes": whole,
        "unused_bytes": wasted,
        "unused": audit.unused.tolist(),
        "junk": {name: ids.tolist() for name, ids in audit.junk.items()},
        "fragments": audit.fragments.tolist(),
        "scripts": [vars(one) for one in audit.scripts],
    }


def print_prune(console: Console, report: dict[str, Any], output: str) -> None:
    """Prints what pruning dropped, and what it does to lengths."""
    kept = ", ".join(f"{n:,} {reason}" for reason, n in report["kept_because"].items())
    console.print(
        f"{report['tokenizer']}: {report['kind']}, {report['old_size']:,} → {report['new_size']:,} ids "
        f"(kept: {kept}); tokenizer.json {report['old_json_bytes']:,} → {report['new_json_bytes']:,} bytes",
        markup=False,
    )
    columns = ("documents", "without pruned ids", "of these equal", "tokens", "pruned", "new tokens", "change")
    table = _table("through the map", "part", *columns)
    for name in ("counted", "held_back"):
        one = report[name]
        table.add_row(
            name.replace("_", " "), f"{one['documents']:,}", f"{one['untouched']:,}", f"{one['equal']:,}",
            f"{one['old_tokens']:,}", f"{one['pruned_tokens']:,}", f"{one['new_tokens']:,}",
            f"{100 * one['change']:+.3f} %",
        )  # fmt: skip
    console.print(table)
    console.print(f"{output}/tokenizer.json, id_map.json, report.json", markup=False)
