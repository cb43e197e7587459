"""Which stretches of a batch become segments under a policy that is a table.

`Spans` is what every policy comes down to; `min_bytes` finds them for the policy without a table.
"""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from .encoders import SEGMENT_ENCODINGS, UTF8_ID, Framing
from .graphemes import cluster_ends, cluster_starts
from .policy import Policy
from .segmentation import Segmentation
from .stretches import Offsets

Ids = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Spans:
    """Segments of a batch, in order; none is empty, none crosses a document.

    Attributes:
        start: int64[n], first code point (over the batch).
        end: int64[n], past the last code point.
        start_byte: int64[n], the same places in the batch's UTF-8.
        end_byte: int64[n].
        encoding: uint8[n], encoding ids, never that of UTF-8.
    """

    start: Offsets
    end: Offsets
    start_byte: Offsets
    end_byte: Offsets
    encoding: Ids

    def where(self, keep: npt.NDArray[np.bool_]) -> "Spans":
        """Returns the spans at which `keep` is true: bool[n]."""
        return Spans(self.start[keep], self.end[keep], self.start_byte[keep], self.end_byte[keep], self.encoding[keep])

    def merged(self, other: "Spans") -> "Spans":
        """Returns the spans of both in order; they do not overlap."""
        pairs = ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self))
        columns = [np.concatenate(pair) for pair in pairs]
        order = np.argsort(columns[0], kind="stable")
        return Spans(*(column[order] for column in columns))

    def holding(self, positions: Offsets) -> Offsets:
        """Returns the index of the span that holds each code point, or -1: int64[n_positions]."""
        index = np.searchsorted(self.start, positions, "right") - 1
        inside = index >= 0
        inside[inside] = positions[inside] < self.end[index[inside]]
        return np.where(inside, index, -1)


def table_spans(seg: Segmentation, policy: Policy, framing: Framing) -> Spans:
    """Returns the segments that a policy of kind `scripts` or `ranges` gives a batch.

    Neighbouring runs of one encoding are one segment. Segments shorter than the policy's `min_codepoints` stay
    UTF-8. Where no length is asked for, clusters that the grammar keeps out of a segment may still be in one: the
    caller meets them in the payload, and calls `without_unroutable`.
    """
    if policy.kind == "scripts":
        start, byte, encoding = seg.run_start, seg.run_byte[:-1], policy.encoding_of_scripts()[seg.run_script]
    else:
        # The first code point of a cluster decides for all of it.
        start = np.flatnonzero(seg.cluster_breaks)
        byte, encoding = seg.cp_byte[start], policy.encoding_of_codepoints(seg.codepoints[start])
    spans = _merged(seg, start, byte, encoding)
    if policy.min_codepoints > 1:
        spans = without_unroutable(seg, spans, framing)
        spans = spans.where(spans.end - spans.start >= policy.min_codepoints)
    return spans


def _merged(seg: Segmentation, start: Offsets, byte: Offsets, encoding: Ids) -> Spans:
    """Joins neighbours of one encoding in one document; drops what is UTF-8."""
    first = np.ones(len(start), np.bool_)
    first[1:] = encoding[1:] != encoding[:-1]
    doc_starts = seg.doc_cp[:-1][seg.doc_cp[:-1] < seg.doc_cp[1:]]
    first[np.searchsorted(start, doc_starts)] = True
    heads = np.flatnonzero(first)
    cps, bytes_ = np.append(start[heads], seg.n_codepoints), np.append(byte[heads], len(seg.utf8))
    spans = Spans(cps[:-1], cps[1:], bytes_[:-1], bytes_[1:], encoding[heads])
    return spans.where(spans.encoding != UTF8_ID)


def without_unroutable(seg: Segmentation, spans: Spans, framing: Framing) -> Spans:
    """Cuts out the clusters with a code unit that begins the closing marker of their segment."""
    found = []
    for encoding in SEGMENT_ENCODINGS:
        if (spans.encoding == encoding.id).any():
            places = np.flatnonzero(seg.codepoints == framing.unroutable_unit(encoding))
            index = spans.holding(places)
            found.append(places[(index >= 0) & (spans.encoding[index] == encoding.id)])
    places = np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)
    if not places.size:
        return spans
    cut_start = np.unique(cluster_starts(seg.cluster_breaks, places))
    cut_end = cluster_ends(seg.cluster_breaks, cut_start)
    # A cut ends one span and begins the next; the cuts lie inside spans, so sorted bounds pair up.
    start = np.sort(np.concatenate([spans.start, cut_end]))
    end = np.sort(np.concatenate([spans.end, cut_start]))
    kept = start < end
    start, end = start[kept], end[kept]
    encoding_of = spans.encoding[np.searchsorted(spans.start, start, "right") - 1]
    return Spans(start, end, seg.cp_byte[start], seg.cp_byte[end], encoding_of)
