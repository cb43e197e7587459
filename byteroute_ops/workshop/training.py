"""Training: a stream of texts in, a tokenizer.json out.

Every kind gets the pre-tokens of `pretokens.PATTERN`, so that kinds differ in their model alone. The library counts
pre-tokens while texts stream by: memory follows the number of different ones, which the size of the sample bounds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.errors import ConfigError
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.workshop.assembly import with_byte_tokens
from byteroute_ops.workshop.pretokens import SEPARATOR, regex_cuts, routed_cuts, spelled, splitter, text_cuts

Kind = Literal["byte-bpe", "parity-bpe", "bpe", "unigram", "wordpiece"]
BYTE_KINDS: Final = ("byte-bpe", "parity-bpe")
KINDS: Final = (*BYTE_KINDS, "bpe", "unigram", "wordpiece")
UNKNOWN: Final = {"bpe": "<unk>", "unigram": "<unk>", "wordpiece": "[UNK]"}
_LONGEST_WORD: Final = 10_000
"""WordPiece gives up on longer pre-tokens. Scripts without spaces have long ones; the library's default is 100."""
_ALPHABET_SHARE: Final = {"bpe": 2, "unigram": 2, "wordpiece": 4}
"""At most one in so many ids is a single character; a WordPiece has each of them twice."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is trained.

    Attributes:
        kind: of the model.
        vocab_size: ids in all, specials and bytes included.
        on: `text`, or the bytes of routed streams (byte-level kinds).
        cuts: `regex`: pre-tokens as the finished tokenizer makes them; `segments`: cut at the edges of routed segments
            too. Routed training always has the latter, so text training with them is what to compare it with.
        router: of the streams and segments.
        special: special tokens, the first ids.
        min_frequency: pairs that are rarer are not merged.
        coverage: of all characters in the sample, the share that single-character tokens cover (not byte-level kinds).
    """

    kind: Kind
    vocab_size: int
    on: Literal["text", "routed"] = "text"
    cuts: Literal["regex", "segments"] = "regex"
    router: Router = field(default_factory=Router)
    special: tuple[str, ...] = ("<|endoftext|>",)
    min_frequency: int = 2
    coverage: float = 0.9995

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"kind {self.kind!r:.80} is not known; known are {', '.join(KINDS)}")
        if self.kind not in BYTE_KINDS and (self.on == "routed" or self.cuts == "segments"):
            raise ConfigError(f"kind {self.kind!r} works on characters: use {' or '.join(BYTE_KINDS)} for routed bytes")
        if self.on == "routed" and self.cuts == "regex":
            raise ConfigError("cuts 'regex' is for text: routed bytes are always cut at segments too; use 'segments'")
        least = 256 + len(self.special) + (self.kind in UNKNOWN)
        if self.vocab_size < least:
            raise ConfigError(f"a vocabulary of {self.vocab_size} is too small: 256 bytes and specials need {least}")
        if not 0 < self.coverage <= 1:
            raise ConfigError(f"coverage {self.coverage!r} is not above 0 and at most 1")

    @property
    def is_spelled(self) -> bool:
        """Whether the library is given bytes, spelled and cut, instead of text."""
        return self.cuts == "segments"


def train(recipe: Recipe, texts: Iterable[pa.StringArray], alphabet: npt.NDArray[np.bool_] | None = None) -> bytes:
    """Returns the tokenizer.json that is trained on clean texts.

    Args:
        recipe: any kind but `parity-bpe`.
        texts: the sample.
        alphabet: of `common_characters`, for kinds that work on characters; others become byte tokens, or unknown.

    Raises:
        ConfigError: `parity-bpe`, which needs languages.
    """
    if recipe.kind == "parity-bpe":
        raise ConfigError("kind 'parity-bpe' is trained on languages: use train_parity")
    lines = chain.from_iterable(map(_feeder(recipe, alphabet), texts))
    tokenizer = _untrained(recipe)
    tokenizer.train_from_iterator(lines, _trainer(recipe))
    return _finished(recipe, tokenizer)


def train_parity(
    recipe: Recipe, texts: Mapping[str, Sequence[pa.StringArray]], parallel: Mapping[str, Sequence[pa.StringArray]]
) -> bytes:
    """Returns the tokenizer.json of a parity-aware BPE: each merge is the best of the language that is worst off.

    Source: Foroutan et al., "Parity-Aware Byte-Pair Encoding" (arXiv 2508.04796), as `tokenizers` implements it.

    Args:
        recipe: of kind `parity-bpe`.
        texts: language → its sample.
        parallel: language → the same content in every language, which decides who is worst off.

    Raises:
        ConfigError: a language of the sample is not in the parallel data.
    """
    lacking = sorted(set(texts) - set(parallel))
    if lacking:
        raise ConfigError(f"parity needs parallel text of every language; there is none of {', '.join(lacking):.200}")
    feed = _feeder(recipe, None)
    tokenizer = _untrained(recipe)
    trainer = trainers.ParityBpeTrainer(
        num_merges=recipe.vocab_size - 256 - len(recipe.special),
        special_tokens=list(recipe.special),
        initial_alphabet=sorted(BYTE_ALPHABET),
        min_frequency=recipe.min_frequency,
        show_progress=False,
    )
    languages = sorted(texts)
    trainer.train_from_iterator(
        tokenizer,
        train_iterators=[chain.from_iterable(map(feed, texts[one])) for one in languages],
        dev_iterators=[chain.from_iterable(map(feed, parallel[one])) for one in languages],
    )
    return _finished(recipe, tokenizer)


