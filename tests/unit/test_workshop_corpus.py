"""The corpus of the workshop: the same documents at every pass, and only those that were asked for."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from byteroute.pipelines.workshop import Corpus, key_reader, open_corpus
from byteroute.pipelines.workshop_train import Mix, take_sample

from byteroute_ops.errors import ConfigError
from byteroute_ops.settings import load_settings

ROWS = [
    {"id": f"{lang}:{n:02}", "lang": lang, "text": f"\ufeff{lang} text {n}", "main": lang != "xx"}
    for n in range(10)
    for lang in ("en", "my", "xx")
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    """30 documents in three languages, two of them on lines of their own that are no JSON."""
    lines = [json.dumps(row) for row in ROWS]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([*lines[:7], "{broken", *lines[7:], "also broken"]))
    return str(path)


def ids(corpus: Corpus) -> list[str]:
    """Returns the ids of a pass."""
    return [doc_id for batch in corpus.batches() for doc_id in batch["doc_id"].to_pylist()]


def opened(file: str, *, where: Any = None, match: str | None = None, **settings: Any) -> Corpus:
    """Returns the corpus of the file."""
    return open_corpus([file], load_settings(settings), where=where, match=match)


def test_passes_are_equal_and_clean(file: str) -> None:
    """Every pass gives all documents in order, without their BOM, and counts what it could not read once."""
    corpus = opened(file)
    wanted = [row["id"] for row in ROWS]
    assert ids(corpus) == ids(corpus) == wanted
    assert corpus.rejected == 2
    texts = [text for batch in corpus.batches() for text in batch["text"].to_pylist()]
    assert texts == [str(row["text"]).removeprefix("\ufeff") for row in ROWS]


def test_documents_are_chosen(file: str) -> None:
    """`where` goes by a field, `match` by the id, `limit` by their number after both, `sample` by a stable hash."""
    assert ids(opened(file, where=("main", "false"))) == [f"xx:{n:02}" for n in range(10)]
    assert ids(opened(file, match=":0[37]$", where=("lang", "my"), limit=1)) == ["my:03"]
    half, all_ = ids(opened(file, sample=0.5)), ids(opened(file))
    assert 0 < len(half) < len(all_)
    assert set(half) < set(all_)


def test_bad_patterns_are_refused(file: str) -> None:
    """Patterns that are no regular expressions, or lack the group, are errors of the caller."""
    with pytest.raises(ConfigError, match="no regular expression"):
        opened(file, match="(")
    with pytest.raises(ConfigError, match="parallel-key"):
        key_reader("(")
    with pytest.raises(ConfigError, match="no input"):
        open_corpus([], load_settings({}))


def test_keys_come_from_the_id_or_the_column() -> None:
    """The language is the group of the pattern where there is one, else the column; other documents have no key."""
    rows = pa.record_batch({"doc_id": ["fr:1", "odd", "my:2"], "lang": ["a", "b", "c"]})
    assert key_reader(r"^(?P<lang>\w+):(?P<unit>\d)$")(rows) == [("fr", "1"), None, ("my", "2")]
    assert key_reader(r":(?P<unit>\d)$")(rows) == [("a", "1"), None, ("c", "2")]
    assert key_reader(None)(rows) == [None] * 3


def test_sample_keeps_to_its_size(file: str) -> None:
    """Each language gives about a third of the characters asked for when all have the same, and passes agree."""
    sample = take_sample(opened(file), Mix(90))
    first = [text for texts, _ in sample.texts() for text in texts.to_pylist()]
    again = [text for texts in sample.by_language().values() for part in texts for text in part.to_pylist()]
    assert sorted(first) == sorted(again)
    assert 60 <= sum(map(len, first)) <= 90
    assert {text[:2] for text in first} == {"en", "my", "xx"}


def test_a_corpus_without_text_is_refused(file: str) -> None:
    """Nothing to train on is an error that says where to look."""
    with pytest.raises(ConfigError, match="no text"):
        take_sample(opened(file, match="nothing"), Mix(90))
