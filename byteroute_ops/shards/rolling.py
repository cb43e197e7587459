"""Writes a sequence of files that roll over at a size, and says what is in each."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Self, cast

import pyarrow as pa

from ..errors import ConfigError
from ..records import MAX_BATCH_ROWS
from .avro import BLOCK_BYTES
from .parquet import ROW_GROUP_BYTES
from .writing import COMPRESSIONS, HashingStream, Kind, ShardWriter, open_shard_writer


@dataclass(frozen=True)
class FileReport:
    """What one file holds: as the manifest lists it."""

    name: str
    rows: int
    n_bytes: int
    sha256: str


class RollingWriter:
    """Writes batches to files that each end soon after a size on disk.

    A file ends with the batch whose row group or block takes it to `max_bytes`. A row group ends at
    `max_bytes` of Arrow memory or earlier, so a file is larger than asked for by one compressed batch at most,
    and by its footer. No file is opened before there is a row for it.

    As a context manager it gives up the file in hand unless `close` was called.
    """

    def __init__(
        self,
        open_file: Callable[[int], tuple[str, BinaryIO]],
        kind: Kind,
        schema: pa.Schema,
        *,
        compression: str = "zstd",
        seed: bytes = b"",
        metadata: Mapping[str, str] | None = None,
        table: str = "shard",
        max_bytes: int = 256 << 20,
    ) -> None:
        """Opens nothing yet.

        Args:
            open_file: called with 0, 1, 2 …; returns the name to report and the stream to write. The writer
                closes the stream when the file is complete.
            kind: as in `open_shard_writer`, like the other arguments.
            schema: of every batch.
            compression: one of `COMPRESSIONS[kind]`.
            seed: each file's own seed is derived from it and the file's number.
            metadata: the same for all files.
            table: the name in `records.TABLES`.
            max_bytes: bytes on disk at which a file ends.

        Raises:
            ConfigError: an unknown kind or compression, or no positive size.
        """
        if kind not in COMPRESSIONS or compression not in COMPRESSIONS[kind]:
            known = "; ".join(f"{name}: {', '.join(codecs)}" for name, codecs in COMPRESSIONS.items())
            raise ConfigError(f"shard format {kind!r} with compression {compression!r}; there are {known}")
        if max_bytes < 1:
            raise ConfigError(f"shard size {max_bytes} bytes; at least 1")
        self._open_file = open_file
        self._kind: Kind = kind
        self._schema = schema
        self._compression = compression
        self._seed = seed
        self._metadata = metadata
        self._table = table
        self._max_bytes = max_bytes
        self._file: tuple[str, BinaryIO, HashingStream, ShardWriter] | None = None
        self._reports: list[FileReport] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends the rows of a batch, all to one file."""
        if not batch.num_rows:
            return
        if self._file is None:
            self._file = self._next_file()
        _, _, hashing, writer = self._file
        writer.write(batch)
        if hashing.n_bytes >= self._max_bytes:
            self._finish_file()

    def _next_file(self) -> tuple[str, BinaryIO, HashingStream, ShardWriter]:
        index = len(self._reports)
        name, stream = self._open_file(index)
        hashing = HashingStream(stream)
        writer = open_shard_writer(
            self._kind,
            cast(BinaryIO, hashing),
            self._schema,
            compression=self._compression,
            seed=self._seed + index.to_bytes(4, "big"),
            metadata=self._metadata,
            table=self._table,
            chunk_bytes=min(ROW_GROUP_BYTES if self._kind == "parquet" else BLOCK_BYTES, self._max_bytes),
        )
        return name, stream, hashing, writer

    def _finish_file(self) -> None:
        if self._file is None:
            return
        name, stream, hashing, writer = self._file
        writer.close()
        stream.close()
        self._reports.append(FileReport(name, writer.n_rows, hashing.n_bytes, hashing.sha256()))
        self._file = None

    def close(self) -> list[FileReport]:
        """Completes the last file and returns the report of every file, in order; none where no row came."""
        self._finish_file()
        return list(self._reports)

    def abort(self) -> None:
        """Closes the stream of the file that was begun, and leaves it incomplete for the caller to remove."""
        if self._file is None:
            return
        _, stream, hashing, writer = self._file
        self._file = None
        # pyarrow's writer would write its footer when it is collected, to a stream that is closed by then. It is
        # closed now instead, into nothing; what else goes wrong with a file that is given up does not matter.
        hashing.discard()
        with contextlib.suppress(Exception):
            writer.close()
        # What the stream still holds back cannot be written on a full disk either.
        with contextlib.suppress(OSError):
            stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        # Does nothing after `close`. Leaving the block without it, by an error or not, must not look complete.
        self.abort()


def write_table(
    table: pa.Table,
    name: str,
    stream: BinaryIO,
    kind: Kind,
    *,
    avro_name: str,
    compression: str = "zstd",
    seed: bytes = b"",
    metadata: Mapping[str, str] | None = None,
) -> FileReport:
    """Writes a whole small table, a budget say, as one file, which may have no rows.

    Args:
        table: its schema is that of the file.
        name: for the report.
        stream: as in `open_shard_writer`, like the other arguments; left open.
        kind: the file format.
        avro_name: the name in `records.TABLES`, which Avro stores.
        compression: one of `COMPRESSIONS[kind]`.
        seed: for Avro's sync marker.
        metadata: for the header or footer.

    Raises:
        ConfigError: an unknown kind or compression.
    """
    hashing = HashingStream(stream)
    writer = open_shard_writer(
        kind,
        cast(BinaryIO, hashing),
        table.schema,
        compression=compression,
        seed=seed,
        metadata=metadata,
        table=avro_name,
    )
    for batch in table.to_batches(max_chunksize=MAX_BATCH_ROWS):
        writer.write(batch)
    writer.close()
    return FileReport(name, writer.n_rows, hashing.n_bytes, hashing.sha256())
