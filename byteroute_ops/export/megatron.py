"""Megatron-LM and Megatron-Core: `.bin` (ids) and `.idx` (`MMIDIDX`, version 1).

Source: megatron/core/datasets/indexed_dataset.py, classes `_IndexWriter`, `_IndexReader` and `DType`. All
integers are little-endian. One sequence is one document; lengths are int32, so a document has at most
2**31 - 1 tokens.
"""

import struct
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.base import Create, ExportSettings, OnePartFiles, Part, TokenBatch

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
DTYPE_CODES = {"uint8": 1, "int32": 4, "uint16": 8}
"""`DType` of Megatron. There is no uint32 in it."""


def index_bytes(lengths: np.ndarray[tuple[int], np.dtype[np.int64]], dtype: str) -> bytes:
    """Returns the `.idx` file of documents of these lengths (tokens, EOD included), one sequence each.

    >>> len(index_bytes(np.array([3, 1, 2, 5]), "uint16"))
    122
    """
    n = len(lengths)
    pointers = (np.cumsum(lengths) - lengths) * np.dtype(dtype).itemsize
    header = MAGIC + struct.pack("<QBQQ", VERSION, DTYPE_CODES[dtype], n, n + 1)
    return b"".join(
        [
            header,
            lengths.astype("<i4").tobytes(),
            pointers.astype("<i8").tobytes(),
            np.arange(n + 1, dtype="<i8").tobytes(),
        ]
    )


class _Writer:
    def __init__(self, part: Part, settings: ExportSettings, create: Create) -> None:
        # Megatron names files by the JSON key the text came from and the level of its sequences.
        self._prefix = f"{part.split}/{settings.name}-{part.index:05d}_text_document"
        self._dtype = settings.dtype
        self._create: Callable[[str], BinaryIO] = create
        self._bin: BinaryIO | None = None
        self._lengths: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def write(self, batch: TokenBatch) -> None:
        lengths = np.diff(batch.offsets)
        if len(lengths) and lengths.max() > np.iinfo(np.int32).max:
            raise ConfigError(f"a document of {lengths.max()} tokens: Megatron's index holds lengths below 2**31")
        if self._bin is None:
            self._bin = self._create(f"{self._prefix}.bin")
        self._bin.write(batch.ids.astype(np.dtype(self._dtype).newbyteorder("<")).tobytes())
        self._lengths.append(lengths)

    def close(self) -> None:
        if self._bin is None:
            return
        self._bin.close()
        index = self._create(f"{self._prefix}.idx")
        index.write(index_bytes(np.concatenate(self._lengths), self._dtype))
        index.close()


class Megatron(OnePartFiles):
    """`SPLIT/NAME-00000_text_document.bin` and `.idx`; trainers take the path without the suffix."""

    name = "megatron"
    dtypes = ("uint8", "uint16", "int32")

    def writer(self, part: Part, settings: ExportSettings, create: Create) -> _Writer:
        """Returns the writer of a part's pair of files."""
        return _Writer(part, settings, create)
