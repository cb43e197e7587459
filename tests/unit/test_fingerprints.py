"""Fingerprints change with what changes ids, and with nothing else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import plain_tokenization as plain
import pytest

from byteroute_ops.fingerprints import NASTY_TEXTS, behavioural_digest, run_fingerprint, structural_digest
from byteroute_ops.tokenization import open_tokenizer

COMMON: dict[str, Any] = {
    "tokenizers": [{"structural": "1"}], "policy": {"kind": "table"}, "framing": "control", "profile": "bytes",
    "barrier": False, "unicode_version": "18.0.0", "settings": {"zwsp": "keep"},
}  # fmt: skip


def test_nasty_texts_are_nasty() -> None:
    """The fixed texts hold every byte value, joiners, both normal forms, whitespace runs and the stream's markers."""
    everything = "".join(NASTY_TEXTS)
    assert set(map(chr, range(256))) <= set(everything)
    for part in (
        "\u200d",
        "\u200c",
        "e\u0301",
        "\u00e9",
        "\r\n",
        "   ",
        "\uf904",
        "<|endoftext|>",
        "[CLS]",
        "I'm",
        "\ufeff",
    ):
        assert part in everything


@pytest.mark.parametrize(
    "change",
    [
        {"normalizer": {"type": "NFC"}},
        {"pre_tokenizer": None},
        {"post_processor": plain.template({"[PAD]": 0}, {})},
        {"added_tokens": []},
        {"model": plain.wordpiece()["model"] | {"unk_token": "[PAD]"}},
        {"model": plain.wordpiece()["model"] | {"vocab": {"[UNK]": 0}}},
    ],
)
def test_structure_that_decides_ids_counts(change: dict[str, Any]) -> None:
    """Each part of the file that can change ids changes the structural digest."""
    assert structural_digest(plain.wordpiece() | change) != structural_digest(plain.wordpiece())


def test_spelling_and_padding_do_not_count() -> None:
    """Key order, how merges are written, decoder, truncation and padding leave the structural digest alone."""
    config = plain.byte_fallback()
    other = dict(reversed(config.items())) | {"decoder": {"type": "ByteFallback"}, "padding": {}, "truncation": {}}
    other["model"] = config["model"] | {"merges": [" ".join(pair) for pair in config["model"]["merges"]]}
    other["added_tokens"] = config["added_tokens"][::-1]
    assert structural_digest(other) == structural_digest(config)


def test_behaviour_is_ids_document_by_document() -> None:
    """Moving an id over a document's edge changes the digest."""
    left = [np.array([1, 2], np.int32), np.array([3], np.int32)]
    right = [np.array([1], np.int32), np.array([2, 3], np.int32)]
    assert behavioural_digest(left) != behavioural_digest(right)
    assert behavioural_digest(left) == behavioural_digest(iter(left))


def test_fingerprint_does_not_depend_on_engine_or_place(tmp_path: Path) -> None:
    """The same file under another path, with another engine, is the same tokenizer; other special tokens are not."""
    (tmp_path / "a").mkdir()
    config = plain.byte_level(post_processor=plain.template({"<|endoftext|>": 0}, {}))
    first, second = plain.write(config, tmp_path), plain.write(config, tmp_path / "a")
    fingerprint = open_tokenizer(first, "tokenizers").fingerprint()
    assert fingerprint == open_tokenizer(second, "auto").fingerprint()
    assert fingerprint != open_tokenizer(first, "tokenizers", add_special_tokens=False).fingerprint()
    json.dumps(fingerprint)


@pytest.mark.parametrize(
    "change",
    [
        {"tokenizers": [{"structural": "2"}]}, {"policy": {"kind": "optimal"}}, {"framing": "bom"}, {"profile": "text"},
        {"barrier": True}, {"unicode_version": "17.0.0"}, {"settings": {"zwsp": "strip"}},
    ],
)  # fmt: skip
def test_run_fingerprint_covers_every_part(change: dict[str, Any]) -> None:
    """Each part of a run that changes ids changes the digest of the run."""
    assert run_fingerprint(**COMMON | change)["sha256"] != run_fingerprint(**COMMON)["sha256"]
    assert run_fingerprint(**COMMON) == run_fingerprint(**dict(reversed(COMMON.items())))


def test_bundled_tokenizer_is_the_one_that_shards_were_made_with() -> None:
    """Retraining the bundled tokenizer is a visible change: its ids are in stored shards and in the documentation."""
    fingerprint = open_tokenizer("default").fingerprint()
    assert fingerprint["kind"] == "byte-level BPE"
    assert fingerprint["vocab_size"] == 12288
    assert fingerprint["structural"].startswith("7be27cdb81582925")
    assert fingerprint["behavioural"].startswith("877bdefb68c06719")
