"""The tables of a report: each defined once, for the page, the CSV and JSON files, and the terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .costs import Cost
from .model import Report, TokenizerReport
from .parallel import MEASURES, Parallel
from .rows import QUANTILES, WINDOWS, Bins, Row, bin_end, ratio
from .show import Kind, compact


@dataclass(frozen=True)
class Column:
    """A column: its name in files, its heading, how its cells are shown, and what it means.

    Attributes:
        extra: whether the page hides it until all columns are asked for.
    """

    name: str
    label: str
    kind: Kind
    help: str = ""
    extra: bool = False


@dataclass(frozen=True)
class View:
    """A table.

    Attributes:
        name: file name without suffix.
        caption: what it holds.
        columns: see `Column`.
        rows: a tuple of cells each.
        bins: of each row, for a small histogram; empty where there is none.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: list[tuple[Any, ...]]
    bins: list[Bins] = field(default_factory=list)


def _field(name: str, label: str, kind: Kind, about: str = "", *, extra: bool = False) -> tuple[Column, Any]:
    return Column(name, label, kind, about, extra), lambda row: getattr(row, name)


def _quantile(name: str) -> tuple[Column, Any]:
    share = {"p50": "half", "max": "all"}.get(name, f"{100 * QUANTILES[name]:.0f} %")
    about = f"tokens per document: {share} of the documents have at most so many"
    return Column(name, f"{name} / doc", "integer", about, name in ("p10", "p99")), lambda row: row.quantiles.get(name)


def _window(window: int) -> tuple[Column, Any]:
    about = f"share of documents with at least {window:,} tokens"
    column = Column(f"documents_from_{window}", f"≥ {compact(window)}", "share", about, window != 8192)
    return column, lambda row: ratio(row.above.get(window), row.documents)


_BUDGET: Final[tuple[tuple[Column, Callable[[Row], Any]], ...]] = (
    _field("tokens_per_character", "tokens / char", "ratio", "text tokens divided by characters"),
    _field("n_text_tokens", "tokens", "integer", "tokens of the clean text"),
    _field("tokens_change", "tokens routed", "change", "routed tokens against text tokens; negative saves"),
    _field("token_share", "share of tokens", "share"),
    _field("character_share", "share of chars", "share"),
    _field("n_codepoints", "characters", "integer", "Unicode code points of the clean text"),
    _field("documents", "docs", "integer", "documents"),
    _field("bytes_per_character", "bytes / char", "ratio", "UTF-8 bytes divided by characters"),
    _field("bytes_change", "bytes routed", "change", "routed bytes against UTF-8 bytes; negative saves"),
    _field("n_utf8_bytes", "UTF-8 bytes", "integer", extra=True),
    _field("n_routed_bytes", "routed bytes", "integer", "framing included", extra=True),
    _field("n_routed_tokens", "routed tokens", "integer", extra=True),
    _field("routed_tokens_per_character", "routed tokens / char", "ratio", extra=True),
    *(_quantile(name) for name in QUANTILES),
    *(_window(window) for window in WINDOWS),
)


def budget_view(name: str, caption: str, key: Column, rows: Sequence[Row], *, by_script: bool = False) -> View:
    """Returns the table of budget rows; with the main script as second column where asked for."""
    keys: list[tuple[Column, Callable[[Row], Any]]] = [(key, lambda row: row.key)]
    if by_script:
        keys.append(_field("script", "script", "text", "script of most characters in the sample"))
    columns = [*keys, *_BUDGET]
    return View(
        name,
        caption,
        [column for column, _ in columns],
        [tuple(get(row) for _, get in columns) for row in rows],
        [row.bins for row in rows],
    )


