"""Shard files of both formats: content, determinism, rolling, damage."""

import hashlib
import io
import random
import struct

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from byteroute_ops.errors import ConfigError, InputError, RejectReason
from byteroute_ops.records import REJECTS, SHARD, TABLES, avro_schema, with_columns
from byteroute_ops.shards import (
    COMPRESSIONS,
    FileReport,
    Kind,
    RollingWriter,
    avro_encoding,
    open_shard,
    open_shard_writer,
    read_shard,
    write_table,
)  # fmt: skip
from byteroute_ops.shards.avro import BLOCK_BYTES, arrow_schema
from byteroute_ops.shards.parquet import writer_options

EVERY = [(kind, compression) for kind, codecs in COMPRESSIONS.items() for compression in codecs]


def rows(n: int, first: int = 0, n_ids: int = 5) -> pa.RecordBatch:
    """Returns rows of the shard table that compress badly enough to fill files."""
    rng = random.Random(first)
    documents = []
    for i in range(first, first + n):
        data = rng.randbytes(40)
        ends = sorted(rng.sample(range(1, 40), i % 4))
        documents.append(
            {
                "doc_id": f"doc-{i}", "source": "corpus/ü.jsonl", "position": i * 1000,
                "lang": ["en", "km", "und"][i % 3],
                "routed": data,
                "segments": [
                    {"report_script": "Khmr", "encoding_script": "Khmr", "encoding": "utf-16-be", "text_start": lo,
                     "text_end": hi, "start": 3 + lo, "end": 3 + hi}
                    for lo, hi in zip([0, *ends], ends, strict=False)
                ],
                "n_codepoints": 40, "n_utf8_bytes": 40, "n_routed_bytes": 40, "n_text_tokens": n_ids,
                "n_routed_tokens": None if i % 5 == 0 else i,
                "token_ids": None if i % 7 == 3 else [rng.randrange(200_000) for _ in range(n_ids)],
                "text_digest": hashlib.sha256(data).digest()[:16],
            }
        )  # fmt: skip
    return pa.RecordBatch.from_pylist(documents, schema=SHARD)


def written(kind: Kind, batches: list[pa.RecordBatch], **options: object) -> bytes:
    """Returns the bytes of a file of the batches."""
    stream = io.BytesIO()
    writer = open_shard_writer(kind, stream, batches[0].schema, **options)  # type: ignore[arg-type]
    for batch in batches:
        writer.write(batch)
    writer.close()
    assert writer.n_rows == sum(batch.num_rows for batch in batches)
    return stream.getvalue()


@pytest.mark.parametrize(("kind", "compression"), EVERY)
def test_rows_come_back(kind: Kind, compression: str) -> None:
    """Every format and compression gives back rows, schema and metadata."""
    batches = [rows(30), rows(50, first=30), rows(0)]
    data = written(kind, batches, compression=compression, metadata={"policy": "script-a", "größe": "ü"})
    shard = open_shard(io.BytesIO(data))
    assert (shard.kind, shard.metadata) == (kind, {"policy": "script-a", "größe": "ü"})
    assert shard.schema.equals(SHARD)
    assert pa.Table.from_batches(shard.batches(), schema=SHARD).equals(pa.Table.from_batches(batches))


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_slices_are_written_as_they_are(kind: Kind) -> None:
    """A batch that is a window of a larger one gives the bytes of a copy of the window."""
    window = rows(60).slice(17, 21)
    copy = pa.RecordBatch.from_pylist(window.to_pylist(), schema=SHARD)
    assert written(kind, [window]) == written(kind, [copy])


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_rows_of_another_schema_are_refused(kind: Kind) -> None:
    """A batch with other columns, another order, or a null where none may be is not written as something else."""
    batch = rows(3)
    with pytest.raises(ValueError, match="of the file: lang"):
        written(kind, [batch, batch.drop_columns(["lang"])])
    with pytest.raises(ValueError, match="order of columns"):
        written(kind, [batch, batch.select(batch.schema.names[::-1])])
    hole = batch.set_column(0, SHARD.field(0), pa.array(["a", None, "b"]))
    with pytest.raises(ValueError, match="doc_id has 1 nulls"):
        written(kind, [hole])


