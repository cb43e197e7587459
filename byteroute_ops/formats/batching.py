"""Rows to RecordBatches: one collector takes what every reader finds and cuts it into batches."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from byteroute_ops.errors import RejectReason
from byteroute_ops.formats.model import Read, ReadOptions
from byteroute_ops.formats.splitting import split_document
from byteroute_ops.records import DOCUMENTS, MAX_BATCH_BYTES, MAX_BATCH_ROWS, REJECTS, UND, with_columns

STAGE = "read"
"""What the `stage` column of every reject of a reader says."""


def made_id(source: str, position: int) -> str:
    """Returns the id of a document that brings none: stable for the same file name and content.

    >>> made_id("corpus/a.jsonl", 120)
    'corpus/a.jsonl:120'
    """
    return f"{source}:{position}"


def _column(field: pa.Field, values: list[Any]) -> pa.Array:
    if field.name == "text":
        # UTF-8 made by `str.encode` needs no check of its form.
        return pa.array(values, pa.binary()).view(pa.string())
    return pa.array(values, field.type)


class Collector:
    """Takes documents and rejects of one range, in order, and hands back `Read` steps.

    Where the batches are cut depends on the records alone, never on how the bytes arrived.
    """

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.schema = with_columns(DOCUMENTS, options.keep)
        self.source = ""
        self.ready: list[Read] = []
        self._warnings: list[str] = []
        self._n_taken: Callable[[], int] = int
        self._n_taken_before = self._n_taken_shown = 0
        self._clear()

    def _clear(self) -> None:
        # Rows end to end, in the order of the schema's columns. A tuple a row would keep the garbage collector busy.
        self._values: list[Any] = []
        self._n_rows = 0
        self._rejects: list[tuple[str, int | None, str, str, bytes | None]] = []
        self._n_bytes = self._n_raw_bytes = 0
        self._n_records = self._n_bad = self._n_extra = 0

    def begin(self, source: str, n_taken: Callable[[], int]) -> None:
        """Starts a file; `n_taken` tells how many of its stored bytes have been read."""
        self._n_taken_before += self._n_taken()
        self.source, self._n_taken = source, n_taken

    def _progress(self) -> int:
        total = self._n_taken_before + self._n_taken()
        step, self._n_taken_shown = total - self._n_taken_shown, total
        return step

    def add(
        self, position: int, doc_id: str, lang: str, text: str, *, kept: tuple[str | None, ...], n_record_bytes: int
    ) -> None:
        """Takes one document; `n_record_bytes` bounds its text and kept values in UTF-8 bytes from above.

        An empty `doc_id` or `lang` stands for none.
        """
        # Encoded while the text is at hand, not when the batch ends: by then it would have left the caches.
        utf8 = text.encode()
        row = (doc_id or made_id(self.source, position), self.source, position, lang or UND, utf8, *kept)
        limit = self.options.max_document_bytes
        if n_record_bytes > limit and len(utf8) > limit:
            if self.options.split_long:
                self._add_pieces(row, text)
            else:
                self.reject_long(position, len(utf8))
            return
        self._make_room(n_record_bytes)
        self._n_records += 1
        self._append(row, n_record_bytes)

    def _add_pieces(self, row: tuple[Any, ...], text: str) -> None:
        for k, (piece, n_bytes) in enumerate(split_document(text, self.options.max_document_bytes)):
            self._make_room(n_bytes)
            self._n_records += k == 0
            self._n_extra += k > 0
            self._append((f"{row[0]}#{k}", *row[1:4], piece.encode(), *row[5:]), n_bytes)

    def _make_room(self, n_bytes: int) -> None:
        if self._n_bytes + n_bytes > MAX_BATCH_BYTES and self._n_rows:
            self.seal()

    def _append(self, row: tuple[Any, ...], n_bytes: int) -> None:
        self._values += row
        self._n_rows += 1
        self._n_bytes += n_bytes
        if self._n_rows >= MAX_BATCH_ROWS or self._n_bytes >= MAX_BATCH_BYTES:
            self.seal()

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Takes documents that are a batch of `schema` already, within the limits of a batch."""
        self.seal()
        if batch.num_rows:
            self.ready.append(Read(batch, None, batch.num_rows))

    def reject(
        self,
        position: int | None,
        reason: RejectReason,
        detail: str,
        raw: bytes | None = None,
        *,
        is_record: bool = True,
    ) -> None:
        """Takes one reject: a record that cannot be used or, with `is_record` false, the fault of a file."""
        kept_raw = raw if self.options.keep_raw else None
        self._rejects.append((self.source, position, reason.value, detail, kept_raw))
        self._n_records += is_record
        self._n_bad += is_record
        self._n_raw_bytes += len(kept_raw or b"")
        if len(self._rejects) >= MAX_BATCH_ROWS or self._n_raw_bytes >= MAX_BATCH_BYTES:
            self.seal()

    def reject_long(self, position: int, n_bytes: int, *, what: str = "the text") -> None:
        """Rejects a document that is longer than allowed."""
        limit = self.options.max_document_bytes if what == "the text" else self.options.max_record_bytes
        self.reject(position, RejectReason.DOCUMENT_TOO_LARGE, f"{what} has {n_bytes} bytes; the limit is {limit}")

    def warn(self, message: str) -> None:
        """Takes a warning about the file at hand."""
        self._warnings.append(f"{self.source}: {message}")

    def seal(self) -> None:
        """Ends the batch at hand."""
        if not (self._n_rows or self._rejects):
            return
        self.ready.append(Read(self._documents(), self._reject_rows(), self._n_records, self._n_bad, self._n_extra))
        self._clear()

    def _documents(self) -> pa.RecordBatch | None:
        if not self._n_rows:
            return None
        step = len(self.schema)
        arrays = [_column(f, self._values[i::step]) for i, f in enumerate(self.schema)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _reject_rows(self) -> pa.RecordBatch | None:
        if not self._rejects:
            return None
        rows = [
            (source, position, STAGE, reason, detail, raw) for source, position, reason, detail, raw in self._rejects
        ]
        arrays = [pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), REJECTS, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=REJECTS)

    def drain(self) -> Iterator[Read]:
        """Yields the steps that are complete, with the progress and the warnings so far on the first."""
        for read in self.ready:
            yield replace(read, source_bytes=self._progress(), warnings=tuple(self._warnings))
            self._warnings = []
        self.ready = []

    def finish(self) -> Iterator[Read]:
        """Yields all that is left."""
        self.seal()
        yield from self.drain()
        if (n_bytes := self._progress()) or self._warnings:
            yield Read(None, None, 0, source_bytes=n_bytes, warnings=tuple(self._warnings))
            self._warnings = []
