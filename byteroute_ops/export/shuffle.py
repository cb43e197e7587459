"""A global shuffle in bounded memory: two passes over the documents, one bucket at a time.

Pass one cuts the input into *runs* of bounded size, sorts each by shuffle key and writes it as an Arrow IPC
file with one record batch a bucket (a bucket is a range of keys). Pass two reads one bucket out of every run
and sorts it. Buckets in order are then the whole corpus sorted by key, which is a uniform shuffle because
keys are. Memory: one run, then one bucket. One open file at a time, however many buckets there are.
"""

from collections.abc import Iterable
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.export.split import shuffle_keys

KEY = "shuffle_key"
_SPAN = 1 << 64


def bucket_count(total_bytes: int, bucket_bytes: int) -> int:
    """Returns how many buckets hold `total_bytes` with about `bucket_bytes` in each; at least one.

    >>> bucket_count(0, 64), bucket_count(1000, 64)
    (1, 16)
    """
    return max(1, -(-total_bytes // bucket_bytes))


class RunBuffer:
    """Gathers batches into runs of at least `run_bytes` (Arrow memory); only the last may be smaller."""

    def __init__(self, run_bytes: int) -> None:
        self._limit = run_bytes
        self._held: list[pa.RecordBatch] = []
        self._size = 0

    def add(self, batch: pa.RecordBatch) -> pa.Table | None:
        """Takes a batch; returns a run when one is full."""
        if batch.num_rows:
            self._held.append(batch)
            self._size += batch.nbytes
        return self.rest() if self._size >= self._limit else None

    def rest(self) -> pa.Table | None:
        """Returns what is held, as the last run, or None."""
        held, self._held, self._size = self._held, [], 0
        return pa.Table.from_batches(held) if held else None


def write_run(table: pa.Table, stream: BinaryIO, *, seed: int, buckets: int) -> None:
    """Writes a run: the rows sorted by key, one record batch a bucket, empty ones too."""
    whole = table.combine_chunks()
    keys = np.concatenate([shuffle_keys(batch, seed) for batch in whole.to_batches()] or [np.zeros(0, np.uint64)])
    ordered = whole.append_column(KEY, pa.array(keys, pa.uint64())).take(np.argsort(keys, kind="stable"))
    bounds = np.searchsorted(np.sort(keys), _bounds(buckets))
    with pa.ipc.new_file(stream, ordered.schema) as writer:
        for start, end in zip(bounds, [*bounds[1:], len(keys)], strict=True):
            writer.write_batch(_one_batch(ordered.slice(start, end - start)))


def _bounds(buckets: int) -> npt.NDArray[np.uint64]:
    return np.array([(bucket * _SPAN + buckets - 1) // buckets for bucket in range(buckets)], np.uint64)


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def read_bucket(streams: Iterable[BinaryIO], bucket: int) -> pa.Table | None:
    """Returns the documents of a bucket in shuffled order, or None when there are none.

    Args:
        streams: the runs; each is read as it comes and may be closed after that.
        bucket: which one.
    """
    parts = []
    for stream in streams:
        batch = pa.ipc.open_file(stream).get_batch(bucket)
        if batch.num_rows:
            parts.append(batch)
    if not parts:
        return None
    table = pa.Table.from_batches(parts)
    # Ties (the same document twice) go by what the rows say, never by which run they came from.
    order = [(KEY, "ascending"), ("doc_id", "ascending"), ("source", "ascending"), ("position", "ascending")]
    return table.sort_by(order).drop_columns([KEY])
