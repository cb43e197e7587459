"""Reads shards, rejects and budget files of either format back as Arrow batches, in bounded memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

import pyarrow as pa

from ..errors import ConfigError, InputError, RejectReason
from . import avro, parquet


@contextmanager
def _damage_as_input_error() -> Iterator[None]:
    try:
        yield
    except EOFError as error:
        raise InputError(RejectReason.TRUNCATED, "the file ends inside a block") from error
    except Exception as error:
        # On damaged bytes fastavro, the codecs and Arrow raise a dozen unrelated types, down to MemoryError for
        # a wrong length. Their messages may quote bytes of the file, so only the type is passed on.
        raise InputError(RejectReason.CORRUPT, f"the file does not decode ({type(error).__name__})") from error


@dataclass(frozen=True)
class ShardReader:
    """An open shard.

    Attributes:
        stream: the file; binary and seekable. Closing stays with the caller.
        kind: its format.
        schema: the Arrow schema, the same for both formats.
        metadata: what the writer was given.
    """

    stream: BinaryIO
    kind: Literal["parquet", "avro"]
    schema: pa.Schema
    metadata: dict[str, str]

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Returns the rows, at most 4096 a batch; memory is that of one row group or block.

        An Avro file has no end mark: one that was cut between two blocks reads as a shorter file, which only
        the row count in the manifest tells.

        Args:
            columns: names, in the order wanted; all of them by default.

        Raises:
            ConfigError: a column that the file does not have.
            InputError: a damaged file; the batches before the damage have been returned.
        """
        names = self.schema.names if columns is None else list(columns)
        for name in names:
            if name not in self.schema.names:
                raise ConfigError(f"no column {name!r}; the file has {', '.join(self.schema.names)}")
        return self._batches(names)

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        self.stream.seek(0)
        rows: Iterator[pa.RecordBatch]
        with _damage_as_input_error():
            if self.kind == "parquet":
                rows = parquet.read_row_groups(self.stream, names)
            else:
                written, _ = avro.read_header(self.stream)
                self.stream.seek(0)
                rows = avro.read_blocks(self.stream, written, names)
        while True:
            # Only the library's step is guarded: an error of the consumer must pass as it is.
            with _damage_as_input_error():
                batch = next(rows, None)
            if batch is None:
                return
            yield batch


def open_shard(stream: BinaryIO) -> ShardReader:
    """Returns a reader of a Parquet or Avro file, told apart by its first four bytes, wherever `stream` stands.

    Raises:
        InputError: neither of the two, or a damaged header or footer.
    """
    stream.seek(0)
    magic = stream.read(4)
    stream.seek(0)
    with _damage_as_input_error():
        if magic == parquet.MAGIC:
            schema, metadata = parquet.read_header(stream)
            return ShardReader(stream, "parquet", schema, metadata)
        if magic == avro.MAGIC:
            written: dict[str, Any]
            written, metadata = avro.read_header(stream)
            return ShardReader(stream, "avro", avro.arrow_schema(written), metadata)
    raise InputError(RejectReason.UNREADABLE_FILE, f"begins with {magic.hex(' ')}: neither Parquet nor Avro", offset=0)


def read_shard(stream: BinaryIO, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Returns the rows of a Parquet or Avro file; see `ShardReader.batches`."""
    return open_shard(stream).batches(columns)
