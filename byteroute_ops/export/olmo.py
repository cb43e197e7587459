"""OLMo-core and dolma: raw memmaps called `.npy`, and `.csv.gz` with the document boundaries.

Source: dolma python/dolma/tokenizer/memmap_writer.py and OLMo-core src/olmo_core/data/utils.py. In spite of
its name the `.npy` file has no NumPy header. OLMo-core finds documents by scanning for the EOS id, so every
document must end with one; the csv is what remote readers use.
"""

import csv
import gzip
import io
from typing import BinaryIO

import numpy as np

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.base import Create, ExportSettings, OnePartFiles, Part, TokenBatch


class _Writer:
    def __init__(self, part: Part, settings: ExportSettings, create: Create) -> None:
        self._name = f"{part.split}/part-{part.index}-00000"
        self._dtype = np.dtype(settings.dtype).newbyteorder("<")
        self._create = create
        self._ids: BinaryIO | None = None
        self._tokens = 0

    def write(self, batch: TokenBatch) -> None:
        if self._ids is None:
            self._ids, self._csv = self._create(f"{self._name}.npy"), self._create(f"{self._name}.csv.gz")
            # No name and time 0 in the gzip header: the bytes depend on the rows alone.
            self._gzip = gzip.GzipFile(filename="", mode="wb", fileobj=self._csv, mtime=0)
            self._text = io.TextIOWrapper(self._gzip, encoding="utf-8", newline="")
            self._rows = csv.writer(self._text, lineterminator="\n")
        self._ids.write(batch.ids.astype(self._dtype).tobytes())
        bounds = (batch.offsets + self._tokens).tolist()
        columns = (batch.rows.column(name).to_pylist() for name in ("doc_id", "source", "position"))
        self._rows.writerows(zip(bounds[:-1], bounds[1:], *columns, strict=True))
        self._tokens += len(batch.ids)

    def close(self) -> None:
        if self._ids is None:
            return
        self._ids.close()
        self._text.close()
        self._csv.close()


class Olmo(OnePartFiles):
    """`SPLIT/part-0-00000.npy` and `.csv.gz` with rows `start,end,id,src,loc` (loc: position of the record)."""

    name = "olmo"
    dtypes = ("uint8", "uint16", "uint32")

    def validate(self, settings: ExportSettings) -> None:
        """Accepts ids with an EOS.

        Raises:
            ConfigError: documents would not end with an EOS.
        """
        if settings.space.eos is None:
            raise ConfigError(
                "OLMo-core finds documents by their EOS id and loses text where it is missing: "
                "name one with --eos (ids 'bytes' has 2), or export to another format"
            )

    def writer(self, part: Part, settings: ExportSettings, create: Create) -> _Writer:
        """Returns the writer of a part's two files."""
        return _Writer(part, settings, create)
