"""The segmentation with the fewest bytes: an exact optimum, over a whole batch at once.

A document is a row of grapheme clusters, each UTF-8 or in a segment, and a segment costs its framing.
That is a shortest path over two states (BE and LE need equally many bytes; where nothing forbids BE,
LE is never better). Let D(i) be the cost of the best way to the document's end with cluster i in a
segment, less that with cluster i in UTF-8, and `s` the cluster's own difference. Then

    D(i) = s(i) + clip(D(i+1), -p, 0)        p: the price of opening a segment

Functions `clip(x + a, low, high)` are closed under composition, so all D come from one parallel
prefix scan (Hillis and Steele 1986). The path follows from left to right: out of UTF-8 where
D < -p, back where D >= 0, else as before. Costs are scaled by 2 and p is odd, which makes fewer
segments win at equal bytes; the two inequalities prefer UTF-8 at equal bytes and segments.
"""

from types import ModuleType
from typing import Final

import numpy as np

from . import compiled
from .min_bytes_blocks import BE, LE, Blocks, Bools, Costs, blocks_of
from .min_bytes_path import three_states, two_states
from .segmentation import Segmentation
from .segmentation_chunks import CHUNK_BYTES
from .spans import Ids, Spans
from .stretches import Offsets

_CHUNK: Final = 64


def min_bytes_spans(seg: Segmentation, costs: Costs, literals: Offsets) -> Spans:
    """Returns the segments of the shortest streams; ties: fewest segments, then UTF-8 < BE < LE from left to right.

    Args:
        seg: the batch.
        costs: what is minimised; see `min_bytes_blocks.costs_of`.
        literals: int64[n], code points (over the batch) that take an escape in UTF-8, ascending.
    """
    if compiled.streams is not None and costs.profile == "bytes" and not literals.size and len(seg.utf8):
        return _compiled_spans(compiled.streams, seg, costs)
    candidates = _may_gain(seg, costs)
    candidates[np.searchsorted(seg.doc_cp, literals, "right") - 1] = True
    docs = np.flatnonzero(candidates & (seg.doc_cp[1:] > seg.doc_cp[:-1]))
    return _spans_in(seg, docs, costs, by_leads=costs.profile == "bytes" and not literals.size)


def _spans_in(seg: Segmentation, docs: Offsets, costs: Costs, *, by_leads: bool) -> Spans:
    """Returns the segments in some documents; `by_leads` as `blocks_of`."""
    parts = [_spans_of(blocks_of(seg, some, costs, by_leads), costs.penalty) for some in _groups(seg, docs)]
    none = np.zeros(0, np.int64)
    columns = zip(*parts, strict=True) if parts else ((none,), (none,), (none,), (none,), (none.astype(np.uint8),))
    return Spans(*(np.concatenate(column) for column in columns))


def _compiled_spans(streams: ModuleType, seg: Segmentation, costs: Costs) -> Spans:
    """Returns the same, where what characters cost follows from their number of bytes."""
    never = [costs.framing.unroutable_unit(encoding) for encoding in (BE, LE)]
    breaks = seg.cluster_breaks.view(np.uint8)
    found = streams.shortest(seg.utf8, seg.doc_byte, seg.doc_cp, breaks, costs.penalty, *never)
    start, end, start_byte, end_byte, left_out = found
    spans = Spans(start, end, start_byte, end_byte, np.full(len(start), BE.id, np.uint8))
    if not left_out.any():
        return spans
    # Clusters that some segment must not hold are rare enough to do their documents the other way.
    rest = _spans_in(seg, np.flatnonzero(left_out), costs, by_leads=True)
    return spans.merged(rest)


def _groups(seg: Segmentation, docs: Offsets) -> list[Offsets]:
    """Returns the documents in groups whose arrays fit the cache; a longer document is one of its own."""
    sizes = seg.doc_byte[docs + 1] - seg.doc_byte[docs]
    before = np.cumsum(sizes) - sizes
    bounds = np.unique(np.searchsorted(before, np.arange(CHUNK_BYTES, int(sizes.sum()), CHUNK_BYTES)))
    return np.split(docs, bounds) if docs.size else []


def _spans_of(blocks: Blocks, penalty: int) -> tuple[Offsets, Offsets, Offsets, Offsets, Ids]:
    """Returns the columns of `Spans` for some documents."""
    state = two_states(blocks.cost, blocks.first, penalty)
    if blocks.not_be.any():
        doc_of_block = np.cumsum(blocks.first) - 1
        for document in np.unique(doc_of_block[blocks.not_be]):
            part = slice(*np.searchsorted(doc_of_block, [document, document + 1]))
            state[part] = three_states(blocks.cost[part], blocks.not_be[part], blocks.not_le[part], penalty)
    change = blocks.first.copy()
    change[1:] |= state[1:] != state[:-1]
    opens = np.flatnonzero(change)
    lasts = np.append(opens[1:], len(state)) - 1
    routed = state[opens] > 0
    opens, lasts = opens[routed], lasts[routed]
    return blocks.start[opens], blocks.end[lasts], blocks.start_byte[opens], blocks.end_byte[lasts], state[opens]


def _may_gain(seg: Segmentation, costs: Costs) -> Bools:
    """Returns the documents in which a segment might pay: bool[n_docs]; false is certain, true is not.

    Only characters of three bytes gain, one byte each, and ASCII loses as much (in the text profile
    nothing gains more). Looked at in chunks of the UTF-8: a segment gains at most the three-byte
    characters of the two chunks it ends in, and their surplus over ASCII in those between. Where no
    chunk has a surplus, or more than half a framing of them, nothing pays. Literals that a segment
    saves the escape gain more: the caller adds their documents.
    """
    n_bytes = len(seg.utf8)
    places = [np.zeros(0, np.int64)]
    for first_byte in range(0, n_bytes, CHUNK_BYTES):
        part = seg.utf8[first_byte : first_byte + CHUNK_BYTES]
        if len(part) % _CHUNK:
            part = np.append(part, np.zeros(-len(part) % _CHUNK, np.uint8))
        three = _count_chunks(part & 0xF0 == 0xE0)
        pays = (three > costs.n_framing_bytes // 2) | (three > _count_chunks(part < 0x80))
        places.append(np.flatnonzero(pays) + first_byte // _CHUNK)
    paying = np.concatenate(places)
    # A chunk may hold several documents: all from that of its first byte to that of its last are marked.
    steps = np.zeros(len(seg.doc_byte), np.int64)
    first = np.searchsorted(seg.doc_byte, paying * _CHUNK, "right") - 1
    last = np.searchsorted(seg.doc_byte, np.minimum(paying * _CHUNK + _CHUNK, n_bytes) - 1, "right") - 1
    np.add.at(steps, first, 1)
    np.add.at(steps, last + 1, -1)
    found: Bools = np.cumsum(steps[:-1]) > 0
    return found


def _count_chunks(mask: Bools) -> Offsets:
    """Returns the number of true elements in every chunk: int64[n / _CHUNK]."""
    # Eight bytes of 0 or 1 as one integer: the top byte of the product is their sum.
    words = mask.view(np.uint64) * np.uint64(0x0101010101010101) >> np.uint64(56)
    counts: Offsets = words.reshape(-1, _CHUNK // 8).sum(axis=1).astype(np.int64)
    return counts
