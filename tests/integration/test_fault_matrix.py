"""Every format × compression × fault: what an independent tool can read is kept, the fault is one reject.

The faulty file stands between two good ones in the same range; both must come through whole. What can be read of a
damaged archive is told by the command line tools; rows are taken out of it by the standard library, fastavro or
pyarrow, never by the readers under test.
"""

import functools
import io
import itertools
import json
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reader_harness import COMPRESSORS, Result, read_files

N_ROWS = 150
ROWS_PER_BLOCK = 20
TOOLS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
PLACES = {"first": 0, "middle": N_ROWS // 2, "last": N_ROWS - 1}


@functools.cache
def texts(seed: int) -> list[str]:
    """Returns rows that compress like text does, all different."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))) for _ in range(2000)]
    return [f"{seed}-{i} " + " ".join(rng.choices(words, k=40)) for i in range(N_ROWS)]


# --- one format a section: rows → file, with a bad row at a place; bytes → rows that are whole ------------------------


def make_jsonl(rows: list[str], bad: int | None) -> bytes:
    """Returns JSON lines; the bad one is cut short."""
    lines = [json.dumps({"text": row}).encode() for row in rows]
    if bad is not None:
        lines[bad] = lines[bad][:-3]
    return b"".join(line + b"\n" for line in lines)


def jsonl_rows(data: bytes) -> list[str]:
    """Returns the texts of the whole lines."""
    return [json.loads(line)["text"] for line in data[: data.rfind(b"\n") + 1].splitlines()]


def make_text(rows: list[str], bad: int | None) -> bytes:
    """Returns lines; the bad one is not UTF-8."""
    lines = [row.encode() for row in rows]
    if bad is not None:
        lines[bad] = b"\xff" + lines[bad]
    return b"".join(line + b"\n" for line in lines)


def text_rows(data: bytes) -> list[str]:
    """Returns the whole lines."""
    return data[: data.rfind(b"\n") + 1].decode().splitlines()


def make_wet(rows: list[str], bad: int | None) -> bytes:
    """Returns conversion records after a warcinfo record; the bad one is not UTF-8."""
    out = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 4\r\n\r\ninfo\r\n\r\n"
    for i, row in enumerate(rows):
        body = (b"\xff" if i == bad else b"") + row.encode()
        head = f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:{i}>\r\nContent-Length: {len(body)}\r\n\r\n"
        out += head.encode() + body + b"\r\n\r\n"
    return out


def wet_rows(data: bytes) -> list[str]:
    """Returns the bodies that are whole."""
    rows = []
    for record in data.split(b"WARC/1.0\r\n")[2:]:
        head, _, body = record.partition(b"\r\n\r\n")
        length = head.rpartition(b"Content-Length: ")[2]
        if length.isdigit() and int(length) <= len(body):
            rows.append(body[: int(length)].decode())
    return rows


def avro_maker(codec: str) -> Callable[[list[str], int | None], bytes]:
    """Returns a maker of containers with small blocks; the text of the bad row is null."""
    field = {"name": "text", "type": ["null", "string"]}
    schema = {"type": "record", "name": "row", "fields": [field]}

    def make(rows: list[str], bad: int | None) -> bytes:
        out = io.BytesIO()
        records = [{"text": None if i == bad else row} for i, row in enumerate(rows)]
        fastavro.writer(out, schema, records, codec=codec, sync_interval=4000)
        return out.getvalue()

    return make


def avro_rows(data: bytes) -> list[str]:
    """Returns what fastavro reads before it gives up."""
    rows = []
    try:
        for row in fastavro.reader(io.BytesIO(data)):
            rows.append(row["text"])
    except Exception:
        return rows  # that is where the independent reader stops
    return rows


def make_parquet(rows: list[str], bad: int | None) -> bytes:
    """Returns three row groups with page checksums; the bad row is not UTF-8."""
    raw = [(b"\xff" if i == bad else b"") + row.encode() for i, row in enumerate(rows)]
    as_bytes = pa.array(raw, pa.binary())
    column = pa.StringArray.from_buffers(len(raw), *as_bytes.buffers()[1:])
    out = io.BytesIO()
    pq.write_table(pa.table({"text": column}), out, row_group_size=50, compression="zstd", write_page_checksum=True)
    return out.getvalue()


def parquet_rows(data: bytes) -> list[str]:
    """Returns the rows of the row groups that pyarrow reads."""
    try:
        file = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
    except (OSError, pa.ArrowException):
        return []
    rows = []
    for i in range(file.num_row_groups):
        try:
            rows += file.read_row_group(i).column("text").to_pylist()
        except (OSError, pa.ArrowException):
            continue
    return rows


@dataclass(frozen=True)
class Format:
    """How files of one format are made and read without the readers under test."""

    suffix: str
    make: Callable[[list[str], int | None], bytes]
    rows: Callable[[bytes], list[str]]
    wrong_suffix: str
    bad_reason: str
    is_container: bool = False


FORMATS = {
    "jsonl": Format(".jsonl", make_jsonl, jsonl_rows, ".parquet", "invalid_json"),
    "text": Format(".txt", make_text, text_rows, ".txt", "invalid_utf8"),
    "wet": Format(".wet", make_wet, wet_rows, ".txt.jsonl", "invalid_utf8"),
    "avro-null": Format(".avro", avro_maker("null"), avro_rows, ".jsonl", "missing_field", True),
    "avro-snappy": Format(".avro", avro_maker("snappy"), avro_rows, ".parquet", "missing_field", True),
    "avro-xz": Format(".avro", avro_maker("xz"), avro_rows, ".txt.parquet", "missing_field", True),
    "parquet": Format(".parquet", make_parquet, parquet_rows, ".jsonl", "invalid_utf8", True),
}
CASES = [(name, suffix) for name in FORMATS for suffix in COMPRESSORS if name != "parquet" or not suffix]
matrix = pytest.mark.parametrize(("name", "suffix"), CASES)


def readable(data: bytes, suffix: str) -> bytes:
    """What the command line tool gives of an archive, whole or not."""
    if not suffix:
        return data
    tool = shutil.which(TOOLS[suffix])
    if tool is None:
        pytest.skip(f"needs the command line tool {TOOLS[suffix]}")
    return subprocess.run([tool, "-dc"], input=data, capture_output=True, check=False).stdout


@functools.cache
def good_file(name: str, suffix: str, seed: int) -> bytes:
    """Returns a file with nothing wrong in it."""
    return COMPRESSORS[suffix](FORMATS[name].make(texts(seed), None))


def run(name: str, suffix: str, data: bytes, file_suffix: str | None = None) -> tuple[Result, list[str]]:
    """Reads the file between two good ones; returns its part of the result after checking theirs."""
    kind = FORMATS[name]
    end = kind.suffix + suffix
    first, last = good_file(name, suffix, 1), good_file(name, suffix, 3)
    result = read_files({"a-good" + end: first, "m-bad" + (file_suffix or end): data, "z-good" + end: last})
    by_file = {n: [r["text"] for r in result.documents if r["source"].startswith(n)] for n in ("a-", "m-", "z-")}
    assert by_file["a-"] == texts(1)
    assert by_file["z-"] == texts(3)
    assert all(row["source"].startswith("m-") for row in result.rejects)
    return result, by_file["m-"]


@matrix
@pytest.mark.parametrize("percent", [1, 50, 99])
def test_cut_files_keep_what_was_readable(name: str, suffix: str, percent: int) -> None:
    """Rows before the cut, as the independent tools see them, are written; the cut is at most one reject."""
    kind = FORMATS[name]
    whole = good_file(name, suffix, 2)
    cut = whole[: len(whole) * percent // 100]
    result, got = run(name, suffix, cut)
    expected = kind.rows(readable(cut, suffix))
    if name == "text" and not suffix:
        # Nothing tells a cut text from a whole one that ends without a line end.
        assert got[: len(expected)] == expected
        assert len(got) == len(expected) + 1
        assert result.rejects == []
        return
    assert got == expected
    assert len(result.rejects) == 1
    expected_reason = "invalid_json" if name == "jsonl" and not suffix else "truncated"
    assert result.reasons == [expected_reason]


@matrix
def test_a_flipped_byte_costs_no_more_than_it_must(name: str, suffix: str) -> None:
    """All that the independent tools still read is written; the damage is one reject."""
    kind = FORMATS[name]
    whole = bytearray(good_file(name, suffix, 2))
    whole[len(whole) // 2] ^= 0x80
    data = bytes(whole)
    result, got = run(name, suffix, data)
    if not suffix:
        # One row that is no longer UTF-8; of a container one block, row group or row.
        assert set(got) < set(texts(2))
        assert N_ROWS - len(got) <= (60 if kind.is_container else 1)
        assert len(result.rejects) == 1
        return
    # The block of a container that the damage hit is rejected too.
    faults = [row["detail"] for row in result.rejects if not row["detail"].startswith("the block at")]
    archive_faults = [detail for detail in faults if " member " in detail or " stored bytes" in detail]
    assert len(archive_faults) == 1
    # Before a decoder notices, it may give some garbage, which the reader rejects as it would any other.
    expected = [row for row in tool_rows(kind, readable(data, suffix)) if row in texts(2)]
    if kind.is_container:
        # fastavro does not look at checksums: it gives the good rows of blocks that have a bad one. A damaged archive
        # can hurt some blocks, for later bytes are copies of earlier ones.
        assert len(set(expected) - set(got)) <= 3 * ROWS_PER_BLOCK
    else:
        assert [row for row in got if row in texts(2)][: len(expected)] == expected


def tool_rows(kind: Format, data: bytes) -> list[str]:
    """Returns the rows of a tool's output up to the first that is damaged."""
    if kind.rows is jsonl_rows:
        lines = data[: data.rfind(b"\n") + 1].splitlines()
        return list(itertools.takewhile(bool, (whole_text(line) for line in lines)))
    return kind.rows(data.decode(errors="ignore").encode() if not kind.is_container else data)


def whole_text(line: bytes) -> str:
    """Returns the text of a JSON line, "" where it is damaged."""
    try:
        return str(json.loads(line)["text"])
    except (ValueError, LookupError, TypeError):
        return ""


@matrix
@pytest.mark.parametrize("place", PLACES)
def test_a_bad_row_costs_itself_alone(name: str, suffix: str, place: str) -> None:
    """One row reject with its reason; all other rows of the file are written."""
    kind, bad = FORMATS[name], PLACES[place]
    result, got = run(name, suffix, COMPRESSORS[suffix](kind.make(texts(2), bad)))
    assert got == texts(2)[:bad] + texts(2)[bad + 1 :]
    assert result.reasons == [kind.bad_reason]
    assert result.n_bad_records == 1
    assert result.n_records == 3 * N_ROWS


@matrix
def test_an_empty_file_is_valid_only_where_the_format_allows_it(name: str, suffix: str) -> None:
    """0 bytes are no rows; a container or an archive of 0 bytes is one reject."""
    result, got = run(name, suffix, b"")
    assert got == []
    assert result.reasons == (["truncated"] if suffix or FORMATS[name].is_container else [])


@matrix
def test_an_archive_of_nothing(name: str, suffix: str) -> None:
    """A valid archive of 0 bytes is as its content would be."""
    result, got = run(name, suffix, COMPRESSORS[suffix](b""))
    assert got == []
    assert result.reasons == (["truncated"] if FORMATS[name].is_container else [])


@matrix
def test_a_wrong_suffix_is_a_warning(name: str, suffix: str) -> None:
    """Magic bytes win: all rows are written, and the file is named in the warnings."""
    kind = FORMATS[name]
    wrong = {"": ".gz", ".gz": ".zst", ".bz2": ".gz", ".xz": "", ".zst": ".xz"}[suffix]
    for ending, n_warnings in ((kind.wrong_suffix + suffix, 1), (kind.suffix + wrong, 1)):
        if ending == kind.suffix + suffix:
            continue
        result, got = run(name, suffix, good_file(name, suffix, 2), ending)
        assert got == texts(2)
        assert result.rejects == []
        assert len(result.warnings) == n_warnings
        assert result.warnings[0].startswith("m-bad")


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_binary_under_a_text_name_is_one_reject(suffix: str) -> None:
    """Where no reader fits the file is one reject, not one for each of its lines."""
    noise = random.Random(5).randbytes(50_000)
    result, got = run("parquet", "", noise, ".parquet" + suffix)
    assert got == []
    assert result.reasons == ["unreadable_file"]
