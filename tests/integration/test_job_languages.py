"""Where a document's language comes from, and what a tokenizer does not know."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import tokenizers

from byteroute_ops.errors import ConfigError

SWAHILI = "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa. Wote wamejaliwa akili na dhamiri."


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Four documents: a tag to canonicalize, one told by its path, one by its text, one by nothing."""
    folder = tmp_path / "in"
    for name, records in {
        "ca/a.jsonl": [{"id": "1", "text": "hello", "lang": "EN_us"}, {"id": "2", "text": "hola"}],
        "x/b.jsonl": [{"id": "3", "text": SWAHILI}, {"id": "4", "text": "…"}],
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / name).write_text(lines, encoding="utf-8")
    return folder


def langs(output: Path) -> dict[str, str]:
    """Returns the language of each document in the shards."""
    rows = [row for path in sorted((output / "shards").iterdir()) for row in pq.read_table(path).to_pylist()]
    return {row["doc_id"]: row["lang"] for row in rows}


def test_languages_come_from_record_then_path(run_inline: Any, mixed: Path, tmp_path: Path) -> None:
    """Tags are canonical; a pattern finds the tag in the name of the source; the rest is `und`."""
    manifest = run_inline([mixed], tmp_path / "out", lang_pattern=r"^(?P<lang>[a-z]{2})/")
    assert langs(tmp_path / "out") == {"1": "en-US", "2": "ca", "3": "und", "4": "und"}
    found = {"record": 1, "path": 1, "identified": 0, "undetermined": 2}
    assert manifest["totals"]["languages"] == found
    budget = pq.read_table(tmp_path / "out" / "budgets" / "languages.parquet").to_pylist()
    assert {row["lang"]: row["documents"] for row in budget} == {"en-US": 1, "ca": 1, "und": 2}


def test_languages_are_identified_when_asked(run_inline: Any, mixed: Path, tmp_path: Path) -> None:
    """What neither record nor path tells is identified from the text; too little text stays `und`."""
    pytest.importorskip("pycld2", reason="needs the extra lid")
    manifest = run_inline([mixed], tmp_path / "out", lang_pattern=r"^(?P<lang>[a-z]{2})/", identify_languages=True)
    assert langs(tmp_path / "out") == {"1": "en-US", "2": "ca", "3": "sw", "4": "und"}
    assert manifest["totals"]["languages"]["identified"] == 1


def test_a_pattern_that_is_none_is_wrong_use(run_inline: Any, mixed: Path, tmp_path: Path) -> None:
    """A bad pattern is told before any work is done."""
    with pytest.raises(ConfigError, match="pattern"):
        run_inline([mixed], tmp_path / "out", lang_pattern="(")


def test_unknown_tokens_are_counted(run_inline: Any, mixed: Path, tmp_path: Path) -> None:
    """A WordPiece model that knows one word reports how many tokens stand for nothing."""
    model = tokenizers.models.WordPiece({"[UNK]": 0, "hello": 1, "hola": 2}, unk_token="[UNK]")  # noqa: S106 - no password
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "words.json"))
    manifest = run_inline([mixed], tmp_path / "out", tokenizers=[str(tmp_path / "words.json"), "bytes"])
    expected = len(tokenizer.encode(SWAHILI).ids) + 1
    assert manifest["totals"]["unknown_tokens"] == {"words": expected}
