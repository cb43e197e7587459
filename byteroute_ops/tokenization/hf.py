"""The reference engine: Hugging Face `tokenizers`, for every kind of model.

Memory. The BPE cache of the library is bounded by itself (10,000 words of at most 256 bytes for a model; ten times as
many do not pay once two workers share a machine's caches). What grew without bound for its users were `Encoding`
objects, some 200 bytes a token: no call gets more text than `documents.MAX_CALL_BYTES`, and only flat arrays remain.

Threads and forks. Encoding releases the interpreter lock and mutates nothing that is visible, so an instance serves
many threads; truncation and padding are never set after loading (doing so is what raises `Already borrowed`). After
a fork the library itself goes sequential if its thread pool had been in use.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from tokenizers import Tokenizer

from byteroute_ops.errors import ConfigError

from .protocol import Encoded, Int64
from .source import Source


class ReferenceEngine:
    """`tokenizers`, without truncation, padding and post-processor.

    The library's object, half a second of a core for 100,000 tokens, is made when it is first used: beside a faster
    engine that is known to be equal, that may be never.

    Args:
        source: the tokenizer file.
        parallel: whether a call may use the library's thread pool (all cores, or RAYON_NUM_THREADS). Turn it off
            where several processes share the machine.
    """

    name = "tokenizers"

    def __init__(self, source: Source, *, parallel: bool = True) -> None:
        self._source = source
        self._parallel = parallel
        self._lock = threading.Lock()
        self._library: Tokenizer | None = None

    @property
    def library(self) -> Tokenizer:
        """The library's object.

        Raises:
            ConfigError: the library does not accept the file.
        """
        with self._lock:
            if self._library is None:
                self._library = self._load()
            return self._library

    @property
    def is_loaded(self) -> bool:
        """Whether the library's object has been made."""
        return self._library is not None

    def _load(self) -> Tokenizer:
        try:
            return Tokenizer.from_str(self._source.json)
        except Exception as error:  # the binding raises bare Exception
            raise ConfigError(
                f"tokenizer {self._source.name!r:.80}: the `tokenizers` library refuses the file ({error!s:.200}); "
                "save it again with the version it was made with, or upgrade `tokenizers`"
            ) from None

    @cached_property
    def vocab_size(self) -> int:
        """One more than the greatest id."""
        return max(self.library.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def encode(self, pieces: Sequence[bytes]) -> Encoded:
        """Returns the ids of pieces; see `Engine.encode`."""
        return self._encode(pieces, spans=False)

    def encode_spans(self, pieces: Sequence[bytes]) -> Encoded:
        """Returns the ids of pieces and, from the library's code point offsets, their spans in bytes."""
        return self._encode(pieces, spans=True)

    def is_normal(self, text: str) -> bool:
        """Whether the normalizer leaves a text as it is: the library's own, so no question of Unicode versions."""
        normalizer = self.library.normalizer
        return normalizer is None or bool(normalizer.normalize_str(text) == text)

    def _encode(self, pieces: Sequence[bytes], *, spans: bool) -> Encoded:
        run = self.library.encode_batch if spans else self.library.encode_batch_fast
        texts = [piece.decode() for piece in pieces]
        groups = [texts] if self._parallel else [[text] for text in texts]
        encodings = [one for group in groups for one in run(group, add_special_tokens=False)]
        counts = np.array([len(one) for one in encodings], np.int64)
        ids = np.fromiter(chain.from_iterable(one.ids for one in encodings), np.int32, int(counts.sum()))
        if not spans:
            return Encoded(ids, counts)
        pairs = chain.from_iterable(chain.from_iterable(one.offsets for one in encodings))
        offsets = np.fromiter(pairs, np.int64, 2 * ids.size).reshape(-1, 2)
        return Encoded(ids, counts, *_byte_spans(offsets, counts, pieces))


def _byte_spans(offsets: Int64, counts: Int64, pieces: Sequence[bytes]) -> tuple[Int64, Int64]:
    """Returns code point offsets, relative to pieces, as byte offsets into the pieces back to back.

    A token of a non-empty piece is made to begin inside its piece: libraries put tokens without text (a lone word
    marker) at the end as well as at the beginning.
    """
    utf8 = np.frombuffer(b"".join(pieces), np.uint8)
    first = np.append(np.flatnonzero((utf8 & 0xC0) != 0x80), utf8.size)
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    cp_bounds = np.searchsorted(first, bounds)
    base, limit = np.repeat(cp_bounds[:-1], counts), np.repeat(cp_bounds[1:], counts)
    starts = np.clip(base + offsets[:, 0], base, np.maximum(limit - 1, base))
    ends = np.clip(base + offsets[:, 1], starts, limit)
    return first[starts], first[ends]
