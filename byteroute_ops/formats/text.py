"""Plain text: a document is a line, a whole file, or what stands between separators.

Bytes are UTF-8, or UTF-16/32 where the file begins with their byte order mark (The Unicode Standard, section 23.8). The
mark at the start of the file is the file's, not the first document's. Lines end with LF or CR LF; lines of white space
and empty pieces between separators are no documents. An empty file is one empty document in `text-file`, else none.
"""

from collections.abc import Iterator

from byteroute_ops.errors import RejectReason
from byteroute_ops.formats.batching import Collector
from byteroute_ops.formats.jsonl import line_splitter
from byteroute_ops.formats.model import Read
from byteroute_ops.formats.source import Source


def read_text_lines(source: Source, collector: Collector) -> Iterator[Read]:
    """Yields the lines that begin in the slice; positions are byte offsets.

    Raises:
        InputError: the archive is not whole. The line that the fault cut is not yielded: nobody can tell how it ends.
    """
    yield from _read_pieces(source, collector, "\n")


def read_text_pieces(source: Source, collector: Collector) -> Iterator[Read]:
    """Yields what stands between the separators of the options; positions are byte offsets.

    Raises:
        InputError: the archive is not whole.
    """
    yield from _read_pieces(source, collector, collector.options.separator)


def _read_pieces(source: Source, collector: Collector, separator: str) -> Iterator[Read]:
    encoding = source.encoding.name
    n_separator = len(separator.encode(encoding))
    splitter = line_splitter(source, collector, separator)
    for start, pieces in splitter:
        offset = start
        for piece in pieces:
            _take(collector, offset, piece, encoding, is_line=separator == "\n")
            offset += len(piece) + n_separator
        yield from collector.drain()
    _take(collector, splitter.rest_offset, splitter.rest, encoding, is_line=separator == "\n")


def _take(collector: Collector, offset: int, piece: bytes, encoding: str, *, is_line: bool) -> None:
    try:
        text = piece.decode(encoding)
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} of the document is not valid {encoding}"
        collector.reject(offset, RejectReason.INVALID_UTF8, detail, piece)
        return
    if is_line:
        text = "" if text.isspace() else text.removesuffix("\r")
    if text:
        _add(collector, offset, text, piece)


def _add(collector: Collector, offset: int, text: str, raw: bytes) -> None:
    # Two bytes of UTF-16 can be three of UTF-8; no other encoding grows.
    n_bytes = len(raw) * 3 // 2
    collector.add(offset, "", "", text, kept=(None,) * len(collector.options.keep), n_record_bytes=n_bytes)


def read_text_file(source: Source, collector: Collector) -> Iterator[Read]:
    """Yields the whole file as one document, at position 0.

    A file longer than `max_record_bytes` is not held in memory: it is rejected even where long documents are split.

    Raises:
        InputError: the archive is not whole, so the document is not either.
    """
    limit, n_mark = collector.options.max_record_bytes, source.encoding.n_mark
    parts: list[bytes] = []
    n_bytes = 0
    for chunk in source.chunks():
        n_bytes += len(chunk)
        if n_bytes <= limit:
            parts.append(chunk)
        else:
            parts.clear()
    if n_bytes > limit:
        collector.reject_long(0, n_bytes, what="the record")
    else:
        raw = b"".join(parts)[n_mark:]
        try:
            _add(collector, 0, raw.decode(source.encoding.name), raw)
        except UnicodeDecodeError as error:
            detail = f"byte {error.start + n_mark} of the file is not valid {source.encoding.name}"
            collector.reject(0, RejectReason.INVALID_UTF8, detail, raw)
    yield from collector.drain()
