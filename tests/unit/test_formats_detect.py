"""Detection: names, magic bytes, and who wins."""

import bz2
import gzip
import lzma

import pytest
from reader_harness import read_one, zstd

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats import detect


@pytest.mark.parametrize(
    ("name", "format_name", "compression"),
    [
        ("a.jsonl", "jsonl", None),
        ("A.JSONL.GZ", "jsonl", "gzip"),
        ("s3://b/x y/é*.ndjson.zst", "jsonl", "zstd"),
        ("crawl.warc.wet.gz", "wet", "gzip"),
        ("a.txt.bz2", "text", "bzip2"),
        ("a.parquet", "parquet", None),
        ("a.avro.xz", "avro", "xz"),
        ("a.gz", None, "gzip"),
        (".gz", None, "gzip"),
        ("noext", None, None),
        ("dir.jsonl/part-0", None, None),
    ],
)
def test_names(name: str, format_name: str | None, compression: str | None) -> None:
    """Suffixes tell format and compression, whatever their case and the rest of the path."""
    assert detect.format_of_name(name) == format_name
    assert detect.compression_of_name(name) == compression


def test_magic_bytes() -> None:
    """What the compressors write is recognised, and what only begins alike is not."""
    for pack, kind in (
        (gzip.compress, "gzip"),
        (bz2.compress, "bzip2"),
        (lzma.compress, "xz"),
        (zstd.compress, "zstd"),
    ):
        assert detect.compression_of_head(pack(b"")) == kind
        assert detect.compression_of_head(pack(b"text")) == kind
    assert detect.compression_of_head(b"\x53\x2a\x4d\x18\0\0\0\0") == "zstd"
    for head in (b"", b"B", b"BZh is a word", b"BZh91AY&S", b"\x1f\x8b", b"(\xb5/", b"{}"):
        assert detect.compression_of_head(head) is None


def test_a_wrong_compression_suffix_is_a_warning() -> None:
    """The content wins where it is sure, or where it is text."""
    warnings: list[str] = []
    assert detect.compression("a.gz", zstd.compress(b"x"), warnings) == "zstd"
    assert detect.compression("a.jsonl", gzip.compress(b"x"), warnings) == "gzip"
    assert detect.compression("a.zst", b'{"text":"\xc3', warnings) is None
    assert detect.compression("a.zst", b"PAR1\0\0", warnings) is None
    assert warnings[0] == "the name says gzip, the content is zstd; read as zstd"
    assert warnings[1] == "the name says not compressed, the content is gzip; read as gzip"
    assert warnings[2] == warnings[3] == "the name says zstd, the content is not compressed; read as it is"
    assert len(warnings) == 4
    assert detect.compression("a.lzma", b"]\0\0\x80\0", warnings) == "xz"
    assert detect.compression("a.zst", b"", warnings) == "zstd"
    assert len(warnings) == 4


@pytest.mark.parametrize("head", [b"\x1f\x8a\x08\0\0", b"\xff\xd8\xff\xe0", b"text\0with nul", b"\x01\x02"])
def test_a_compression_suffix_on_noise_is_unreadable(head: bytes) -> None:
    """A damaged magic number does not make an archive plain text."""
    with pytest.raises(InputError) as caught:
        detect.compression("a.jsonl.gz", head, [])
    assert caught.value.reason == RejectReason.UNREADABLE_FILE


@pytest.mark.parametrize(
    ("name", "head", "wanted", "result", "n_warnings"),
    [
        ("a.jsonl", b'{"a":1}', "auto", "jsonl", 0),
        ("a.jsonl", b"PAR1", "auto", "parquet", 1),
        ("a.parquet", b'{"a":1}', "auto", "jsonl", 1),
        ("a.parquet", b"\xff\xfe{\0", "auto", "jsonl", 1),
        ("a.txt", b"anything", "auto", "text", 0),
        ("a.txt", b"WARC/1.0", "text", "text", 0),
        ("a.txt", b"WARC/1.0", "auto", "wet", 1),
        ("a", b"WARC/1.0", "auto", "wet", 0),
        ("a", b"Obj\x01", "auto", "avro", 0),
        ("a", b' \n{"a":1}', "auto", "jsonl", 0),
        ("a.wet", b"xARC/1.0\r\n\r\n\nWARC/1.0", "auto", "wet", 0),
        ("a.parquet", b"\0AR1\xff", "auto", "parquet", 0),
        ("a", b"", "auto", "jsonl", 0),
        ("a.parquet", b"", "auto", "parquet", 0),
        ("a.txt", b"Obj\x01", "jsonl", "avro", 1),
        ("a.avro", b"free text", "text-file", "text-file", 0),
    ],
)
def test_formats(name: str, head: bytes, wanted: str, result: str, n_warnings: int) -> None:
    """Setting, name and content: sure content wins over all but a setting of plain text."""
    warnings: list[str] = []
    assert detect.file_format(name, head, wanted, warnings) == result
    assert len(warnings) == n_warnings


@pytest.mark.parametrize(
    ("name", "wanted"), [("a", "auto"), ("a.parquet", "auto"), ("a.jsonl", "avro"), ("x.wet", "auto")]
)
def test_what_fits_no_reader_is_unreadable(name: str, wanted: str) -> None:
    """Better one reject than thousands."""
    with pytest.raises(InputError) as caught:
        detect.file_format(name, b"free text", wanted, [])
    assert caught.value.reason == RejectReason.UNREADABLE_FILE


def test_names_with_odd_characters_are_read() -> None:
    """Spaces, stars, percent signs and non-ASCII in names are only names."""
    name = "s p a c e/*?[é]%20.jsonl"
    assert read_one(b'{"text":"a"}\n', name).documents[0]["source"] == name
