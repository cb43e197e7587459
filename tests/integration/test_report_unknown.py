"""Unknown tokens are counted by the run, for every tokenizer that has one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from byteroute.pipelines.report.load import load_run
from byteroute.pipelines.report.model import build_report
from byteroute.pipelines.report.page import render_page
from plain_tokenization import library, unigram, wordpiece, write

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


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_rate_is_what_the_library_gives(made: Made, name: str) -> None:
    """Unknown tokens and their share are those of the library alone on the texts."""
    output = made(name, keep_text=True, ids="none")
    found = build_report(load_run(str(output), LocalFiles())).unknown[0]
    texts = [text for path in (output / "shards").iterdir() for text in pq.read_table(path)["text"].to_pylist()]
    tokenizer = library(MODELS[name]())
    unknown = tokenizer.token_to_id(UNKNOWN[name])
    ids = [one for text in texts for one in tokenizer.encode(text).ids]
    assert found.n_unknown == ids.count(unknown) > 0
    assert found.rate == pytest.approx(ids.count(unknown) / len(ids))
    assert found.reason == "counted by the run"


def test_every_tokenizer_of_a_run_is_counted(made: Made) -> None:
    """The second tokenizer's unknown tokens are counted too, and the page shows both."""
    report = build_report(load_run(str(made("wordpiece", "unigram")), LocalFiles()))
    assert [one.tokenizer for one in report.unknown] == ["wordpiece", "unigram"]
    assert all(one.n_unknown > 0 for one in report.unknown)
    assert render_page(report).count("counted by the run") == 2
