"""Routed bytes back to text: strict, in one pass, whole or in chunks.

The grammar is `schemas/routed_bytes.md`. Whatever does not fit it is a `StreamError` at the first byte
of the first thing (character, marker, escape or barrier) that cannot be completed; nothing is guessed,
skipped or replaced. `StreamDecoder` is the reference: `parse` feeds it once, and so does `decode` where
`stream_default` does not do.
"""

import codecs
from collections.abc import Iterator
from typing import Literal, NamedTuple

from .encoders import (
    BARRIER,
    SEGMENT_ENCODINGS,
    UTF8_ID,
    Encoding,
    FramingName,
    Profile,
    check_options,
)
from .errors import StreamError
from .stream_default import CONTROL_MARK, decode_default
from .stream_payload import UNPAIRED, decode_units, find_aligned, read_alphabet, without_begun

PieceKind = Literal["text", "escape", "barrier", "opening", "payload", "closing"]


class Piece(NamedTuple):
    """A stretch of a routed stream.

    Attributes:
        kind: "text" (UTF-8), "escape" (the escape alone: the literal after it is text), "barrier",
            "opening" and "closing" (markers), "payload".
        start: first byte, from the start of the stream.
        end: past the last byte.
        encoding: id of the encoding of a payload and of what frames it; that of UTF-8 for the rest.
        text: what the piece decodes to; empty for all but text and payload.
    """

    kind: PieceKind
    start: int
    end: int
    encoding: int
    text: str


