"""Arrow IPC files: `doc_id`, `source`, `position`, `lang` and `input_ids`.

Source: Apache Arrow columnar format 1.5, IPC file format. The schema's metadata says what the ids are.
"""

from typing import BinaryIO

import numpy as np
import pyarrow as pa

from byteroute_ops.export.base import Create, ExportSettings, OnePartFiles, Part, TokenBatch

_COLUMNS = ("doc_id", "source", "position", "lang")


def arrow_schema(settings: ExportSettings) -> pa.Schema:
    """Returns the schema of the files of an export."""
    kinds = {"position": pa.int64()}
    fields = [pa.field(name, kinds.get(name, pa.string()), nullable=False) for name in _COLUMNS]
    ids = pa.list_(pa.field("item", pa.from_numpy_dtype(settings.dtype), nullable=False))
    space = settings.space
    about = {"ids": space.kind, "vocab_size": space.size, "bos": space.bos, "eos": space.eos}
    metadata = {f"byteroute.{key}": str(value) for key, value in about.items() if value is not None}
    return pa.schema([*fields, pa.field("input_ids", ids, nullable=False)], metadata)


class _Writer:
    def __init__(self, part: Part, settings: ExportSettings, create: Create) -> None:
        self._name = f"{part.split}/part-{part.index:05d}.arrow"
        self._settings = settings
        self._schema = arrow_schema(settings)
        self._create = create
        self._stream: BinaryIO | None = None

    def write(self, batch: TokenBatch) -> None:
        if self._stream is None:
            self._stream = self._create(self._name)
            self._file = pa.ipc.new_file(self._stream, self._schema)
        values = pa.array(batch.ids.astype(self._settings.dtype))
        lists = pa.ListArray.from_arrays(
            pa.array(batch.offsets.astype(np.int32)), values, type=self._schema.field("input_ids").type
        )
        rows = [batch.rows.column(name) for name in _COLUMNS]
        self._file.write_batch(pa.RecordBatch.from_arrays([*rows, lists], schema=self._schema))

    def close(self) -> None:
        if self._stream is not None:
            self._file.close()
            self._stream.close()


class ArrowIpc(OnePartFiles):
    """`SPLIT/part-00000.arrow`."""

    name = "arrow"
    dtypes = ("uint8", "uint16", "uint32")

    def writer(self, part: Part, settings: ExportSettings, create: Create) -> _Writer:
        """Returns the writer of a part's file."""
        return _Writer(part, settings, create)
