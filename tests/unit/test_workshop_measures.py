"""What `bench` measures, against values worked out by hand."""

import math

import numpy as np
import orjson
import pyarrow as pa
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import Tokens
from byteroute_ops.workshop.measures import Tally, count_sentences, renyi_efficiency
from byteroute_ops.workshop.vocabulary import Vocabulary


def test_renyi_of_uniform_is_one() -> None:
    """All ids equally often: efficiency 1 at every order."""
    for alpha in (0.5, 1, 2.5, 7):
        assert renyi_efficiency([3] * 16, 16, alpha) == pytest.approx(1)


def test_renyi_by_hand() -> None:
    """P = (4, 2, 1, 1) / 8: the power sum at 2.5 is (32 + 4 √2 + 2) / 8^2.5, by hand."""
    power_sum = (32 + 4 * math.sqrt(2) + 2) / (64 * math.sqrt(8))
    assert power_sum == pytest.approx(0.2190752, abs=1e-7)
    assert renyi_efficiency([4, 2, 1, 1], 4) == pytest.approx(-math.log(power_sum) / 1.5 / math.log(4))
    assert renyi_efficiency([4, 2, 1, 1], 4) == pytest.approx(0.730167, abs=1e-6)


def test_renyi_other_orders_by_hand() -> None:
    """Order 2 of (2, 1, 1): the collision sum is 6/16; order 1 is Shannon: 1.5 bits of log2(3)."""
    assert renyi_efficiency([2, 1, 1], 3, 2) == pytest.approx(math.log(16 / 6) / math.log(3))
    assert renyi_efficiency([2, 1, 1], 3, 1) == pytest.approx(1.5 / math.log2(3))
    assert renyi_efficiency([2, 1, 1], 3, 1 + 1e-9) == pytest.approx(1.5 / math.log2(3), abs=1e-5)


def test_renyi_counts_ids_that_do_not_occur() -> None:
    """Zeros change nothing, a larger vocabulary lowers the value by the ratio of the logarithms."""
    assert renyi_efficiency([2, 1, 1, 0, 0], 3) == renyi_efficiency([2, 1, 1], 3)
    assert renyi_efficiency([1, 1], 4) == pytest.approx(0.5)


def test_renyi_of_one_id_is_zero_and_of_none_undefined() -> None:
    """One id for everything carries nothing; no tokens, or a vocabulary of one, have no value."""
    assert renyi_efficiency([9], 10) == 0
    assert math.isnan(renyi_efficiency([], 10))
    assert math.isnan(renyi_efficiency([3], 1))


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        ("One", 1),
        ("One. Two! Three?", 3),
        ("Pi is 3.14.", 1),
        ("a\n\nb\r\nc", 3),
        ("Wait... what?!", 2),
        ("你好。再见！好", 3),
        ("यह एक है। वह दो है।", 2),
        (" . ! ?", 0),
    ],
)
def test_sentences(text: str, n: int) -> None:
    """Sentences end at line breaks, at Latin marks before a space, and at the marks of other scripts."""
    assert count_sentences(segment_batch(pa.array([text], pa.string()))).tolist() == [n]


def test_sentences_do_not_join_documents() -> None:
    """A document's end ends a sentence, and empty documents between change nothing."""
    texts = pa.array(["", "a b", "", "c. d", "", "e.", ""])
    assert count_sentences(segment_batch(texts)).tolist() == [0, 1, 0, 2, 0, 1, 0]
    assert count_sentences(segment_batch(pa.array([], pa.string()))).tolist() == []


def byte_level() -> Vocabulary:
    """Returns a byte-level vocabulary: 256 bytes, é, and a special token."""
    alphabet = {char: i for i, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=alphabet | {"Ã©": 256}, merges=[("Ã", "©")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<s>"])
    return Vocabulary.from_json(tokenizer.to_str().encode(), "tiny")


def tokens_of(*documents: list[int], added: int | None = None, failed: list[int] | None = None) -> Tokens:
    """Returns tokens with the given ids; those equal to `added` are the post-processor's."""
    ids = np.array([one for document in documents for one in document], np.int32)
    offsets = np.cumsum([0, *map(len, documents)])
    none = np.zeros(0, np.int64)
    return Tokens(ids, offsets, ids == added, lambda: (none, none), np.array(failed or [], np.int64))


def test_vocabulary_knows_fragments() -> None:
    """Bytes from 80 on are fragments; a whole character, ASCII and special tokens are not."""
    vocabulary = byte_level()
    assert vocabulary.size == 258
    assert vocabulary.is_fragment.sum() == 128
    assert vocabulary.content[256] == "é".encode()
    assert vocabulary.content[257] is None


def test_tally_adds_up() -> None:
    """Batches add up; added tokens and failed documents count nowhere."""
    vocabulary = byte_level()
    lead = vocabulary.content.index(b"\xc3")
    letter = vocabulary.content.index(b"a")
    tally = Tally(vocabulary)
    batch = tokens_of([257, letter, 256], [257, lead, lead, letter], [], added=257, failed=[2])
    lengths, sentences = np.array([2, 3, 50]), np.array([1, 2, 9])
    tally.add(batch, lengths, sentences, [("en", "1"), ("fr", "1"), None])
    tally.add(tokens_of([letter]), np.array([1]), np.array([1]), [("en", "2")])
    assert (tally.tokens, tally.documents, tally.failed) == (6, 3, 1)
    assert (tally.codepoints, tally.sentences) == (6, 4)
    assert tally.utilisation == 3 / 258
    assert tally.fallback_rate == 2 / 6
    assert tally.unknown_rate == 0
    assert tally.units == {("en", "1"): 2, ("fr", "1"): 3, ("en", "2"): 1}
    assert tally.repeated == set()
    tally.add(tokens_of([letter]), np.array([1]), np.array([1]), [("fr", "1")])
    assert tally.repeated == {"fr"}


def test_unknown_and_fallback_of_other_models() -> None:
    """The unknown token is found by name or number, and `<0xNN>` counts as bytes where the model falls back."""
    pieces = [["<unk>", 0.0], ["<0x41>", -9.0], ["▁a", -1.0]]
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": True}
    wordpiece = {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9,
        "vocab": {"a": 0, "##b": 1, "[UNK]": 2},
    }  # fmt: skip
    first = Vocabulary.from_json(orjson.dumps({"version": "1.0", "model": unigram}), "u")
    assert first.unknown == 0
    assert first.is_fragment.tolist() == [False, True, False]
    assert first.content == (None, b"A", b" a")
    second = Vocabulary.from_json(orjson.dumps({"version": "1.0", "model": wordpiece}), "w")
    assert second.is_unknown.tolist() == [False, False, True]
    assert second.content[1] == b"b"