class _UnfitError(Exception):
    """What stands at `position` of the buffer does not fit the grammar."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason


def decode(data: bytes, *, framing: FramingName = "control", profile: Profile = "bytes", barrier: bool = False) -> str:
    """Returns the text of a routed stream.

    Linear in time and memory for any input.

    Raises:
        StreamError: the bytes are no stream of these settings; has the offset in bytes.
        ConfigError: the settings do not go together.

    >>> decode(bytes.fromhex("61 EFA480 4F60 EFA481 62"))
    'a你b'
    """
    if (framing, profile, barrier) == ("control", "bytes", False):
        text = decode_default(data)
        if text is not None:
            return text
    decoder = StreamDecoder(framing=framing, profile=profile, barrier=barrier)
    return decoder.feed(data) + decoder.finish()


def parse(
    data: bytes, *, framing: FramingName = "control", profile: Profile = "bytes", barrier: bool = False
) -> Iterator[Piece]:
    """Yields the pieces of a routed stream, in order and without gaps; their texts joined are `decode(data)`.

    Raises:
        StreamError: as `decode`, after the pieces before the offset.
        ConfigError: the settings do not go together.

    >>> [(p.kind, p.start, p.end) for p in parse(bytes.fromhex("61 EFA480 4F60 EFA481"))]
    [('text', 0, 1), ('opening', 1, 4), ('payload', 4, 6), ('closing', 6, 9)]
    """
    decoder = StreamDecoder(framing=framing, profile=profile, barrier=barrier)
    yield from decoder.pieces(data)
    decoder.finish()


class StreamDecoder:
    r"""Decodes a routed stream that arrives in chunks.

    Any chunking gives the same text, or the same error, as `decode` of the whole. Text that `feed`
    returned before an error is to be dropped with the rest. Only the few bytes of an unfinished character,
    marker or escape are kept between calls, so memory does not depend on the length of the stream.

    >>> decoder = StreamDecoder(framing="bom")
    >>> decoder.feed(b"a\xfe") + decoder.feed(b"\xff\x4f") + decoder.feed(b"\x60\xff\xff") + decoder.finish()
    'a你'
    """

    def __init__(self, *, framing: FramingName = "control", profile: Profile = "bytes", barrier: bool = False) -> None:
        self._framing = check_options(framing, profile, barrier=barrier)
        self._text_profile = profile == "text"
        self._barrier = BARRIER if barrier else b""
        self._openings = {self._framing.opening[e.id]: e for e in SEGMENT_ENCODINGS}
        self._literals = {chr(codepoint).encode() for codepoint in self._framing.literals}
        # A unit that begins the closing marker is in no segment of either profile, so that both have the same ones.
        self._forbidden = {e.id: chr(self._framing.unroutable_unit(e) or 0) for e in SEGMENT_ENCODINGS}
        self._segment: Encoding | None = None
        self._segment_is_empty = True
        self._pending = b""
        self._offset = 0  # of _pending in the stream
        self._next_mark: dict[int, int] = {}
        self._error: StreamError | None = None

    def feed(self, chunk: bytes) -> str:
        """Returns the text that `chunk` completes.

        Raises:
            StreamError: the stream so far begins no valid one. Every later call raises the same.
        """
        text = "".join([piece[4] for piece in self._advance(chunk)])
        if self._error is not None:
            raise self._error
        return text

    def pieces(self, chunk: bytes) -> Iterator[Piece]:
        """Yields the pieces that `chunk` completes; one text or payload may come as several over several chunks.

        Raises:
            StreamError: as `feed`, after the pieces before the offset.
        """
        yield from self._advance(chunk)
        if self._error is not None:
            raise self._error

    def finish(self) -> str:
        """Returns the empty string: a valid stream has nothing left to say at its end.

        Raises:
            StreamError: the stream ends inside a segment, an escape, a marker or a character.
        """
        if self._error is None and (self._segment is not None or self._pending):
            place = f"a {self._segment.name} segment" if self._segment else "a character, a marker or an escape"
            self._error = StreamError(f"the stream ends inside {place}", offset=self._offset)
        if self._error is not None:
            raise self._error
        return ""

    def _advance(self, chunk: bytes) -> list[Piece]:
        """Returns the pieces that `chunk` completes; keeps the rest, or the error."""
        if self._error is not None:
            return []
        data = self._pending + chunk if self._pending else bytes(chunk)
        pieces: list[Piece] = []
        self._next_mark = {}
        position, more = 0, True
        try:
            while more:
                step = self._read_text if self._segment is None else self._read_segment
                position, more = step(data, position, pieces)
        except _UnfitError as unfit:
            self._error = StreamError(unfit.reason, offset=self._offset + unfit.position)
        self._pending = data[position:]
        self._offset += position
        return pieces

    def _emit(self, pieces: list[Piece], kind: PieceKind, start: int, end: int, text: str = "") -> None:
        if start < end:
            encoding = self._segment.id if self._segment else UTF8_ID
            pieces.append(Piece(kind, self._offset + start, self._offset + end, encoding, text))

    def _read_text(self, data: bytes, start: int, pieces: list[Piece]) -> tuple[int, bool]:
        """Reads UTF-8 up to and with the next marker or escape; returns where it stopped and whether to go on."""
        mark = self._find_mark(data, start)
        if mark < 0:
            end = self._before_begun_barrier(data, start)
            return self._read_utf8(data, start, end, pieces, final=False), False
        size = len(self._framing.opening[1])
        item = data[mark : mark + size]
        opening = self._openings.get(item)
        begin = mark
        if self._barrier and mark - 2 >= start and data.startswith(self._barrier, mark - 2):
            # Not before an escape or a closing marker; an unfinished item may yet become an opening marker.
            begin -= 2 if opening or len(item) < size else 0
        self._read_utf8(data, start, begin, pieces, final=True)
        if len(item) < size:
            return begin, False
        if opening is None:
            return self._read_escape(data, mark, pieces)
        if self._barrier and begin == mark:
            raise _UnfitError(mark, "an opening marker without the barrier before it")
        self._segment, self._segment_is_empty = opening, True
        self._emit(pieces, "barrier", begin, mark)
        self._emit(pieces, "opening", mark, mark + size)
        return mark + size, True

    def _find_mark(self, data: bytes, start: int) -> int:
        """Returns where the next marker or escape may begin, or -1."""
        if self._framing.escape:
            found = CONTROL_MARK.search(data, start)
            return found.start() if found else -1
        # Remembering the next place of each byte keeps the whole search linear.
        for byte in (0xFE, 0xFF):
            if self._next_mark.get(byte, -1) < start:
                place = data.find(byte, start)
                self._next_mark[byte] = place if place >= 0 else len(data)
        mark = min(self._next_mark.values())
        return mark if mark < len(data) else -1

    def _before_begun_barrier(self, data: bytes, start: int) -> int:
        """Returns the end of `data`, less the beginning of a barrier and opening marker there."""
        begun = self._barrier and self._barrier + self._framing.opening[1][:-1]
        for size in range(min(len(begun), len(data) - start), 0, -1):
            if data.endswith(begun[:size]):
                return len(data) - size
        return len(data)

    def _read_utf8(self, data: bytes, start: int, end: int, pieces: list[Piece], *, final: bool) -> int:
        """Reads strict UTF-8 (The Unicode Standard, 3.9, D92); returns where it stopped."""
        try:
            text, used = codecs.utf_8_decode(memoryview(data)[start:end], "strict", final)
        except UnicodeDecodeError as error:
            stop = start + error.start
            self._emit(pieces, "text", start, stop, data[start:stop].decode())
            if self._barrier and data[stop] == self._barrier[0]:
                raise _UnfitError(stop, "a barrier that no opening marker follows") from None
            raise _UnfitError(stop, "invalid UTF-8") from None
        self._emit(pieces, "text", start, start + used, text)
        return start + used

    def _read_escape(self, data: bytes, mark: int, pieces: list[Piece]) -> tuple[int, bool]:
        """Reads an escape and its literal; whatever else is at `mark` does not fit."""
        escape = self._framing.escape
        if not escape or not data.startswith(escape, mark):
            if data.startswith(self._framing.closing[1:], mark):
                raise _UnfitError(mark, "a closing marker outside a segment")
            raise _UnfitError(mark, "invalid UTF-8")
        after = mark + len(escape)
        literal = data[after : after + len(escape)]
        if literal in self._literals:
            self._emit(pieces, "escape", mark, after)
            self._emit(pieces, "text", after, after + len(literal), literal.decode())
            return after + len(literal), True
        if after + len(literal) == len(data) and escape[:-1].startswith(literal):
            return mark, False
        raise _UnfitError(mark, "an escape before something that needs none")

    def _read_segment(self, data: bytes, start: int, pieces: list[Piece]) -> tuple[int, bool]:
        """Reads a payload, as far as it is there, and the closing marker; returns as `_read_text`."""
        segment = self._segment
        assert segment is not None  # noqa: S101 - the caller's branch, for the type checker
        closing = self._framing.closing[segment.id]
        payload, chars, complaint = b"", "", ""
        if self._text_profile:
            close = data.find(closing, start)
            end = close if close >= 0 else len(data)
            chars, payload, complaint = read_alphabet(memoryview(data)[start:end], final=close >= 0)
        else:
            close = find_aligned(data, closing, start)
            end = close if close >= 0 else without_begun(data, closing, start)
            payload = data[start:end]
        text, used, misfit = decode_units(payload, segment, self._forbidden[segment.id])
        stop = start + (len(chars[:used].encode()) if self._text_profile else used)
        self._emit(pieces, "payload", start, stop, text)
        self._segment_is_empty = self._segment_is_empty and not text
        if misfit or complaint:
            raise _UnfitError(stop, misfit or complaint)
        if close < 0:
            return stop, False
        if stop < close:
            raise _UnfitError(stop, UNPAIRED)
        if self._segment_is_empty:
            raise _UnfitError(close, "an empty segment")
        self._emit(pieces, "closing", close, close + len(closing))
        self._segment = None
        return close + len(closing), True
