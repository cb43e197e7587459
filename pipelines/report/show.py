"""Numbers as text: one spelling for the terminal, the HTML and the charts."""

from typing import Any, Literal

Kind = Literal["text", "integer", "number", "ratio", "share", "change", "factor", "bytes"]

NOTHING = "–"
SPACE = "\u00a0"
"""Keeps a number and its unit on one line."""
MINUS = "\u2212"


def show(value: Any, kind: Kind) -> str:
    r"""Returns a value as people read it; a dash where there is none.

    >>> [show(1234567, "integer"), show(0.5891, "ratio"), show(0.0453, "share"), show(-0.0453, "change")]
    ['1,234,567', '0.589', '4.53\xa0%', '−4.5\xa0%']
    >>> [show(18.5869, "factor"), show(5664724, "bytes"), show(None, "ratio"), show(0.00004, "share")]
    ['18.6×', '5.66\xa0MB', '–', '<0.01\xa0%']
    """
    if value is None or value != value:  # noqa: PLR0124 - NaN is what differs from itself
        return NOTHING
    if kind == "text":
        return str(value)
    if kind == "integer":
        return f"{round(value):,}"
    special = {"share": _share, "change": _change, "bytes": _bytes}.get(kind)
    if special is not None:
        return special(value)
    return _digits(value).replace("-", MINUS) + ("×" if kind == "factor" else "")


def _digits(value: float) -> str:
    """Returns three figures, without a power of ten where that would be unreadable."""
    if value == float("inf"):
        return "∞"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.001 or not size else f"{value:.3g}"


def _share(value: float) -> str:
    if 0 < value < 0.0001:
        return f"<0.01{SPACE}%"
    percent = 100 * value
    digits = 0 if percent in (0, 100) else 2 if percent < 10 else 1
    return f"{percent:.{digits}f}{SPACE}%"


def _change(value: float) -> str:
    percent = 100 * value
    if abs(percent) < 0.05:
        return f"0.0{SPACE}%"
    return f"{percent:+,.1f}{SPACE}%".replace("-", MINUS)


def _bytes(value: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(value) >= size:
            return f"{_digits(value / size)}{SPACE}{unit}"
    return f"{value:.0f}{SPACE}B"


def compact(value: float) -> str:
    """Returns a number for the axis of a chart.

    >>> [compact(value) for value in (0.25, 1, 2048, 131072, 2500000)]
    ['0.25', '1', '2k', '128k', '2.5M']
    """
    if value >= 1024 and value == int(value) and int(value) & (int(value) - 1) == 0:
        return f"{int(value) >> 10}k" if value < 1 << 20 else f"{int(value) >> 20}Mi"
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
