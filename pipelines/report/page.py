"""The report as one HTML file: style and script inside, nothing loaded, every chart with its table.

All text that comes from data (tags, file and tokenizer names, reasons) goes through `html.escape`; the page's
Content-Security-Policy forbids scripts and connections of any other origin besides.
"""

import base64
import hashlib
import html
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import orjson

from .costs import FORMULA as COST_FORMULA
from .figures import report_charts, tokenizer_charts
from .headline import answers
from .markup import figures, paragraph, table
from .model import NOT_PARALLEL, Report
from .scan import BLOCK_BYTES, LEVEL
from .show import Kind, show
from .svg import Chart
from .targets import FORMULA as TARGET_FORMULA
from .views import Column, View, common_views, tokenizer_views


def render_page(report: Report) -> str:
    """Returns the page."""
    assets = files(__package__) / "assets"
    style, script = ((assets / name).read_text("utf-8") for name in ("report.css", "report.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    title = html.escape(f"byteroute report: {report.title}")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n<body>\n'
        f"{_body(report)}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _body(report: Report) -> str:
    common = {view.name: view for view in common_views(report)}
    charts = {chart.name: chart for chart in report_charts(report)}
    parts = [_header(report), "<main>", _answers(report), _totals(report)]
    parts.append(_parallel(report, common, charts))
    parts.append(_bytes(report, common, charts))
    parts.append(_tokenizers(report, common))
    if "targets" in common:
        parts.append(_section("targets", "Budget targets", [paragraph(TARGET_FORMULA), table(common["targets"])]))
    parts.append(_section("records", "Records and cleaning", [table(common["records"]), table(common["removed"])]))
    parts += [_run(report), _reading(), "</main>"]
    return "\n".join(parts)


def _header(report: Report) -> str:
    links = (
        ("disparity", "Same content"), ("bytes", "Bytes"), ("tokenizers", "Tokenizers"), ("languages", "Languages"),
        ("records", "Records"), ("run", "What was run"), ("reading", "How to read"),
    )  # fmt: skip
    navigation = "".join(f'<a href="#{name}">{label}</a>' for name, label in links)
    return (
        f"<header><h1>{html.escape(report.title)}</h1>"
        f"<p>byteroute {html.escape(report.version)}: what each language costs, and what routing changes</p>"
        '<button type="button" id="theme" hidden>Dark theme</button>'
        f'<nav aria-label="Sections">{navigation}</nav></header>'
    )


def _answers(report: Report) -> str:
    cards = []
    for one in answers(report):
        details = "".join(f"<li>{html.escape(detail)}</li>" for detail in one.details)
        cards.append(
            f'<article class="answer"><h2>{html.escape(one.question)}</h2>'
            f"<p><strong>{html.escape(one.answer)}</strong></p><ul>{details}</ul></article>"
        )
    return f'<div class="answers">{"".join(cards)}</div>'


def _totals(report: Report) -> str:
    totals, first = report.totals, report.tokenizers[0].total
    cells: list[tuple[str, Any, Kind]] = [
        ("documents", totals["documents"], "integer"),
        ("characters", totals["n_codepoints"], "integer"),
        ("UTF-8", totals["n_utf8_bytes"], "bytes"),
        ("routed", totals["n_routed_bytes"], "bytes"),
        (f"{report.tokenizers[0].name} tokens", totals["n_text_tokens"], "integer"),
        ("routed tokens", first.n_routed_tokens, "integer"),
        ("tokens / char", first.tokens_per_character, "ratio"),
        ("shards on disk", report.n_shard_bytes, "bytes"),
        ("languages", len(report.tokenizers[0].languages), "integer"),
        ("scripts", sum(1 for row in report.tokenizers[0].scripts if row.n_codepoints), "integer"),
    ]
    items = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd>{show(value, kind)}</dd></div>" for name, value, kind in cells
    )
    return f'<dl class="totals" aria-label="Totals">{items}</dl>'


def _parallel(report: Report, common: dict[str, View], charts: dict[str, Chart]) -> str:
    title = "The same content in every language"
    parallel = report.parallel
    if parallel is None:
        return _section("disparity", title, [paragraph(NOT_PARALLEL)])
    dropped = [f"{lang} ({n})" for lang, n in parallel.dropped_languages.items()]
    notes = [f"{parallel.n_units:,} units, {parallel.n_languages:,} languages, key {parallel.pattern}."]
    for names, why in (
        (dropped, "Languages left out (units they lack)"),
        (parallel.repeated_languages, "Languages left out because a unit comes more than once"),
        (parallel.dropped_units, "Units left out because too few languages have them"),
    ):
        if names:
            shown = ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
            notes.append(f"{why}: {shown}.")
    shown = figures([charts["premiums"], charts["premium-spread"]])
    body = [*(paragraph(note) for note in notes), table(common["disparity"]), shown, table(common["premiums"])]
    return _section("disparity", title, body)


def _bytes(report: Report, common: dict[str, View], charts: dict[str, Chart]) -> str:
    sample = report.sample
    what = "All documents were looked at"
    if sample.documents < sample.of_documents:
        what = (
            f"A sample was looked at: {sample.documents:,} of {sample.of_documents:,} documents "
            f"({show(sample.utf8_bytes, 'bytes')} of {show(sample.of_utf8_bytes, 'bytes')}), the beginning of "
            f"{sample.shards:,} of {sample.of_shards:,} shards"
        )
    note = (
        f"{what}. The texts as UTF-8 and their routed streams were each compressed in shard order, in blocks of "
        f"{BLOCK_BYTES >> 20} MiB by zstd level {LEVEL}; a row by script compresses its documents alone."
    )
    shown = [charts[name] for name in ("bytes-routed", "bytes-routed-zstd") if name in charts]
    return _section(
        "bytes", "Bytes, raw and compressed", [paragraph(note), figures(shown), table(common["compression"])]
    )


def _tokenizers(report: Report, common: dict[str, View]) -> str:
    parts = [table(common["tokenizers"])]
    for number, tokenizer in enumerate(report.tokenizers):
        views = tokenizer_views(report, tokenizer, number)
        inner = [f"<h3>{html.escape(tokenizer.name)}</h3>", figures(tokenizer_charts(report, tokenizer, number))]
        anchor = '<span id="languages"></span>' if number == 0 else ""
        for view in views:
            if view.name.startswith("document-lengths"):
                continue  # the chart has the same table
            formula = paragraph(COST_FORMULA) if view.name.startswith("costs") else ""
            place = anchor if view.name.startswith("languages") else ""
            inner.append(place + formula + table(view, groups=view.name.startswith("languages")))
        parts.append(
            f'<div class="tokenizer" data-name="{html.escape(tokenizer.name, quote=True)}">{"".join(inner)}</div>'
        )
    return _section("tokenizers", "Tokens by script and language", parts)


def _run(report: Report) -> str:
    rows = [
        ("inputs", f"{report.n_inputs:,} (files), {show(report.n_input_bytes, 'bytes')}"),
        ("shards", f"{report.n_shards:,} (files), {show(report.n_shard_bytes, 'bytes')}"),
    ]
    identity = {name: value for name, value in report.identity.items() if name != "tokenizers"}
    for one in report.identity.get("tokenizers", []):
        rows.append((f"tokenizer {one['name']}", _plain_value(one)))
    for name, value in (*identity.items(), *report.settings.items(), *report.facts.items()):
        rows.append((name, _plain_value(value)))
    columns = [Column("what", "what", "text"), Column("value", "value", "text")]
    view = View("run", "Fingerprints, settings and facts of the run", columns, rows)
    return _section("run", "What was run", [table(view)])


def _plain_value(value: Any) -> str:
    """Returns a value of the manifest as a line of text."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_plain_value(one)}" for name, one in value.items())
    return value if isinstance(value, str) else "–" if value is None else orjson.dumps(value).decode()


def _reading() -> str:
    entries = (
        ("tokens / char", "tokens of the clean text divided by its Unicode code points."),
        ("bytes routed, tokens routed", "(routed − text) / text. Negative saves."),
        ("premium", "cost of a language divided by cost of the reference language, for the same units."),
        (
            "Gini",
            "0: every language pays the same for the same content. How much, the total says: read both.",
        ),
        (
            "script",
            "by Unicode Script, runs of Japanese and Korean writing together (Jpan, Kore). A token counts for its "
            "first character that has a script.",
        ),
        ("(added)", "tokens that the tokenizer adds to each document, such as a beginning-of-text token."),
        ("quantiles", "of tokens per document, exact below 128, within 0.8 % above."),
        ("und", "a document whose language is not known."),
    )
    items = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in entries)
    return _section("reading", "How to read this", [f'<dl class="reading">{items}</dl>'])


def _section(name: str, title: str, parts: Sequence[str]) -> str:
    return f'<section id="{name}"><h2>{html.escape(title)}</h2>{"".join(parts)}</section>'
