"""WET: records, their fields, and what a bad one costs."""

import gzip

import pytest
from reader_harness import read_one


def record(
    body: bytes, kind: str = "conversion", length: int | None = None, extra: str = "", end: str = "\r\n"
) -> bytes:
    """Returns a WARC record."""
    n = len(body) if length is None else length
    head = f"WARC/1.0\nWARC-Type: {kind}\nContent-Type: text/plain\n{extra}Content-Length: {n}\n\n"
    return head.replace("\n", end).encode() + body + (end * 2).encode()


FIELDS = (
    "WARC-Record-ID: <urn:uuid:1>\nWARC-Target-URI: http://x/é\nWARC-Identified-Content-Language: deu,eng\n"
    "X-Long: one\n  two\n"
)


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("step", [None, 1])
def test_conversion_records_become_documents(end: str, step: int | None) -> None:
    """Id, first language, kept headers in any case, folded lines; other records are passed over."""
    data = record(b"about", "warcinfo", end=end) + record("Grüße\r\n\r\n".encode(), extra=FIELDS, end=end)
    data += record(b"<html>", "response", end=end) + record(b"two", end=end)
    result = read_one(data, "a.warc.wet", keep=("warc-target-uri", "X-Long"), step=step)
    first = {"doc_id": "urn:uuid:1", "lang": "deu", "text": "Grüße\r\n\r\n"}
    assert first.items() <= result.documents[0].items()
    assert [result.documents[0][k] for k in ("warc-target-uri", "X-Long")] == ["http://x/é", "one two"]
    assert result.documents[0]["position"] == len(record(b"about", "warcinfo", end=end))
    assert result.documents[1]["doc_id"] == f"a.warc.wet:{result.documents[1]['position']}"
    assert (result.n_records, result.rejects, result.warnings) == (2, [], [])


def test_a_gzip_member_a_record() -> None:
    """The usual layout of Common Crawl: every record is a gzip member."""
    data = b"".join(gzip.compress(record(f"text {i}".encode())) for i in range(500))
    assert read_one(data, "a.warc.wet.gz").texts == [f"text {i}" for i in range(500)]


def test_a_text_that_holds_a_record_is_a_text() -> None:
    """The length decides, not what the body looks like."""
    body = b"how a record looks:\r\n\r\n" + record(b"inner")
    assert read_one(record(body) + record(b"next"), "a.wet").texts == [body.decode(), "next"]


BAD = {
    "too long a length": (record(b"bad", length=40), "corrupt", True),
    "far too long a length": (record(b"bad", length=400_000), "corrupt", True),
    "too short a length": (record(b"bad body", length=3), "corrupt", True),
    "no number": (record(b"bad").replace(b"Length: 3", b"Length: x"), "corrupt", True),
    "negative": (record(b"bad").replace(b"Length: 3", b"Length: -3"), "corrupt", True),
    "other digits": (record(b"bad").replace(b"Length: 3", "Length: ３".encode()), "corrupt", True),
    "no length": (record(b"bad").replace(b"Content-Length: 3\r\n", b""), "corrupt", True),
    "not UTF-8": (record(b"b\xffd"), "invalid_utf8", True),
    "too large": (record(b"x" * 2000), "document_too_large", True),
    "beyond the record limit": (record(b"x" * (2 << 20)), "document_too_large", True),
    "noise": (b"noise noise noise\r\n", "corrupt", False),
    "other type, too long a length": (record(b"bad", "response", length=40), "corrupt", False),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_record_costs_itself_alone(name: str, place: int) -> None:
    """One reject; the neighbours are read, also when the length of the bad one covers them."""
    bad, reason, is_record = BAD[name]
    good = [record(b"one"), record(b"two")]
    data = b"".join([*good[:place], bad, *good[place:]])
    if data.startswith(b"noise"):
        data = record(b"", "warcinfo") + data
    if "too long a length" in name and place == 2:
        # Nothing follows: the file may as well be cut.
        reason, is_record = "truncated", False
    result = read_one(data, "a.wet", max_document_bytes=1000)
    neighbours = ["one", "two"]
    if name == "other type, too long a length" and place < 2:
        # Passed-over bodies are not kept, so the record that the wrong length reaches into cannot be found again.
        neighbours = neighbours[place + 1 :] if place == 0 else neighbours[:place]
    assert result.texts == neighbours
    assert result.reasons == [reason]
    assert result.n_bad_records == is_record


@pytest.mark.parametrize("n_cut", [1, 3, 4, 5, 20, 60])
def test_a_cut_file_is_truncated(n_cut: int) -> None:
    """The last record is a reject of the file unless its body is whole."""
    data = record(b"one") + record(b"two")
    result = read_one(data[:-n_cut], "a.wet")
    is_whole = n_cut <= 4
    assert result.texts == (["one", "two"] if is_whole else ["one"])
    assert result.reasons == ([] if is_whole else ["truncated"])


def test_a_head_without_end_does_not_fill_the_memory() -> None:
    """A megabyte of header lines is not a record."""
    data = b"WARC/1.0\r\n" + b"X: y\r\n" * 300_000 + record(b"next")
    result = read_one(data, "a.wet")
    assert (result.texts, result.reasons) == (["next"], ["corrupt"])


def test_files_without_conversion_records_are_named() -> None:
    """A WARC file of responses gives no documents, and says so."""
    result = read_one(record(b"<html>", "response"), "a.warc")
    assert (result.documents, result.rejects) == ([], [])
    assert "1 response records" in result.warnings[0]
