"""Avro: codecs, field types, damaged blocks and slices."""

import io
import struct
import zlib
from typing import Any

import fastavro
import pytest
from reader_harness import read_files, read_one

from byteroute_ops.formats import avro_container
from byteroute_ops.formats.avro import RECORD_BITS

SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": ["null", "string", "long"]},
        {"name": "text", "type": ["null", "string", "bytes"]},
        {"name": "meta", "type": ["null", {"type": "map", "values": "string"}], "default": None},
    ],
}


def write(rows: list[dict[str, Any]], codec: str = "null", **options: Any) -> bytes:
    """Returns a container."""
    out = io.BytesIO()
    fastavro.writer(out, SCHEMA, rows, codec=codec, **options)
    return out.getvalue()


def rows(n: int) -> list[dict[str, Any]]:
    """Returns `n` rows."""
    return [{"id": str(i), "text": f"text {i} " + "é" * (i % 100)} for i in range(n)]


@pytest.mark.parametrize("codec", avro_container.CODECS)
@pytest.mark.parametrize("step", [None, 7])
def test_codecs(codec: str, step: int | None) -> None:
    """Every codec that fastavro writes is read, in any steps."""
    if codec == "lz4":
        pytest.importorskip("lz4.block")
    result = read_one(write(rows(300), codec, sync_interval=1000), "a.avro", step=step)
    assert result.texts == [row["text"] for row in rows(300)]
    positions = [row["position"] for row in result.documents]
    assert positions == sorted(set(positions))


def test_fields_have_the_types_that_json_fields_have() -> None:
    """Long ids, null and wrong texts, maps as kept values and nested names."""
    data = write(
        [
            {"id": 5, "text": "a", "meta": {"lang": "de"}},
            {"id": None, "text": None},
            {"id": "x", "text": b"bytes"},
            {"id": None, "text": "b"},
        ]
    )
    result = read_one(data, "a.avro", lang_field="meta.lang", keep=("meta",))
    assert result.documents[0]["doc_id"] == "5"
    assert result.documents[0]["lang"] == "de"
    assert result.documents[0]["meta"] == '{"lang":"de"}'
    assert result.documents[1]["doc_id"] == f"a.avro:{result.documents[1]['position']}"
    assert result.reasons == ["missing_field", "wrong_type"]


def test_invalid_utf8_costs_its_record_alone() -> None:
    """Also inside a block the neighbours are read."""
    data = write(rows(3)).replace(b"text 1", b"text \xff")
    result = read_one(data, "a.avro", keep_raw=True)
    assert len(result.texts) == 2
    assert result.reasons == ["invalid_utf8"]
    assert result.rejects[0]["position"] & ((1 << RECORD_BITS) - 1) == 1
    assert b"text \xff" in result.rejects[0]["raw"]


@pytest.mark.parametrize("range_bytes", [66_000, 70_000, 100_000, 1 << 30])
@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_slices_own_every_block_once(codec: str, range_bytes: int) -> None:
    """However the file is cut, the rows and their positions are the same."""
    data = write(rows(3000), codec, sync_interval=500)
    result = read_files({"a.avro": data}, range_bytes=range_bytes)
    whole = read_files({"a.avro": data})
    assert result.documents == whole.documents
    assert result.texts == [row["text"] for row in rows(3000)]
    assert (result.n_ranges > 1) == (range_bytes < 1 << 30)


def blocks_of(data: bytes) -> list[tuple[int, int, list[str]]]:
    """Returns offset, size and texts of each block, as fastavro sees them."""
    return [(b.offset, b.size, [row["text"] for row in b]) for b in fastavro.block_reader(io.BytesIO(data))]


