"""The report's page in a real browser: sorts, searches, groups, switches its theme; says nothing on the console."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.report.load import load_run
from byteroute.pipelines.report.model import build_report
from byteroute.pipelines.report.page import render_page
from byteroute.pipelines.report.parallel import ParallelKey
from headless import Browser
from report_support import HOSTILE, HOSTILE_IMAGE, made_up_run

from byteroute_ops.files import LocalFiles

N_LANGUAGES = 460
BOX = "document.querySelector('[data-groups]')"
WIDTHS = pytest.mark.parametrize("width", [390, 1400])


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A headless browser, or a skip with the reason."""
    page = Browser(tmp_path_factory.mktemp("browser") / "profile")
    yield page
    page.close()


@pytest.fixture(scope="module")
def real_page(tmp_path_factory: pytest.TempPathFactory, data_dir: Path, run_inline: Callable[..., Any]) -> Path:
    """The page of a run over the small corpus, as parallel data, under two tokenizers."""
    folder = tmp_path_factory.mktemp("page")
    run_inline([data_dir / "udhr_small.jsonl"], folder / "out", tokenizers=("default", "bytes"))
    key = ParallelKey(pattern=r"^udhr:(?P<lang>[^:]+):(?P<unit>art\d\d)$", reference="eng")
    report = build_report(load_run(str(folder / "out"), LocalFiles()), parallel=key)
    (folder / "report.html").write_text(render_page(report), encoding="utf-8")
    return folder / "report.html"


@pytest.fixture(scope="module")
def large_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with hundreds of languages and hostile names."""
    page = tmp_path_factory.mktemp("large") / "report.html"
    page.write_text(render_page(build_report(made_up_run(N_LANGUAGES))), encoding="utf-8")
    return page


def column(browser: Browser, number: int) -> list[str]:
    """Returns the cells of a column of the table of languages, group headings left out."""
    script = f"[...{BOX}.querySelectorAll('tbody tr:not(.group)')].map((row) => row.cells[{number}].textContent)"
    return list(browser.run(script))


def click_head(browser: Browser, label: str) -> None:
    """Clicks the heading of a column of the table of languages."""
    found = f"[...{BOX}.querySelectorAll('thead button')].find((one) => one.textContent === {json.dumps(label)})"
    browser.run(f"{found}.click()")


@WIDTHS
def test_sorts(browser: Browser, real_page: Path, width: int) -> None:
    """A click on a heading sorts by exact values, highest first, a second one the other way, a name by the alphabet."""
    browser.open(real_page, width=width)
    before = column(browser, 0)
    click_head(browser, "tokens / char")
    ratios = [float(cell) for cell in column(browser, 2)]
    assert ratios == sorted(ratios, reverse=True)
    assert column(browser, 0) != before
    click_head(browser, "tokens / char")
    ratios = [float(cell) for cell in column(browser, 2)]
    assert ratios == sorted(ratios)
    assert browser.run(f"{BOX}.querySelectorAll('[aria-sort=ascending]').length") == 1
    click_head(browser, "language")
    assert column(browser, 0) == sorted(before)
    assert browser.console == []


@WIDTHS
def test_searches(browser: Browser, real_page: Path, width: int) -> None:
    """The search keeps the rows whose language or script has the text, and says how many there are."""
    browser.open(real_page, width=width)
    rows = list(zip(column(browser, 0), column(browser, 1), strict=True))
    field = f"{BOX}.querySelector('input[type=search]')"
    browser.run(f"{field}.value = 'CYRL'; {field}.dispatchEvent(new Event('input'))")
    wanted = [lang for lang, script in rows if "cyrl" in f"{lang} {script}".lower()]
    assert 0 < len(wanted) < len(rows)
    assert column(browser, 0) == wanted
    assert browser.run(f"{BOX}.querySelector('output').textContent") == f"{len(wanted)} of {len(rows)} rows"
    browser.run(f"{field}.value = 'no such thing'; {field}.dispatchEvent(new Event('input'))")
    assert column(browser, 0) == []
    browser.run(f"{field}.value = ''; {field}.dispatchEvent(new Event('input'))")
    assert column(browser, 0) == [lang for lang, _ in rows]
    assert browser.console == []


def test_groups_by_script(browser: Browser, real_page: Path) -> None:
    """Grouped, the languages of a script stand together under a heading with their number; undone, all is as before."""
    browser.open(real_page)
    before = column(browser, 0)
    browser.run(f"{BOX}.querySelectorAll('input[type=checkbox]')[0].click()")
    scripts = column(browser, 1)
    starts = [i for i, script in enumerate(scripts) if i == 0 or scripts[i - 1] != script]
    assert len(starts) == len(set(scripts)) > 10
    headings = browser.run(f"[...{BOX}.querySelectorAll('tr.group')].map((row) => row.textContent)")
    assert headings[0].startswith(f"{scripts[0]}: {scripts.count(scripts[0])} languages")
    assert sorted(column(browser, 0)) == sorted(before)
    browser.run(f"{BOX}.querySelectorAll('input[type=checkbox]')[0].click()")
    assert column(browser, 0) == before
    assert browser.console == []


@pytest.mark.parametrize("dark", [False, True])
@WIDTHS
def test_switches_theme(browser: Browser, real_page: Path, width: int, dark: bool) -> None:
    """The page begins in the system's theme and changes with a click; text contrasts with its ground in both."""
    browser.open(real_page, width=width, dark=dark)
    themes = []
    for _ in range(2):
        themes.append(browser.run("document.documentElement.dataset.theme"))
        for place in (".answer strong", ".answer li", "tbody td", "thead th", "figure svg text", "nav a"):
            assert contrast(browser, place) >= 4.5, (themes, place)
        browser.run("document.getElementById('theme').click()")
    assert themes == (["dark", "light"] if dark else ["light", "dark"])
    assert browser.console == []


