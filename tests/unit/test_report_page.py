"""The report's answers, its page, its charts and its files, on a run that never was."""

import csv
import dataclasses
import io
import re
import sys
from collections import defaultdict
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import orjson
import pytest
from byteroute.pipelines.report import output
from byteroute.pipelines.report.costs import Weight
from byteroute.pipelines.report.headline import answers
from byteroute.pipelines.report.model import NOT_PARALLEL, Report, build_report
from byteroute.pipelines.report.output import all_charts, all_views, write_report
from byteroute.pipelines.report.page import render_page
from byteroute.pipelines.report.parallel import ParallelKey
from byteroute.pipelines.report.svg import WIDTH
from byteroute.pipelines.report.targets import Target
from byteroute.pipelines.report.terminal import print_report
from report_support import HOSTILE, HOSTILE_IMAGE, made_up_run
from rich.console import Console

from byteroute_ops.errors import ConfigError

KEY = ParallelKey(pattern=r"^(?P<lang>.*)/(?P<unit>\d)$", reference="qaa")
VOID = {"meta", "link", "input", "img", "br"}


@pytest.fixture(scope="module")
def report() -> Report:
    """The report on a run of twelve languages under two tokenizers, with everything that can be asked for."""
    return build_report(
        made_up_run(12, tokenizers=("one", HOSTILE_IMAGE)),
        parallel=KEY,
        weights=[Weight(weight=2)],
        targets=[Target(kind="lang", key=HOSTILE, share=0.5)],
    )


