"""datatrove and nanotron: `.ds` (ids), `.ds.index` (document ends), `.ds.metadata`.

Source: datatrove/pipeline/tokens/tokenizer.py, class `TokenizedFile`, and utils/dataset.py. Ids are
little-endian uint16 or uint32 without a header; the index is uint64 document ends in tokens, cumulative.
"""

from typing import BinaryIO

import numpy as np

from byteroute_ops.export.base import Create, ExportSettings, OnePartFiles, Part, TokenBatch


def human_count(n: int) -> str:
    """Returns a token count as datatrove's metadata writes it: three digits and an SI prefix.

    >>> human_count(999), human_count(9_999), human_count(12_300_000_000)
    ('999 T', '10.0 kT', '12.3 GT')
    """
    value = float(n)
    for prefix in ("", "k", "M", "G", "T"):
        if round(value) < 1000 or prefix == "T":
            break
        value /= 1000
    decimals = 2 if round(value, 2) < 10 else 1 if round(value, 1) < 100 else 0
    return f"{value:.{decimals}f} {prefix}T"


class _Writer:
    def __init__(self, part: Part, settings: ExportSettings, create: Create) -> None:
        suffix = "00000_doc_shuffled" if part.shuffled else "unshuffled"
        self._name = f"{part.split}/{part.index:05d}_{suffix}.ds"
        self._settings = settings
        self._create = create
        self._ids: BinaryIO | None = None
        self._index: BinaryIO | None = None
        self._tokens = 0

    def write(self, batch: TokenBatch) -> None:
        if self._ids is None or self._index is None:
            self._ids, self._index = self._create(self._name), self._create(f"{self._name}.index")
        self._ids.write(batch.ids.astype(np.dtype(self._settings.dtype).newbyteorder("<")).tobytes())
        self._index.write((batch.offsets[1:] + self._tokens).astype("<u8").tobytes())
        self._tokens += len(batch.ids)

    def close(self) -> None:
        if self._ids is None or self._index is None:
            return
        self._ids.close()
        self._index.close()
        metadata = self._create(f"{self._name}.metadata")
        size = np.dtype(self._settings.dtype).itemsize
        metadata.write(f"{self._settings.tokenizer}|{size}\n{self._tokens}\n{human_count(self._tokens)}".encode())
        metadata.close()


class Datatrove(OnePartFiles):
    """`SPLIT/00000_unshuffled.ds` (or `_00000_doc_shuffled.ds`) with `.index` and `.metadata`."""

    name = "datatrove"
    dtypes = ("uint16", "uint32")

    def writer(self, part: Part, settings: ExportSettings, create: Create) -> _Writer:
        """Returns the writer of a part's three files."""
        return _Writer(part, settings, create)