def contrast(browser: Browser, place: str) -> float:
    """Returns the contrast ratio of the first element (WCAG 2.2, relative luminance)."""
    colours = browser.run(
        f"(() => {{ let one = document.querySelector({json.dumps(place)}); const style = getComputedStyle(one);"
        "const ink = one instanceof SVGElement ? style.fill : style.color; let ground = 'rgba(0, 0, 0, 0)';"
        "for (; one && ground === 'rgba(0, 0, 0, 0)'; one = one.parentElement)"
        " ground = getComputedStyle(one).backgroundColor;"
        "return [ink, ground].map((text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number)); })()"
    )
    levels = sorted(luminance(colour) for colour in colours)
    return (levels[1] + 0.05) / (levels[0] + 0.05)


def luminance(colour: list[float]) -> float:
    """Returns the relative luminance of an sRGB colour."""
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_one_tokenizer_at_a_time(browser: Browser, real_page: Path) -> None:
    """With several tokenizers a list chooses whose budgets are seen."""
    browser.open(real_page)
    seen = "[...document.querySelectorAll('.tokenizer')].map((one) => one.offsetHeight > 0)"
    assert browser.run(seen) == [True, False]
    choice = "document.getElementById('tokenizer')"
    browser.run(f"{choice}.value = '1'; {choice}.dispatchEvent(new Event('change'))")
    assert browser.run(seen) == [False, True]


@pytest.mark.parametrize("page", ["real_page", "large_page"])
@WIDTHS
def test_fits_the_width(browser: Browser, page: str, width: int, request: pytest.FixtureRequest) -> None:
    """The page never scrolls sideways; wide tables scroll inside their own frame."""
    browser.open(request.getfixturevalue(page), width=width)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth") is True
    assert browser.console == []


def test_hostile_names_stay_text(browser: Browser, large_page: Path) -> None:
    """Names with markup run nothing, and are read as they are."""
    browser.open(large_page)
    assert browser.run("window.harm") is None
    assert browser.run("document.images.length") == 0
    assert {HOSTILE, HOSTILE_IMAGE} <= set(column(browser, 0))
    assert browser.console == []


def test_hundreds_of_languages(browser: Browser, large_page: Path) -> None:
    """A page with 460 languages is below 5 MB, shows them all, and asks for nothing but itself."""
    assert large_page.stat().st_size < 5_000_000
    started = time.monotonic()
    browser.open(large_page)
    print(f"opened in {time.monotonic() - started:.2f} s")
    assert len(column(browser, 0)) == N_LANGUAGES
    assert browser.run("performance.getEntriesByType('resource').length") == 0


def test_every_chart_has_its_table(browser: Browser, real_page: Path) -> None:
    """Each figure has a caption, a chart with a name, and a table with as many rows as it says."""
    browser.open(real_page)
    found = browser.run(
        "[...document.querySelectorAll('figure')].map((one) => [one.querySelector('figcaption').textContent,"
        " one.querySelector('svg[role=img]').getAttribute('aria-label'), one.querySelectorAll('tbody tr').length])"
    )
    assert len(found) >= 10
    assert all(caption and caption in label and rows > 0 for caption, label, rows in found)