def tokenizer_views(report: Report, tokenizer: TokenizerReport, number: int) -> list[View]:
    """Returns the tables of one tokenizer: scripts, languages, document lengths, context lengths, costs."""
    suffix = "" if len(report.tokenizers) == 1 else f"-{number + 1}"
    views = [
        budget_view(
            f"scripts{suffix}",
            f"Scripts under {tokenizer.name}, most tokens first",
            Column("script", "script", "text", "ISO 15924; a token belongs to its first character that has a script"),
            tokenizer.scripts,
        ),
        budget_view(
            f"languages{suffix}",
            f"Languages under {tokenizer.name}, most tokens first",
            Column("lang", "language", "text", "BCP-47 tag of the record"),
            tokenizer.languages,
            by_script=True,
        ),
        _lengths(tokenizer, suffix),
        _windows(tokenizer, suffix),
    ]
    return [*views, _costs(tokenizer.costs, suffix)] if tokenizer.costs else views


def length_rows(row: Row) -> list[tuple[int, int, int | None]]:
    """Returns (smallest value, documents, documents routed) of every bin from the first to the last one in use."""
    text, routed = dict(row.bins), dict(row.routed_bins)
    used = sorted({*text, *routed})
    starts, start = [], used[0] if used else 0
    while used and start <= used[-1]:
        starts.append(start)
        start = bin_end(start)
    has_routed = row.n_routed_tokens is not None
    return [(start, text.get(start, 0), routed.get(start, 0) if has_routed else None) for start in starts]


def _lengths(tokenizer: TokenizerReport, suffix: str) -> View:
    columns = [
        Column("from", "tokens from", "integer"),
        Column("below", "to below", "integer"),
        Column("documents", "documents", "integer", "by text tokens"),
        Column("routed_documents", "documents, routed", "integer", "by routed tokens"),
    ]
    rows = [(start, bin_end(start), *counts) for start, *counts in length_rows(tokenizer.total)]
    return View(f"document-lengths{suffix}", f"Documents by tokens under {tokenizer.name}", columns, rows)


def _windows(tokenizer: TokenizerReport, suffix: str) -> View:
    columns = [
        Column("tokens", "context of", "integer"),
        Column("documents", "documents", "integer", "with at least so many text tokens"),
        Column("share", "share", "share"),
        Column("routed_documents", "documents, routed", "integer", "with at least so many routed tokens"),
        Column("routed_share", "share, routed", "share"),
    ]
    total = tokenizer.total
    rows = []
    for window in WINDOWS:
        text, routed = total.above.get(window), total.routed_above.get(window)
        rows.append((window, text, ratio(text, total.documents), routed, ratio(routed, total.documents)))
    return View(
        f"context-lengths{suffix}", f"Documents that reach a context length under {tokenizer.name}", columns, rows
    )


def _costs(costs: Sequence[Cost], suffix: str) -> View:
    columns = [
        Column("kind", "by", "text"),
        Column("key", "language or script", "text"),
        Column("weight", "weight per token", "number"),
        Column("n_text_tokens", "tokens", "integer"),
        Column("cost", "cost", "number"),
        Column("share", "share of cost", "share"),
        Column("routed_cost", "routed cost", "number"),
    ]
    rows = [tuple(getattr(one, column.name) for column in columns) for one in costs]
    return View(f"costs{suffix}", "Costs by the given weights", columns, rows)


def common_views(report: Report) -> list[View]:
    """Returns the tables that do not depend on a tokenizer, and the comparison of all tokenizers."""
    views = [_tokenizers(report), _compression(report), *_quality(report)]
    if report.parallel is not None:
        views += _parallel(report.parallel)
    if report.targets:
        names = ("kind", "key", "there", "wanted", "missing", "share_there", "share_wanted", "weight")
        kinds: tuple[Kind, ...] = ("text", "text", "integer", "integer", "integer", "share", "share", "factor")
        columns = [Column(name, name.replace("_", " "), kind) for name, kind in zip(names, kinds, strict=True)]
        rows = [tuple(getattr(one, name) for name in names) for one in report.targets]
        views.append(View("targets", "Budget targets", columns, rows))
    return views


