"""Pruning: a tokenizer without the ids that a corpus does not need, and why the others stay what they are.

Where no pruned token was involved, the ids are the old ones through the map. Why, by model:

* **BPE.** Merging replaces, again and again, the pair with the lowest rank, leftmost first. Take a pre-token whose
  tokens are all kept. Every symbol that came up on the way is a part of one of them, and within a token merges happened
  in the order in which they happen when its text stands alone: none crossed its edges, and the best of all pairs is the
  best of those inside. So these symbols are the token's *ancestors*, and they are kept, found by running the merges on
  each kept token once. Merges between kept symbols keep their order, so at each step the old choice is still there, and
  still the best. A file may list several merges for one token (conversions do): only the run tells which one counts.
* **Unigram.** The best path is made of kept pieces with unchanged scores, and there are only fewer other paths. The
  score of the unknown token hangs on the lowest score of all pieces, so one piece with it is kept.
* **WordPiece.** The longest match is kept, and no longer one comes up.

Kept in any case: added tokens, the unknown token, the bytes of byte-level and byte-fallback models; without such bytes
every single character too, since text that could be encoded must not become unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.errors import ConfigError
from byteroute_ops.workshop.assembly import renumber
from byteroute_ops.workshop.vocabulary import META, Vocabulary, fallback_byte, spellings

Bools = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Pair = tuple[str, str]

_KINDS: Final = ("byte-level BPE", "byte-fallback BPE", "BPE", "Unigram", "WordPiece")


@dataclass(frozen=True, eq=False)
class Pruned:
    """A pruned tokenizer.

    Attributes:
        json: its tokenizer.json.
        kept: int32[n_new], the old id of each new id, ascending: rows of an embedding are taken by it.
        n_old: old ids are below this.
        reasons: why ids are kept → how many.
    """

    json: bytes
    kept: Int32
    n_old: int
    reasons: Mapping[str, int]

    @property
    def new_ids(self) -> Int32:
        """int32[n_old]: the new id of each old id, -1 where it was dropped."""
        found = np.full(self.n_old, -1, np.int32)
        found[self.kept] = np.arange(self.kept.size, dtype=np.int32)
        return found


def prune(data: bytes, vocabulary: Vocabulary, wanted: Bools) -> Pruned:
    """Returns a tokenizer with the wanted ids and those that they need.

    Args:
        data: its tokenizer.json, plain.
        vocabulary: of that file.
        wanted: bool[n_ids].

    Raises:
        ConfigError: a kind of model that cannot be pruned.
    """
    config = orjson.loads(data)
    model = config["model"]
    if vocabulary.kind not in _KINDS:
        known = ", ".join(_KINDS)
        raise ConfigError(f"tokenizer {vocabulary.name!r:.80}: cannot prune a {vocabulary.kind}; can: {known}")
    if "merges" in model and (model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")):
        raise ConfigError(f"tokenizer {vocabulary.name!r:.80}: cannot prune a BPE that marks parts of words")
    keep = wanted.copy()
    keep[[index for index in range(vocabulary.n_ids) if not _exists(vocabulary, index)]] = False
    reasons = {"frequent": int(keep.sum())}
    for reason, ids in (("base", _base(vocabulary, model)), ("ancestors", None)):
        before = int(keep.sum())
        if ids is not None:
            keep[ids] = True
        elif "merges" in model:
            keep[_ancestors(model, np.flatnonzero(keep).tolist())] = True
        reasons[reason] = int(keep.sum()) - before
    kept = np.flatnonzero(keep).astype(np.int32)
    place = {old: new for new, old in enumerate(kept.tolist())}
    pruned = renumber(config, place.__getitem__)
    pruned["model"] = _pruned_model(model, place)
    return Pruned(orjson.dumps(pruned), kept, vocabulary.n_ids, reasons)


def _exists(vocabulary: Vocabulary, index: int) -> bool:
    return index in vocabulary.spelling or index in vocabulary.added


def _base(vocabulary: Vocabulary, model: dict[str, Any]) -> list[int]:
    """Returns the ids that are kept whatever the corpus."""
    spelling = vocabulary.spelling
    base = set(vocabulary.added)
    if vocabulary.unknown is not None:
        base.add(vocabulary.unknown)
    if vocabulary.kind == "byte-level BPE":
        letters = set(BYTE_ALPHABET)
        return sorted(base | {index for index, token in spelling.items() if token in letters})
    if model.get("byte_fallback"):
        # The mark for a space must not fall back: its bytes would come back as the mark.
        base |= {index for index, token in spelling.items() if token == META or fallback_byte(token) is not None}
    else:
        prefix = vocabulary.prefix
        base |= {index for index, token in spelling.items() if len(token.removeprefix(prefix)) == 1}
    if vocabulary.kind == "Unigram":
        scores = [score for _, score in model["vocab"]]
        base.add(scores.index(min(scores)))
    return sorted(base)


def _pairs(model: dict[str, Any]) -> list[Pair]:
    """Returns the merges in order; old files join the two with a space."""
    halves = (one.split(" ") if isinstance(one, str) else one for one in model["merges"])
    return [(left, right) for left, right in halves]


def _ancestors(model: dict[str, Any], kept: list[int]) -> list[int]:
    """Returns the ids of all symbols that come up when the merges are run on the kept tokens."""
    vocab, spelling = model["vocab"], spellings(model)
    ranks = {pair: rank for rank, pair in enumerate(_pairs(model))}  # of a repeated pair the last counts, as there
    found: set[str] = set()
    for index in kept:
        if index in spelling:
            found |= _symbols(spelling[index], ranks)
    return [vocab[symbol] for symbol in found if symbol in vocab]


def _symbols(token: str, ranks: Mapping[Pair, int]) -> set[str]:
    """Returns every symbol on the way from the characters of a token to the end of its merges.

    >>> sorted(_symbols("abc", {("b", "c"): 0, ("a", "b"): 1, ("a", "bc"): 2}))
    ['a', 'abc', 'b', 'bc', 'c']
    """
    parts = list(token)
    found = set(parts)
    while len(parts) > 1:
        rank, place = min((ranks.get((parts[i], parts[i + 1]), len(ranks)), i) for i in range(len(parts) - 1))
        if rank == len(ranks):
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        found.add(parts[place])
    return found


def _pruned_model(model: dict[str, Any], place: Mapping[int, int]) -> dict[str, Any]:
    vocab = model["vocab"]
    if isinstance(vocab, list):
        pieces = [piece for index, piece in enumerate(vocab) if index in place]
        unknown = model.get("unk_id")
        return model | {"vocab": pieces, "unk_id": None if unknown is None else place[unknown]}
    left = {token: place[index] for token, index in sorted(vocab.items(), key=lambda item: item[1]) if index in place}
    changed = model | {"vocab": left}
    if "merges" in model:
        rows = zip(_pairs(model), model["merges"], strict=True)
        changed["merges"] = [one for (a, b), one in rows if a in left and b in left and a + b in left]
    return changed
