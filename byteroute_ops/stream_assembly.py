"""The bytes of a batch's routed streams, once it is known which stretches are segments.

Everything is done for the whole batch at once: the payloads of all segments, their framing around
them, and all that put in the place of the UTF-8 it replaces.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from . import compiled
from .encoders import BARRIER, ENCODINGS, FRAMINGS, Framing, Profile, payload_widths, to_alphabet
from .segmentation import Segmentation
from .segmentation_chunks import decode_utf8
from .spans import Spans
from .stretches import Offsets, take_stretches, woven

Bytes = npt.NDArray[np.uint8]

_LE: Final = ENCODINGS[2].id
_LITERAL: Final = re.compile(b"|".join(chr(codepoint).encode() for codepoint in FRAMINGS["control"].literals))


def literal_places(seg: Segmentation, framing: Framing) -> Offsets:
    """Returns the code points that read as markers in UTF-8 state: int64[n], indices over the batch."""
    # Nearly no text has one, and the bytes are quicker to look at than the code points.
    if not framing.literals or not _has_literal(seg.utf8, framing.literals):
        return np.zeros(0, np.int64)
    return np.flatnonzero(seg.codepoints - np.uint32(framing.literals.start) < len(framing.literals))


def _has_literal(utf8: Bytes, literals: range) -> bool:
    if compiled.streams is not None:
        return bool(compiled.streams.holds(utf8, literals.start, literals.stop))
    return _LITERAL.search(utf8.data) is not None


@dataclass(frozen=True, eq=False)
class SpanText:
    """The text of a batch's segments, one after the other.

    Attributes:
        seg: the batch.
        spans: its segments.
        framing: of the stream.
        byte_places: int64[n_spans + 1], where the text of each segment starts, and the length.
        cp_places: int64[n_spans + 1], likewise in code points.
    """

    seg: Segmentation
    spans: Spans
    framing: Framing
    byte_places: Offsets
    cp_places: Offsets

    @classmethod
    def of(cls, seg: Segmentation, spans: Spans, framing: Framing) -> "SpanText":
        """Returns the text of some segments."""
        sizes = (spans.end_byte - spans.start_byte, spans.end - spans.start)
        byte_places, cp_places = (np.concatenate([[0], np.cumsum(size)]) for size in sizes)
        return cls(seg, spans, framing, byte_places, cp_places)

    @cached_property
    def utf8(self) -> Bytes:
        """uint8[n_bytes]."""
        return take_stretches(self.seg.utf8, self.spans.start_byte, self.spans.end_byte)

    @cached_property
    def _encoded(self) -> tuple[Bytes, Offsets, Offsets, bool]:
        """The payloads in UTF-16, where each starts, and two facts of them.

        Where characters with two code units start in the text, bytes, and whether a code unit is one that some segment
        must not hold.
        """
        spans, never = self.spans, [self.framing.unroutable_unit(encoding) for encoding in ENCODINGS[1:]]
        is_little = spans.encoding == _LE
        if compiled.streams is not None and self.seg.utf8.size:
            places = (np.ascontiguousarray(place, np.int64) for place in (spans.start_byte, spans.end_byte))
            found: tuple[Bytes, Offsets, Offsets, bool] = compiled.streams.utf16(
                self.seg.utf8, *places, is_little.view(np.uint8), *never
            )
            return found
        units = np.frombuffer(decode_utf8(self.utf8).encode("utf-16-le"), np.dtype("<u2"))
        wide = np.flatnonzero(self.utf8 >= 0xF0)
        bounds = 2 * _units_before(wide, self.byte_places, self.cp_places)
        unroutable = any(bool((units == unit).any()) for unit in never)
        if not is_little.any():
            units = units.byteswap()
        elif not is_little.all():
            units = np.where(np.repeat(is_little, np.diff(bounds) // 2), units, units.byteswap())
        return units.view(np.uint8), bounds, wide, unroutable

    @cached_property
    def _widths_before(self) -> Offsets:
        """int64[n_cp + 1]: bytes in the text profile before every code point."""
        codepoints = np.frombuffer(decode_utf8(self.utf8).encode("utf-32-le"), np.uint32)
        return np.concatenate([[0], np.cumsum(payload_widths(codepoints, "text"), dtype=np.int64)])

    def payload_before(self, bytes_: Offsets, cps: Offsets, profile: Profile) -> Offsets:
        """Returns the payload bytes before each place, which is given in bytes and in code points: int64[n_places]."""
        return 2 * _units_before(self._encoded[2], bytes_, cps) if profile == "bytes" else self._widths_before[cps]

    def payload(self, profile: Profile) -> tuple[Bytes, Offsets]:
        """Returns the payloads of all segments, one after the other, and where each starts: int64[n_spans + 1]."""
        payload, bounds, _, _ = self._encoded
        return (payload, bounds) if profile == "bytes" else (to_alphabet(payload), self._widths_before[self.cp_places])

    @property
    def has_unroutable(self) -> bool:
        """Whether any code unit is one that some segment must not hold."""
        return self._encoded[3]


def _units_before(wide: Offsets, bytes_: Offsets, cps: Offsets) -> Offsets:
    """Returns how many code units stand before each place: int64[n_places]."""
    return cps + np.searchsorted(wide, bytes_) if wide.size else cps


def assembled(
    seg: Segmentation,
    spans: Spans,
    payload: tuple[Bytes, Offsets],
    escapes: Offsets,
    framing: Framing,
    *,
    barrier: bool,
) -> Bytes:
    """Returns the streams of the batch, one after the other; its own bytes where nothing is routed or escaped.

    Args:
        seg: the batch.
        spans: its segments.
        payload: of the segments, as `SpanText.payload` returns it.
        escapes: int64[n_escapes], code points that take an escape.
        framing: of the stream.
        barrier: whether a barrier stands before each segment.
    """
    head = BARRIER if barrier else b""
    opening = [head + mark for mark in framing.opening]
    inserts, n_insert = _framed(payload, spans, opening, framing.closing)
    start, end = spans.start_byte, spans.end_byte
    if len(escapes):
        # Escapes replace nothing; they go between the segments in the order of the text.
        at = seg.cp_byte[escapes]
        slot = np.searchsorted(start, at)
        before = np.concatenate([[0], np.cumsum(n_insert)])[slot]
        marks, sizes = np.frombuffer(framing.escape * len(at), np.uint8), np.full(len(at), len(framing.escape))
        inserts = woven(inserts, before, before, marks, sizes)
        start, end, n_insert = np.insert(start, slot, at), np.insert(end, slot, at), np.insert(n_insert, slot, sizes)
    return woven(seg.utf8, start, end, inserts, n_insert)


def _framed(
    payload: tuple[Bytes, Offsets], spans: Spans, opening: list[bytes], closing: tuple[bytes, ...]
) -> tuple[Bytes, Offsets]:
    """Returns all segments with their framing, one after the other, and the bytes of each: int64[n_spans]."""
    frames = [opening[encoding.id] + closing[encoding.id] for encoding in ENCODINGS[1:]]
    table = np.frombuffer(b"".join(frames), np.uint8).reshape(len(frames), -1)
    marks = table[spans.encoding - 1].ravel()
    inside, bounds = payload
    places = np.column_stack([bounds[:-1], bounds[1:]]).ravel()
    n_opening = len(opening[1])
    lengths = np.tile([n_opening, table.shape[1] - n_opening], len(spans.start))
    return woven(inside, places, places, marks, lengths), np.diff(bounds) + table.shape[1]
