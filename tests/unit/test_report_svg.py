"""The charts draw what their figures say."""

import math
import re
from xml.etree import ElementTree

import pytest
from byteroute.pipelines.report.rows import bin_end
from byteroute.pipelines.report.svg import WIDTH, Chart, bars, curves, diverging, dumbbells, histogram, sparkline
from hypothesis import given
from hypothesis import strategies as st

names = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30)


def marks(body: str, element: str, mark: str) -> list[dict[str, str]]:
    """Returns the attributes of all elements of a class."""
    tree = ElementTree.fromstring(f"<g>{body}</g>")  # noqa: S314 - our own text
    return [one.attrib for one in tree.iter(element) if one.get("class") == mark]


def test_bars_are_proportional() -> None:
    """Lengths are as the values, from one zero line; the second value has a bar of its own."""
    body, _ = bars([("a", 3.0, 1.5), ("b", 1.0, 6.0)], "ratio")
    text, routed = ([float(one["width"]) for one in marks(body, "rect", mark)] for mark in "ab")
    assert text[0] / text[1] == pytest.approx(3, rel=0.01)
    assert routed[1] / routed[0] == pytest.approx(4, rel=0.01)
    assert routed[1] / text[0] == pytest.approx(2, rel=0.01)
    assert len({one["x"] for mark in "ab" for one in marks(body, "rect", mark)}) == 1


def test_changes_go_to_both_sides_of_zero() -> None:
    """Savings end at the zero line, additions begin there, on one scale."""
    body, _ = diverging([("a", -0.2), ("b", 0.4), ("c", 0.0)])
    (saves,), adds = marks(body, "rect", "a"), marks(body, "rect", "b")
    zero = float(saves["x"]) + float(saves["width"])
    assert [float(one["x"]) for one in adds] == pytest.approx([zero, zero], abs=0.11)
    assert float(adds[0]["width"]) / float(saves["width"]) == pytest.approx(2, rel=0.02)
    assert float(adds[1]["width"]) == 0


def test_shares_are_on_a_log_axis() -> None:
    """Ten times the share is the same step everywhere."""
    body, _ = dumbbells([("a", 0.1, 0.01), ("b", 0.01, 0.001)])
    rings, dots = ([float(one["cx"]) for one in marks(body, "circle", mark)] for mark in "oa")
    assert rings[0] - dots[0] == pytest.approx(rings[1] - dots[1], abs=0.2)
    assert dots[0] == pytest.approx(rings[1], abs=0.11)


def test_histogram_heights_and_edges() -> None:
    """A bar is as high as its documents, begins where its bin does, and the line steps with the second count."""
    body, _ = histogram([(64, 10, 5), (96, 20, 0), (128, 0, 40)], bin_end)
    found = marks(body, "rect", "a")
    heights = [float(one["height"]) for one in found]
    assert heights[1] / heights[0] == pytest.approx(2, rel=0.01)
    assert heights[2] == 0
    left, right = float(found[0]["x"]), float(found[2]["x"])
    assert (float(found[1]["x"]) - left) / (right - left) == pytest.approx(math.log2(1.5), abs=0.01)
    (line,) = marks(body, "polyline", "o")
    steps = [float(y) for y in re.findall(r",([\d.]+)", line["points"])]
    assert steps[0] == steps[1] > steps[4] == steps[5]
    assert steps[2] == max(steps)


def test_curves_fall() -> None:
    """Each line is sorted from the dearest to the cheapest, whatever order the values come in."""
    body, _ = curves([[1.0, 8.0, 2.0], [4.0, 0.5, 1.0]])
    for mark in "fo":
        ((line),) = marks(body, "polyline", mark)
        heights = [float(y) for y in re.findall(r",([\d.]+)", line["points"])]
        assert heights == sorted(heights)
        assert len(heights) == 3


def test_one_value_is_enough() -> None:
    """Charts of a single row, a single bin, a single language, or of zeros alone, are drawn."""
    for body, height in (
        bars([("a", 0.0, None)], "ratio"),
        diverging([("a", 0.0)]),
        dumbbells([("a", 1.0, 1.0)]),
        dumbbells([("a", 0.0, 0.0)]),
        histogram([(0, 1, None)], bin_end),
        histogram([(1, 0, 0)], bin_end),
        curves([[1.0]]),
    ):
        ElementTree.fromstring(f"<g>{body}</g>")  # noqa: S314 - our own text
        assert height > 0
        assert not re.search(r"\b(nan|inf)\b", body)


@given(names, st.floats(0, 1e9))
def test_any_name_and_value(name: str, value: float) -> None:
    """Names are escaped and cut, values keep inside the chart, alone and in a page."""
    body, height = bars([(name, value, value / 2)], "factor")
    chart = Chart(
        name="x",
        title=name,
        legend=[("a", name)],
        body=body,
        height=height,
        header=["a"],
        kinds=["text"],
        rows=[(name,)],
    )
    for standalone in (True, False):
        tree = ElementTree.fromstring(chart.element(standalone=standalone))  # noqa: S314 - our own text
        assert all(
            float(one.get("x", 0)) + float(one.get("width", 0)) <= WIDTH for one in tree.iter() if one.get("class")
        )


def test_sparkline_shares_its_axis() -> None:
    """The same bins are at the same place whatever else the row has; the highest bin fills the height."""
    short, long = (sparkline(bins, 1024, bin_end) for bins in ([(64, 3)], [(64, 3), (512, 6)]))
    place = re.findall(r"M(\d+) 16v-(\d+)", short)[0]
    assert place == ("48", "16")
    assert re.findall(r"M(\d+) 16v-(\d+)", long) == [("48", "8"), ("72", "16")]
