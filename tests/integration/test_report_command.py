"""The command `byteroute report` on real outputs of either shard format."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.cli import main
from byteroute.pipelines.report.load import load_run
from byteroute.pipelines.report.scan import scan_shards
from click.testing import CliRunner, Result

from byteroute_ops.files import LocalFiles

KEY = r"^udhr:(?P<lang>[^:]+):(?P<unit>art\d\d)$"


@pytest.fixture(scope="module")
def outputs(
    tmp_path_factory: pytest.TempPathFactory, data_dir: Path, run_inline: Callable[..., Any]
) -> dict[str, Path]:
    """Outputs of one run over the small corpus in several shards, as Parquet and as Avro."""
    folder = tmp_path_factory.mktemp("outputs")
    for shard_format in ("parquet", "avro"):
        run_inline(
            [data_dir / "udhr_small.jsonl"],
            folder / shard_format,
            shard_format=shard_format,
            range_bytes=10_000,
            keep=("script",),
        )
    return {path.name: path for path in folder.iterdir()}


def report(*arguments: str | Path) -> Result:
    """Returns what the command did."""
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_files_and_summary(outputs: dict[str, Path], tmp_path: Path) -> None:
    """The page, tables and charts are written, the summary is printed, the run itself stays as it was."""
    before = sorted(path.name for path in outputs["parquet"].rglob("*"))
    done = report(outputs["parquet"], "-o", tmp_path / "out", "--parallel-key", KEY, "--reference", "eng")
    assert (done.exit_code, done.exception) == (0, None)
    assert done.stdout.startswith("Which languages pay most?")
    assert "report.html and" in done.stderr
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {
        "report.html",
        "report.json",
        "tables/languages.csv",
        "tables/premiums.json",
        "charts/premiums.svg",
    } <= names
    assert sorted(path.name for path in outputs["parquet"].rglob("*")) == before


def test_both_shard_formats_give_the_same_tables(outputs: dict[str, Path], tmp_path: Path) -> None:
    """What the shards are written in is seen in no table."""
    tables = []
    for name in ("parquet", "avro"):
        assert (
            report(outputs[name], "-o", tmp_path / name, "--quiet", "--parallel-key", KEY, "--reference", "eng").output
            == ""
        )
        tables.append({path.name: path.read_bytes() for path in (tmp_path / name / "tables").iterdir()})
    assert tables[0] == tables[1]


def test_condition_on_a_kept_column(outputs: dict[str, Path], tmp_path: Path) -> None:
    """--parallel-where compares the documents with that value only."""
    options = ["--parallel-key", KEY, "--reference", "eng", "--parallel-where", "script=Latn"]
    assert report(outputs["parquet"], "-o", tmp_path / "out", "--quiet", *options).exit_code == 0
    premiums = (tmp_path / "out" / "tables" / "premiums.csv").read_text().splitlines()
    assert 2 < len(premiums) < 40


def test_sample_is_spread_and_stated(outputs: dict[str, Path], tmp_path: Path) -> None:
    """A small sample is taken from several shards, is no larger than asked for by much, and the page says so."""
    sample = scan_shards(load_run(str(outputs["parquet"]), LocalFiles()), sample_bytes=4_000, sample_shards=3)
    assert sample.shards == 3 < sample.of_shards
    assert 4_000 <= sample.utf8_bytes < 12_000 < sample.of_utf8_bytes
    report(outputs["parquet"], "-o", tmp_path / "out", "--quiet", "--sample-bytes", "4000")
    assert "A sample was looked at" in (tmp_path / "out" / "report.html").read_text()
    report(outputs["parquet"], "-o", tmp_path / "all", "--quiet")
    assert "All documents were looked at" in (tmp_path / "all" / "report.html").read_text()


@pytest.mark.parametrize("line", ["{broken", '{"id": "1", "text": ""}'])
def test_nothing_to_report(line: str, tmp_path: Path, run_inline: Callable[..., Any]) -> None:
    """A run without a document, or without a character, has a report that divides by nothing."""
    (tmp_path / "in.jsonl").write_text(line)
    run_inline([tmp_path / "in.jsonl"], tmp_path / "out")
    done = report(tmp_path / "out")
    assert (done.exit_code, done.exception) == (0, None)
    assert "No language has enough text to say." in done.stdout
    assert "nan" not in (tmp_path / "out-report" / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--parallel-where", "script=Latn"], "needs --parallel-key"),
        (["--parallel-key", KEY, "--parallel-where", "script"], "COLUMN=VALUE"),
        (["--parallel-key", KEY, "--reference", "eng", "--parallel-where", "url=x"], "no column 'url'"),
        (["--weights", "absent.csv"], "absent.csv"),
    ],
)
def test_wrong_use(outputs: dict[str, Path], arguments: list[str], says: str) -> None:
    """Exit 2, a message that names the flag or file, no traceback."""
    done = report(outputs["parquet"], "--quiet", *arguments)
    assert done.exit_code == 2
    assert says in done.output
    assert "Traceback" not in done.output


def test_never_into_the_run(outputs: dict[str, Path]) -> None:
    """The report is not put among the files that the manifest lists."""
    done = report(outputs["parquet"], "-o", f"{outputs['parquet']}/")
    assert (done.exit_code, "is the run itself" in done.output) == (2, True)


def test_unfinished_or_damaged_output(outputs: dict[str, Path], tmp_path: Path) -> None:
    """No manifest, no budget, or a cut shard: exit 2 with the name of the file."""
    copy = tmp_path / "copy"
    shutil.copytree(outputs["parquet"], copy)
    shard = min((copy / "shards").iterdir())
    shard.write_bytes(shard.read_bytes()[:-100])
    done = report(copy)
    assert (done.exit_code, shard.name in done.output) == (2, True)
    (copy / "budgets" / "languages.parquet").unlink()
    done = report(copy)
    assert (done.exit_code, "languages.parquet" in done.output) == (2, True)
    (copy / "manifest.json").unlink()
    done = report(copy)
    assert (done.exit_code, "manifest.json" in done.output) == (2, True)
