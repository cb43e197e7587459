"""Which charts a report has, and what each of them shows."""

from collections.abc import Sequence
from typing import Any, Final

from byteroute_ops.records import ADDED

from .model import N_DEAREST, Report, TokenizerReport
from .parallel import Parallel
from .rows import Row, bin_end
from .scan import Compression
from .show import Kind
from .svg import Chart, bars, curves, diverging, dumbbells, histogram
from .views import length_rows

N_SCRIPTS: Final = 16

TEXT, ROUTED = ("a", "text"), ("b", "routed")


def report_charts(report: Report) -> list[Chart]:
    """Returns the charts that do not depend on a tokenizer; those without figures are left out."""
    charts = []
    if report.parallel is not None:
        charts += _premium_charts(report.parallel, report.tokenizers[0].name)
    moved = [one for one in report.sample.compression if one.change is not None][:N_SCRIPTS]
    if moved:
        charts.append(_bytes_chart("bytes-routed", "Bytes routed, against UTF-8", moved, ""))
        title = "Bytes routed, against UTF-8, both compressed"
        charts.append(_bytes_chart("bytes-routed-zstd", title, moved, "compressed"))
    return charts


def tokenizer_charts(report: Report, tokenizer: TokenizerReport, number: int) -> list[Chart]:
    """Returns the charts of one tokenizer; those without figures are left out."""
    suffix = "" if len(report.tokenizers) == 1 else f"-{number + 1}"
    charts = [
        _per_character(
            f"languages{suffix}",
            f"Dearest languages under {tokenizer.name}: tokens per character",
            "language",
            tokenizer.dearest,
        )
    ]
    scripts = [row for row in tokenizer.scripts if row.key != ADDED and row.n_codepoints][:N_SCRIPTS]
    title = f"Scripts with most tokens under {tokenizer.name}: tokens per character"
    charts.append(_per_character(f"scripts{suffix}", title, "script", scripts))
    charts.append(_shares(f"script-shares{suffix}", tokenizer, scripts))
    charts.append(_lengths(f"document-lengths{suffix}", tokenizer))
    movers = [*tokenizer.savers, *reversed(tokenizer.losers)]
    rows = [(row.key, row.tokens_change) for row in movers if row.tokens_change is not None]
    if rows:
        body, height = diverging(rows)
        charts.append(
            Chart(
                name=f"movers{suffix}",
                title=f"Top movers under {tokenizer.name}: tokens routed, against text",
                legend=[("a", "saves"), ("b", "adds")],
                body=body,
                height=height,
                header=["language", "tokens", "routed tokens", "change"],
                kinds=["text", "integer", "integer", "change"],
                rows=[(row.key, row.n_text_tokens, row.n_routed_tokens, row.tokens_change) for row in movers],
                note="Chosen by the number of tokens saved or added; the bars are relative.",
            )
        )
    return [chart for chart in charts if chart.rows]


def _per_character(name: str, title: str, what: str, rows: Sequence[Row]) -> Chart:
    figures = [(row.key, row.tokens_per_character or 0.0, row.routed_tokens_per_character) for row in rows]
    body, height = bars(figures, "ratio")
    has_routed = any(routed is not None for _, _, routed in figures)
    return Chart(
        name=name,
        title=title,
        legend=[TEXT, ROUTED] if has_routed else [TEXT],
        body=body,
        height=height,
        header=[what, "text", "routed"] if has_routed else [what, "text"],
        kinds=["text", "ratio", "ratio"] if has_routed else ["text", "ratio"],
        rows=[one if has_routed else one[:2] for one in figures],
    )


def _shares(name: str, tokenizer: TokenizerReport, scripts: Sequence[Row]) -> Chart:
    rows = [(row.key, row.character_share or 0.0, row.token_share or 0.0) for row in scripts]
    body, height = dumbbells(rows)
    return Chart(
        name=name,
        title=f"Share of characters and share of tokens under {tokenizer.name}",
        legend=[("o", "characters (ring)"), ("a", "tokens (dot)")],
        body=body,
        height=height,
        header=["script", "share of characters", "share of tokens"],
        kinds=["text", "share", "share"],
        rows=[*rows],
        note="Log axis. A dot to the right of its ring: the script pays more than its share of the text.",
    )


def _lengths(name: str, tokenizer: TokenizerReport) -> Chart:
    bins = length_rows(tokenizer.total)
    body, height = histogram(bins, bin_end) if bins else ("", 0)
    has_routed = tokenizer.has_routed
    rows: list[tuple[Any, ...]] = [
        (start, bin_end(start), text, *((routed,) if has_routed else ())) for start, text, routed in bins
    ]
    return Chart(
        name=name,
        title=f"Documents by tokens under {tokenizer.name}",
        legend=[TEXT, ("o", "routed (line)")] if has_routed else [TEXT],
        body=body,
        height=height,
        header=["tokens from", "to below", "documents"] + (["documents, routed"] if has_routed else []),
        kinds=["integer"] * (4 if has_routed else 3),
        rows=rows,
        note="Log axis: two bins for each doubling.",
    )


def _premium_charts(parallel: Parallel, tokenizer: str) -> list[Chart]:
    routed = "n_routed_tokens" in parallel.measures
    dearest = [
        (one.lang, one.premiums["n_text_tokens"], one.premiums.get("n_routed_tokens"))
        for one in parallel.premiums[:N_DEAREST]
    ]
    body, height = bars(dearest, "factor")
    kinds: list[Kind] = ["text", "factor", "factor"] if routed else ["text", "factor"]
    first = Chart(
        name="premiums",
        title=f"Premium over {parallel.reference} for the same text, in {tokenizer} tokens: the dearest languages",
        legend=[TEXT, ROUTED] if routed else [TEXT],
        body=body,
        height=height,
        header=["language", "text", "routed"] if routed else ["language", "text"],
        kinds=kinds,
        rows=[one if routed else one[:2] for one in dearest],
    )
    names = ["n_text_tokens", "n_routed_tokens"] if routed else ["n_text_tokens"]
    body, height = curves([list(parallel.measures[name].premium.values()) for name in names])
    spread = Chart(
        name="premium-spread",
        title=f"Premiums of all {parallel.n_languages:,} languages in {tokenizer} tokens, dearest to cheapest",
        legend=[("f", "text"), ("o", "routed")][: len(names)],
        body=body,
        height=height,
        header=["language", "text", "routed"] if routed else ["language", "text"],
        kinds=kinds,
        rows=[(one.lang, *(one.premiums[name] for name in names)) for one in parallel.premiums],
        note="Log axis; each line is sorted by itself.",
    )
    return [first, spread]


def _bytes_chart(name: str, title: str, moved: Sequence[Compression], form: str) -> Chart:
    if form == "compressed":
        rows = [(o.script, o.utf8_compressed, o.routed_compressed, o.compressed_change) for o in moved]
    else:
        rows = [(o.script, o.utf8, o.routed, o.change) for o in moved]
    body, height = diverging([(row[0], row[3] or 0.0) for row in rows])
    return Chart(
        name=name,
        title=title,
        legend=[("a", "saves"), ("b", "adds")],
        body=body,
        height=height,
        header=["main script", "UTF-8", "routed", "change"],
        kinds=["text", "bytes", "bytes", "change"],
        rows=[*rows],
        note="Documents of the sample, by the script of most of their characters.",
    )
