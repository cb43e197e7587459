"""The `bytes` tokenizer: an id is a byte, as BLT numbers them.

Source: facebookresearch/blt, `bytelatent/tokenizers/constants.py` and `blt_tokenizer.py`: OFFSET = 4, BOS_ID = 1,
EOS_ID = 2 (0 and 3 are other reserved ids), vocabulary 256 + 4.
"""

from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa

from byteroute_ops.routing import Routed
from byteroute_ops.segmentation import utf8_of

from .documents import spread_spans, with_affixes
from .protocol import NO_DOCUMENTS, Bools, Bytes, Int32, Int64, Spans, Tokens

OFFSET: Final = 4
BOS: Final = 1
EOS: Final = 2


class ByteTokenizer:
    """One id a byte, for text and for routed streams.

    Args:
        add_special_tokens: whether every document stands between BOS and EOS.
    """

    name = "bytes"
    engine = "bytes"
    note: str | None = None
    vocab_size = 256 + OFFSET
    routed_reason: str | None = None
    unknown_id: int | None = None

    def __init__(self, *, add_special_tokens: bool = True) -> None:
        self._add_special_tokens = add_special_tokens

    def text(self, texts: pa.StringArray, *, spans: bool = True) -> Tokens:  # noqa: ARG002 - spans cost nothing here
        """Returns the bytes of clean texts as ids.

        >>> ByteTokenizer().text(pa.array(["Aé"])).ids.tolist()
        [1, 69, 199, 173, 2]
        """
        return self._tokens(*utf8_of(texts))

    def routed(self, routed: Routed, text_tokens: Tokens | None = None) -> Tokens:  # noqa: ARG002
        """Returns the bytes of routed streams as ids."""
        return self._tokens(routed.data, routed.doc_routed)

    def decode_routed_ids(self, ids: Int32) -> bytes:
        """Returns the bytes of ids; BOS and EOS stand for none."""
        return (ids[ids >= OFFSET] - OFFSET).astype(np.uint8).tobytes()

    def prepared(self) -> None:
        """Returns nothing: there is no file to read."""

    def fingerprint(self) -> dict[str, Any]:
        """Returns what identifies the ids."""
        numbers = {"offset": OFFSET, "bos": BOS, "eos": EOS}
        return {
            "name": self.name,
            "kind": "bytes",
            "vocab_size": self.vocab_size,
            "add_special_tokens": self._add_special_tokens,
            **numbers,
        }

    def _tokens(self, data: Bytes, bounds: Int64) -> Tokens:
        sides = ([BOS], [EOS]) if self._add_special_tokens else ([], [])
        prefix, suffix = (np.array(side, np.int32) for side in sides)
        return ByteTokens(data, bounds, prefix, suffix)


class ByteTokens(Tokens):
    """Tokens of a byte each. Most who ask for them only count: the arrays, 21 bytes a token, wait until they are used.

    Args:
        data: uint8[n_bytes].
        bounds: int64[n_docs + 1], where documents begin and end in it.
        prefix: int32[p], ids before every document.
        suffix: int32[s], ids after every document.
    """

    def __init__(self, data: Bytes, bounds: Int64, prefix: Int32, suffix: Int32) -> None:
        n_added = prefix.size + suffix.size
        # Past the guard of the frozen parent, whose own __init__ wants the arrays.
        for name, value in {
            "_made_of": (data, bounds, prefix, suffix),
            "doc_offsets": bounds + n_added * np.arange(bounds.size),
            "failed": NO_DOCUMENTS,
            "n_added": n_added,
        }.items():
            object.__setattr__(self, name, value)

    _made_of: tuple[Bytes, Int64, Int32, Int32]
    n_added: int
    """Added tokens of every document."""

    @cached_property
    def _with_affixes(self) -> tuple[Int32, Int64, Bools]:
        data, bounds, prefix, suffix = self._made_of
        return with_affixes(data.astype(np.int32) + OFFSET, np.diff(bounds), prefix, suffix)

    @property
    def ids(self) -> Int32:
        """int32[n]."""
        return self._with_affixes[0]

    @property
    def added(self) -> Bools:
        """bool[n]."""
        return self._with_affixes[2]

    @cached_property
    def _spans(self) -> Spans:
        data, bounds, prefix, _ = self._made_of
        place = np.arange(data.size, dtype=np.int64)
        return spread_spans((place, place + 1), self.added, self.doc_offsets, bounds, prefix.size)
