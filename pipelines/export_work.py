"""What one process of an export does: one unit of work, committed as a whole or not at all.

A unit writes below `_work/temporary/UNIT`, renames, and writes `_work/done/UNIT.json` last. A unit without
that record is done again and writes the same names and bytes, so a killed export resumes by running again.

    direct export     one unit a shard          part-00000 …
    shuffled export   one unit a shard          scatter-00000 …    runs sorted by key, below _work/runs
                      then one a bucket         train-00000 …, validation-00000 …
"""

import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, cast

import numpy as np
import orjson
import pyarrow as pa

from byteroute_ops.errors import ConfigError, StreamError
from byteroute_ops.export import Part, TokenBatch, exporter
from byteroute_ops.export.base import SPLITS, ExportSettings, PartWriter, Split
from byteroute_ops.export.ids import InnerDelimiterError, delimit, flat_ids
from byteroute_ops.export.shuffle import RunBuffer, read_bucket, write_run
from byteroute_ops.export.split import validation_mask
from byteroute_ops.files import LocalFiles
from byteroute_ops.loading.runs import read_rows, small_batches
from byteroute_ops.stream_codec import decode

WORK = "_work"
META = ("doc_id", "source", "position", "lang")


@dataclass(frozen=True, kw_only=True)
class ExportJob:
    """All that decides an export's bytes; the workers get it as it is.

    Attributes:
        run: folder of the finished run.
        run_digest: of its manifest.
        shards: names of its shards, sorted.
        output: folder of the export.
        format: name of the exporter.
        settings: of the exporter.
        stream: how routed bytes decode (framing, profile, barrier), for exports of text; None: the shards
            have a text column.
        validation_fraction: of the documents, by stable hash.
        split_seed: another seed, another split.
        shuffle_seed: None keeps the order of the run.
        buckets: parts of a shuffled export, by split.
        run_bytes: how much pass one of the shuffle sorts at a time, in bytes of Arrow memory.
    """

    run: str
    run_digest: str
    shards: tuple[str, ...]
    output: str
    format: str
    settings: ExportSettings
    stream: dict[str, Any] | None
    validation_fraction: float
    split_seed: int
    shuffle_seed: int | None
    buckets: dict[Split, int]
    run_bytes: int

    def facts(self) -> dict[str, Any]:
        """Returns what a resumed export must agree on, as JSON has it; folders may have moved."""
        values = {key: value for key, value in asdict(self).items() if key not in ("run", "output")}
        return cast(dict[str, Any], orjson.loads(orjson.dumps(values)))


@dataclass
class Counts:
    """Documents of one split."""

    documents: int = 0
    tokens: int = 0
    n_empty: int = 0
    n_inner: int = 0


@dataclass
class UnitRecord:
    """What a unit has written: files, and counts per split."""

    unit: str
    files: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, Counts] = field(default_factory=lambda: {split: Counts() for split in SPLITS})

    @staticmethod
    def from_json(data: bytes) -> "UnitRecord":
        """Returns the record that `commit` wrote."""
        values = orjson.loads(data)
        counts = {split: Counts(**numbers) for split, numbers in values["counts"].items()}
        return UnitRecord(values["unit"], values["files"], counts)


class _Hashed(io.RawIOBase):
    """A stream that knows the SHA-256 and size of what went through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.sha256 = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self._stream.write(view)
        self.sha256.update(view)
        self.size += len(view)
        return len(view)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class UnitFiles:
    """The files of one unit: temporary until `commit`."""

    def __init__(self, output: str, unit: str) -> None:
        self._files = LocalFiles()
        self._output, self.unit = output, unit
        self._open: dict[str, _Hashed] = {}
        self._files.delete(self._temporary(""))

    def _temporary(self, name: str) -> str:
        return f"{self._output}/{WORK}/temporary/{self.unit}/{name.replace('/', '-')}"

    def create(self, name: str) -> BinaryIO:
        """Opens a file of the unit by its final name below the output folder."""
        self._open[name] = _Hashed(self._files.create(self._temporary(name)))
        return cast(BinaryIO, self._open[name])

    def commit(self, record: UnitRecord) -> UnitRecord:
        """Gives all files their names, then writes the record."""
        for name, stream in self._open.items():
            stream.close()
            self._files.rename(self._temporary(name), f"{self._output}/{name}")
            record.files.append({"path": name, "bytes": stream.size, "sha256": stream.sha256.hexdigest()})
        self._files.delete(self._temporary(""))
        write_atomically(done_name(self._output, self.unit), orjson.dumps(asdict(record)))
        return record


def done_name(output: str, unit: str) -> str:
    """Returns the path of the record that says that a unit is done."""
    return f"{output}/{WORK}/done/{unit}.json"


def write_atomically(path: str, data: bytes) -> None:
    """Writes a small file under a temporary name and renames it."""
    files = LocalFiles()
    with files.create(f"{path}.new") as stream:
        stream.write(data)
    files.rename(f"{path}.new", path)


def run_part(job: ExportJob, index: int) -> UnitRecord:
    """Exports one shard in its own order."""
    shard = job.shards[index]
    unit = UnitFiles(job.output, f"part-{index:05d}")
    record = UnitRecord(unit.unit)
    make = exporter(job.format).writer
    writers = {split: make(Part(split, index), job.settings, unit.create) for split in SPLITS}
    for split, rows in _by_split(job, shard):
        _write(job, writers[split], rows, record.counts[split], shard)
    for writer in writers.values():
        writer.close()
    return unit.commit(record)


def run_scatter(job: ExportJob, index: int) -> UnitRecord:
    """Writes one shard as sorted runs: the first pass of a shuffle."""
    unit = UnitFiles(job.output, f"scatter-{index:05d}")
    buffers = {split: RunBuffer(job.run_bytes) for split in SPLITS}
    numbers = dict.fromkeys(SPLITS, 0)

    def flush(split: Split, table: pa.Table | None) -> None:
        if table is not None:
            with unit.create(f"{WORK}/runs/{split}/{index:05d}-{numbers[split]:05d}.arrow") as stream:
                write_run(table, stream, seed=cast(int, job.shuffle_seed), buckets=job.buckets[split])
            numbers[split] += 1

    for split, rows in _by_split(job, job.shards[index]):
        flush(split, buffers[split].add(rows))
    for split in SPLITS:
        flush(split, buffers[split].rest())
    return unit.commit(UnitRecord(unit.unit))


def run_bucket(job: ExportJob, split: Split, bucket: int, run_names: tuple[str, ...]) -> UnitRecord:
    """Exports one bucket of a shuffle: the second pass."""
    unit = UnitFiles(job.output, f"{split}-{bucket:05d}")
    record = UnitRecord(unit.unit)
    writer = exporter(job.format).writer(Part(split, bucket, shuffled=True), job.settings, unit.create)
    table = read_bucket(_opened(job.output, run_names), bucket)
    for batch in table.to_batches() if table is not None else ():
        for rows in small_batches(batch):
            _write(job, writer, rows, record.counts[split], f"bucket {bucket}")
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
