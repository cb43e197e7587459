"""What one process of an export does: one unit of work, committed as a whole or not at all.

A unit writes below `_work/temporary`, renames, and writes `_work/done/UNIT.json` last. A unit without
that record is done again and writes the same names and bytes, so a killed export resumes by running again.

    direct export     one unit a shard          part-00000 …
    shuffled export   one unit a shard          scatter-00000 …    runs sorted by key, below _work/runs
                      then one a bucket         train-00000 …, validation-00000 …
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import pyarrow as pa

from byteroute_ops.errors import ConfigError, StreamError
from byteroute_ops.export import Part, TokenBatch, exporter
from byteroute_ops.export.base import SPLITS, PartWriter, Split
from byteroute_ops.export.ids import InnerDelimiterError, delimit, flat_ids
from byteroute_ops.export.job import WORK, Counts, ExportJob, UnitRecord
from byteroute_ops.export.shuffle import RunBuffer, read_bucket, write_run
from byteroute_ops.export.split import validation_mask
from byteroute_ops.export.unit_files import UnitFiles
from byteroute_ops.files import LocalFiles
from byteroute_ops.loading.runs import read_rows, small_batches
from byteroute_ops.stream_codec import decode

META = ("doc_id", "source", "position", "lang")


class Bucket(NamedTuple):
    """One bucket of a shuffle: a unit of its second pass."""

    split: Split
    number: int

    @property
    def unit(self) -> str:
        """The name of the unit."""
        return f"{self.split}-{self.number:05d}"


def part_unit(index: int) -> str:
    """Returns the name of the unit that exports shard `index` in its own order."""
    return f"part-{index:05d}"


def scatter_unit(index: int) -> str:
    """Returns the name of the unit that shuffles shard `index`."""
    return f"scatter-{index:05d}"


def all_buckets(job: ExportJob) -> list[Bucket]:
    """Returns the buckets of a shuffle, in order."""
    return [Bucket(split, number) for split in SPLITS for number in range(job.buckets[split])]


def runs_of(bucket: Bucket, names: Iterable[str]) -> tuple[str, ...]:
    """Returns those of the first pass's files that may hold documents of the bucket, each once; none: no unit."""
    return tuple(sorted({name for name in names if name.startswith(f"{WORK}/runs/{bucket.split}/")}))


def run_part(job: ExportJob, index: int) -> UnitRecord:
    """Exports one shard in its own order."""
    shard = job.shards[index]
    record = UnitRecord(part_unit(index))
    make = exporter(job.format).writer
    with UnitFiles(job.output, record.unit) as unit:
        writers = {split: make(Part(split, index), job.settings, unit.create) for split in SPLITS}
        for split, rows in _by_split(job, shard):
            _write(job, writers[split], rows, record.counts[split], shard)
        for writer in writers.values():
            writer.close()
        return unit.commit(record)


def run_scatter(job: ExportJob, index: int) -> UnitRecord:
    """Writes one shard as sorted runs: the first pass of a shuffle."""
    buffers = {split: RunBuffer(job.run_bytes) for split in SPLITS}
    numbers = dict.fromkeys(SPLITS, 0)

    def flush(unit: UnitFiles, split: Split, table: pa.Table | None) -> None:
        if table is not None:
            with unit.create(f"{WORK}/runs/{split}/{index:05d}-{numbers[split]:05d}.arrow") as stream:
                write_run(table, stream, seed=cast(int, job.shuffle_seed), buckets=job.buckets[split])
            numbers[split] += 1

    with UnitFiles(job.output, scatter_unit(index)) as unit:
        for split, rows in _by_split(job, job.shards[index]):
            flush(unit, split, buffers[split].add(rows))
        for split in SPLITS:
            flush(unit, split, buffers[split].rest())
        return unit.commit(UnitRecord(unit.unit))


def run_bucket(job: ExportJob, bucket: Bucket, run_names: tuple[str, ...]) -> UnitRecord:
    """Exports one bucket of a shuffle: the second pass."""
    record = UnitRecord(bucket.unit)
    part = Part(bucket.split, bucket.number, shuffled=True)
    with UnitFiles(job.output, bucket.unit) as unit:
        writer = exporter(job.format).writer(part, job.settings, unit.create)
        table = read_bucket(_opened(job.output, run_names), bucket.number)
        for batch in table.to_batches() if table is not None else ():
            for rows in small_batches(batch):
                _write(job, writer, rows, record.counts[bucket.split], f"bucket {bucket.number}")
        writer.close()
        return unit.commit(record)


def _opened(output: str, names: Iterable[str]) -> Iterator[BinaryIO]:
    for name in names:
        with LocalFiles().open(f"{output}/{name}") as stream:
            yield stream


def _by_split(job: ExportJob, shard: str) -> Iterator[tuple[Split, pa.RecordBatch]]:
    for rows in read_rows(f"{job.run}/{shard}", (*META, _content(job))):
        validation = validation_mask(rows.column("doc_id"), job.validation_fraction, seed=job.split_seed)
        for split, mask in (("train", ~validation), ("validation", validation)):
            if mask.all():
                yield cast(Split, split), rows
            elif mask.any():
                yield cast(Split, split), rows.filter(pa.array(mask))


def _content(job: ExportJob) -> str:
    if exporter(job.format).carries_text:
        return "text" if job.stream is None else "routed"
    return "token_ids" if job.settings.space.kind in ("text", "routed") else "routed"


def _write(job: ExportJob, writer: PartWriter, rows: pa.RecordBatch, counts: Counts, where: str) -> None:
    try:
        batch, n_empty, n_inner = token_batch(job, rows)
        if len(batch):
            writer.write(batch)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    counts.documents += len(batch)
    counts.tokens += len(batch.ids)
    counts.n_empty += n_empty
    counts.n_inner += n_inner


def token_batch(job: ExportJob, rows: pa.RecordBatch) -> tuple[TokenBatch, int, int]:
    """Returns (documents with delimiters, how many were empty, how many held a delimiter inside).

    Raises:
        ConfigError: ids of another vocabulary, a delimiter inside a document, a stream that does not decode.
    """
    meta = rows.select(META)
    if exporter(job.format).carries_text:
        texts = rows.column("text") if job.stream is None else _decoded(rows.column("routed"), job.stream)
        sizes = np.diff(np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1])
        kept = np.flatnonzero(sizes)
        kept_texts = texts.take(pa.array(kept))
        with_text = meta.take(pa.array(kept)).append_column("text", kept_texts)
        offsets = np.concatenate([[0], np.cumsum(sizes[kept], dtype=np.int64)])
        return TokenBatch(np.zeros(offsets[-1], np.uint8), offsets, with_text), len(texts) - len(kept), 0
    try:
        documents = delimit(*flat_ids(rows, job.settings.space), job.settings.space)
    except InnerDelimiterError as error:
        source, position = (rows.column(name)[error.row].as_py() for name in ("source", "position"))
        raise ConfigError(f"{error} (the first is in {source!r:.80} at position {position})") from None
    ids = documents.ids.astype(job.settings.dtype)
    meta = meta if len(documents.kept) == rows.num_rows else meta.take(pa.array(documents.kept))
    return TokenBatch(ids, documents.offsets, meta), documents.n_empty, documents.n_inner


def _decoded(routed: pa.BinaryArray, stream: dict[str, Any]) -> pa.StringArray:
    try:
        return pa.array([decode(value, **stream) for value in routed.to_pylist()], pa.string())
    except StreamError as error:
        raise ConfigError(
            f"routed bytes do not decode ({error.detail}); check the run with `byteroute verify`"
        ) from None