def count_characters(texts: pa.StringArray) -> npt.NDArray[np.int64]:
    """Returns how often each code point occurs: int64[0x110000]."""
    joined = "".join(texts.to_pylist()).encode("utf-32-le")
    return np.bincount(np.frombuffer(joined, "<u4"), minlength=0x110000)


def common_characters(counts: npt.NDArray[np.int64], recipe: Recipe) -> npt.NDArray[np.bool_]:
    """Returns the alphabet of a tokenizer: the most frequent characters that reach the recipe's coverage.

    Args:
        counts: int64[0x110000], of `count_characters`.
        recipe: also limits the number, as one vocabulary cannot be all single characters.

    Returns:
        bool[0x110000].
    """
    order = np.argsort(-counts, kind="stable")
    order = order[: np.count_nonzero(counts)]
    covered = np.cumsum(counts[order])
    n_needed = int(np.searchsorted(covered, recipe.coverage * covered[-1])) + 1 if order.size else 0
    kept = np.zeros(counts.size, np.bool_)
    kept[order[: min(n_needed, recipe.vocab_size // _ALPHABET_SHARE.get(recipe.kind, 1))]] = True
    return kept


def _feeder(recipe: Recipe, alphabet: npt.NDArray[np.bool_] | None) -> Callable[[pa.StringArray], Iterator[str]]:
    """Returns what turns a batch of texts into what the library counts."""
    if recipe.is_spelled:
        return lambda texts: _spelled(recipe, texts)
    if alphabet is None:
        return lambda texts: iter(texts.to_pylist())
    # What is not in the alphabet becomes a line break, which is a pre-token of its own: words fall apart there.
    mask = np.where(alphabet, np.arange(alphabet.size, dtype=np.uint32), np.uint32(ord("\n")))

    def masked(texts: pa.StringArray) -> Iterator[str]:
        for text in texts.to_pylist():
            yield mask[np.frombuffer(text.encode("utf-32-le"), "<u4")].astype("<u4").tobytes().decode("utf-32-le")

    return masked


def _spelled(recipe: Recipe, texts: pa.StringArray) -> Iterator[str]:
    seg = segment_batch(texts)
    routed = route_segmentation(seg, recipe.router)
    cuts = regex_cuts(texts.to_pylist())
    if recipe.on == "routed":
        return spelled(routed.data, routed_cuts(seg, cuts, routed))
    return spelled(seg.utf8, text_cuts(seg, cuts, routed))


def _untrained(recipe: Recipe) -> Tokenizer:
    if recipe.kind == "unigram":
        tokenizer = Tokenizer(models.Unigram())
    elif recipe.kind == "wordpiece":
        unknown = UNKNOWN[recipe.kind]
        tokenizer = Tokenizer(models.WordPiece(unk_token=unknown, max_input_chars_per_word=_LONGEST_WORD))
    else:
        tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _pre_tokenizer(recipe)
    if recipe.is_spelled:
        tokenizer.pre_tokenizer = pre_tokenizers.Split(SEPARATOR, "removed")
    return tokenizer


def _pre_tokenizer(recipe: Recipe) -> pre_tokenizers.PreTokenizer:
    """Returns the pre-tokenizer of the finished tokenizer."""
    spelling = (
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        if recipe.kind in BYTE_KINDS
        else pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    )
    return pre_tokenizers.Sequence([splitter(), spelling])


def _trainer(recipe: Recipe) -> trainers.Trainer:
    special = list(recipe.special)
    if recipe.kind == "byte-bpe":
        return trainers.BpeTrainer(
            vocab_size=recipe.vocab_size, special_tokens=special, initial_alphabet=sorted(BYTE_ALPHABET),
            min_frequency=recipe.min_frequency, show_progress=False,
        )  # fmt: skip
    special = [UNKNOWN[recipe.kind], *special]
    if recipe.kind == "wordpiece":
        return trainers.WordPieceTrainer(
            vocab_size=recipe.vocab_size, special_tokens=special, min_frequency=recipe.min_frequency,
            show_progress=False,
        )  # fmt: skip
    size = recipe.vocab_size - 256  # the byte tokens come afterwards
    if recipe.kind == "unigram":
        return trainers.UnigramTrainer(
            vocab_size=size, special_tokens=special, unk_token=UNKNOWN[recipe.kind], show_progress=False
        )
    return trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, min_frequency=recipe.min_frequency, show_progress=False
    )


def _finished(recipe: Recipe, tokenizer: Tokenizer) -> bytes:
    tokenizer.pre_tokenizer = _pre_tokenizer(recipe)
    spaces = decoders.Replace("\u2581", " ")
    if recipe.kind in BYTE_KINDS:
        tokenizer.decoder = decoders.ByteLevel()
    elif recipe.kind == "wordpiece":
        tokenizer.decoder = decoders.Sequence([decoders.Replace("##", ""), spaces, decoders.Fuse()])
    else:
        tokenizer.decoder = decoders.Sequence([spaces, decoders.ByteFallback(), decoders.Fuse()])
    config: dict[str, Any] = orjson.loads(tokenizer.to_str())
    if recipe.kind in ("bpe", "unigram"):
        with_byte_tokens(config, after=1 + len(recipe.special), unknown=UNKNOWN[recipe.kind])
    return orjson.dumps(config)
