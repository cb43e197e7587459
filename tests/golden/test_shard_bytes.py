"""Files that version 1 wrote: they stay readable, and the same rows still give the same bytes.

The files in `tests/data/shards/` are never written again; a new version of a format adds new ones.
"""

import hashlib
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from byteroute_ops.records import SHARD, with_columns
from byteroute_ops.shards import Kind, open_shard, write_table

SCHEMA = with_columns(SHARD, ("url",), text=True)
METADATA = {"byteroute.policy": "script-a", "byteroute.note": "größe"}
FILES: list[tuple[str, Kind, str]] = [
    ("v1-zstd.parquet", "parquet", "zstd"),
    ("v1-none.parquet", "parquet", "none"),
    ("v1-zstd.avro", "avro", "zstd"),
    ("v1-deflate.avro", "avro", "deflate"),
    ("v1-none.avro", "avro", "none"),
]


def document(number: int, text: str, pieces: list[tuple[str, str]]) -> dict[str, object]:
    """Returns a row; `pieces` are (script, encoding) with the text split evenly among them."""
    routed, segments, at = b"", [], 0
    step = len(text) // max(len(pieces), 1)
    for script, encoding in pieces:
        payload = text[at : at + step].encode(encoding)
        opening, closing = (b"", b"") if encoding == "utf-8" else (b"\xef\xa4\x80", b"\xef\xa4\x81")
        start = len(routed) + len(opening)
        segments.append(
            {
                "report_script": script, "encoding_script": script, "encoding": encoding, "text_start": at,
                "text_end": at + step, "start": start, "end": start + len(payload),
            }
        )  # fmt: skip
        routed += opening + payload + closing
        at += step
    utf8 = text.encode()
    ids = [number * 1000 + byte for byte in utf8]
    return {
        "doc_id": f"doc-{number}", "source": "corpus/part-0.jsonl", "position": number * 4096, "lang": "km",
        "routed": routed, "segments": segments, "n_codepoints": len(text), "n_utf8_bytes": len(utf8),
        "n_routed_bytes": len(routed), "n_text_tokens": len(ids), "n_routed_tokens": None if number == 1 else number,
        "token_ids": None if number == 1 else ids, "text_digest": hashlib.sha256(utf8).digest()[:16],
        "text": text, "url": None if number else "u",
    }  # fmt: skip


def table() -> pa.Table:
    """Returns the rows of every stored file: nulls, an empty document, large ids, several segments."""
    rows = [
        document(0, "abកខ", [("Latn", "utf-8"), ("Khmr", "utf-16-be")]),
        document(1, "", []),
        document(199, "漢字漢字", [("Hani", "utf-16-be")]),
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def fresh(kind: Kind, compression: str) -> bytes:
    """Returns the bytes that this version writes for the rows."""
    stream = io.BytesIO()
    write_table(
        table(), "x", stream, kind, avro_name="shard", compression=compression, seed=b"golden", metadata=METADATA
    )
    return stream.getvalue()


@pytest.mark.parametrize(("name", "kind", "compression"), FILES)
def test_stored_files_stay_readable(data_dir: Path, name: str, kind: Kind, compression: str) -> None:
    """Files of version 1 give their rows, schema and metadata."""
    shard = open_shard(io.BytesIO((data_dir / "shards" / name).read_bytes()))
    assert (shard.kind, shard.metadata) == (kind, METADATA)
    assert pa.Table.from_batches(shard.batches(), schema=SCHEMA).equals(table())


def test_avro_bytes_are_stable(data_dir: Path) -> None:
    """Without a compressor, whose version counts, Avro bytes are the stored ones exactly."""
    assert fresh("avro", "none") == (data_dir / "shards" / "v1-none.avro").read_bytes()


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_parquet_bytes_are_stable_under_one_version(data_dir: Path, compression: str) -> None:
    """The pyarrow that wrote the stored file writes the same bytes again."""
    data = (data_dir / "shards" / f"v1-{compression}.parquet").read_bytes()
    writer = pq.ParquetFile(io.BytesIO(data)).metadata.created_by
    if writer != pq.ParquetFile(io.BytesIO(fresh("parquet", compression))).metadata.created_by:
        pytest.skip(f"stored by {writer}, and other versions may encode differently")
    assert fresh("parquet", compression) == data
