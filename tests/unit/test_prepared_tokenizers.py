"""Tokenizers that another process has read and checked, and the form in which engines load them."""

import json
import pickle
from pathlib import Path
from typing import Any

import plain_tokenization as plain
import pyarrow as pa
import pytest
from tokenizers import Tokenizer

from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import adopt_tokenizer, open_tokenizer
from byteroute_ops.tokenization.bare import bare_json
from byteroute_ops.tokenization.hf import ReferenceEngine
from byteroute_ops.tokenization.model_file import ModelTokenizer
from byteroute_ops.tokenization.source import read_source

TEXTS = ["Hello, world!", "", "Привет 你好 नमस्ते", "a\uf904b 🇩🇪 the", "can't 12345"]


def adopted(path: Path, place: Path, **options: Any) -> ModelTokenizer:
    """Returns the tokenizer of a file as another process would have it, under the name of a file that is not there."""
    prepared = pickle.loads(pickle.dumps(open_tokenizer(path, **options).prepared()))  # noqa: S301
    adopt_tokenizer(prepared, place, **options)
    tokenizer = open_tokenizer(place, **options)
    assert isinstance(tokenizer, ModelTokenizer)
    return tokenizer


@pytest.mark.parametrize("make", [plain.byte_level, plain.byte_fallback, plain.unigram, plain.wordpiece])
@pytest.mark.parametrize("special", [True, False])
def test_an_adopted_tokenizer_is_the_prepared_one(make: Any, special: bool, tmp_path: Path) -> None:
    """Ids, spans, routed ids, engine, note and fingerprint are those of the process that read the file."""
    path = plain.write(make(), tmp_path)
    ours = open_tokenizer(path, add_special_tokens=special, parallel=False)
    theirs = adopted(path, tmp_path / "absent.json", add_special_tokens=special, parallel=False)
    seg = segment_batch(plain.strings(*TEXTS))
    routed = route_segmentation(seg, Router(load_policy("script-a")))
    for one, other in [
        (ours.text(plain.strings(*TEXTS)), theirs.text(plain.strings(*TEXTS))),
        (ours.routed(routed), theirs.routed(routed)),
    ]:
        if one is None or other is None:
            assert one is other
            continue
        assert plain.documents_of(one) == plain.documents_of(other)
        assert (one.starts.tolist(), one.ends.tolist()) == (other.starts.tolist(), other.ends.tolist())
    assert (ours.engine, ours.note, ours.vocab_size) == (theirs.engine, theirs.note, theirs.vocab_size)
    assert ours.fingerprint() == theirs.fingerprint()


def test_bytes_need_no_preparation() -> None:
    """There is no file to read."""
    assert open_tokenizer("bytes").prepared() is None


def test_the_reference_is_made_when_it_is_needed(tmp_path: Path) -> None:
    """Beside a fast engine that has been checked, plain text and its spans go without; payload bytes need its model."""
    pytest.importorskip("gigatoken", reason="needs the extra fast")
    tokenizer = adopted(plain.write(plain.byte_level(), tmp_path), tmp_path / "absent.json")
    texts = plain.strings("plain words", "more of them")
    tokens = tokenizer.text(texts)
    assert tokens.ends[-1] == sum(len(text.as_py()) for text in texts)
    assert tokenizer.routed(routed_under("utf-8", texts), tokens) is not None
    assert tokenizer.fingerprint()["vocab_size"] == tokenizer.vocab_size
    assert not tokenizer._reference.is_loaded
    assert tokenizer.routed(routed_under("script-a", plain.strings("Привет мир नमस्ते"))) is not None
    assert tokenizer._reference.is_loaded


def routed_under(policy: str, texts: pa.StringArray) -> Any:
    """Returns the routed streams of texts."""
    return route_segmentation(segment_batch(texts), Router(load_policy(policy)))


def test_a_file_that_the_library_refuses_is_refused_when_opened(tmp_path: Path) -> None:
    """Although the library's object is made late, nobody gets a tokenizer that cannot work."""
    config = plain.byte_level()
    config["model"]["merges"].append(["no", "such tokens"])
    with pytest.raises(ConfigError, match="refuses the file"):
        open_tokenizer(plain.write(config, tmp_path))
    config["model"]["merges"][-1] = [1, 2]
    with pytest.raises(ConfigError, match="refuses the file"):
        open_tokenizer(plain.write(config, tmp_path, "numbers.json"))


def test_both_forms_of_merges_are_one_tokenizer() -> None:
    """Pairs become strings, which changes neither what the library makes of them nor the digest."""
    config = plain.byte_level()
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in config["model"]["merges"]]
    strings = list(map(" ".join, pairs))
    sources = [
        read_source(json.dumps(config | {"model": config["model"] | {"merges": merges}}).encode(), "x")
        for merges in (pairs, strings)
    ]
    assert sources[0].json == sources[1].json
    assert sources[0].digest == sources[1].digest
    assert json.loads(sources[0].json)["model"]["merges"] == strings
    whole = Tokenizer.from_str(json.dumps(config))
    pieces = [text.encode() for text in TEXTS]
    expected = [index for one in whole.encode_batch(TEXTS, add_special_tokens=False) for index in one.ids]
    assert ReferenceEngine(sources[0]).encode(pieces).ids.tolist() == expected


@pytest.mark.parametrize("merge", [["a b", "c"], ["a", " "], ["#version", "x"], ["", "a", "b"]])
def test_merges_that_a_string_cannot_hold_stay_pairs(merge: list[str]) -> None:
    """Parts with a space, and what the older form takes for a comment."""
    merges = [["t", "h"], merge]
    assert json.loads(bare_json({"model": {"merges": merges}}))["model"]["merges"] == merges
