"""The bytes of a batch's routed streams, once it is known which stretches are segments.

Everything is done for the whole batch at once: the payloads of all segments, their framing around
them, and all that put in the place of the UTF-8 it replaces.
"""

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from .encoders import (
    BARRIER,
    ENCODINGS,
    FRAMINGS,
    Framing,
    Profile,
    payload_widths,
    to_alphabet,
    utf16_units,
)
from .segmentation import Segmentation
from .spans import Spans
from .stretches import Offsets, woven

Bytes = npt.NDArray[np.uint8]

_LE: Final = ENCODINGS[2].id
_LITERAL: Final = re.compile(b"|".join(chr(codepoint).encode() for codepoint in FRAMINGS["control"].literals))


def literal_places(seg: Segmentation, framing: Framing) -> Offsets:
    """Returns the code points that read as markers in UTF-8 state: int64[n], indices over the batch."""
    # Nearly no text has one, and the bytes are quicker to look at than the code points.
    if not framing.literals or not _LITERAL.search(seg.utf8.data):
        return np.zeros(0, np.int64)
    return np.flatnonzero(seg.codepoints - np.uint32(framing.literals.start) < len(framing.literals))


def payload_bytes(codepoints: npt.NDArray[np.uint32], places: Offsets, spans: Spans, profile: Profile) -> Bytes:
    """Returns the payloads of all segments, one after the other.

    Args:
        codepoints: uint32[n], those of the segments, one after the other.
        places: int64[n_spans + 1], where those of each segment start.
        spans: the segments.
        profile: of the stream.
    """
    units = utf16_units(codepoints)
    big, little = units.astype(">u2"), units.astype("<u2")
    is_little = spans.encoding == _LE
    if is_little.all():
        payload = little.view(np.uint8)
    elif not is_little.any():
        payload = big.view(np.uint8)
    else:
        n_units = np.diff(payload_offsets(codepoints, places, "bytes")) // 2
        mixed = np.where(np.repeat(is_little, n_units), little.view(np.uint16), big.view(np.uint16))
        payload = mixed.view(np.uint8)
    return to_alphabet(payload) if profile == "text" else payload


def payload_offsets(codepoints: npt.NDArray[np.uint32], places: Offsets, profile: Profile) -> Offsets:
    """Returns how many payload bytes stand before each place: int64[n_places].

    Args:
        codepoints: uint32[n], of segments, one after the other.
        places: int64[n_places], indices into them, 0 to n.
        profile: of the stream.
    """
    if profile == "bytes":
        wide = np.flatnonzero(codepoints > 0xFFFF)
        return 2 * (places + np.searchsorted(wide, places))
    before = np.concatenate([[0], np.cumsum(payload_widths(codepoints, profile), dtype=np.int64)])
    offsets: Offsets = before[places]
    return offsets


def framed(payload: Bytes, bounds: Offsets, spans: Spans, framing: Framing, *, barrier: bool) -> tuple[Bytes, Offsets]:
    """Returns all segments with their framing, one after the other, and the bytes of each: int64[n_spans].

    Args:
        payload: uint8[n], all payloads.
        bounds: int64[n_spans + 1], offsets of the payloads in it.
        spans: the segments.
        framing: of the stream.
        barrier: whether a barrier stands before each.
    """
    head = BARRIER if barrier else b""
    frames = [head + framing.opening[e.id] + framing.closing[e.id] for e in ENCODINGS[1:]]
    n_opening = len(head) + len(framing.opening[1])
    table = np.frombuffer(b"".join(frames), np.uint8).reshape(len(frames), -1)
    marks = table[spans.encoding - 1].ravel()
    places = np.column_stack([bounds[:-1], bounds[1:]]).ravel()
    lengths = np.tile([n_opening, table.shape[1] - n_opening], len(spans.start))
    return woven(payload, places, places, marks, lengths), np.diff(bounds) + table.shape[1]


def assembled(
    seg: Segmentation, spans: Spans, segments: tuple[Bytes, Offsets], escapes: Offsets, escape: bytes
) -> Bytes:
    """Returns the streams of the batch, one after the other; the batch's own bytes where nothing is routed or escaped.

    Args:
        seg: the batch.
        spans: its segments.
        segments: their bytes uint8[n] and the length of each int64[n_spans], as `framed` returns them.
        escapes: int64[n_escapes], code points that take an escape.
        escape: what precedes each.
    """
    start, end = seg.cp_byte[spans.start], seg.cp_byte[spans.end]
    inserts, n_insert = segments
    if len(escapes):
        # Escapes replace nothing; they go between the segments in the order of the text.
        at = seg.cp_byte[escapes]
        slot = np.searchsorted(start, at)
        before = np.concatenate([[0], np.cumsum(n_insert)])[slot]
        marks, sizes = np.frombuffer(escape * len(at), np.uint8), np.full(len(at), len(escape))
        inserts = woven(inserts, before, before, marks, sizes)
        start, end, n_insert = np.insert(start, slot, at), np.insert(end, slot, at), np.insert(n_insert, slot, sizes)
    return woven(seg.utf8, start, end, inserts, n_insert)
