"""What `tools/fuzz.py` feeds with damaged bytes: targets with their seeds, and what must hold for any input."""

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from byteroute_ops.errors import StreamError
from byteroute_ops.formats import FileInfo, ReadOptions, plan_ranges, read_range
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_text
from byteroute_ops.stream_codec import StreamDecoder, decode

TEXTS = [
    "",
    "plain words",
    "один два",
    "你好，世界 こんにちは",
    "नमस्ते दुनिया",
    "a\u200bb \U0001f600 \uf900\uf901",
    "x" * 300,
]
OPTIONS = [
    ("control", "bytes", False),
    ("control", "bytes", True),
    ("control", "text", False),
    ("bom", "bytes", False),
]


def check_decoder(data: bytes) -> None:
    """Whole, in two pieces and byte by byte: the same text or the same error, and the text is well-formed."""
    for framing, profile, barrier in OPTIONS:
        settings = {"framing": framing, "profile": profile, "barrier": barrier}
        whole = _outcome([data], settings)
        cut = len(data) // 2
        assert whole == _outcome([data[:cut], data[cut:]], settings), (settings, "two pieces")
        if len(data) < 512:
            assert whole == _outcome([data[i : i + 1] for i in range(len(data))], settings), (settings, "bytes")
        try:
            at_once = decode(data, **settings)  # type: ignore[arg-type]
        except StreamError as error:
            at_once = str(error)
        assert whole == at_once, (settings, "at once")


def _outcome(chunks: list[bytes], settings: dict[str, object]) -> str:
    decoder = StreamDecoder(**settings)  # type: ignore[arg-type]
    try:
        text = "".join([decoder.feed(chunk) for chunk in chunks]) + decoder.finish()
    except StreamError as error:
        return str(error)
    text.encode()
    return text


def decoder_seeds() -> Iterator[bytes]:
    """Yields streams of every framing and profile."""
    for policy in ("script-a", "script-b", "script-c", "min-bytes", "utf-8"):
        for framing, profile, barrier in OPTIONS:
            router = Router(load_policy(policy), framing=framing, profile=profile, barrier=barrier)  # type: ignore[arg-type]
            yield from (route_text(text, router) for text in TEXTS)


def reader_check(name: str) -> Callable[[bytes], None]:
    """Returns a check that a file of this name is read to its end, whole and in ranges, with no record lost."""

    def check(data: bytes) -> None:
        rows = [_read(name, data, range_bytes) for range_bytes in (1 << 30, 66_000)]
        # How a file is cut changes which faults are met twice, never the documents of an undamaged part.
        assert rows[0] == rows[1] or "rejects" in (rows[0][-1], rows[1][-1]), "ranges change the documents"

    return check


def _read(name: str, data: bytes, range_bytes: int) -> list[str]:
    options = ReadOptions(keep=("extra",) if not name.startswith("t") else ())

    def opener(_: str) -> io.BytesIO:
        return io.BytesIO(data)

    rows, rejected = [], False
    for one in plan_ranges([FileInfo(name, len(data), "v")], format="auto", range_bytes=range_bytes, opener=opener):
        for read in read_range(one, options, opener):
            n = 0
            if read.documents is not None:
                read.documents.validate(full=True)
                n = read.documents.num_rows
                rows += read.documents["text"].to_pylist()
            if read.rejects is not None:
                read.rejects.validate(full=True)
                rejected = True
            assert n - read.n_extra_pieces + read.n_bad_records == read.n_records
    return [*rows, "rejects"] if rejected else rows


ROWS = [{"id": str(i), "text": text, "lang": "und", "extra": None} for i, text in enumerate(TEXTS * 3)]


def jsonl() -> bytes:
    """Returns JSON lines."""
    return b"".join(json.dumps(row, ensure_ascii=i % 2 == 0).encode() + b"\n" for i, row in enumerate(ROWS))


def text() -> bytes:
    """Returns lines."""
    return "".join(line + "\n" for line in TEXTS).encode()


def wet() -> bytes:
    """Returns WARC conversion records."""
    out = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 4\r\n\r\ninfo\r\n\r\n"
    for i, line in enumerate(TEXTS):
        body = line.encode()
        head = f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:{i}>\r\nContent-Length: {len(body)}\r\n\r\n"
        out += head.encode() + body + b"\r\n\r\n"
    return out


def avro(codec: str) -> bytes:
    """Returns an Avro container with several blocks."""
    fields = [{"name": name, "type": ["null", "string"]} for name in ("id", "text", "lang", "extra")]
    out = io.BytesIO()
    schema = {"type": "record", "name": "row", "fields": fields}
    fastavro.writer(out, schema, ROWS, codec=codec, sync_interval=400, sync_marker=b"0123456789abcdef")
    return out.getvalue()


def parquet(compression: str) -> bytes:
    """Returns a Parquet file with several row groups."""
    out = io.BytesIO()
    schema = pa.schema([(name, pa.string()) for name in ("id", "text", "lang", "extra")])
    table = pa.Table.from_pylist(ROWS, schema=schema)
    pq.write_table(table, out, row_group_size=7, compression=compression, use_dictionary=compression == "none")
    return out.getvalue()


@dataclass(frozen=True)
class Target:
    """One thing to feed.

    Attributes:
        check: raises for an input on which a promise does not hold.
        seeds: valid inputs.
        wrap: applied to a mutated seed before the check, half of the time: damage inside an intact archive.
    """

    check: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    wrap: Callable[[bytes], bytes] | None = None


TARGETS = {
    "decoder": Target(check_decoder, tuple(sorted({*decoder_seeds()}))),
    "jsonl": Target(reader_check("a.jsonl"), (jsonl(), jsonl().decode().encode("utf-16"))),
    "text": Target(reader_check("t.txt"), (text(), text().decode().encode("utf-32"))),
    "wet": Target(reader_check("a.wet"), (wet(),)),
    "avro": Target(reader_check("a.avro"), tuple(avro(codec) for codec in ("null", "deflate", "snappy", "zstandard"))),
    "parquet": Target(reader_check("a.parquet"), tuple(parquet(kind) for kind in ("none", "snappy", "zstd"))),
    "gzip": Target(reader_check("a.jsonl.gz"), (gzip.compress(jsonl(), mtime=0) * 2,), gzip.compress),
    "bzip2": Target(reader_check("a.jsonl.bz2"), (bz2.compress(jsonl()) * 2,), bz2.compress),
    "xz": Target(reader_check("a.jsonl.xz"), (lzma.compress(jsonl()) * 2,), lzma.compress),
    "zstd": Target(reader_check("a.jsonl.zst"), (zstandard.compress(jsonl()) * 2,), zstandard.compress),
}
