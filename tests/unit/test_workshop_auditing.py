"""What a vocabulary wastes."""

import json

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from byteroute_ops.errors import ConfigError
from byteroute_ops.workshop.auditing import Audit, audit, junk_kind
from byteroute_ops.workshop.vocabulary import Vocabulary

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())


def spelled(text: str | bytes) -> str:
    """Returns a text or bytes as byte-level models write it."""
    from byteroute_ops.encoders import BYTE_ALPHABET

    return "".join(BYTE_ALPHABET[byte] for byte in (text.encode() if isinstance(text, str) else text))


EXTRA = [" ,", "====", "мир", "abмир", "日本語の", b"\xe4\xbd", b" \xd0", "2024", "你好", ".com", "  "]


def vocabulary() -> Vocabulary:
    """Returns 256 bytes, the tokens of `EXTRA`, and a special token."""
    vocab = {char: i for i, char in enumerate(ALPHABET)} | {spelled(one): 256 + i for i, one in enumerate(EXTRA)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<s>"])
    return Vocabulary.from_json(tokenizer.to_str().encode(), "tiny")


def audited(used: list[int]) -> Audit:
    """Returns an audit in which some ids occur five times each."""
    found = vocabulary()
    counts = np.zeros(found.n_ids, np.int64)
    counts[used] = 5
    return audit(found, counts)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" ,", "space + punctuation"), ("  .)", "space + punctuation"), ("，", None), (",", None), (" (", None),
        ("====", "repeated character"), ("===", None), ("    ", "repeated character"), ("\n\n", "white space run"),
        (" 2024", "long number"), ("123", None), (",and", "punctuation + word"), (" word", None), ("'s", None),
    ],
)  # fmt: skip
def test_junk(text: str, kind: str | None) -> None:
    """Each kind of junk is what its rule says, and near misses are none."""
    assert junk_kind(text) == kind


def test_junk_fragments_and_mixed_scripts_are_found() -> None:
    """Ids are listed under one kind each; Japanese in three scripts is not mixed; single bytes are no fragments."""
    found = audited([])
    junk = {name: [EXTRA[i - 256] for i in ids] for name, ids in found.junk.items()}
    assert junk == {
        "space + punctuation": [" ,"],
        "repeated character": ["===="],
        "white space run": ["  "],
        "long number": ["2024"],
        "punctuation + word": [".com"],
        "mixed scripts": ["abмир"],
    }
    assert [EXTRA[i - 256] for i in found.fragments] == [b"\xe4\xbd", b" \xd0"]


def test_unused_and_scripts_add_up() -> None:
    """Ids by script sum to the vocabulary, tokens to the corpus; special tokens are not called unused."""
    mir = 256 + EXTRA.index("мир")
    found = audited([mir, ALPHABET.index("a")])
    assert found.n_ids == 256 + len(EXTRA) + 1
    assert found.unused.size == found.n_ids - 1 - 2
    assert mir not in found.unused
    assert sum(row.n_ids for row in found.scripts) == found.n_ids
    assert sum(row.n_tokens for row in found.scripts) == found.n_tokens == 10
    rows = {row.script: row for row in found.scripts}
    assert (rows["Cyrl"].n_ids, rows["Cyrl"].n_unused, rows["Cyrl"].n_tokens) == (1, 0, 5)
    assert rows["Jpan"].n_ids == rows["Hani"].n_ids == 1
    assert rows["Latn"].n_ids == 52 + 2
    assert rows["fragment"].n_ids == 128 + 2
    assert rows["special"].n_ids == 1


def test_embedding_bytes() -> None:
    """Rows times width times bytes, twice unless tied; the unused share likewise."""
    found = audited([0])
    assert found.embedding_bytes(10, "bfloat16", tied=False) == (found.n_ids * 40, found.unused.size * 40)
    assert found.embedding_bytes(10, "float32", tied=True) == (found.n_ids * 40, found.unused.size * 40)
    with pytest.raises(ConfigError, match="known are float32"):
        found.embedding_bytes(10, "int3", tied=True)


def test_a_vocabulary_without_text() -> None:
    """A vocabulary of special tokens alone has nothing to waste."""
    tokenizer = Tokenizer(models.BPE(vocab={"<s>": 0}, merges=[]))
    tokenizer.add_special_tokens(["<s>"])
    found = audit(Vocabulary.from_json(json.dumps(json.loads(tokenizer.to_str())).encode(), "x"), np.zeros(1, np.int64))
    assert found.unused.size == 0
    assert [row.script for row in found.scripts] == ["special"]
