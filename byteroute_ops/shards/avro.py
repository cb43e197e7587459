"""Avro object container files (Apache Avro 1.11 specification, "Object Container Files")."""

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import fastavro
import numpy as np
import pyarrow as pa
import zstandard

from ..errors import ConfigError
from ..records import MAX_BATCH_ROWS, avro_schema
from .avro_encoding import encode_long, encode_rows
from .rows import check_rows

MAGIC: Final = b"Obj\x01"

BLOCK_BYTES: Final = 1 << 20
"""A block ends with the row that takes it to this many uncompressed bytes.

Smaller blocks compress less well (zstd, shard rows: 16 KB blocks are 6 % larger), and readers hold a block.
"""


def _deflate(data: bytes) -> bytes:
    # The specification wants RFC 1951 without the zlib header and checksum: a negative window size.
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


CODECS: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "zstd": ("zstandard", lambda data: zstandard.ZstdCompressor(level=3).compress(data)),
    "deflate": ("deflate", _deflate),
    "none": ("null", bytes),
}
"""Our name of a compression → the name in the specification, and what compresses a block."""


def _avro_bytes(data: bytes) -> bytes:
    return encode_long(len(data)) + data


class AvroShardWriter:
    """Writes one Avro file whose bytes follow from rows, schema, seed and metadata alone.

    Blocks are cut by their size in bytes, so it makes no difference how the rows are batched. Deflate and
    zstd bytes are those of the installed zlib and zstandard versions.
    """

    def __init__(
        self,
        stream: BinaryIO,
        schema: pa.Schema,
        *,
        compression: str,
        seed: bytes,
        metadata: Mapping[str, str],
        table: str = "shard",
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        """Writes the header.

        Args:
            stream: where bytes go; only `write` is called, and closing stays with the caller.
            schema: of every batch that follows.
            compression: a key of `CODECS`.
            seed: what the sync marker is derived from. Files of one run should have different seeds: readers
                that look for the marker must not meet another file's.
            metadata: for the file header; keys that begin with `avro.` belong to the specification.
            table: name of the record type; the table's name in `records.TABLES`.
            block_bytes: see `BLOCK_BYTES`.

        Raises:
            ConfigError: an unknown compression.
        """
        if compression not in CODECS:
            raise ConfigError(f"compression {compression!r}: Avro files take {', '.join(CODECS)}")
        codec, self._compress = CODECS[compression]
        self.schema = schema
        self.n_rows = 0
        self._stream = stream
        self._block_bytes = block_bytes
        self._sync = hashlib.sha256(b"byteroute avro sync marker" + seed).digest()[:16]
        self._pending: list[bytes] = []
        self._pending_bytes = self._pending_rows = 0
        header = {key: metadata[key] for key in sorted(metadata)}
        header |= {"avro.codec": codec, "avro.schema": json.dumps(avro_schema(schema, table), separators=(",", ":"))}
        entries = b"".join(_avro_bytes(key.encode()) + _avro_bytes(value.encode()) for key, value in header.items())
        stream.write(MAGIC + encode_long(len(header)) + entries + encode_long(0) + self._sync)

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends the rows of a batch.

        Raises:
            ValueError: the batch does not have the schema of the file.
        """
        check_rows(batch, self.schema)
        if not batch.num_rows:
            return
        rows = encode_rows(batch)
        data = memoryview(rows.buffers()[2])
        ends = np.frombuffer(rows.buffers()[1], np.int64)[1:]
        begin, row = 0, 0
        while row < len(ends):
            # The first row whose end takes the block to its size; the last row where none does.
            last = int(np.searchsorted(ends, begin + self._block_bytes - self._pending_bytes))
            last = min(last, len(ends) - 1)
            end = int(ends[last])
            self._pending.append(bytes(data[begin:end]))
            self._pending_bytes += end - begin
            self._pending_rows += last + 1 - row
            begin, row = end, last + 1
            if self._pending_bytes >= self._block_bytes:
                self._write_block()
        self.n_rows += batch.num_rows

    def _write_block(self) -> None:
        data = self._compress(b"".join(self._pending))
        self._stream.write(encode_long(self._pending_rows) + _avro_bytes(data) + self._sync)
        self._pending.clear()
        self._pending_bytes = self._pending_rows = 0

    def close(self) -> None:
        """Writes the last block."""
        if self._pending_rows:
            self._write_block()


def arrow_schema(avro: Mapping[str, Any]) -> pa.Schema:
    """Returns the Arrow schema that `records.avro_schema` made an Avro record schema of.

    Raises:
        TypeError: an Avro type that no table of ours has.

    >>> arrow_schema({"fields": [{"name": "lang", "type": ["null", "string"]}]})
    lang: string
    """
    simple = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "bytes": pa.binary()}

    def field(name: str, kind: Any) -> pa.Field:
        if isinstance(kind, list):
            return field(name, kind[1]).with_nullable(True)
        outer = kind if isinstance(kind, str) else kind["type"]
        if outer == "array":
            result = pa.list_(field("item", kind["items"]))
        elif outer == "record":
            result = pa.struct(list(arrow_schema(kind)))
        elif outer == "fixed":
            result = pa.binary(kind["size"])
        elif outer in simple:
            result = simple[outer]
        else:
            raise TypeError(f"no Arrow form for Avro type {outer!r}")
        return pa.field(name, result, nullable=False)

    return pa.schema([field(f["name"], f["type"]) for f in avro["fields"]])


def read_header(stream: BinaryIO) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the record schema and the caller's metadata of an Avro file; `stream` is at its start."""
    reader = fastavro.block_reader(stream)
    own = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
    return json.loads(reader.metadata["avro.schema"]), own


def read_blocks(stream: BinaryIO, written: Mapping[str, Any], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Returns the rows of an Avro file, block by block, with the chosen columns in the chosen order.

    Args:
        stream: at the start of the file.
        written: the schema in the file's header.
        columns: names of top-level fields.
    """
    by_name = {f["name"]: f for f in written["fields"]}
    wanted = {**written, "fields": [by_name[name] for name in columns]}
    schema = arrow_schema(wanted)
    # With a reader's schema fastavro skips the other fields, but compares the two schemas at every item of a list:
    # token ids then take three times as long as reading every field without one.
    nested = any(pa.types.is_nested(kind) for kind in schema.types)
    for block in fastavro.block_reader(stream, reader_schema=None if nested else wanted):
        rows = list(block)
        for start in range(0, len(rows), MAX_BATCH_ROWS):
            yield pa.RecordBatch.from_pylist(rows[start : start + MAX_BATCH_ROWS], schema=schema)