def test_long_lists_are_encoded_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists that begin, end or lie across the pieces come out the same: in one piece, or in pieces of 7 values."""
    batch = rows(40, n_ids=13)
    data = written("avro", [batch])
    monkeypatch.setattr(avro_encoding, "_PIECE", 7)
    assert written("avro", [batch]) == data


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_columns_are_chosen_and_ordered(kind: Kind) -> None:
    """A reader may ask for some columns, in its own order; an unknown one is named."""
    batch = rows(9)
    data = written(kind, [batch])
    found = pa.Table.from_batches(read_shard(io.BytesIO(data), ["token_ids", "doc_id", "segments"]))
    assert found.equals(pa.Table.from_batches([batch]).select(["token_ids", "doc_id", "segments"]))
    with pytest.raises(ConfigError, match=r"'colour'.*doc_id"):
        read_shard(io.BytesIO(data), ["colour"])


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_kept_columns_and_other_tables(kind: Kind) -> None:
    """Text and kept columns travel with the shard; rejects are written by the same writer."""
    schema = with_columns(SHARD, ("url",), text=True)
    batch = rows(4)
    full = pa.RecordBatch.from_arrays(
        [*batch.columns, pa.array(["ក", "", "x", "y"]), pa.array([None, "u", "u", None], pa.string())], schema=schema
    )
    assert next(read_shard(io.BytesIO(written(kind, [full])))).equals(full)
    reject = {"source": "a", "position": None, "stage": "read", "reason": "truncated", "detail": "", "raw": b"\0"}
    rejects = pa.RecordBatch.from_pylist([reject, reject | {"position": 7, "raw": None}], schema=REJECTS)
    assert next(read_shard(io.BytesIO(written(kind, [rejects], table="rejects")))).equals(rejects)


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_file_may_have_no_rows(kind: Kind) -> None:
    """An empty table is a readable file with the right schema."""
    stream = io.BytesIO()
    report = write_table(REJECTS.empty_table(), "r", stream, kind, avro_name="rejects")
    assert (report.name, report.rows) == ("r", 0)
    stream.seek(0)
    assert open_shard(stream).schema.equals(REJECTS)
    assert list(read_shard(stream)) == []


@pytest.mark.parametrize(("kind", "compression"), EVERY)
def test_equal_input_gives_equal_bytes(kind: Kind, compression: str) -> None:
    """Two writers with the same batches give the same file, in whatever order the metadata comes."""
    one, two = (
        written(kind, [rows(40), rows(9, first=40)], compression=compression, seed=b"7", metadata=metadata)
        for metadata in ({"a": "1", "b": "2"}, {"b": "2", "a": "1"})
    )
    assert one == two


def test_avro_bytes_do_not_depend_on_batching() -> None:
    """Blocks are cut by their size alone: any batching of the rows gives the same file of several blocks."""
    whole = rows(400, n_ids=4000)
    data = written("avro", [whole], compression="none")
    assert len(data) > 3 * BLOCK_BYTES
    parts = [whole.slice(0, 1), whole.slice(1, 250), whole.slice(251, 0), whole.slice(251)]
    assert written("avro", parts, compression="none") == data
    sizes = [block.size for block in fastavro.block_reader(io.BytesIO(data))]
    assert len(sizes) > 3
    assert max(sizes) < BLOCK_BYTES + 20_000


def test_avro_seed_changes_the_sync_marker_alone() -> None:
    """Files of different seeds differ in the marker at the end of header and block, and nowhere else."""
    one, two = (written("avro", [rows(5)], seed=seed) for seed in (b"1", b"2"))
    assert one != two
    assert one.replace(one[-16:], b"") == two.replace(two[-16:], b"")
    assert one.count(one[-16:]) == 2


@pytest.mark.parametrize("compression", COMPRESSIONS["avro"])
def test_other_avro_readers_agree(compression: str) -> None:
    """Fastavro reads the files without our help, and gives the rows."""
    batch = rows(25)
    reader = fastavro.reader(io.BytesIO(written("avro", [batch], compression=compression)))
    assert list(reader) == batch.to_pylist()
    assert reader.writer_schema["name"] == "byteroute.shard"


@pytest.mark.parametrize("name", TABLES)
def test_avro_schemas_are_invertible(name: str) -> None:
    """The Arrow schema can be read off the Avro schema."""
    assert arrow_schema(avro_schema(TABLES[name], name)).equals(TABLES[name])


def test_parquet_row_groups_are_bounded() -> None:
    """A row group ends with the batch that takes it to its size, so memory is bounded."""
    batches = [rows(50, first=50 * i, n_ids=100) for i in range(8)]
    data = written("parquet", batches, chunk_bytes=batches[0].nbytes * 3 // 2)
    file = pq.ParquetFile(io.BytesIO(data))
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [100] * 4


def test_parquet_settings_follow_the_columns() -> None:
    """Payload has neither dictionary nor statistics; every leaf column has exactly one encoding."""
    options = writer_options(with_columns(SHARD, ("url",)))
    assert {"routed", "token_ids.list.element"} <= options["column_encoding"].keys()
    assert "segments.list.element.encoding" in options["use_dictionary"]
    assert "url" in options["use_dictionary"]
    file = pq.ParquetFile(io.BytesIO(written("parquet", [rows(5)])))
    leaves = {file.schema.column(i).path for i in range(len(file.schema))}
    assert leaves == options["column_encoding"].keys() | set(options["use_dictionary"]) - {"url"}
    statistics = {
        column.path_in_schema
        for i in range(file.metadata.num_columns)
        if (column := file.metadata.row_group(0).column(i)).is_stats_set
    }
    assert statistics == set(options["write_statistics"])
    assert not statistics & {"routed", "text_digest", "token_ids.list.element"}


class Folder:
    """Files in memory that can be looked at after they were closed."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.open = 0

    def create(self, index: int) -> tuple[str, io.BytesIO]:
        """Returns a stream that leaves its content here when it is closed."""
        folder, name = self, f"part-{index:03d}"

        class Stream(io.BytesIO):
            def close(self) -> None:
                if not self.closed:
                    folder.files[name] = self.getvalue()
                    folder.open -= 1
                super().close()

        self.open += 1
        return name, Stream()


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_files_roll_at_a_size(kind: Kind) -> None:
    """Rows go on in the next file; the reports have the bytes, rows and digest of what was written."""
    folder = Folder()
    writer = RollingWriter(folder.create, kind, SHARD, compression="none", seed=b"s", max_bytes=200_000)
    batches = [rows(40, first=40 * i, n_ids=500) for i in range(24)]
    for batch in batches:
        writer.write(batch)
        assert folder.open <= 1
    reports = writer.close()
    assert folder.open == 0
    assert [report.name for report in reports] == sorted(folder.files)
    assert len(reports) >= 3
    assert reports == [
        FileReport(name, pq_rows(data), len(data), hashlib.sha256(data).hexdigest())
        for name, data in folder.files.items()
    ]
    found = [batch for data in folder.files.values() for batch in read_shard(io.BytesIO(data))]
    assert pa.Table.from_batches(found).equals(pa.Table.from_batches(batches))
    assert all(200_000 <= report.n_bytes < 450_000 for report in reports[:-1])


