"""Blocks of clusters that all gain from a segment, or all do not, by NumPy; `min_bytes` chooses among them."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .encoders import BARRIER, ENCODINGS, Framing, Profile, payload_widths
from .graphemes import cluster_ends, cluster_starts
from .min_bytes_path import NEVER
from .segmentation import Segmentation
from .segmentation_chunks import decode_utf8
from .stretches import Offsets, take_stretches

Bools = npt.NDArray[np.bool_]

BE, LE = ENCODINGS[1], ENCODINGS[2]
# By a character's first byte: a byte more, none, one less, none (the bytes profile, without literals).
_PRICE_OF_LEAD: Final = b"\x01" * 0x80 + bytes(0x60) + b"\xff" * 0x10 + bytes(0x10)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What the path pays for, besides the UTF-8 of the text.

    Attributes:
        framing: the stream's framing.
        profile: the stream's profile.
        n_framing_bytes: bytes around a segment: both markers, and the barrier where it is on.
    """

    framing: Framing
    profile: Profile
    n_framing_bytes: int

    @property
    def penalty(self) -> int:
        """The scaled price of one more segment; odd, so that a tie in bytes is none in price."""
        return 2 * self.n_framing_bytes + 1

    def of_codepoints(self, codepoints: npt.NDArray[np.uint32]) -> npt.NDArray[np.signedinteger]:
        """Returns the bytes of each code point in a segment less those outside: int8[n] or int64[n]."""
        gain: npt.NDArray[np.signedinteger]
        if self.profile == "bytes":
            # Two bytes instead of one, two or three; four instead of four.
            gain = (codepoints < 0x80).view(np.int8) - (codepoints - np.uint32(0x800) < 0xF800).view(np.int8)
        else:
            gain = payload_widths(codepoints, self.profile).view(np.int8) - np.int8(1)
            for first_longer in (0x80, 0x800, 0x10000):
                gain -= (codepoints >= first_longer).view(np.int8)
        literals = self.framing.literals
        if literals:
            gain[codepoints - np.uint32(literals.start) < len(literals)] -= len(self.framing.escape)
        if self.framing.unroutable_unit(BE) == self.framing.unroutable_unit(LE):
            never = codepoints == self.framing.unroutable_unit(BE)
            if never.any():
                gain = np.where(never, NEVER, gain.astype(np.int64))
        return gain


def costs_of(framing: Framing, profile: Profile, *, barrier: bool) -> Costs:
    """Returns the costs of a stream's settings."""
    n_bytes = framing.n_framing_bytes + (len(BARRIER) if barrier else 0)
    return Costs(framing=framing, profile=profile, n_framing_bytes=n_bytes)


class _Prices(NamedTuple):
    """What code points cost in a segment.

    Attributes:
        price: int8[n] or int64[n].
        wide: int64, places of the characters of four bytes; None where `price` has more to it than bytes.
        codepoints: uint32[n]; None where no code point has a role of its own.
    """

    price: npt.NDArray[np.signedinteger]
    wide: Offsets | None
    codepoints: npt.NDArray[np.uint32] | None


@dataclass(frozen=True, eq=False)
class Blocks:
    """Maximal rows of clusters that all gain, or all do not: no best path changes its state inside one.

    Moving a change within a block that gains only costs, towards UTF-8 in one that loses only saves, and
    where the difference is 0 the tie rules send the change to the block's ends.
    """

    start: Offsets
    """int64[n]: first code point, over the batch."""
    end: Offsets
    """int64[n]: past the last code point."""
    start_byte: Offsets
    """int64[n]: first byte, over the batch."""
    end_byte: Offsets
    """int64[n]: past the last byte."""
    cost: Offsets
    """int64[n]: scaled cost of the block in a segment, less that in UTF-8."""
    first: Bools
    """bool[n]: where documents start."""
    not_be: Bools
    """bool[n]: holds the code unit that no BE segment may hold (such a cluster is a block of its own)."""
    not_le: Bools
    """bool[n]: likewise for LE; only where `not_be` is true anywhere."""