@pytest.mark.parametrize("place", ["count", "size", "sync", "content"])
@pytest.mark.parametrize("range_bytes", [66_000, 1 << 30])
def test_a_damaged_block_costs_its_own_rows(place: str, range_bytes: int) -> None:
    """Reading goes on after the damaged block; a lost marker takes the block behind it along."""
    data = bytearray(write(rows(2000), "snappy", sync_interval=1000))
    blocks = blocks_of(bytes(data))
    offset, size, _ = blocks[10]
    at = {"count": offset, "size": offset + 1, "sync": offset + size - 3, "content": offset + size // 2}[place]
    data[at] ^= 0x81
    result = read_files({"a.avro": bytes(data)}, range_bytes=range_bytes)
    lost = {10, 11} if place == "sync" else {10}
    assert result.texts == [text for i, block in enumerate(blocks) if i not in lost for text in block[2]]
    assert result.reasons == ["corrupt"]
    assert result.rejects[0]["position"] >> RECORD_BITS == offset


def test_a_cut_block_is_truncated() -> None:
    """The blocks before are read."""
    data = write(rows(500), sync_interval=1000)
    blocks = blocks_of(data)
    result = read_one(data[: blocks[-1][0] + 30], "a.avro")
    assert result.texts == [text for block in blocks[:-1] for text in block[2]]
    assert result.reasons == ["truncated"]


@pytest.mark.parametrize("n_bytes", [0, 3, 10, 50, 200])
def test_a_cut_header_is_truncated(n_bytes: int) -> None:
    """Without its header nothing can be read: one reject."""
    result = read_one(write(rows(3))[:n_bytes], "a.avro")
    assert (result.reasons, result.documents) == (["truncated" if n_bytes != 3 else result.reasons[0]], [])


def container(schema: bytes, codec: bytes, block: bytes, n_records: int = 1) -> bytes:
    """Returns a container made by hand."""

    def long(value: int) -> bytes:
        value, out = value << 1, b""
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])

    meta = b"".join(long(len(x)) + x for x in (b"avro.schema", schema, b"avro.codec", codec))
    return b"Obj\x01" + long(2) + meta + long(0) + b"S" * 16 + long(n_records) + long(len(block)) + block + b"S" * 16


TEXT_SCHEMA = b'{"type":"record","name":"r","fields":[{"name":"text","type":"string"}]}'


def deflated(data: bytes) -> bytes:
    """Returns raw deflate data."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (container(TEXT_SCHEMA, b"brotli", b""), "unreadable_file"),
        (container(b"{", b"null", b""), "corrupt"),
        (container(b'{"type":"nonsense"}', b"null", b""), "corrupt"),
        (container(b'"string"', b"null", b"\x02a"), "missing_field"),
        (container(TEXT_SCHEMA.replace(b"text", b"body"), b"null", b"\x02a"), "missing_field"),
        (container(TEXT_SCHEMA, b"null", b"\xfe\xff\xff\xff\x0f"), "corrupt"),
        (container(TEXT_SCHEMA, b"null", b"\x02a\x02b"), "corrupt"),
        (container(TEXT_SCHEMA, b"null", b"\x02a", 1 << 40), "corrupt"),
        (container(TEXT_SCHEMA, b"deflate", deflated(b"\0" * (300 << 20))), "decompression_bomb"),
        (container(TEXT_SCHEMA, b"lz4", struct.pack("<I", 1 << 31) + b"x"), "decompression_bomb"),
        (container(TEXT_SCHEMA, b"snappy", b"\xff\xff\xff\xff\x0f" + b"x" * 8), "decompression_bomb"),
        (container(TEXT_SCHEMA, b"snappy", b"\x02\x04ab" + b"xxxx"), "corrupt"),
        (container(TEXT_SCHEMA, b"zstandard", b"no zstd"), "corrupt"),
        (container(TEXT_SCHEMA, b"deflate", b"\xff\xff"), "corrupt"),
    ],
)
def test_what_cannot_be_used_is_one_reject(data: bytes, reason: str) -> None:
    """Unknown codecs, schemas without the field, bombs and nonsense: one reject, no crash, no document lost."""
    result = read_one(data, "a.avro")
    assert result.reasons == [reason]
    assert result.n_bad_records == 0


def test_records_before_the_undecodable_one_are_kept() -> None:
    """A block is read up to the first record that cannot be decoded; the reject counts the rest."""
    result = read_one(container(TEXT_SCHEMA, b"null", b"\x02a\x02b\xff\xff", 4), "a.avro")
    assert result.texts == ["a", "b"]
    assert "2 records of the block are lost" in result.rejects[0]["detail"]


def test_header_faults_are_reported_once() -> None:
    """However many slices a file without the field has."""
    data = write(rows(3000), sync_interval=500)
    result = read_files({"a.avro": data}, range_bytes=66_000, text_field="body")
    assert result.n_ranges > 1
    assert result.reasons == ["missing_field"]
