"""Parquet, a row group at a time and a batch of it at a time, so that memory does not grow with the row group.

A damaged row group costs its own rows from the damage on; the others are read. Page checksums are verified where the
writer put them. Positions are row numbers in the file.
"""

import io
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats.batching import Collector
from byteroute_ops.formats.columns import Utf8Column, is_text, kept_column, or_else, utf8_column
from byteroute_ops.formats.model import Read
from byteroute_ops.formats.source import Source
from byteroute_ops.records import MAX_BATCH_BYTES, MAX_BATCH_ROWS, UND

_ERRORS: Final = (pa.ArrowException, OSError, ValueError)
"""What pyarrow raises on damaged files; its I/O error is Python's OSError."""

_MAGIC: Final = b"PAR1"

_FEW_ROWS: Final = 256
"""Batches of fewer rows go through the collector row by row, so that small files and row groups share batches."""


def read_parquet(source: Source, collector: Collector) -> Iterator[Read]:
    """Yields the rows of the row groups that begin in the slice.

    Raises:
        InputError: the file cannot be read as a whole (no footer, no such column).
    """
    try:
        file = _open(source)
        paths = _Paths(file.schema_arrow, collector)
    except InputError:
        # A property of the file, so it is reported once: by the slice that holds its beginning.
        if source.slice.start == 0:
            raise
        return
    first_row = 0
    for i, place in enumerate(_group_places(file.metadata, source.slice.size)):
        group = file.metadata.row_group(i)
        if source.slice.is_whole or source.slice.start <= place < source.slice.end:
            n_done = 0
            try:
                for batch in _group_batches(source, file, i, paths.columns):
                    _Rows(batch, first_row + n_done, paths, collector).take()
                    n_done += batch.num_rows
                    yield from collector.drain()
            except InputError as fault:
                collector.reject(first_row + n_done, fault.reason, fault.detail, is_record=False)
        first_row += group.num_rows


def _open(source: Source) -> pq.ParquetFile:
    if source.compression is not None:
        detail = f"Parquet inside {source.compression} cannot be read in parts; unpack it, it has its own compression"
        raise InputError(RejectReason.UNREADABLE_FILE, detail, offset=0)
    if source.is_empty:
        raise InputError(RejectReason.TRUNCATED, "a Parquet file of 0 bytes", offset=0)
    try:
        # A buffer makes pyarrow read pages one by one instead of whole column chunks.
        return pq.ParquetFile(source.stream, buffer_size=1 << 20, page_checksum_verification=True)
    except _ERRORS as error:
        source.stream.reraise_failure()
        raise _unusable(source) from error


def _unusable(source: Source) -> InputError:
    """Returns the fault of a file that pyarrow cannot open."""
    size = source.stream.seek(0, io.SEEK_END)
    source.stream.seek(max(0, size - len(_MAGIC)))
    if source.stream.read(len(_MAGIC)) == _MAGIC:
        return InputError(RejectReason.CORRUPT, "the Parquet footer is damaged", offset=size)
    source.stream.seek(0)
    if source.stream.read(len(_MAGIC)) == _MAGIC:
        detail = f"the file ends after {size} bytes without a Parquet footer, so no row can be found"
        return InputError(RejectReason.TRUNCATED, detail, offset=size)
    return InputError(RejectReason.UNREADABLE_FILE, "the content is not Parquet", offset=0)