def pq_rows(data: bytes) -> int:
    """Returns the rows of a file of either kind."""
    return sum(batch.num_rows for batch in read_shard(io.BytesIO(data), ["position"]))


def test_no_rows_no_file() -> None:
    """Nothing is opened for no rows, and an aborted file is closed but not completed."""
    folder = Folder()
    writer = RollingWriter(folder.create, "parquet", SHARD)
    writer.write(rows(0))
    assert writer.close() == []
    assert folder.files == {}
    with writer:
        writer.write(rows(3))
    assert (folder.open, writer.close()) == (0, [])
    with pytest.raises(InputError):
        open_shard(io.BytesIO(folder.files["part-000"]))


def test_streams_that_take_little_at_a_time() -> None:
    """A raw stream may write less than it was given; nothing is lost or hashed twice."""

    class Slow(io.BytesIO):
        def write(self, data: bytes) -> int:  # type: ignore[override]
            return super().write(data[:7])

    slow, plain = Slow(), io.BytesIO()
    table = pa.Table.from_batches([rows(5)])
    reports = [write_table(table, "x", stream, "avro", avro_name="shard") for stream in (slow, plain)]
    assert slow.getvalue() == plain.getvalue()
    assert reports[0] == reports[1]


def test_unknown_formats_name_the_known_ones() -> None:
    """A wrong kind, compression or size says what there is."""
    with pytest.raises(ConfigError, match=r"'arrow'.*parquet, avro"):
        open_shard_writer("arrow", io.BytesIO(), SHARD)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"'deflate'.*zstd, none"):
        open_shard_writer("parquet", io.BytesIO(), SHARD, compression="deflate")
    with pytest.raises(ConfigError, match=r"'snappy'.*zstd, deflate, none"):
        open_shard_writer("avro", io.BytesIO(), SHARD, compression="snappy")
    with pytest.raises(ConfigError, match=r"'lz4'.*parquet: zstd, none; avro"):
        RollingWriter(Folder().create, "avro", SHARD, compression="lz4")
    with pytest.raises(ConfigError, match="0 bytes"):
        RollingWriter(Folder().create, "avro", SHARD, max_bytes=0)


@pytest.mark.parametrize(("kind", "compression"), EVERY)
def test_damage_is_an_input_error(kind: Kind, compression: str) -> None:
    """Cut or overwritten files give rows of the original or `InputError`, and its message quotes no data."""
    batch = rows(40, n_ids=20)
    data = written(kind, [batch], compression=compression)
    rng = random.Random(5)
    refused: list[InputError] = []
    for _ in range(60):
        damaged = bytearray(data[: rng.randrange(4, len(data))] if rng.random() < 0.5 else data)
        at = rng.randrange(len(damaged))
        damaged[at : at + 4] = struct.pack("<I", rng.getrandbits(32))
        try:
            for found in read_shard(io.BytesIO(bytes(damaged))):
                assert found.num_rows <= batch.num_rows
        except InputError as error:
            refused.append(error)
    assert len(refused) > 20
    reasons = {RejectReason.CORRUPT, RejectReason.TRUNCATED, RejectReason.UNREADABLE_FILE}
    assert {error.reason for error in refused} <= reasons
    assert not any("doc-" in error.detail for error in refused)


def test_other_files_are_unreadable() -> None:
    """Neither magic: the error shows the four bytes."""
    with pytest.raises(InputError, match="7b 22 69 64"):
        open_shard(io.BytesIO(b'{"id": 1}'))
