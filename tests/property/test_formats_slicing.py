"""Properties of the readers: cuts and chunks change nothing; any bytes give documents or rejects."""

import io
import itertools
import random
from typing import Any

import fastavro
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reader_harness import COMPRESSORS, read_files

from byteroute_ops.formats import FileSlice, Range, ReadOptions, read_range
from byteroute_ops.formats.lines import RecordSplitter
from byteroute_ops.formats.splitting import split_document

SMALL = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def chunked(data: bytes, cuts: list[int]) -> list[bytes]:
    """Returns the data in pieces."""
    places = [0, *sorted(c % (len(data) + 1) for c in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(places) if a < b]


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"ab", b"||", b"|", b"\0\n"]), max_size=40).map(b"".join),
    st.lists(st.integers(0, 200)),
    st.sampled_from([b"\n", b"||", b"ab"]),
)
@SMALL
def test_splitting_equals_bytes_split(data: bytes, cuts: list[int], separator: bytes) -> None:
    """Any chunks: the records and offsets of `bytes.split`."""
    splitter = RecordSplitter(iter(chunked(data, cuts)), separator, limit=1 << 20, on_long=print)
    got = []
    for start, records in splitter:
        offset = start
        for record in records:
            assert data[offset : offset + len(record)] == record
            got.append(record)
            offset += len(record) + len(separator)
    assert [*got, splitter.rest] == data.split(separator)
    assert splitter.rest_offset == len(data) - len(splitter.rest)


@given(st.lists(st.integers(0, 60), max_size=30), st.lists(st.integers(0, 2000)), st.integers(5, 40))
@SMALL
def test_long_records_are_skipped_whatever_the_chunks(lengths: list[int], cuts: list[int], limit: int) -> None:
    """Records over the limit are reported once each, the others come through."""
    data = b"".join(b"x" * n + b"\n" for n in lengths)
    long: list[int] = []
    splitter = RecordSplitter(iter(chunked(data, cuts)), b"\n", limit=limit, on_long=lambda _, n: long.append(n))
    got = [len(record) for _, records in splitter for record in records]
    assert got == [n for n in lengths if n <= limit]
    assert long == [n for n in lengths if n > limit]


@given(st.text(max_size=300), st.integers(4, 60))
@SMALL
def test_pieces_join_to_the_document(text: str, limit: int) -> None:
    """Pieces are within the limit, never empty, and lose nothing."""
    pieces = list(split_document(text, limit))
    assert "".join(piece for piece, _ in pieces) == text
    assert all(0 < n <= limit and n == len(piece.encode()) for piece, n in pieces)


ROW = st.one_of(
    st.text(max_size=30).map(lambda t: orjson.dumps({"text": t})),
    st.sampled_from([b"", b" ", b"{", b'{"text":1}', b'{"id":"x"}', b"\xff", b'{"text":"a"}\r', b"\xef\xbb\xbf{}"]),
)


@given(st.lists(ROW, max_size=30).map(b"\n".join), st.lists(st.integers(0, 5000), max_size=6))
@SMALL
def test_slices_of_json_lines_own_every_line_once(data: bytes, cuts: list[int]) -> None:
    """Wherever a file is cut, inside of a byte order mark too, documents and rejects are those of the whole file."""
    places = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    slices = [FileSlice("a.jsonl", len(data), "v", a, b) for a, b in itertools.pairwise(places)]
    sliced = collect(slices or [FileSlice("a.jsonl", 0, "v", 0, 0)], data)
    assert sliced == collect([FileSlice("a.jsonl", len(data), "v", 0, len(data))], data)


def collect(slices: list[FileSlice], data: bytes) -> tuple[list[Any], list[Any], int]:
    """Reads each slice as a range of its own."""
    documents: list[Any] = []
    rejects: list[Any] = []
    n_records = 0
    for part in slices:
        for read in read_range(Range(0, (part,)), ReadOptions(), lambda uri: io.BytesIO(data)):
            documents += read.documents.to_pylist() if read.documents else []
            rejects += read.rejects.to_pylist() if read.rejects else []
            n_records += read.n_records
    return documents, rejects, n_records


def seeds() -> dict[str, bytes]:
    """Returns one small good file a format."""
    texts = [f"text {i} é" for i in range(30)]
    parquet, avro = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.table({"text": texts, "id": texts}), parquet, row_group_size=10)
    schema = {"type": "record", "name": "r", "fields": [{"name": "text", "type": "string"}]}
    fastavro.writer(avro, schema, [{"text": t} for t in texts], codec="deflate", sync_interval=100)
    wet = b"".join(
        f"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {len(t.encode())}\r\n\r\n{t}\r\n\r\n".encode()
        for t in texts
    )
    lines = b"".join(orjson.dumps({"text": t}) + b"\n" for t in texts)
    wide = ("\ufeff" + "\n".join(texts)).encode("utf-16-le")
    plain = {"a.jsonl": lines, "a.parquet": parquet.getvalue(), "a.avro": avro.getvalue(), "a.wet": wet, "a.txt": wide}
    packed = {f"a.jsonl{end}": pack(lines) for end, pack in COMPRESSORS.items() if end}
    return plain | packed


SEEDS = seeds()


@pytest.mark.parametrize("name", SEEDS)
@given(st.integers(0, 2**32), st.sampled_from([None, 1, 13]), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes_give_documents_or_rejects(name: str, seed: int, step: int | None, keep_raw: bool) -> None:
    """Flipped, cut, doubled and inserted bytes: no crash, every record counted, nothing quoted."""
    rng = random.Random(seed)
    data = bytearray(SEEDS[name])
    for _ in range(rng.randint(0, 4)):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[place : place + rng.randint(1, 40)]
        elif kind == 2:
            data[place:place] = rng.randbytes(rng.randint(1, 20))
        else:
            data[place:place] = data[place : place + rng.randint(1, 60)]
    result = read_files({name: bytes(data)}, step=step, keep_raw=keep_raw)
    assert all("text " not in row["detail"] for row in result.rejects)
    again = read_files({name: bytes(data)}, step=step, keep_raw=keep_raw)
    assert (again.documents, again.rejects) == (result.documents, result.rejects)