def _group_places(metadata: Any, size: int) -> list[int]:
    """Returns about where in a file of `size` bytes each row group begins, by the shares that the footer gives them.

    The metadata of a column would tell the byte, but pyarrow ends the whole process when they are damaged (seen with
    25.0: ColumnChunkMetaData throws through a Cython call without `except +`).
    """
    shares = [max(0, int(metadata.row_group(i).total_byte_size)) for i in range(metadata.num_row_groups)]
    total, before, places = max(1, sum(shares)), 0, []
    for share in shares:
        places.append(min(size * before // total, size - 1))
        before += share
    return places


class _Paths:
    """Where the fields of a document are in the schema of a file."""

    def __init__(self, schema: pa.Schema, collector: Collector) -> None:
        options = collector.options
        self.text = _path(schema, options.text_field)
        self.id = _path(schema, options.id_field)
        self.lang = _path(schema, options.lang_field)
        self.keep = [_path(schema, name) for name in options.keep]
        if self.text is None:
            detail = f"no column {options.text_field!r} among the {len(schema)} of the file"
            raise InputError(RejectReason.MISSING_FIELD, detail)
        for path, name, numbers in (
            (self.text, options.text_field, False),
            (self.id, options.id_field, True),
            (self.lang, options.lang_field, False),
        ):
            kind = _type_at(schema, path) if path else pa.null()
            if not is_text(kind) and not (numbers and pa.types.is_integer(kind)):
                detail = f"column {name!r} is {str(kind)[:80]}, not a string"
                raise InputError(RejectReason.WRONG_TYPE, detail)
        used = [p for p in (self.text, self.id, self.lang, *self.keep) if p]
        self.columns = sorted({".".join(path) for path in used})


def _path(schema: pa.Schema, name: str | None) -> tuple[str, ...] | None:
    if name is None:
        return None
    if name in schema.names:
        return (name,)
    path = tuple(name.split("."))
    try:
        _type_at(schema, path)
    except KeyError:
        return None
    return path


def _type_at(schema: pa.Schema, path: tuple[str, ...]) -> pa.DataType:
    """Returns the type of a nested field. Raises KeyError where there is none."""
    kind = schema.field(path[0]).type
    for part in path[1:]:
        if not pa.types.is_struct(kind) or kind.get_field_index(part) < 0:
            raise KeyError(part)
        kind = kind.field(part).type
    return kind


def _at(batch: pa.RecordBatch, path: tuple[str, ...]) -> pa.Array:
    values = batch.column(path[0])
    for part in path[1:]:
        values = pc.struct_field(values, values.type.get_field_index(part))
    return values


def _group_batches(source: Source, file: pq.ParquetFile, index: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yields the batches of a row group; raises `InputError` where it is damaged or has fewer rows than it says."""
    group = file.metadata.row_group(index)
    n_done, kind = 0, "it is short"
    try:
        batches = file.iter_batches(_batch_rows(group), row_groups=[index], columns=columns, use_threads=False)
        while (batch := next(batches, None)) is not None:
            n_done += batch.num_rows
            yield batch
    except _ERRORS as error:
        source.stream.reraise_failure()
        kind = type(error).__name__
    if n_done != group.num_rows:
        detail = f"row group {index} is damaged ({kind}): {n_done} of its {group.num_rows} rows were read"
        raise InputError(RejectReason.CORRUPT, detail)


def _batch_rows(group: Any) -> int:
    """Returns how many rows make about `MAX_BATCH_BYTES`; what the metadata says is only a hint."""
    return max(1, min(MAX_BATCH_ROWS, MAX_BATCH_BYTES * int(group.num_rows) // max(1, int(group.total_byte_size))))


class _Rows:
    """One batch of a file on its way to documents."""

    def __init__(self, batch: pa.RecordBatch, first_row: int, paths: _Paths, collector: Collector) -> None:
        self._collector = collector
        self._n_rows = batch.num_rows
        self._first_row = first_row
        nothing = Utf8Column(pa.nulls(batch.num_rows, pa.string()))
        self._text = utf8_column(_at(batch, paths.text or ()))
        self._id = kept_column(_at(batch, paths.id)) if paths.id else nothing
        self._lang = utf8_column(_at(batch, paths.lang)) if paths.lang else nothing
        self._kept = [kept_column(_at(batch, path)) if path else nothing for path in paths.keep]

    def take(self) -> None:
        """Hands the rows to the collector: rejects by row, documents as batches."""
        options = self._collector.options
        bad = self._invalid()
        n_bytes = pc.fill_null(pc.binary_length(self._text.values), 0).to_numpy(zero_copy_only=False)
        is_long = n_bytes > options.max_document_bytes
        is_good = self._text.values.is_valid().to_numpy(zero_copy_only=False).copy()
        is_good[list(bad)] = False
        if is_long.any() and not options.split_long:
            is_good &= ~is_long
        for row in np.flatnonzero(~is_good).tolist():
            self._reject(row, bad, int(n_bytes[row]))
        documents = self._documents(is_good)
        if documents.num_rows < _FEW_ROWS or is_long.any():
            self._take_rows(documents)
        else:
            self._take_batches(documents)

    def _invalid(self) -> dict[int, str]:
        options = self._collector.options
        names = (options.text_field, options.id_field, options.lang_field, *options.keep)
        columns = (self._text, self._id, self._lang, *self._kept)
        return {
            row: f"byte {offset} of column {name!r} is not valid UTF-8"
            for name, column in reversed(list(zip(names, columns, strict=True)))
            for row, offset in column.bad.items()
        }

    def _reject(self, row: int, bad: dict[int, str], n_bytes: int) -> None:
        position = self._first_row + row
        if row in bad:
            self._collector.reject(position, RejectReason.INVALID_UTF8, bad[row])
        elif n_bytes:
            self._collector.reject_long(position, n_bytes)
        else:
            detail = f"column {self._collector.options.text_field!r} is null"
            self._collector.reject(position, RejectReason.MISSING_FIELD, detail)

    def _documents(self, is_good: Any) -> pa.RecordBatch:
        source = pa.scalar(self._collector.source)
        positions = pa.array(np.arange(self._n_rows, dtype=np.int64) + self._first_row)
        # The vectorised form of `made_id`.
        made = pc.binary_join_element_wise(source, positions.cast(pa.string()), ":")
        arrays = [
            or_else(self._id.values, made),
            pa.repeat(source, self._n_rows),
            positions,
            or_else(self._lang.values, pa.scalar(UND)),
            self._text.values,
            *(column.values for column in self._kept),
        ]
        mask = pa.array(is_good)
        return pa.RecordBatch.from_arrays([a.filter(mask) for a in arrays], schema=self._collector.schema)

    def _take_rows(self, documents: pa.RecordBatch) -> None:
        names = documents.schema.names
        for row in documents.to_pylist():
            kept = tuple([row[name] for name in names[5:]])
            n_bytes = sum(len(value.encode()) for value in (row["text"], *kept) if value)
            self._collector.add(
                row["position"], row["doc_id"], row["lang"], row["text"], kept=kept, n_record_bytes=n_bytes
            )

    def _take_batches(self, documents: pa.RecordBatch) -> None:
        sizes = np.zeros(documents.num_rows, np.int64)
        for column in documents.columns[4:]:
            sizes += pc.fill_null(pc.binary_length(column), 0).to_numpy(zero_copy_only=False)
        ends, start = np.cumsum(sizes), 0
        while start < documents.num_rows:
            before = int(ends[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(ends, before + MAX_BATCH_BYTES, side="right")))
            end = min(end, start + MAX_BATCH_ROWS)
            self._collector.add_batch(documents.slice(start, end - start))
            start = end
