"""JSON lines (one RFC 8259 object a line), parsed once by orjson.

Invalid lines are looked at again, slowly, to say what is wrong. A byte order mark before a line is dropped (files are
concatenated), lines of white space are no records, a repeated key counts by its last value. Integers beyond 64 bits in
a kept field lose digits, as they do in most readers of JSON.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Final

import orjson

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats.batching import Collector
from byteroute_ops.formats.fields import RowFields
from byteroute_ops.formats.lines import RecordSplitter
from byteroute_ops.formats.model import Read
from byteroute_ops.formats.source import Source

_BOM: Final = b"\xef\xbb\xbf"
_SURROGATE_ESCAPE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def read_jsonl(source: Source, collector: Collector) -> Iterator[Read]:
    """Yields the documents of the lines that begin in the slice; positions are byte offsets of lines.

    Raises:
        InputError: the archive is not whole; the lines before the fault were yielded.
    """
    fields = RowFields(collector)
    splitter = line_splitter(source, collector)
    fault: InputError | None = None
    try:
        for start, lines in splitter:
            offset = start
            for line in lines:
                take_line(collector, fields, offset, line, source.encoding.name)
                offset += len(line) + source.encoding.width
            yield from collector.drain()
    except InputError as error:
        fault = error
    if splitter.rest and (fault is None or _is_whole_object(splitter.rest, source.encoding.name)):
        take_line(collector, fields, splitter.rest_offset, splitter.rest, source.encoding.name)
    if fault is not None:
        raise fault


def line_splitter(source: Source, collector: Collector, separator: str = "\n") -> RecordSplitter:
    """Returns the lines of a slice, as bytes in the encoding of the file, without the mark at its start."""
    part, encoding = source.slice, source.encoding
    is_later = part.start > 0
    # One byte early: where that is a line end, the slice begins with a line of its own.
    start = part.start - 1 if is_later else 0
    chunks = source.chunks(start)
    return RecordSplitter(
        chunks if is_later else _without_mark(chunks, encoding.n_mark),
        separator.encode(encoding.name),
        offset=start if is_later else encoding.n_mark,
        width=encoding.width,
        limit=collector.options.max_record_bytes,
        on_long=lambda offset, n: collector.reject_long(offset, n, what="the record"),
        # The size in the listing may be that of another representation; the last slice reads to the end.
        # A cut inside of the byte order mark leaves the first line with the first slice.
        stop=None if part.end >= part.size else max(part.end, encoding.n_mark + 1),
        skip_first=is_later,
    )


def _without_mark(chunks: Iterator[bytes], n_mark: int) -> Iterator[bytes]:
    for chunk in chunks:
        dropped = min(n_mark, len(chunk))
        n_mark -= dropped
        yield chunk[dropped:] if dropped else chunk


def _is_whole_object(line: bytes, encoding: str) -> bool:
    try:
        return isinstance(orjson.loads(line.decode(encoding)), dict)
    except ValueError:
        return False


def take_line(collector: Collector, fields: RowFields, offset: int, line: bytes, encoding: str = "utf-8") -> None:
    """Adds the document of one line to the collector, or its reject."""
    try:
        utf8 = line if encoding == "utf-8" else line.decode(encoding).encode()
        row = orjson.loads(utf8)
    except ValueError:
        if (utf8 := _plain_line(collector, offset, line, encoding)) and not utf8.isspace():
            _second_look(collector, fields, offset, utf8)
        return
    fields.take(offset, row, len(utf8), line)


def _plain_line(collector: Collector, offset: int, line: bytes, encoding: str) -> bytes:
    """Returns the line as UTF-8 without a byte order mark; b"" where it is not well-formed, after the reject."""
    try:
        return line.decode(encoding).encode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} of the line is not valid {encoding}"
        collector.reject(offset, RejectReason.INVALID_UTF8, detail, line)
        return b""


def _second_look(collector: Collector, fields: RowFields, offset: int, line: bytes) -> None:
    """Says what is wrong with a line that orjson refused, or takes it where only an unused field is."""
    try:
        # Only for its mark; orjson said no to the line with it.
        fields.take(offset, orjson.loads(line), len(line), line)
        return
    except orjson.JSONDecodeError as error:
        detail = f"not valid JSON at character {error.pos} of the line"
    row = None
    if _SURROGATE_ESCAPE.search(line):
        # The standard library accepts what RFC 8259 section 8.2 leaves open: escapes of unpaired surrogates.
        with contextlib.suppress(ValueError, RecursionError):
            row = json.loads(line, parse_constant=_refuse)
    if row is None:
        collector.reject(offset, RejectReason.INVALID_JSON, detail, line)
    else:
        fields.take(offset, row, len(line), line, ill_formed=RejectReason.LONE_SURROGATE)


def _refuse(name: str) -> None:
    raise ValueError(name)
