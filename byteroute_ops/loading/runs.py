"""Finished runs as exports, checks and trainers see them: the manifest, the shards, their rows. Local folders."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from byteroute_ops.errors import ConfigError, InputError
from byteroute_ops.shards import read_shard

BATCH_ROWS = 512
BATCH_BYTES = 8 << 20


@dataclass(frozen=True)
class ShardFile:
    """One shard: its name below the folder of the run, rows, and size in bytes."""

    name: str
    rows: int
    n_bytes: int


class Unit(NamedTuple):
    """What is read at once: a row group of a Parquet shard, or an Avro shard as a whole (group -1)."""

    shard: str
    group: int
    rows: int


@dataclass(frozen=True)
class FinishedRun:
    """A run's output folder.

    Attributes:
        folder: where it lies.
        manifest: `manifest.json` as it was read.
        shards: sorted by name.
        digest: SHA-256 of the manifest file, hex; stands for all the content.
    """

    folder: str
    manifest: dict[str, Any]
    shards: tuple[ShardFile, ...]
    digest: str

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the run."""
        return dict(self.manifest["settings"])

    @property
    def tokenizer(self) -> dict[str, Any]:
        """What identifies the tokenizer whose ids are in the shards: name, vocab_size, digests."""
        return dict(self.manifest["tokenizers"][0])

    def units(self) -> tuple[Unit, ...]:
        """Returns all units in order of shard and row group, those without rows left out."""
        found = []
        for shard in self.shards:
            if shard.name.endswith(".avro"):
                found.append(Unit(shard.name, -1, shard.rows))
                continue
            metadata = pq.read_metadata(Path(self.folder, shard.name))
            found += [Unit(shard.name, g, metadata.row_group(g).num_rows) for g in range(metadata.num_row_groups)]
        return tuple(unit for unit in found if unit.rows)

    def read_unit(self, unit: Unit, columns: Sequence[str]) -> pa.RecordBatch:
        """Returns all rows of a unit.

        Raises:
            ConfigError: as `read_rows`.
        """
        path = str(Path(self.folder, unit.shard))
        if unit.group < 0:
            table = pa.Table.from_batches(list(read_rows(path, columns)))
        else:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                _require(path, columns, file.schema_arrow.names)
                table = file.read_row_group(unit.group, columns=list(columns), use_threads=False)
        return table.select(list(columns)).combine_chunks().to_batches()[0]


def open_run(folder: str) -> FinishedRun:
    """Returns a finished run.

    Raises:
        ConfigError: no manifest (the run has not ended), or a shard is missing or has another size.
    """
    path = Path(folder, "manifest.json")
    if not path.is_file():
        raise ConfigError(
            f"{folder} has no manifest.json: the run is not complete; end it with `byteroute run --resume`"
        )
    data = path.read_bytes()
    manifest = orjson.loads(data)
    if manifest.get("format") != "byteroute-output":
        raise ConfigError(f"{path} is not that of a complete run; name the output folder of `byteroute run`")
    shards = [entry for entry in manifest["files"] if entry["kind"] == "shard"]
    for entry in shards:
        shard = Path(folder, entry["path"])
        size = shard.stat().st_size if shard.is_file() else None
        if size != entry["bytes"]:
            found = "no file" if size is None else f"{size} bytes"
            raise ConfigError(f"{shard}: {found}, the manifest says {entry['bytes']}; see `byteroute verify {folder}`")
    files = tuple(sorted((ShardFile(e["path"], e["rows"], e["bytes"]) for e in shards), key=lambda shard: shard.name))
    return FinishedRun(folder, manifest, files, hashlib.sha256(data).hexdigest())


def read_rows(path: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yields some columns of a shard, at most 512 rows and 8 MiB a batch; one longer document comes alone.

    Batch bounds depend on the file alone.

    Raises:
        ConfigError: the shard has no such column, or is damaged.
    """
    with Path(path).open("rb") as stream:
        try:
            for batch in read_shard(stream, columns):
                yield from small_batches(batch)
        except InputError as error:
            raise ConfigError(f"{path}: {error.detail}; see `byteroute verify`") from None


def small_batches(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yields a batch in slices of at most 512 rows and 8 MiB, cut in halves; one larger row comes alone."""
    if batch.num_rows <= 1 or (batch.num_rows <= BATCH_ROWS and batch.nbytes <= BATCH_BYTES):
        yield batch
        return
    half = batch.num_rows // 2
    yield from small_batches(batch.slice(0, half))
    yield from small_batches(batch.slice(half))


def _require(path: str, columns: Sequence[str], present: Sequence[str]) -> None:
    missing = [name for name in columns if name not in present]
    if missing:
        raise ConfigError(f"{path} has no column {', '.join(missing)}; it has {', '.join(present)}")