def blocks_of(seg: Segmentation, docs: Offsets, costs: Costs, by_leads: bool) -> Blocks:
    """Returns the blocks of some documents.

    Args:
        seg: the batch.
        docs: int64[n_docs], ascending, none empty.
        costs: what is minimised.
        by_leads: whether prices follow from the first bytes of the characters: in the bytes profile, without literals.
    """
    doc_start, doc_end = seg.doc_cp[docs], seg.doc_cp[docs + 1]
    utf8 = take_stretches(seg.utf8, seg.doc_byte[docs], seg.doc_byte[docs + 1])
    cp_byte = np.flatnonzero(utf8.view(np.int8) >= -64)
    breaks = take_stretches(seg.cluster_breaks, doc_start, doc_end)
    doc_first = np.cumsum(doc_end - doc_start) - (doc_end - doc_start)
    price, wide, codepoints = _prices(utf8, cp_byte, costs, by_leads)
    gains = _clusters_that_gain(price, breaks)
    change = np.ones(len(price), np.bool_)
    np.not_equal(gains[1:], gains[:-1], out=change[1:])
    change[doc_first] = True
    not_be = not_le = np.zeros(0, np.bool_)
    if codepoints is not None and costs.framing.unroutable_unit(BE) != costs.framing.unroutable_unit(LE):
        not_be = _clusters_with(codepoints, breaks, costs.framing.unroutable_unit(BE))
        not_le = _clusters_with(codepoints, breaks, costs.framing.unroutable_unit(LE)) if not_be.any() else not_be
        for marked in (not_be, not_le):
            # Every cluster that holds one is a block of its own.
            change |= marked & breaks
            change[1:] |= marked[:-1] & breaks[1:]
    opens = np.flatnonzero(change)
    bounds, bytes_ = np.append(opens, len(price)), np.append(cp_byte[opens], len(utf8))
    if wide is None:
        cost = np.add.reduceat(price.astype(np.int64 if price.dtype == np.int64 else np.int32), opens)
    else:
        # Two bytes a code unit, less those of the UTF-8: a difference of places, with no sum over characters.
        cost = 2 * np.diff(bounds + np.searchsorted(wide, bytes_)) - np.diff(bytes_)
    first = np.zeros(len(opens), np.bool_)
    at = np.searchsorted(opens, doc_first)
    first[at] = True
    n_blocks = np.diff(at, append=len(opens))
    shift = np.repeat(doc_start - doc_first, n_blocks)
    byte_shift = np.repeat(seg.doc_byte[docs] - cp_byte[doc_first], n_blocks)
    return Blocks(
        start=bounds[:-1] + shift,
        end=bounds[1:] + shift,
        start_byte=bytes_[:-1] + byte_shift,
        end_byte=bytes_[1:] + byte_shift,
        cost=2 * cost.astype(np.int64),
        first=first,
        not_be=not_be[opens] if not_be.size else np.zeros(len(opens), np.bool_),
        not_le=not_le[opens] if not_le.size else np.zeros(len(opens), np.bool_),
    )


def _prices(utf8: npt.NDArray[np.uint8], cp_byte: Offsets, costs: Costs, by_leads: bool) -> _Prices:
    """Returns what each code point costs in a segment; `by_leads` as `blocks_of`."""
    units = [costs.framing.unroutable_unit(encoding) for encoding in (BE, LE)]
    if by_leads and not any(_holds(utf8, chr(unit).encode()) for unit in units if unit is not None):
        price = np.frombuffer(utf8[cp_byte].tobytes().translate(_PRICE_OF_LEAD), np.int8)
        return _Prices(price, np.flatnonzero(utf8 >= 0xF0), None)
    codepoints = np.frombuffer(decode_utf8(utf8).encode("utf-32-le"), np.uint32)
    return _Prices(costs.of_codepoints(codepoints), None, codepoints)


def _holds(utf8: npt.NDArray[np.uint8], char: bytes) -> bool:
    """Returns whether a character of three bytes is in a text."""
    first, second, third = char
    # Three comparisons of all bytes are several times as fast as bytes.find, whose tables such short needles defeat.
    return bool(((utf8[2:] == third) & (utf8[1:-1] == second) & (utf8[:-2] == first)).any())


def _clusters_that_gain(price: npt.NDArray[np.signedinteger], breaks: Bools) -> Bools:
    """Returns for every code point whether its cluster as a whole is shorter in a segment: bool[n]."""
    gains: Bools = price < 0
    # Nearly always the code points of a cluster agree; only where they do not is there something to add up.
    mixed = np.flatnonzero(~breaks[1:] & (gains[1:] != gains[:-1])) + 1
    if mixed.size:
        start = np.unique(cluster_starts(breaks, mixed))
        end = cluster_ends(breaks, start)
        sizes = end - start
        parts = take_stretches(price, start, end).astype(np.int64)
        total = np.add.reduceat(parts, np.cumsum(sizes) - sizes)
        gains[np.repeat(start - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())] = np.repeat(
            total < 0, sizes
        )
    return gains


def _clusters_with(codepoints: npt.NDArray[np.uint32], breaks: Bools, unit: int | None) -> Bools:
    """Returns for every code point whether its cluster holds a code unit: bool[n]."""
    found = np.zeros(len(codepoints), np.bool_)
    places = np.flatnonzero(codepoints == unit)
    for start, end in zip(cluster_starts(breaks, places).tolist(), cluster_ends(breaks, places).tolist(), strict=True):
        found[start:end] = True
    return found
