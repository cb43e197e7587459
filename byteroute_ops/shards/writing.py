"""One file of either format behind one protocol, and a stream that hashes what it passes on."""

import hashlib
from collections.abc import Mapping
from typing import BinaryIO, Final, Literal, Protocol

import pyarrow as pa

from ..errors import ConfigError
from .avro import BLOCK_BYTES, CODECS, AvroShardWriter
from .parquet import COMPRESSIONS as PARQUET_COMPRESSIONS
from .parquet import ROW_GROUP_BYTES, ParquetShardWriter

Kind = Literal["parquet", "avro"]

COMPRESSIONS: Final[dict[Kind, tuple[str, ...]]] = {"parquet": tuple(PARQUET_COMPRESSIONS), "avro": tuple(CODECS)}
"""The compressions of each kind of file; the first is the default."""


class ShardWriter(Protocol):
    """What writes one file. Closing writes the last rows and leaves the stream open."""

    n_rows: int

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends the rows of a batch."""

    def close(self) -> None:
        """Completes the file."""


def open_shard_writer(
    kind: Kind,
    stream: BinaryIO,
    schema: pa.Schema,
    *,
    compression: str = "zstd",
    seed: bytes = b"",
    metadata: Mapping[str, str] | None = None,
    table: str = "shard",
    chunk_bytes: int | None = None,
) -> ShardWriter:
    """Returns a writer of one file; equal arguments and batches give equal bytes (see the two classes).

    Args:
        kind: the file format.
        stream: binary, append-only; the caller closes it.
        schema: of every batch, column by column.
        compression: one of `COMPRESSIONS[kind]`.
        seed: Avro's sync marker follows from it: the digest of range and config, say. Parquet has no use for it.
        metadata: goes into the file's own header or footer.
        table: the name in `records.TABLES`, which Avro stores.
        chunk_bytes: size at which a row group (Arrow memory) or block (before compression) ends; None: 32 MiB for
            Parquet, 1 MiB for Avro.

    Raises:
        ConfigError: an unknown kind or compression.
    """
    if kind == "parquet":
        return ParquetShardWriter(
            stream,
            schema,
            compression=compression,
            metadata=metadata or {},
            row_group_bytes=chunk_bytes or ROW_GROUP_BYTES,
        )
    if kind == "avro":
        return AvroShardWriter(
            stream,
            schema,
            compression=compression,
            seed=seed,
            metadata=metadata or {},
            table=table,
            block_bytes=chunk_bytes or BLOCK_BYTES,
        )
    raise ConfigError(f"shard format {kind!r} is not one of {', '.join(COMPRESSIONS)}")


class HashingStream:
    """Passes bytes on to a binary stream; knows their number and SHA-256 without a second read."""

    closed = False
    # pyarrow asks for it before it writes.

    def __init__(self, stream: BinaryIO) -> None:
        self.n_bytes = 0
        self._stream = stream
        self._digest = hashlib.sha256()
        self._discards = False

    def write(self, data: bytes) -> int:
        """Writes all of `data`, which may be any buffer."""
        view = memoryview(data)
        if self._discards:
            return view.nbytes
        self._digest.update(view)
        self.n_bytes += view.nbytes
        done = 0
        while done < view.nbytes:
            # A raw, unbuffered stream may take less than it was offered.
            done += self._stream.write(view[done:])
        return done

    def discard(self) -> None:
        """Drops whatever is written from now on."""
        self._discards = True

    def flush(self) -> None:
        """Passes the flush on."""
        self._stream.flush()

    def writable(self) -> bool:
        """Says yes, as pyarrow asks."""
        return True

    def sha256(self) -> str:
        """Returns the hex digest of what was written so far."""
        return self._digest.hexdigest()
