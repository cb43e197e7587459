"""Tables and charts of the report as HTML. All text that comes from data goes through `html.escape`."""

import html
from collections.abc import Sequence
from typing import Any, Final

from .rows import Bins, bin_end
from .show import show
from .svg import Chart, sparkline
from .views import Column, View

LONG_TABLE: Final = 12
"""Tables with more rows can be searched."""


def paragraph(text: str) -> str:
    """Returns a paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def figures(charts: Sequence[Chart]) -> str:
    """Returns charts, each with its legend, its note and a table of its figures."""
    shown = []
    for chart in charts:
        keys = "".join(f'<span><i class="k{mark}"></i>{html.escape(name)}</span>' for mark, name in chart.legend)
        note = f"<p>{html.escape(chart.note)}</p>" if chart.note else ""
        columns = [Column(name, name, kind) for name, kind in zip(chart.header, chart.kinds, strict=True)]
        inner = _plain(View(chart.name, chart.title, columns, chart.rows))
        shown.append(
            f'<figure><figcaption>{html.escape(chart.title)}</figcaption><p class="legend">{keys}</p>{chart.element()}'
            f"{note}<details><summary>Figures of this chart</summary>{inner}</details></figure>"
        )
    return f'<div class="figures">{"".join(shown)}</div>'


def _plain(view: View) -> str:
    label = html.escape(view.caption, quote=True)
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{_rows(view)}</div>'


def table(view: View, *, groups: bool = False) -> str:
    """Returns a table that the script makes sortable, searchable and, where asked for, groupable."""
    marks = ["data-tools"]
    if len(view.rows) > LONG_TABLE:
        marks.append("data-search")
    if any(column.extra for column in view.columns):
        marks.append("data-extra")
    if groups:
        marks.append("data-groups")
    if not view.rows:
        return f"<p>{html.escape(view.caption)}: none.</p>"
    return f'<div class="table" {" ".join(marks)}>{_plain(view)}</div>'


def _rows(view: View) -> str:
    heads = []
    for column in view.columns:
        about = f' title="{html.escape(column.help, quote=True)}"' if column.help else ""
        marks = " ".join(["x"] * column.extra + ["n"] * (column.kind != "text"))
        heads.append(f'<th scope="col" class="{marks}"{about}>{html.escape(column.label)}</th>')
    if view.bins:
        heads.append('<th scope="col" title="documents by tokens, on a log axis that all rows share">tokens/doc</th>')
    highest = max((bin_end(bins[-1][0]) for bins in view.bins if bins), default=2)
    body = []
    for i, row in enumerate(view.rows):
        cells = [
            _cell(column, value, head=j == 0) for j, (column, value) in enumerate(zip(view.columns, row, strict=True))
        ]
        if view.bins:
            cells.append(_spark(view.bins[i], highest))
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f"<table><caption>{html.escape(view.caption)}</caption><thead><tr>{''.join(heads)}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _spark(bins: Bins, highest: int) -> str:
    return f"<td>{sparkline(bins, highest, bin_end)}</td>"


def _cell(column: Column, value: Any, *, head: bool) -> str:
    shown = html.escape(show(value, column.kind))
    if head and column.kind == "text":
        return f'<th scope="row">{shown}</th>'
    if column.kind == "text":
        return f'<td class="t">{shown}</td>'
    mark = ' class="x"' if column.extra else ""
    # The shown text is rounded; sorting needs the value, but not all of its digits.
    exact = "" if value is None or column.kind == "integer" else f' data-v="{value:.6g}"'
    return f"<td{mark}{exact}>{shown}</td>"