class Elements(HTMLParser):
    """Checks that elements are closed in order; keeps their names, ids, and attributes."""

    def __init__(self) -> None:
        """Begins with nothing open."""
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Opens an element."""
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes an element without contents."""
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Closes the element that is open."""
        assert self.open.pop() == tag


def test_page_is_well_formed_and_alone(report: Report) -> None:
    """Elements nest, ids are unique and all links lead to one; nothing is loaded, one script is in it."""
    elements = Elements()
    elements.feed(render_page(report))
    assert elements.open == []
    ids = [attributes["id"] for _, attributes in elements.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [a["href"] for tag, a in elements.seen if tag == "a"]
    assert targets
    assert {target[1:] for target in targets if target} <= set(ids)
    assert [tag for tag, _ in elements.seen].count("script") == 1
    assert not [a for _, a in elements.seen if "src" in a or any(name.startswith("on") for name in a)]
    assert [a["href"] for tag, a in elements.seen if tag == "link"] == ["data:,"]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", render_page(report))


def test_hostile_names_are_escaped(report: Report) -> None:
    """No name of a language, tokenizer, reason, setting or folder becomes markup, in page or charts."""
    page = render_page(report)
    assert HOSTILE not in page
    assert HOSTILE_IMAGE not in page
    assert page.count("&lt;script&gt;window.harm") > 5
    for chart in all_charts(report):
        tree = ElementTree.fromstring(chart.element(standalone=True))  # noqa: S314 - our own text
        assert {element.tag.partition("}")[2] for element in tree.iter()} <= {
            "svg", "style", "rect", "text", "g", "line", "circle", "polyline",
        }  # fmt: skip


def test_every_figure_is_a_number(report: Report) -> None:
    """No coordinate of a chart is NaN or infinite, and none lies outside."""
    for chart in all_charts(report):
        svg = chart.element(standalone=True)
        assert not re.search(r'="[^"]*\b(nan|inf)\b', svg), chart.name
        widths = [float(width) for width in re.findall(r'width="([\d.]+)"', chart.body)]
        assert all(0 <= width <= WIDTH for width in widths), chart.name


def test_languages_first(report: Report) -> None:
    """The first thing that the page says is which languages pay most, the second whether routing helped."""
    page = render_page(report)
    questions = [one.question for one in answers(report)]
    assert questions == ["Which languages pay most?", "Did routing help?", "Was anything lost?"]
    places = [page.index(question) for question in questions]
    assert places == sorted(places)
    assert places[0] < page.index("<table>")


def test_gini_is_never_alone(report: Report) -> None:
    """Wherever the page says Gini, in a sentence or in a table, the total is beside it."""
    columns = [column.name for view in all_views(report) if view.name == "disparity" for column in view.columns]
    assert columns.index("total") == columns.index("gini") + 1
    said = [detail for one in answers(report) for detail in one.details if "Gini" in detail]
    assert len(said) == 2
    assert all("total" in detail for detail in said)


def test_without_parallel_data_the_report_says_why() -> None:
    """No premium, no Gini; per character figures, and the reason."""
    page = render_page(build_report(made_up_run(5)))
    assert "Per character under" in page
    assert NOT_PARALLEL.split(",")[0] in page
    assert "Premium over" not in page


@pytest.mark.parametrize(
    ("byte_change", "token_changes", "says"),
    [
        (-0.1, [-0.2], "Yes: fewer tokens."),
        (-0.1, [0.2, 0.3], "Not in tokens: fewer bytes, but more tokens."),
        (0.1, [0.2], "Not in tokens: more tokens."),
        (-0.1, [0.2, -0.3], "That depends on the tokenizer."),
        (-0.1, [0.0], "Tokens stay as they are."),
        (0.0, [0.0001], "It changes nothing."),
        (-0.1, [], "It saves bytes."),
        (0.0, [], "It saves no bytes."),
    ],
)
def test_verdict(byte_change: float, token_changes: list[float], says: str) -> None:
    """The short answer follows the figures, and differences that are shown as 0.0 % are none."""
    from byteroute.pipelines.report.headline import _verdict

    assert _verdict(byte_change, token_changes) == says


def written(report: Report, **options: Any) -> dict[str, bytes]:
    """Returns the files of a report by name."""
    kept: dict[str, io.BytesIO] = defaultdict(io.BytesIO)

    class Kept(io.BytesIO):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def close(self) -> None:
            kept[self.name].write(self.getvalue())
            super().close()

    names = write_report(report, Kept, **options)
    assert sorted(names) == sorted(kept)
    return {name: data.getvalue() for name, data in kept.items()}


def test_files(report: Report) -> None:
    """One page, one model, every table as CSV and JSON with the same rows, every chart as SVG."""
    found = written(report)
    views = {view.name: view for view in all_views(report)}
    assert {name for name in found if name.startswith("tables/")} == {
        f"tables/{name}.{suffix}" for name in views for suffix in ("csv", "json")
    }
    for name, view in views.items():
        records = orjson.loads(found[f"tables/{name}.json"])
        rows = list(csv.reader(io.StringIO(found[f"tables/{name}.csv"].decode())))
        assert len(records) == len(rows) - 1 == len(view.rows)
        assert all(list(record) == rows[0] for record in records)
    assert {name for name in found if name.endswith(".svg")} == {
        f"charts/{chart.name}.svg" for chart in all_charts(report)
    }
    assert orjson.loads(found["report.json"])["totals"] == report.totals


def test_no_cell_is_a_formula() -> None:
    """A name that begins like a formula of a spreadsheet is quoted in CSV, and left alone in JSON."""
    run = made_up_run(4)
    for row in run.languages:
        row["lang"] = "=1+1" if row["lang"] == HOSTILE else row["lang"]
    found = written(build_report(run))
    assert b"\r\n'=1+1," in found["tables/languages.csv"]
    assert "=1+1" in [row["lang"] for row in orjson.loads(found["tables/languages.json"])]


def test_same_report_same_bytes(report: Report) -> None:
    """A report has no clock and no chance in it."""
    again = build_report(
        made_up_run(12, tokenizers=("one", HOSTILE_IMAGE)),
        parallel=KEY,
        weights=[Weight(weight=2)],
        targets=[Target(kind="lang", key=HOSTILE, share=0.5)],
    )
    assert written(again) == written(report)


def test_png_charts(report: Report) -> None:
    """With the extra each chart is drawn, labels and all."""
    pytest.importorskip("resvg_py", reason="needs the extra report")
    try:
        found = written(report, png=True)
    except ConfigError as error:
        pytest.skip(str(error))
    pictures = [data for name, data in found.items() if name.endswith(".png")]
    assert len(pictures) == len(all_charts(report))
    assert all(data.startswith(b"\x89PNG") for data in pictures)


def test_png_needs_its_extra_and_a_font(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the renderer, or without a font, the message says what to install; nothing is written."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ConfigError, match=r"pip install 'byteroute\[report\]'"):
        write_report(report, pytest.fail, png=True)
    blind = type("Blind", (), {"svg_to_bytes": staticmethod(lambda svg_string, zoom: b"blank")})
    monkeypatch.setitem(sys.modules, "resvg_py", blind)
    with pytest.raises(ConfigError, match="font"):
        output.png_renderer()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_terminal(report: Report, width: int) -> None:
    """The summary has the answers and keeps to the width; names are not taken for markup."""
    text = io.StringIO()
    print_report(Console(file=text, width=width), dataclasses.replace(report, title="[bold]x"))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("Which languages pay most?")
    if width == 200:
        assert HOSTILE in text.getvalue()
