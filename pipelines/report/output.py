"""Writes a report's files: the page, every table as CSV and JSON, every chart as SVG and PNG."""

import csv
import dataclasses
import io
from collections.abc import Callable
from typing import Any, BinaryIO

import orjson

from byteroute_ops.errors import ConfigError

from .figures import report_charts, tokenizer_charts
from .model import Report
from .page import render_page
from .svg import Chart
from .views import View, common_views, tokenizer_views

PAGE = "report.html"
MODEL = "report.json"

Create = Callable[[str], BinaryIO]
"""Opens a file of the report for writing, by its name in the report's folder."""

_PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text x="2" y="15" style="{}">en</text></svg>'


def all_views(report: Report) -> list[View]:
    """Returns every table of a report."""
    per_tokenizer = [
        view for number, one in enumerate(report.tokenizers) for view in tokenizer_views(report, one, number)
    ]
    return [*common_views(report), *per_tokenizer]


def all_charts(report: Report) -> list[Chart]:
    """Returns every chart of a report."""
    per_tokenizer = [
        chart for number, one in enumerate(report.tokenizers) for chart in tokenizer_charts(report, one, number)
    ]
    return [*report_charts(report), *per_tokenizer]


def write_report(report: Report, create: Create, *, png: bool = False) -> list[str]:
    """Writes the report and returns the names of its files.

    Args:
        report: what to write.
        create: opens the files.
        png: whether to draw the charts as PNG too; needs the extra `report`.

    Raises:
        ConfigError: PNG without the extra, or without a font.
    """
    draw = png_renderer() if png else None
    contents: dict[str, bytes] = {
        PAGE: render_page(report).encode(),
        MODEL: orjson.dumps(dataclasses.asdict(report), option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS),
    }
    for view in all_views(report):
        contents[f"tables/{view.name}.csv"] = _csv(view)
        contents[f"tables/{view.name}.json"] = orjson.dumps(_records(view), option=orjson.OPT_INDENT_2)
    for chart in all_charts(report):
        svg = chart.element(standalone=True)
        contents[f"charts/{chart.name}.svg"] = svg.encode()
        if draw is not None:
            contents[f"charts/{chart.name}.png"] = draw(svg)
    for name, data in contents.items():
        with create(name) as stream:
            stream.write(data)
    return list(contents)


def _records(view: View) -> list[dict[str, Any]]:
    names = [column.name for column in view.columns]
    return [dict(zip(names, row, strict=True)) for row in view.rows]


def _csv(view: View) -> bytes:
    """Returns a table as CSV (RFC 4180) in UTF-8; numbers in full, an empty cell where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.name for column in view.columns])
    writer.writerows([_safe(cell) for cell in row] for row in view.rows)
    return text.getvalue().encode()


def _safe(cell: Any) -> Any:
    """Returns a cell that no spreadsheet takes for a formula (OWASP, CSV injection): names come from data."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in {"=", "+", "-", "@", "\t", "\r"} else cell


def png_renderer() -> Callable[[str], bytes]:
    """Returns what draws an SVG as PNG at twice its size.

    Raises:
        ConfigError: the extra `report` is not installed, or the machine has no font for the labels.
    """
    try:
        import resvg_py
    except ImportError:
        raise ConfigError("PNG charts need an extra: pip install 'byteroute[report]'") from None

    def draw(svg: str) -> bytes:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=2))

    # Without a font the renderer leaves the text out and says nothing.
    style = "font:12px Arial,Helvetica,'DejaVu Sans','Liberation Sans','Noto Sans',sans-serif"
    if draw(_PROBE.format(style)) == draw(_PROBE.format("display:none")):
        raise ConfigError(
            "PNG charts need a font: install DejaVu Sans, Liberation Sans or Noto Sans, or use the SVG files"
        )
    return draw
