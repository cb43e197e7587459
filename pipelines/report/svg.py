"""A few kinds of chart as SVG. Colours are classes, so that the page can have two themes and a file its own.

Every chart carries its figures, so that a table can stand under it. Labels come from data and are escaped.
"""

import html
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .show import Kind, compact, show

WIDTH: Final = 400
_ROW, _TOP, _BOTTOM, _RIGHT = 22, 8, 30, 72
_MAX_LABEL: Final = 16

STYLE: Final = (
    "text{font:12px Arial,Helvetica,'DejaVu Sans','Liberation Sans','Noto Sans',sans-serif;fill:#1c2330}"
    ".m{fill:#5a6475}.g{stroke:#d5dae2}.a{fill:#2a62b8}.b{fill:#b85600}.o{fill:none;stroke:#b85600;stroke-width:2}"
    ".l{stroke:#8a94a6;stroke-width:2}.f{fill:none;stroke:#2a62b8;stroke-width:2}"
)
"""For a chart that stands alone; the page's own style names the same classes."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart and the figures that it shows.

    Attributes:
        name: file name without suffix.
        title: what it shows, in words.
        legend: (class of the mark, what it stands for).
        body: SVG elements.
        height: in the units of `WIDTH`.
        header: column names of the figures.
        kinds: how each column is shown.
        rows: the figures.
        note: what to mind in reading it.
    """

    name: str
    title: str
    legend: Sequence[tuple[str, str]]
    body: str
    height: int
    header: Sequence[str]
    kinds: Sequence[Kind]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    note: str = ""

    def element(self, *, standalone: bool = False) -> str:
        """Returns the `svg` element; a standalone one has a title, a legend, a style and a background."""
        label = html.escape(self.title, quote=True)
        if not standalone:
            return (
                f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{label}; the figures are in the '
                f'table below">{self.body}</svg>'
            )
        lines = textwrap.wrap(self.title, 50)
        top = 17 * len(lines)
        title = "".join(
            f'<text x="8" y="{17 * (i + 1)}" style="font-weight:bold">{html.escape(line)}</text>'
            for i, line in enumerate(lines)
        )
        keys = "".join(
            f'<rect class="{mark}" x="{8 + 130 * i}" y="{top + 9}" width="10" height="10"/>'
            + _text(22 + 130 * i, top + 18, name)
            for i, (mark, name) in enumerate(self.legend)
        )
        height = self.height + top + 28
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-label="{label}"><style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
            f'{title}{keys}<g transform="translate(0 {top + 28})">{self.body}</g></svg>'
        )


def _text(x: float, y: float, text: str, *, anchor: str = "start", mark: str = "") -> str:
    marked = f' class="{mark}"' if mark else ""
    placed = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{marked} x="{x:.1f}" y="{y:.1f}"{placed}>{html.escape(text)}</text>'


def _rect(mark: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{mark}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"/>'


def _label(text: str) -> str:
    return text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 1] + "…"


def _label_width(labels: Sequence[str]) -> float:
    return 16 + 8.2 * max((len(_label(label)) for label in labels), default=1)


def _ticks(highest: float) -> list[float]:
    """Returns three to six round numbers from 0 to at least `highest`."""
    if highest < 1e-300:  # nothing, or so little that a power of ten below it is 0
        return [0.0, 1.0]
    step = 10.0 ** math.floor(math.log10(highest))
    while highest / step < 3:
        step /= 2
    return [step * i for i in range(math.ceil(highest / step - 1e-9) + 1)]


def _grid(x: float, height: float, text: str) -> str:
    return f'<line class="g" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{height - _BOTTOM + 4}"/>' + _text(
        x, height - 12, text, anchor="middle", mark="m"
    )


def bars(rows: Sequence[tuple[str, float, float | None]], kind: Kind) -> tuple[str, int]:
    """Returns horizontal bars, a second one below the first where there is a second value; (body, height)."""
    height = _TOP + _ROW * len(rows) + _BOTTOM
    left = _label_width([row[0] for row in rows])
    ticks = _ticks(max((max(a, b or 0) for _, a, b in rows), default=1))
    scale = (WIDTH - left - _RIGHT) / ticks[-1]
    axis = (lambda v: show(v, "share")) if kind == "share" else compact
    parts = [_grid(left + tick * scale, height, axis(tick)) for tick in ticks]
    for i, (label, first, second) in enumerate(rows):
        y = _TOP + _ROW * i
        parts.append(_text(left - 6, y + 14, _label(label), anchor="end"))
        if second is None:
            parts.append(_rect("a", left, y + 4, first * scale, 13))
        else:
            parts.append(_rect("a", left, y + 3, first * scale, 8))
            parts.append(_rect("b", left, y + 12, second * scale, 6))
        parts.append(_text(left + max(first, second or 0) * scale + 4, y + 15, show(first, kind), mark="m"))
    return "".join(parts), height


def diverging(rows: Sequence[tuple[str, float]]) -> tuple[str, int]:
    """Returns bars of relative changes to both sides of zero: left (class a) saves, right (class b) adds."""
    height = _TOP + _ROW * len(rows) + _BOTTOM
    left = _label_width([row[0] for row in rows])
    low, high = min(0.0, *(v for _, v in rows), 0), max(0.0, *(v for _, v in rows), 0)
    span = (high - low) or 1.0
    scale = (WIDTH - left - 2 * _RIGHT) / span
    zero = left + _RIGHT - low * scale
    parts = [_grid(zero, height, "0 %")]
    for i, (label, value) in enumerate(rows):
        y = _TOP + _ROW * i
        width = abs(value) * scale
        parts.append(_text(left - 6, y + 14, _label(label), anchor="end"))
        parts.append(_rect("a" if value < 0 else "b", zero - width if value < 0 else zero, y + 4, width, 13))
        end, anchor = (zero - width - 4, "end") if value < 0 else (zero + width + 4, "start")
        parts.append(_text(end, y + 15, show(value, "change"), anchor=anchor, mark="m"))
    return "".join(parts), height


