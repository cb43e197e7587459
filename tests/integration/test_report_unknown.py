"""Unknown tokens are counted where they can be, and otherwise the report says why not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from byteroute.pipelines.report.load import load_run
from byteroute.pipelines.report.model import Report, build_report
from byteroute.pipelines.report.page import render_page
from plain_tokenization import library, unigram, wordpiece, write

from byteroute_ops.errors import ConfigError
from byteroute_ops.files import LocalFiles

MODELS = {"wordpiece": wordpiece, "unigram": unigram}
UNKNOWN = {"wordpiece": "[UNK]", "unigram": "<unk>"}
Made = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path, data_dir: Path, run_inline: Callable[..., Any]) -> Made:
    """Returns a function that runs the small corpus through models and returns the output."""

    def run(*names: str, **settings: Any) -> Path:
        files = tuple(str(write(MODELS[name](), tmp_path, f"{name}.json")) for name in names)
        run_inline([data_dir / "udhr_small.jsonl"], tmp_path / "out", tokenizers=files, **settings)
        return tmp_path / "out"

    return run


def report_on(output: Path, tokenizer: Path | None = None) -> Report:
    """Returns the report on an output."""
    return build_report(
        load_run(str(output), LocalFiles()), tokenizer_file=None if tokenizer is None else str(tokenizer)
    )


@pytest.mark.parametrize("name", sorted(MODELS))
def test_counted_with_the_file(made: Made, name: str, tmp_path: Path) -> None:
    """With the tokenizer's file the rate is what the library alone gives on the texts."""
    output = made(name, keep_text=True)
    found = report_on(output, tmp_path / f"{name}.json").unknown[0]
    texts = [text for path in (output / "shards").iterdir() for text in pq.read_table(path)["text"].to_pylist()]
    tokenizer = library(MODELS[name]())
    unknown = tokenizer.token_to_id(UNKNOWN[name])
    ids = [one for text in texts for one in tokenizer.encode(text).ids]
    assert found.n_unknown == ids.count(unknown) > 0
    assert found.rate == pytest.approx(ids.count(unknown) / len(ids))
    assert found.reason == f"counted in the shards, id {unknown}"


def test_not_counted_without_the_file(made: Made) -> None:
    """Without the file the rate is none, and the page says what to give; other tokenizers have no ids to look at."""
    report = report_on(made("wordpiece", "unigram"))
    assert [one.n_unknown for one in report.unknown] == [None, None]
    page = render_page(report)
    assert "needs the tokenizer&#x27;s file (--tokenizer)" in page
    assert "the shards hold the first tokenizer&#x27;s ids" in page


def test_another_tokenizers_file_is_refused(made: Made, tmp_path: Path) -> None:
    """A file with other contents would give the wrong id."""
    output = made("wordpiece")
    other = write(unigram(), tmp_path, "other.json")
    with pytest.raises(ConfigError, match="not the run's tokenizer 'wordpiece'"):
        report_on(output, other)
    with pytest.raises(ConfigError, match="No such file"):
        report_on(output, tmp_path / "none.json")


def test_without_text_ids_nothing_is_counted(made: Made, tmp_path: Path) -> None:
    """Shards without ids, or with those of routed streams, cannot tell."""
    found = report_on(made("wordpiece", ids="none"), tmp_path / "wordpiece.json").unknown[0]
    assert (found.n_unknown, "setting ids" in found.reason) == (None, True)
