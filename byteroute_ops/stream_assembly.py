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
    if not framing.literals or not _LITERAL.search(seg.utf8.data):
        return np.zeros(0, np.int64)
    return np.flatnonzero(seg.codepoints - np.uint32(framing.literals.start) < len(framing.literals))


@dataclass(frozen=True, eq=False)
class SpanText:
    """The text of a batch's segments, one after the other.

    Attributes:
        utf8: uint8[n_bytes].
        byte_places: int64[n_spans + 1], where the text of each segment starts, and the length.
        cp_places: int64[n_spans + 1], likewise in code points.
    """

    utf8: Bytes
    byte_places: Offsets
    cp_places: Offsets

    @classmethod
    def of(cls, seg: Segmentation, spans: Spans) -> "SpanText":
        """Returns the text of some segments."""
        sizes = (spans.end_byte - spans.start_byte, spans.end - spans.start)
        byte_places, cp_places = (np.concatenate([[0], np.cumsum(size)]) for size in sizes)
        return cls(take_stretches(seg.utf8, spans.start_byte, spans.end_byte), byte_places, cp_places)

    @cached_property
    def units(self) -> npt.NDArray[np.uint16]:
        """uint16[n_units]: the code units of UTF-16."""
        return np.frombuffer(decode_utf8(self.utf8).encode("utf-16-le"), np.dtype("<u2"))

    @cached_property
    def _wide(self) -> Offsets:
        """Where the characters with two code units start, bytes."""
        return np.flatnonzero(self.utf8 >= 0xF0)

    @cached_property
    def _widths_before(self) -> Offsets:
        """int64[n_cp + 1]: bytes in the text profile before every code point."""
        codepoints = np.frombuffer(decode_utf8(self.utf8).encode("utf-32-le"), np.uint32)
        return np.concatenate([[0], np.cumsum(payload_widths(codepoints, "text"), dtype=np.int64)])

    def units_before(self, bytes_: Offsets, cps: Offsets) -> Offsets:
        """Returns how many code units stand before each place, given in bytes and in code points: int64[n_places]."""
        return cps + np.searchsorted(self._wide, bytes_) if self._wide.size else cps

    def payload_before(self, bytes_: Offsets, cps: Offsets, profile: Profile) -> Offsets:
        """Returns how many payload bytes stand before each place: int64[n_places]."""
        return 2 * self.units_before(bytes_, cps) if profile == "bytes" else self._widths_before[cps]

    def payload(self, spans: Spans, profile: Profile) -> tuple[Bytes, Offsets]:
        """Returns the payloads of all segments, one after the other, and where each starts: int64[n_spans + 1]."""
        is_little = spans.encoding == _LE
        units = self.units
        if not is_little.any():
            units = units.byteswap()
        elif not is_little.all():
            n_units = np.diff(self.units_before(self.byte_places, self.cp_places))
            units = np.where(np.repeat(is_little, n_units), units, units.byteswap())
        payload = units.view(np.uint8)
        bounds = self.payload_before(self.byte_places, self.cp_places, profile)
        return (to_alphabet(payload) if profile == "text" else payload), bounds

    def has_unroutable(self, framing: Framing) -> bool:
        """Returns whether any code unit is one that some segment must not hold."""
        return any(bool((self.units == framing.unroutable_unit(encoding)).any()) for encoding in ENCODINGS[1:])


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
