"""Damaged files through the whole job: what an independent tool reads is written or rejected, and counts balance."""

import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from byteroute.pipelines.preprocess import files_for
from byteroute.pipelines.verify import verify_output
from test_fault_matrix import FORMATS, N_ROWS, good_file, readable, texts


def flipped(data: bytes, place: int) -> bytes:
    """Returns the data with one bit changed."""
    return data[:place] + bytes([data[place] ^ 0x80]) + data[place + 1 :]


FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "cut at 1 %": lambda data: data[: len(data) // 100],
    "cut at 50 %": lambda data: data[: len(data) // 2],
    "cut at 99 %": lambda data: data[: len(data) * 99 // 100],
    "flipped byte": lambda data: flipped(data, len(data) // 2),
    "empty": lambda _: b"",
}
KINDS = [("jsonl", ".gz"), ("jsonl", ".zst"), ("text", ".xz"), ("wet", ".bz2"), ("avro-snappy", ""), ("parquet", "")]


def written(output: Path) -> dict[str, list[str]]:
    """Returns the texts of the shards by source."""
    rows: dict[str, list[str]] = {}
    for path in sorted((output / "shards").glob("*.parquet")):
        for row in pq.read_table(path, columns=["source", "text"]).to_pylist():
            rows.setdefault(row["source"], []).append(row["text"])
    return rows


def rejected(output: Path) -> list[dict[str, Any]]:
    """Returns all rejects."""
    rows: list[Any] = []
    for path in sorted((output / "rejects").glob("*.avro")):
        with path.open("rb") as stream:
            rows += fastavro.reader(stream)
    return rows


def test_faults_of_all_formats_in_one_job(run_inline: Any, tmp_path: Path) -> None:
    """30 damaged files between whole ones: whole ones are complete, damaged ones keep what a tool reads, one job."""
    folder = tmp_path / "in"
    folder.mkdir()
    expected: dict[str, list[str]] = {}
    for name, suffix in KINDS:
        kind = FORMATS[name]
        whole = good_file(name, suffix, 2)
        (folder / f"whole-{name}{kind.suffix}{suffix}").write_bytes(whole)
        for i, (fault, damage) in enumerate(FAULTS.items()):
            source = f"damaged-{name}-{i}{kind.suffix}{suffix}"
            (folder / source).write_bytes(damage(whole))
            if fault.startswith("cut"):
                expected[source] = kind.rows(readable(damage(whole), suffix))
    manifest = run_inline(
        [folder], tmp_path / "out", tokenizers=("bytes",), keep_text=True, range_bytes=1 << 17, id_field=None
    )
    rows, rejects = written(tmp_path / "out"), rejected(tmp_path / "out")
    for source in sorted(path.name for path in folder.iterdir()):
        faults = [row["reason"] for row in rejects if row["source"] == source]
        if source.startswith("whole"):
            assert (rows[source], faults) == (texts(2), []), source
        elif source in expected:
            assert (rows.get(source, []), len(faults)) == (expected[source], 1), source
        else:
            assert faults, source
            # A decoder may give a few changed rows before it meets the checksum; it cannot give more of them.
            assert len(rows.get(source, [])) <= N_ROWS, source
    totals = manifest["totals"]
    assert totals["documents"] == sum(map(len, rows.values())) >= len(KINDS) * N_ROWS
    assert totals["records"] == totals["documents"] + sum(totals["rejects"].values())
    assert sum(totals["rejects"].values()) == len(rejects)
    assert verify_output(files_for(str(tmp_path)), str(tmp_path / "out")).problems == []


def bomb(suffix: str, size: int) -> bytes:
    """Returns an archive of `size` zero bytes after a good line, made without holding them."""
    out = io.BytesIO()
    stream: Any
    if suffix == ".gz":
        stream = gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9)
    elif suffix == ".xz":
        stream = lzma.LZMAFile(out, "wb", preset=0)  # noqa: SIM115 - closed below
    else:
        stream = zstandard.ZstdCompressor().stream_writer(out, closefd=False)
    with stream:
        stream.write(b'{"text": "first"}\n')
        for _ in range(size >> 20):
            stream.write(bytes(1 << 20))
    return out.getvalue()


@pytest.mark.parametrize(
    ("suffix", "size"),
    [
        (".zst", 2 << 30),
        pytest.param(".zst", 10 << 30, marks=pytest.mark.slow),
        pytest.param(".gz", 10 << 30, marks=pytest.mark.slow),
        pytest.param(".xz", 10 << 30, marks=pytest.mark.slow),
    ],
)
def test_bombs_cost_neither_memory_nor_the_job(run_inline: Any, tmp_path: Path, suffix: str, size: int) -> None:
    """What stands before the limit is kept, the file is one more reject, and memory stays far below what it claims."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / f"bomb.jsonl{suffix}").write_bytes(bomb(suffix, size))
    (folder / "z.jsonl").write_text(json.dumps({"text": "neighbour"}) + "\n", encoding="utf-8")
    before = pa.total_allocated_bytes()
    manifest = run_inline([folder], tmp_path / "out", tokenizers=("bytes",), max_document_bytes=1 << 20)
    assert pa.total_allocated_bytes() - before < 64 << 20
    assert manifest["totals"]["documents"] == 2
    reasons = [row["reason"] for row in rejected(tmp_path / "out")]
    assert reasons[-1] in ("decompression_bomb", "document_too_large")
    assert len(reasons) <= 2
