"""Pruned tokenizers give the old ids, through the map, wherever no pruned token is involved."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from byteroute_ops.errors import ConfigError
from byteroute_ops.workshop.pruning import Pruned, prune
from byteroute_ops.workshop.training import Recipe, common_characters, count_characters, train
from byteroute_ops.workshop.vocabulary import Vocabulary

WORDS = ["born", "free", "equal", "dignity", "rights", "human", "свободными", "равными", "достоинство", "人人生而自由"]
LINES = [" ".join(WORDS[i:] + WORDS[:i]) for i in range(len(WORDS))] * 6
SOME = "born free rights свободными"


def source(kind: str) -> bytes:
    """Returns a tokenizer.json of a kind, trained on `LINES`."""
    texts = pa.array(LINES)
    recipe = Recipe(kind=kind, vocab_size=450 if kind == "byte-bpe" else 500)  # type: ignore[arg-type]
    return train(recipe, [texts], common_characters(count_characters(texts), recipe))


SOURCES = {kind: source(kind) for kind in ("byte-bpe", "bpe", "unigram", "wordpiece")}


def pruned_to(data: bytes, texts: list[str], min_count: int = 1) -> tuple[Tokenizer, Tokenizer, Pruned]:
    """Returns the old tokenizer, the new one, and what pruning to the ids of texts did."""
    vocabulary = Vocabulary.from_json(data, "t")
    old = Tokenizer.from_str(data.decode())
    counts = np.zeros(vocabulary.n_ids, np.int64)
    for text in texts:
        np.add.at(counts, old.encode(text, add_special_tokens=False).ids, 1)
    done = prune(data, vocabulary, counts >= min_count)
    return old, Tokenizer.from_str(done.json.decode()), done


def assert_same_where_kept(old: Tokenizer, new: Tokenizer, done: Pruned, text: str) -> bool:
    """Checks one text; returns whether it holds no pruned token, so that ids had to be equal."""
    before = old.encode(text).ids
    mapped = done.new_ids[before]
    after = new.encode(text).ids
    if (mapped >= 0).all():
        assert after == mapped.tolist()
        return True
    return False


@pytest.mark.parametrize("kind", SOURCES)
def test_kept_ids_keep_their_texts(kind: str) -> None:
    """Texts of kept tokens have the old ids through the map; the vocabulary is smaller; ids are dense."""
    old, new, done = pruned_to(SOURCES[kind], [SOME])
    assert new.get_vocab_size() == done.kept.size < old.get_vocab_size()
    assert sorted(new.get_vocab().values()) == list(range(done.kept.size))
    assert assert_same_where_kept(old, new, done, SOME)
    for index, place in enumerate(done.kept.tolist()):
        assert new.id_to_token(index) == old.id_to_token(place)


@pytest.mark.parametrize("kind", SOURCES)
@given(st.lists(st.sampled_from([*WORDS, "bornfree", "равно", "自由人", "x", "free."]), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_equal_ids_without_pruned_tokens(kind: str, words: list[str]) -> None:
    """Any text whose old ids are all kept has the same ids; other texts lose nothing."""
    old, new, done = pruned_to(SOURCES[kind], [SOME])
    text = " ".join(words)
    if not assert_same_where_kept(old, new, done, text):
        # Dropped tokens fall apart; nothing becomes unknown that was not.
        assert new.decode(new.encode(text).ids) == old.decode(old.encode(text).ids)


@pytest.mark.parametrize("kind", SOURCES)
def test_any_text_survives(kind: str) -> None:
    """Pruned to nothing but the base, every text the old tokenizer could encode can be encoded still."""
    old, new, _ = pruned_to(SOURCES[kind], [])
    for line in LINES[:10]:
        assert new.decode(new.encode(line).ids) == old.decode(old.encode(line).ids) == line


def test_ancestors_are_kept() -> None:
    """A kept token's parts stay, however rare: without them it could not be made."""
    alphabet = {char: i for i, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    vocab = alphabet | {"ab": 256, "cd": 257, "abcd": 258, "xy": 259}
    library = Tokenizer(models.BPE(vocab=vocab, merges=[("a", "b"), ("c", "d"), ("ab", "cd"), ("x", "y")]))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    old, new, done = pruned_to(library.to_str().encode(), ["abcd"])
    assert done.kept.tolist() == [*range(256), 256, 257, 258]
    assert done.reasons == {"frequent": 1, "base": 256, "ancestors": 2}
    assert new.encode("abcd").tokens == ["abcd"]
    assert new.encode("xy").tokens == ["x", "y"]
    assert assert_same_where_kept(old, new, done, "abcd cd ab q")


def test_the_run_decides_which_merge_counts() -> None:
    """Of two merges that make one token, the parts of the one that is used are kept, the others are not."""
    alphabet = {char: i for i, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    vocab = alphabet | {"bc": 256, "ab": 257, "abc": 258}
    library = Tokenizer(models.BPE(vocab=vocab, merges=[("b", "c"), ("a", "b"), ("ab", "c"), ("a", "bc")]))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    _, new, done = pruned_to(library.to_str().encode(), ["abc"])
    assert 256 in done.kept
    assert 257 not in done.kept
    assert new.encode("abc").tokens == ["abc"]


def test_post_processor_and_added_tokens_move() -> None:
    """BOS and EOS, wherever their ids were, are put round texts with their new ids."""
    config: dict[str, Any] = json.loads(SOURCES["byte-bpe"])
    library = Tokenizer.from_str(json.dumps(config))
    library.add_special_tokens(["<s>", "</s>"])
    first, last = library.token_to_id("<s>"), library.token_to_id("</s>")
    template = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", first), ("</s>", last)])
    library.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    old, new, done = pruned_to(library.to_str().encode(), [SOME])
    ids = new.encode(SOME).ids
    assert [new.id_to_token(ids[0]), new.id_to_token(ids[-1])] == ["<s>", "</s>"]
    assert ids[0] == done.new_ids[first] != first
    assert assert_same_where_kept(old, new, done, SOME + "</s> free")


@pytest.mark.parametrize("make", [processors.BertProcessing, processors.RobertaProcessing])
def test_pairs_of_bert_processors_move(make: Any) -> None:
    """Processors that hold (token, id) pairs get the new ids too."""
    library = Tokenizer.from_str(SOURCES["byte-bpe"].decode())
    library.add_special_tokens(["[CLS]", "[SEP]"])
    pairs = [("[SEP]", library.token_to_id("[SEP]")), ("[CLS]", library.token_to_id("[CLS]"))]
    library.post_processor = make(*pairs)
    old, new, done = pruned_to(library.to_str().encode(), [SOME])
    assert assert_same_where_kept(old, new, done, SOME)


def test_unigram_keeps_scores_and_the_lowest() -> None:
    """Scores are the old ones, and so is the lowest, on which the unknown token's score hangs."""
    before = dict(json.loads(SOURCES["unigram"])["model"]["vocab"])
    _, _, done = pruned_to(SOURCES["unigram"], [SOME])
    model = json.loads(done.json)["model"]
    assert all(before[piece] == score for piece, score in model["vocab"])
    assert min(score for _, score in model["vocab"]) == min(before.values())
    assert model["vocab"][model["unk_id"]][0] == "<unk>"


def test_rarer_than_wanted_goes() -> None:
    """A higher threshold keeps no id that a lower one drops, and fewer of them."""
    texts = [SOME, SOME, "born"]
    kept = [set(pruned_to(SOURCES["byte-bpe"], texts, n)[2].kept.tolist()) for n in (1, 3, 9)]
    assert kept[0] > kept[1] > kept[2]


def test_models_that_cannot_be_pruned_are_refused() -> None:
    """A word list, and a BPE with marks inside words, are errors."""
    words = Tokenizer(models.WordLevel({"a": 0})).to_str().encode()
    with pytest.raises(ConfigError, match="cannot prune a WordLevel"):
        prune(words, Vocabulary.from_json(words, "w"), np.ones(1, np.bool_))
    marked = Tokenizer(models.BPE({"a": 0, "##b": 1}, [], continuing_subword_prefix="##")).to_str().encode()
    with pytest.raises(ConfigError, match="marks parts of words"):
        prune(marked, Vocabulary.from_json(marked, "m"), np.ones(2, np.bool_))