def dumbbells(rows: Sequence[tuple[str, float, float]]) -> tuple[str, int]:
    """Returns two shares a row on a log axis, joined: the first a ring (class o), the second a dot (class a)."""
    height = _TOP + _ROW * len(rows) + _BOTTOM
    left = _label_width([row[0] for row in rows])
    low = max(min((min(a, b) for _, a, b in rows), default=0.01), 1e-6)
    first = math.floor(math.log10(low))
    scale = (WIDTH - left - 24) / -min(first, -1)

    def place(share: float) -> float:
        return left + 4 + (math.log10(max(share, 10.0**first)) - min(first, -1)) * scale

    parts = [_grid(place(10.0**power), height, f"{100 * 10.0**power:g} %") for power in range(min(first, -1), 1)]
    for i, (label, ring, dot) in enumerate(rows):
        y = _TOP + _ROW * i + 11
        parts.append(_text(left - 6, y + 4, _label(label), anchor="end"))
        parts.append(f'<line class="l" x1="{place(ring):.1f}" x2="{place(dot):.1f}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle class="a" cx="{place(dot):.1f}" cy="{y}" r="5"/>')
        parts.append(f'<circle class="o" cx="{place(ring):.1f}" cy="{y}" r="5"/>')
    return "".join(parts), height


def histogram(
    bins: Sequence[tuple[int, int, int | None]], end_of: Callable[[int], int], *, height: int = 240
) -> tuple[str, int]:
    """Returns documents by tokens on a log axis: bars for the first count, a stepped line for the second.

    Args:
        bins: (smallest value, documents, documents routed), ascending and without gaps.
        end_of: where a bin that begins at a value ends.
        height: of the chart.
    """
    left, right = 46, 12
    lowest, highest = max(bins[0][0], 1), end_of(bins[-1][0])
    span = math.log2(highest) - math.log2(lowest) or 1.0
    ticks = _ticks(max(max(a, b or 0) for _, a, b in bins))
    floor, scale_y = height - _BOTTOM, (height - _BOTTOM - _TOP) / ticks[-1]

    def x_of(value: float) -> float:
        return left + (math.log2(max(value, lowest)) - math.log2(lowest)) / span * (WIDTH - left - right)

    parts = []
    for tick in ticks:
        y = floor - tick * scale_y
        parts.append(f'<line class="g" x1="{left}" x2="{WIDTH - right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(left - 6, y + 4, compact(tick), anchor="end", mark="m"))
    octaves = max(1, math.ceil(span / 6))
    for power in range(math.ceil(math.log2(lowest)), math.floor(math.log2(highest)) + 1, octaves):
        parts.append(_text(x_of(2.0**power), height - 12, compact(2**power), anchor="middle", mark="m"))
    line = []
    for start, first, second in bins:
        x, end = x_of(start), x_of(end_of(start))
        parts.append(_rect("a", x, floor - first * scale_y, end - x - 1, first * scale_y))
        if second is not None:
            line.append(f"{x:.1f},{floor - second * scale_y:.1f} {end:.1f},{floor - second * scale_y:.1f}")
    if line:
        parts.append(f'<polyline class="o" points="{" ".join(line)}"/>')
    return "".join(parts), height


def curves(series: Sequence[Sequence[float]], *, height: int = 260) -> tuple[str, int]:
    """Returns values sorted from high to low against their rank, on a log axis: class f, then class o."""
    left, right = 46, 14
    low = min(1.0, *(value for values in series for value in values if value > 0))
    high = max(2.0, *(value for values in series for value in values))
    floor, span = height - _BOTTOM, math.log2(high / low)

    def y_of(value: float) -> float:
        return floor - math.log2(max(value, low) / low) / span * (floor - _TOP)

    parts = []
    for power in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1):
        y = y_of(2.0**power)
        parts.append(f'<line class="g" x1="{left}" x2="{WIDTH - right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(left - 6, y + 4, f"{2.0**power:g}×", anchor="end", mark="m"))
    for mark, values in zip(("f", "o"), series, strict=False):
        step = (WIDTH - left - right) / max(len(values) - 1, 1)
        ordered = sorted(values, reverse=True)
        points = " ".join(f"{left + i * step:.1f},{y_of(value):.1f}" for i, value in enumerate(ordered))
        parts.append(f'<polyline class="{mark}" points="{points}"/>')
    parts.append(_text(left, height - 12, "dearest", mark="m"))
    parts.append(_text(WIDTH - right, height - 12, "cheapest language", anchor="end", mark="m"))
    return "".join(parts), height


def sparkline(bins: Sequence[tuple[int, int]], highest: int, end_of: Callable[[int], int]) -> str:
    """Returns a small histogram on a log axis from 1 to `highest` for a table cell."""
    span, top = math.log2(max(highest, 2)), max((count for _, count in bins), default=1)
    path = []
    for start, count in bins:
        x = math.log2(max(start, 1)) / span * 80
        width = math.log2(max(end_of(start), 1)) / span * 80 - x
        size = max(1.0, 16 * count / top)
        path.append(f"M{x:.0f} 16v-{size:.0f}h{max(width, 1):.0f}v{size:.0f}")
    return f'<svg class="s" viewBox="0 0 80 16" aria-hidden="true"><path d="{"".join(path)}"/></svg>'
