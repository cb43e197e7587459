"""The `bytes` tokenizer: an id is a byte, as BLT numbers them.

Source: facebookresearch/blt, `bytelatent/tokenizers/constants.py` and `blt_tokenizer.py`: OFFSET = 4, BOS_ID = 1,
EOS_ID = 2 (0 and 3 are other reserved ids), vocabulary 256 + 4.
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa

from byteroute_ops.routing import Routed
from byteroute_ops.segmentation import utf8_of

from .documents import spread_spans, with_affixes
from .protocol import Bytes, Int32, Int64, Tokens

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
        ids, offsets, added = with_affixes(data.astype(np.int32) + OFFSET, np.diff(bounds), prefix, suffix)
        place = np.arange(data.size, dtype=np.int64)
        return Tokens(
            ids, offsets, added, lambda: spread_spans((place, place + 1), added, offsets, bounds, prefix.size)
        )
