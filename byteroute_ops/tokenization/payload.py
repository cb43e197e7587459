"""Routed bytes that are no text through a byte-level BPE: each stretch is one pre-token of the byte alphabet.

The model alone runs: no normalizer, no regular expression, no added tokens. A stretch is first cut into *units* at
every pair of neighbouring bytes that occurs in no token of the vocabulary. The ids are those of the whole stretch:

* Every intermediate symbol of a BPE is a token of the vocabulary. One that spanned such a pair would hold it. So no
  merge ever reaches over a cut, and the order of merges (by rank, then leftmost) on one side of it does not depend on
  the other side.
* `ignore_merges` makes the library look a whole pre-token up first. A stretch that is one unit goes to it as it is. Of
  a stretch with cuts the whole is no token; its units must not be looked up, so they are encoded with one more byte
  behind that cannot join, whose id is then dropped.

In UTF-16 payload most units are one or two bytes (no UTF-8 text has a letter next to 04), so a huge payload costs
neither quadratic time nor a large heap, and what repeats is encoded once.
"""

import threading
from functools import cached_property
from itertools import chain

import numpy as np
from tokenizers import Tokenizer

from byteroute_ops.encoders import BYTE_ALPHABET

from .protocol import Bools, Bytes, Encoded, Int32, Int64

_MEMO_UNITS = 1 << 17
_MEMO_UNIT_BYTES = 32
"""Bounds of what is remembered: units of at most so many bytes, forgotten all together when there are so many."""
_CALL_BYTES = 1 << 20

_ALPHABET = np.array([ord(char) for char in BYTE_ALPHABET], "<u4")
_TO_LATIN1 = {ord(char): byte for byte, char in enumerate(BYTE_ALPHABET)}
_NO_BYTE = -1

Key = tuple[bytes, bool]


class PayloadBpe:
    """The bare BPE of a byte-level tokenizer, over bytes.

    Args:
        library: the tokenizer; all 256 single bytes are in its vocabulary.
        added: contents of its added tokens, by id.
    """

    def __init__(self, library: Tokenizer, added: dict[int, str]) -> None:
        self._bare = Tokenizer(library.model)  # shares the model
        vocab = self._bare.get_vocab(with_added_tokens=False)
        self._single = np.array([vocab[char] for char in BYTE_ALPHABET], np.int32)
        self._joins = _joining_pairs(list(vocab))
        # The byte that never joins after each byte; where one joins with all, nothing is cut.
        self._guard = self._joins.argmin(axis=1)
        if self._joins.all(axis=1).any():
            self._joins[:] = True
        self._added = added
        self._memo: dict[Key, tuple[int, ...]] = {}
        self._lock = threading.Lock()

    def encode(self, data: Bytes, starts: Int64, ends: Int64) -> Encoded:
        """Returns the ids of stretches of `data`, each one pre-token.

        Args:
            data: uint8[n_bytes].
            starts: int64[k].
            ends: int64[k], each above its start.
        """
        if starts.size == 0:
            return Encoded(np.zeros(0, np.int32), np.zeros(0, np.int64))
        sizes = ends - starts
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        inside = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], sizes)
        joined = data[inside]
        unit_at = np.ones(joined.size, np.bool_)
        unit_at[1:] = ~self._joins[joined[:-1], joined[1:]]
        unit_at[bounds[:-1]] = True
        units = np.append(np.flatnonzero(unit_at), joined.size)
        first_unit = np.searchsorted(units, bounds)
        whole = np.repeat(np.diff(first_unit) == 1, np.diff(first_unit))
        ids, counts = self._encode_units(joined, units, whole)
        total = np.concatenate([[0], np.cumsum(counts)])
        return Encoded(ids, np.diff(total[first_unit]))

    def decode(self, ids: Int32) -> bytes:
        """Returns the bytes that ids stand for."""
        return b"".join(map(self._bytes.__getitem__, ids.tolist()))

    @cached_property
    def _bytes(self) -> dict[int, bytes]:
        vocab = self._bare.get_vocab(with_added_tokens=False)
        # What is spelled with other characters is an added token: no BPE makes it.
        spelled = {index: token.translate(_TO_LATIN1) for token, index in vocab.items()}
        found = {
            index: token.encode("latin-1") for index, token in spelled.items() if max(token, default="") < "\u0100"
        }
        return found | {index: content.encode() for index, content in self._added.items()}

    def _encode_units(self, joined: Bytes, units: Int64, whole: Bools) -> tuple[Int32, Int64]:
        """Returns ids int32[n] and how many belong to each unit, int64[n_units]."""
        long = np.flatnonzero(np.diff(units) > 1)
        raw = joined.tobytes()
        edges = zip(units[long].tolist(), units[long + 1].tolist(), whole[long].tolist(), strict=True)
        keys = [(raw[start:end], alone) for start, end, alone in edges]
        found = self._lookup(keys)
        counts = np.ones(units.size - 1, np.int64)
        counts[long] = np.fromiter(map(len, found), np.int64, len(found))
        is_long = np.zeros(units.size - 1, np.bool_)
        is_long[long] = True
        of_long = np.repeat(is_long, counts)
        ids = np.empty(of_long.size, np.int32)
        ids[of_long] = np.fromiter(chain.from_iterable(found), np.int32, int(counts[long].sum()))
        ids[~of_long] = self._single[joined[units[:-1][~is_long]]]
        return ids, counts

    def _lookup(self, keys: list[Key]) -> list[tuple[int, ...]]:
        with self._lock:
            missing = [key for key in dict.fromkeys(keys) if key not in self._memo]
            results = dict(zip(missing, self._run(missing), strict=True))
            found = [results[key] if key in results else self._memo[key] for key in keys]
            if len(self._memo) + len(results) > _MEMO_UNITS:
                self._memo.clear()
            self._memo.update((key, ids) for key, ids in results.items() if len(key[0]) <= _MEMO_UNIT_BYTES)
        return found

    def _run(self, keys: list[Key]) -> list[tuple[int, ...]]:
        results: list[tuple[int, ...]] = []
        group: list[str] = []
        held = 0
        for index, (unit, alone) in enumerate(keys):
            padded = unit if alone else unit + bytes([self._guard[unit[-1]]])
            group.append(_spelled(padded))
            held += len(padded)
            if held >= _CALL_BYTES or index == len(keys) - 1:
                encodings = self._bare.encode_batch_fast(group, add_special_tokens=False)
                results += [tuple(one.ids) for one in encodings]
                group, held = [], 0
        return [ids if alone else ids[:-1] for ids, (_, alone) in zip(results, keys, strict=True)]


def _spelled(raw: bytes) -> str:
    """Returns bytes in the byte alphabet."""
    return _ALPHABET[np.frombuffer(raw, np.uint8)].tobytes().decode("utf-32-le")


def _joining_pairs(vocab: list[str]) -> Bools:
    """Returns bool[256, 256]: which two bytes stand next to each other in some token."""
    # U+FFFF stands between tokens: like any character outside the alphabet, it joins with nothing.
    codepoints = np.frombuffer("\uffff".join(vocab).encode("utf-32-le", "surrogatepass"), "<u4")
    table = np.full(0x10000, _NO_BYTE, np.int16)
    table[_ALPHABET] = np.arange(256)
    values = table[np.minimum(codepoints, 0xFFFF)]
    left, right = values[:-1], values[1:]
    both = (left >= 0) & (right >= 0)
    joins = np.zeros((256, 256), np.bool_)
    joins[left[both], right[both]] = True
    return joins