def _tokenizers(report: Report) -> View:
    columns = [
        Column("tokenizer", "tokenizer", "text"),
        Column("n_text_tokens", "tokens", "integer", "of all clean texts, added tokens included"),
        Column("tokens_per_character", "tokens / char", "ratio"),
        Column("bytes_per_token", "bytes / token", "ratio", "UTF-8 bytes of the clean texts divided by tokens"),
        Column(
            "n_routed_tokens", "routed tokens", "integer", "of the routed streams; none where the model has no byte ids"
        ),
        Column("tokens_change", "change", "change"),
        Column(
            "n_unknown",
            "unknown",
            "integer",
            "tokens that stand for what the vocabulary lacks",
        ),
        Column("unknown_rate", "unknown rate", "share"),
        Column("unknown_reason", "how known", "text"),
    ]
    rows = []
    for one, unknown in zip(report.tokenizers, report.unknown, strict=True):
        total = one.total
        rows.append(
            (
                one.name,
                total.n_text_tokens,
                total.tokens_per_character,
                ratio(total.n_utf8_bytes, total.n_text_tokens),
                total.n_routed_tokens,
                total.tokens_change,
                unknown.n_unknown,
                unknown.rate,
                unknown.reason,
            )
        )
    return View("tokenizers", "Tokenizers", columns, rows)


def _compression(report: Report) -> View:
    names = (
        "script",
        "documents",
        "utf8",
        "routed",
        "change",
        "utf8_compressed",
        "routed_compressed",
        "compressed_change",
    )
    labels = ("main script", "docs", "UTF-8", "routed", "change", "UTF-8, zstd", "routed, zstd", "change, zstd")
    kinds: tuple[Kind, ...] = ("text", "integer", "bytes", "bytes", "change", "bytes", "bytes", "change")
    columns = [Column(*triple) for triple in zip(names, labels, kinds, strict=True)]
    rows = [tuple(getattr(one, name) for name in names) for one in report.sample.compression]
    return View("compression", "Bytes of the sample, raw and compressed", columns, rows)


def _quality(report: Report) -> list[View]:
    totals = report.totals
    records = [
        ("records in", totals["records"], 1.0 if totals["records"] else None),
        ("documents out", totals["documents"], ratio(totals["documents"], totals["records"])),
        ("not sampled", totals["not_sampled"], ratio(totals["not_sampled"], totals["records"])),
        *((("with an id seen before", n, ratio(n, totals["records"])),) if (n := totals.get("duplicates", 0)) else ()),
        *((f"rejected: {reason}", n, ratio(n, totals["records"])) for reason, n in _largest(totals["rejects"])),
    ]
    removed = [(kind, n, ratio(n, totals["n_codepoints"] + n)) for kind, n in _largest(totals["removed"])]
    count = Column("count", "count", "integer")
    return [
        View("records", "Records", [Column("what", "what", "text"), count, Column("share", "share", "share")], records),
        View(
            "removed",
            "Characters that cleaning removed",
            [Column("kind", "kind", "text"), count, Column("share", "share of characters", "share")],
            removed,
        ),
    ]


def _largest(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _parallel(parallel: Parallel) -> list[View]:
    summary = [
        Column("measure", "cost in", "text"),
        Column("gini", "Gini", "ratio", "0: all pay the same; read it beside the total"),
        Column("total", "total", "integer", "cost of all languages together"),
        Column("maximum", "max", "factor", "largest premium"),
        Column("p90", "p90", "factor", "nine of ten languages pay at most this premium"),
        Column("median", "median", "factor"),
        Column("minimum", "min", "factor"),
        Column("spread", "max / min", "factor"),
    ]
    rows = [
        (MEASURES[name], one.gini, one.total, one.maximum, one.p90, one.median, one.minimum, one.spread)
        for name, one in parallel.measures.items()
    ]
    columns = [Column("lang", "language", "text"), Column("tokens", "tokens", "integer", "text tokens of all units")]
    columns += [Column(f"premium_{name}", f"premium, {MEASURES[name]}", "factor") for name in parallel.measures]
    premiums = [
        (one.lang, one.costs["n_text_tokens"], *(one.premiums[name] for name in parallel.measures))
        for one in parallel.premiums
    ]
    return [
        View("disparity", "Disparity of the same content", summary, rows),
        View("premiums", f"Premium over {parallel.reference}, dearest first", columns, premiums),
    ]
