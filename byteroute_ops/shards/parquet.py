"""Parquet shards, written straight from Arrow batches with settings chosen by size and speed on real rows.

On rows of the shard table with cl100k ids (21 MB of UTF-8 text in 15,764 documents, zstd level 3):

| column                 | chosen              | MB    | also tried                                      |
|------------------------|---------------------|-------|-------------------------------------------------|
| `token_ids`            | plain               | 10.29 | dictionary 10.91, byte stream split 11.09, delta 17.94 |
| `routed`               | plain               |  8.00 | delta length byte array 7.97                    |
| offsets of `segments`  | delta binary packed |  1.70 | plain 1.98, dictionary 2.20                     |
| names of `segments`    | dictionary          |  0.19 | plain 0.41                                      |

Level 6 saves 13 % of the ids and 8 % of the payload at twice the time; level 1 costs 5 % and 20 %.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import ConfigError
from ..records import MAX_BATCH_ROWS
from .rows import check_rows

MAGIC: Final = b"PAR1"

COMPRESSIONS: Final[dict[str, tuple[str, int | None]]] = {"zstd": ("zstd", 3), "none": ("none", None)}
"""Our name of a compression → Parquet's and the level."""

ROW_GROUP_BYTES: Final = 32 << 20
"""A row group ends with the batch that takes it to this many bytes of Arrow memory."""

_DICTIONARY: Final = {
    "source", "lang", "report_script", "encoding_script", "encoding", "stage", "reason", "tokenizer", "script",
}  # fmt: skip
_PLAIN: Final = {"doc_id", "detail", "routed", "raw", "text", "text_digest", "token_ids"}


def _leaves(column: pa.Field) -> Iterator[tuple[str, pa.DataType]]:
    """Returns the Parquet path and type of each leaf below a column."""

    def walk(path: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
        if pa.types.is_list(kind):
            yield from walk(f"{path}.list.element", kind.value_type)
        elif pa.types.is_struct(kind):
            for i in range(kind.num_fields):
                yield from walk(f"{path}.{kind.field(i).name}", kind.field(i).type)
        else:
            yield path, kind

    return walk(column.name, column.type)


def writer_options(schema: pa.Schema) -> dict[str, Any]:
    """Returns the encodings of each column as options of `pyarrow.parquet.ParquetWriter`.

    Integers are delta packed, names that repeat have a dictionary, payload and ids are plain. A column that
    we do not know (one that the user keeps) gets a dictionary, which Parquet gives up where it does not pay.
    Statistics are written where a reader can select by them: they would copy payload into the footer.

    >>> options = writer_options(pa.schema({"lang": pa.string(), "position": pa.int64(), "routed": pa.binary()}))
    >>> options["use_dictionary"], options["column_encoding"], options["write_statistics"]
    (['lang'], {'position': 'DELTA_BINARY_PACKED', 'routed': 'PLAIN'}, ['lang', 'position'])
    """
    dictionary: list[str] = []
    encoding: dict[str, str] = {}
    for column in schema:
        for path, kind in _leaves(column):
            name = path.rsplit(".", 1)[-1]
            if column.name in _PLAIN:
                encoding[path] = "PLAIN"
            elif pa.types.is_integer(kind):
                encoding[path] = "DELTA_BINARY_PACKED"
            elif name in _DICTIONARY or pa.types.is_string(kind):
                dictionary.append(path)
            else:
                encoding[path] = "PLAIN"
    selectable = [f.name for f in schema if pa.types.is_integer(f.type) or f.name in _DICTIONARY or f.name == "doc_id"]
    return {"use_dictionary": dictionary, "column_encoding": encoding, "write_statistics": selectable}


class ParquetShardWriter:
    """Writes one Parquet file whose bytes follow from the batches, schema and metadata alone.

    "Alone" means for one version of pyarrow: the file names it (`created_by`), and encoders change. How the
    rows are batched counts too, as row groups end with a batch. Memory: one row group, and one batch more.
    """

    def __init__(
        self,
        stream: BinaryIO,
        schema: pa.Schema,
        *,
        compression: str,
        metadata: Mapping[str, str],
        row_group_bytes: int = ROW_GROUP_BYTES,
    ) -> None:
        """Opens the file.

        Args:
            stream: where bytes go; only ever appended to, and closing stays with the caller.
            schema: of every batch that follows.
            compression: a key of `COMPRESSIONS`.
            metadata: key-value metadata for the footer.
            row_group_bytes: see `ROW_GROUP_BYTES`.

        Raises:
            ConfigError: an unknown compression.
        """
        if compression not in COMPRESSIONS:
            raise ConfigError(f"compression {compression!r}: Parquet files take {', '.join(COMPRESSIONS)}")
        codec, level = COMPRESSIONS[compression]
        self.schema = schema
        self.n_rows = 0
        self._metadata = {key: metadata[key] for key in sorted(metadata)}
        self._row_group_bytes = row_group_bytes
        self._pending: list[pa.RecordBatch] = []
        self._pending_bytes = 0
        # A damaged page is found by its checksum even where no manifest is at hand.
        self._writer = pq.ParquetWriter(
            stream,
            schema,
            version="2.6",
            compression=codec,
            compression_level=level,
            write_page_checksum=True,
            **writer_options(schema),
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends the rows of a batch.

        Raises:
            ValueError: the batch does not have the schema of the file.
        """
        check_rows(batch, self.schema)
        self._pending.append(batch)
        self._pending_bytes += batch.nbytes
        self.n_rows += batch.num_rows
        if self._pending_bytes >= self._row_group_bytes:
            self._write_row_group()

    def _write_row_group(self) -> None:
        table = pa.Table.from_batches(self._pending, schema=self.schema)
        if table.num_rows:
            self._writer.write_table(table, row_group_size=table.num_rows)
        self._pending.clear()
        self._pending_bytes = 0

    def close(self) -> None:
        """Writes the last row group and the footer."""
        self._write_row_group()
        self._writer.add_key_value_metadata(self._metadata)
        self._writer.close()


def read_header(stream: BinaryIO) -> tuple[pa.Schema, dict[str, str]]:
    """Returns the schema and the caller's metadata of a Parquet file."""
    file = pq.ParquetFile(stream, pre_buffer=False)
    pairs = file.metadata.metadata or {}
    own = {key.decode(): value.decode() for key, value in pairs.items() if key != b"ARROW:schema"}
    return file.schema_arrow.remove_metadata(), own


def read_row_groups(stream: BinaryIO, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Returns the rows of a Parquet file with the chosen columns, a row group in memory at a time."""
    file = pq.ParquetFile(stream, pre_buffer=False, page_checksum_verification=True)
    for group in range(file.num_row_groups):
        table = file.read_row_group(group, columns=list(columns), use_threads=False).select(list(columns))
        yield from table.replace_schema_metadata().combine_chunks().to_batches(max_chunksize=MAX_BATCH_ROWS)
