"""Training: whole tokenizers out of small samples."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer

from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization.source import read_source
from byteroute_ops.workshop.training import (
    Recipe,
    common_characters,
    count_characters,
    train,
    train_parity,
)

LINES = [
    "all human beings are born free and equal in dignity and rights",
    "все люди рождаются свободными и равными в своём достоинстве",
    "人人生而自由，在尊严和权利上一律平等。",
    "すべての人間は、生まれながらにして自由である。",
]
TEXTS = pa.array([line for line in LINES for _ in range(40)])


def trained(**changes: Any) -> dict[str, Any]:
    """Returns the JSON of a tokenizer trained on `TEXTS`."""
    recipe = Recipe(**({"kind": "byte-bpe", "vocab_size": 400} | changes))
    alphabet = None
    if recipe.kind != "byte-bpe":
        alphabet = common_characters(count_characters(TEXTS), recipe)
    return dict(json.loads(train(recipe, [TEXTS.slice(0, 80), TEXTS.slice(80)], alphabet)))


def opened(config: dict[str, Any]) -> Tokenizer:
    """Returns the library's tokenizer."""
    return Tokenizer.from_str(json.dumps(config))


@pytest.mark.parametrize(
    ("kind", "known"),
    [("byte-bpe", "byte-level BPE"), ("bpe", "byte-fallback BPE"), ("unigram", "Unigram"), ("wordpiece", "WordPiece")],
)
def test_every_kind_encodes_what_it_saw(kind: str, known: str) -> None:
    """Each kind comes out as the kind it says, decodes its texts without loss and merges."""
    config = trained(kind=kind, vocab_size=800 if kind != "byte-bpe" else 400)
    assert read_source(json.dumps(config).encode(), "t").traits.kind == known
    tokenizer = opened(config)
    for line in LINES:
        ids = tokenizer.encode(line).ids
        assert len(ids) < len(line)
        assert tokenizer.decode(ids, skip_special_tokens=False) == line


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_unseen_characters_fall_back_to_bytes(kind: str) -> None:
    """A character that was never seen becomes its UTF-8 bytes, and decodes."""
    config = trained(kind=kind, vocab_size=800)
    tokenizer = opened(config)
    encoding = tokenizer.encode("ሰላም")
    assert encoding.tokens == [f"<0x{byte:02X}>" for byte in "ሰላም".encode()]
    assert tokenizer.decode(encoding.ids) == "ሰላም"
    assert tokenizer.get_vocab_size() <= 800


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_byte_tokens_are_no_text(kind: str) -> None:
    """A text that spells a byte token is spelled out, not taken for the byte."""
    tokenizer = opened(trained(kind=kind, vocab_size=800))
    encoding = tokenizer.encode("<0x41>")
    assert "<0x41>" not in encoding.tokens
    assert tokenizer.decode(encoding.ids) == "<0x41>"


def test_ids_are_dense_and_specials_come_first() -> None:
    """No hole in the ids, whatever was put in between; specials keep their number."""
    for kind in ("byte-bpe", "bpe", "unigram", "wordpiece"):
        tokenizer = opened(trained(kind=kind, vocab_size=800, special=("<a>", "<b>")))
        ids = sorted(tokenizer.get_vocab().values())
        assert ids == list(range(len(ids)))
        first = 0 if kind == "byte-bpe" else 1
        assert tokenizer.token_to_id("<a>") == first
        assert tokenizer.encode("x<b>").ids[-1] == first + 1


def test_training_is_repeatable_and_batches_do_not_matter() -> None:
    """The same texts give the same bytes, in one batch or many."""
    recipe = Recipe(kind="byte-bpe", vocab_size=400, on="routed", cuts="segments")
    one = train(recipe, [TEXTS])
    assert one == train(recipe, [TEXTS.slice(i, 1) for i in range(len(TEXTS))])


def test_cut_text_trains_like_text_where_nothing_is_routed() -> None:
    """With nothing routed, spelled pre-tokens and the library's own give the same merges."""
    router = Router(load_policy("utf-8"))
    whole = trained()
    assert trained(cuts="segments", router=router)["model"] == whole["model"]
    assert trained(on="routed", cuts="segments", router=router)["model"] == whole["model"]


def test_routed_training_merges_payload() -> None:
    """Training on routed bytes learns the markers and UTF-16 units, and saves on routed streams."""
    router = Router(load_policy("script-a"))
    config = trained(on="routed", cuts="segments", router=router)
    vocab = config["model"]["vocab"]
    assert "ï¤Ģ" in vocab  # EF A4 80, the marker of big-endian segments
    routed = route_segmentation(segment_batch(pa.array(LINES)), router)
    from byteroute_ops.tokenization.payload import PayloadBpe

    bounds = routed.doc_routed
    encoded = PayloadBpe(opened(config), {}).encode(routed.data, bounds[:-1], bounds[1:])
    assert encoded.ids.size < routed.data.size / 2


def test_parity_helps_the_language_that_is_worst_off() -> None:
    """Balanced by parallel text, the language with a hundredth of the data gets shorter sequences."""
    texts = {"en": [pa.array([LINES[0]] * 200 + [str(n) * 3 for n in range(500)])], "ru": [pa.array([LINES[1]] * 2)]}
    dev = {"en": [pa.array(LINES[:1])], "ru": [pa.array(LINES[1:2])]}
    plain = opened(json.loads(train(Recipe(kind="byte-bpe", vocab_size=300), [*texts["en"], *texts["ru"]])))
    data = train_parity(Recipe(kind="parity-bpe", vocab_size=300, min_frequency=1), texts, dev)
    fair = opened(json.loads(data))
    assert len(fair.encode(LINES[1]).ids) < len(plain.encode(LINES[1]).ids)
    assert fair.get_vocab_size() == 300


def test_parity_needs_every_language_in_parallel() -> None:
    """A language of the sample without parallel text is named."""
    with pytest.raises(ConfigError, match="none of ru"):
        train_parity(Recipe(kind="parity-bpe", vocab_size=300), {"ru": [TEXTS]}, {"en": [TEXTS]})


def test_alphabet_covers_the_most_frequent() -> None:
    """Coverage decides how many characters get a token, frequency which; the vocabulary's size is a limit."""
    counts = count_characters(pa.array(["aaaabbbc", "d"]))
    recipe = Recipe(kind="bpe", vocab_size=300, coverage=0.7)
    assert np.flatnonzero(common_characters(counts, recipe)).tolist() == [ord("a"), ord("b")]
    everything = common_characters(np.ones(0x110000, np.int64), Recipe(kind="wordpiece", vocab_size=400, coverage=1))
    assert everything.sum() == 100


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "bpe-ish"}, "known are byte-bpe"),
        ({"vocab_size": 100}, "too small"),
        ({"coverage": 0}, "coverage"),
        ({"on": "routed"}, "cuts 'regex' is for text"),
        ({"kind": "unigram", "on": "routed"}, "works on characters"),
        ({"kind": "bpe", "cuts": "segments"}, "works on characters"),
    ],
)
def test_recipes_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    """Wrong settings are errors that say what is allowed."""
    with pytest.raises(ConfigError, match=message):
        Recipe(**({"kind": "byte-bpe", "vocab_size": 400} | changes))


def test_parity_is_not_trained_without_languages() -> None:
    """`train` refuses the kind that needs languages."""
    with pytest.raises(ConfigError, match="train_parity"):
        train(Recipe(kind="parity-bpe", vocab_size=400), [TEXTS])
