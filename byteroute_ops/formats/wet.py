"""WET files: WARC files (ISO 28500:2017, WARC/1.1) whose `conversion` records hold the plain text of web pages.

A parser of our own: libraries were seen to stop early without an error. A record whose length does not lead to the next
record is rejected, and reading goes on at the next line that begins with `WARC/1.`. Records of other types (`warcinfo`,
`request`, `response`, …) are no documents. The id is `WARC-Record-ID` without its angle brackets, the language the
first of `WARC-Identified-Content-Language`; positions are byte offsets of records in the decompressed stream.
"""

from collections.abc import Iterator
from typing import Final

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats.batching import Collector
from byteroute_ops.formats.model import Read
from byteroute_ops.formats.source import ByteFeed, Source

_MAX_HEADER_BYTES: Final = 1 << 20
_VERSION: Final = b"WARC/"
_NEXT_RECORD: Final = b"\nWARC/1."


def read_wet(source: Source, collector: Collector) -> Iterator[Read]:
    """Yields the plain text of `conversion` records.

    Raises:
        InputError: the archive or its last record is cut.
    """
    feed = ByteFeed(source.chunks())
    n_documents = n_responses = 0
    while (start := _next_start(feed)) is not None:
        head = _read_head(feed, start)
        if head is None:
            collector.reject(start, RejectReason.CORRUPT, f"no WARC record at byte {start}", is_record=False)
            _resync(feed)
            continue
        kind = head.get("warc-type", "").lower()
        if kind == "conversion" and head.get("content-type", "text/plain").lower().startswith("text/plain"):
            n_documents += 1
            _take_record(feed, start, head, collector)
        else:
            n_responses += kind == "response"
            _skip_record(feed, start, head, collector)
        yield from collector.drain()
    feed.check()
    if n_responses and not n_documents:
        collector.warn(f"{n_responses} response records were passed over: only conversion records (WET) hold text")


def _next_start(feed: ByteFeed) -> int | None:
    """Moves past line ends to the next record; returns its offset, None at the end."""
    while (byte := feed.read(1)) in (b"\r", b"\n"):
        pass
    feed.unread(byte)
    return feed.offset if byte else None


def _read_head(feed: ByteFeed, start: int) -> dict[str, str] | None:
    """Returns the named fields, by lower-case name; None, with nothing but the first line taken, where there are none.

    Raises:
        InputError: the file ends inside the head.
    """
    version = feed.read(len(_VERSION))
    if version != _VERSION:
        return None
    fields: dict[str, str] = {}
    name = ""
    while (line := feed.read_until(b"\n", _MAX_HEADER_BYTES)) is not None:
        text = line.decode("utf-8", errors="replace").rstrip("\r\n")
        if feed.offset - start > _MAX_HEADER_BYTES:
            return None
        if not text:
            return fields
        if text[0] in " \t" and name:
            # A folded line goes on with the field before it.
            fields[name] += " " + text.strip()
        elif ":" in text:
            name, _, value = text.partition(":")
            name = name.strip().lower()
            fields.setdefault(name, value.strip())
    if len(rest := feed.read(_MAX_HEADER_BYTES)) < _MAX_HEADER_BYTES:
        raise _cut(feed, start)
    feed.unread(rest)
    return None


def _cut(feed: ByteFeed, start: int) -> InputError:
    feed.check()
    detail = f"the file ends at byte {feed.offset}, inside the WARC record that begins at byte {start}"
    return InputError(RejectReason.TRUNCATED, detail, offset=start)


def _n_body_bytes(head: dict[str, str]) -> int | None:
    value = head.get("content-length", "")
    # Eighteen digits fit 64 bits; isdecimal alone would let other scripts' digits in.
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 18 else None


def _is_boundary(feed: ByteFeed) -> bool:
    """Returns whether a record ends here: an empty line follows, or the next record, or nothing. Takes nothing."""
    taken = b""
    while len(taken) < 4 and (byte := feed.read(1)) in (b"\r", b"\n"):
        taken += byte
    following = b"" if len(taken) == 4 else byte + feed.read(len(_VERSION) - 1)
    feed.unread(taken + following)
    return taken.startswith((b"\r\n\r\n", b"\n\n")) or not following or (taken != b"" and following == _VERSION)


def _resync(feed: ByteFeed) -> bool:
    """Moves to the next line that begins like a record; to the end, and returns False, where there is none."""
    if not feed.find(_NEXT_RECORD):
        return False
    feed.skip(1)
    return True


def _take_record(feed: ByteFeed, start: int, head: dict[str, str], collector: Collector) -> None:
    n_bytes = _n_body_bytes(head)
    if n_bytes is not None and n_bytes > collector.options.max_record_bytes:
        if feed.skip(n_bytes) < n_bytes:
            raise _cut(feed, start)
        collector.reject_long(start, n_bytes, what="the record")
        return
    body = feed.read(n_bytes or 0)
    is_cut = len(body) < (n_bytes or 0)
    if n_bytes is None or is_cut or not _is_boundary(feed):
        # The length may be what is wrong: then the next record is inside or soon after what was taken for the body.
        feed.unread(body)
        if not _resync(feed) and is_cut:
            raise _cut(feed, start)
        detail = f"Content-Length {'is missing' if n_bytes is None else n_bytes} does not lead to the next record"
        collector.reject(start, RejectReason.CORRUPT, detail, body)
        return
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} of the record's body is not valid UTF-8"
        collector.reject(start, RejectReason.INVALID_UTF8, detail, body)
        return
    kept = tuple([head.get(name.lower()) for name in collector.options.keep])
    doc_id = head.get("warc-record-id", "").removeprefix("<").removesuffix(">")
    lang = head.get("warc-identified-content-language", "").split(",")[0].strip()
    n_record_bytes = n_bytes + sum(len(value.encode()) for value in kept if value)
    collector.add(start, doc_id, lang, text, kept=kept, n_record_bytes=n_record_bytes)


def _skip_record(feed: ByteFeed, start: int, head: dict[str, str], collector: Collector) -> None:
    n_bytes = _n_body_bytes(head)
    if n_bytes is not None and feed.skip(n_bytes) < n_bytes:
        raise _cut(feed, start)
    if n_bytes is None or not _is_boundary(feed):
        detail = f"the length of the record at byte {start} does not lead to the next record"
        collector.reject(start, RejectReason.CORRUPT, detail, is_record=False)
        _resync(feed)
