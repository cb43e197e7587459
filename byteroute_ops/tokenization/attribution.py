"""Which script run a token counts for.

A token counts for the run of its first character that is strong: neither Common nor Inherited, or part of an emoji
cluster. So a leading space goes with its word. A token without a strong character counts for the run of its
first character; one that holds part of a character, for that character. Added tokens count for no run.

All strong characters of a run have the run's class, so only tokens that begin in one run and end in another need
a look: does a strong character follow the token's start in the first run, or which later run has one in the token?
"""

from collections.abc import Callable

import numpy as np

from byteroute_ops import compiled
from byteroute_ops.encoders import UTF8_ID, framing_named, payload_widths
from byteroute_ops.routing import Routed
from byteroute_ops.segmentation import Segmentation
from byteroute_ops.segmentation_chunks import decode_utf8
from byteroute_ops.stretches import take_stretches

from .byte_ids import ByteTokens
from .protocol import Int64, Tokens

_Counted = tuple[Int64, Int64, Int64, Int64, Int64]
"""Tokens by stretch; tokens without one by document; and of those that end beyond the stretch they begin in: the
stretch, the first byte, the byte past the last."""


def text_tokens_per_run(tokens: Tokens, seg: Segmentation) -> tuple[Int64, Int64]:
    """Returns the tokens of clean texts by script run.

    Args:
        tokens: of the texts that were segmented.
        seg: the segmentation.

    Returns:
        int64[n_runs], and int64[n_docs] added tokens (with them, tokens of an empty document: there is no text that
        they could count for). Together they sum to `tokens.counts`, document by document.
    """
    return _per_stretch(tokens, seg.run_byte, seg.doc_byte, lambda: (seg.run_strong_start, seg.run_strong_end))


def routed_tokens_per_row(tokens: Tokens, routed: Routed, seg: Segmentation) -> tuple[Int64, Int64]:
    """Returns the tokens of routed streams by row of `segments`; framing counts for the row it is billed to.

    Args:
        tokens: of the streams.
        routed: the streams.
        seg: the segmentation that was routed.

    Returns:
        int64[n_rows], and int64[n_docs] added tokens, as `text_tokens_per_run`.
    """
    return _per_stretch(tokens, routed.row_region, routed.doc_routed, lambda: _strong_in_stream(routed, seg))


def _per_stretch(
    tokens: Tokens, bounds: Int64, doc_bounds: Int64, strong: Callable[[], tuple[Int64, Int64]]
) -> tuple[Int64, Int64]:
    """Returns tokens by stretch, int64[k], and tokens without one by document; `bounds`: int64[k + 1]."""
    if isinstance(tokens, ByteTokens):
        # The stretches tile the documents, and a byte lies in one stretch.
        return np.diff(bounds), np.full(doc_bounds.size - 1, tokens.n_added)
    counts, n_without, home, starts, ends = _counted(tokens, bounds, doc_bounds) or _counted_by_spans(
        tokens, bounds, doc_bounds
    )
    if home.size:
        strong_start, strong_end = strong()
        moved = _home_of_crossing(home, starts, ends, bounds, strong_start=strong_start, strong_end=strong_end)
        counts = counts - np.bincount(home, minlength=counts.size) + np.bincount(moved, minlength=counts.size)
    return counts.astype(np.int64), n_without


def _counted(tokens: Tokens, bounds: Int64, doc_bounds: Int64) -> _Counted | None:
    """Returns counts from the byte lengths of ids alone; None: it takes spans to know."""
    if compiled.tokens is None or tokens.lengths is None:
        return None
    arrays = (tokens.ids, tokens.lengths, tokens.doc_offsets, tokens.added.view(np.uint8), doc_bounds, bounds)
    found: _Counted | None = compiled.tokens.count(*map(np.ascontiguousarray, arrays))
    return found


def _counted_by_spans(tokens: Tokens, bounds: Int64, doc_bounds: Int64) -> _Counted:
    starts, ends = tokens.starts, tokens.ends
    homeless = _without_text(tokens, doc_bounds)
    if homeless.size:
        has_text = np.ones(starts.size, np.bool_)
        has_text[homeless] = False
        starts, ends = starts[has_text], ends[has_text]
    if bool((ends[:-1] <= starts[1:]).all()):
        # Tokens in order and apart: a stretch's tokens are a slice, and at most its last one reaches beyond it.
        edges = np.searchsorted(starts, bounds)
        counts = np.diff(edges)
        filled = np.flatnonzero(counts)
        last = edges[filled + 1] - 1
        across = ends[last] > bounds[filled + 1]
        home, token = filled[across], last[across]
    else:
        of = np.searchsorted(bounds[:-1], starts, "right") - 1
        counts = np.bincount(of, minlength=bounds.size - 1)
        token = np.flatnonzero(ends > bounds[of + 1])
        home = of[token]
    return counts, np.diff(np.searchsorted(homeless, tokens.doc_offsets)), home, starts[token], ends[token]


def _without_text(tokens: Tokens, doc_bounds: Int64) -> Int64:
    """Returns the tokens that stand for no text, ascending: added ones, and all of an empty document."""
    added = np.flatnonzero(tokens.added)
    empty = np.flatnonzero((doc_bounds[1:] == doc_bounds[:-1]) & (tokens.counts > 0))
    if not empty.size:
        return added
    spurious = [np.arange(tokens.doc_offsets[doc], tokens.doc_offsets[doc + 1]) for doc in empty.tolist()]
    return np.unique(np.concatenate([added, *spurious]))


def _home_of_crossing(
    home: Int64, starts: Int64, ends: Int64, bounds: Int64, *, strong_start: Int64, strong_end: Int64
) -> Int64:
    """Returns the stretch that each token counts for, of tokens that begin in `home` and end beyond it."""
    result = home.copy()
    open_ = np.flatnonzero(strong_end[home] <= starts)
    candidate = home[open_] + 1
    while open_.size:
        inside = (candidate < bounds.size - 1) & (bounds[np.minimum(candidate, bounds.size - 1)] < ends[open_])
        open_, candidate = open_[inside], candidate[inside]
        strong = (strong_end[candidate] > strong_start[candidate]) & (strong_start[candidate] < ends[open_])
        result[open_[strong]] = candidate[strong]
        open_, candidate = open_[~strong], candidate[~strong] + 1
    return result


def _strong_in_stream(routed: Routed, seg: Segmentation) -> tuple[Int64, Int64]:
    """Returns where the strong characters of each row begin and end in the stream; int64[n_rows] each."""
    # Where routing left a document as it was, rows are runs, and the stream is the text in another place.
    shift = (routed.doc_routed - seg.doc_byte)[routed.row_doc]
    start, end = seg.run_strong_start[routed.row_run] + shift, seg.run_strong_end[routed.row_run] + shift
    rows = np.flatnonzero(~routed.doc_is_plain[routed.row_doc])
    if rows.size:
        start[rows], end[rows] = _strong_in_changed(routed, seg, rows)
    return start, end


def _strong_in_changed(routed: Routed, seg: Segmentation, rows: Int64) -> tuple[Int64, Int64]:
    """Returns the same for all rows of documents with segments or escapes.

    A row may be part of a run. Within it, strong begins and ends where the run's does, or at the row's own edges.
    """
    docs = np.flatnonzero(~routed.doc_is_plain)
    utf8 = take_stretches(seg.utf8, seg.doc_byte[docs], seg.doc_byte[docs + 1])
    codepoints = np.frombuffer(decode_utf8(utf8).encode("utf-32-le"), np.uint32)
    cp_byte = np.append(np.flatnonzero(utf8.view(np.int8) >= -64), utf8.size)
    # Bytes and code points of the documents, counted in the arrays above instead of in the batch.
    row_doc, row_run = routed.row_doc[rows], routed.row_run[rows]
    row_byte, row_cp = (_moved_together(bounds, docs)[row_doc] for bounds in (seg.doc_byte, seg.doc_cp))
    low, high = (seg.doc_cp[row_doc] + ends[rows] - row_cp for ends in (routed.row_text_start, routed.row_text_end))
    first = np.searchsorted(cp_byte, seg.run_strong_start[row_run] - row_byte)
    last = np.searchsorted(cp_byte, seg.run_strong_end[row_run] - row_byte)
    widths = np.diff(cp_byte)
    literals = framing_named(routed.router.framing).literals
    if len(literals):
        widths[(codepoints >= literals.start) & (codepoints < literals.stop)] += 3
    in_payload = np.repeat(routed.row_encoding[rows] != UTF8_ID, high - low)
    widths[in_payload] = payload_widths(codepoints[in_payload], routed.router.profile)
    total = np.concatenate([[0], np.cumsum(widths)])
    base = routed.doc_routed[row_doc] + routed.row_start[rows] - total[low]
    return base + total[np.clip(first, low, high)], base + total[np.clip(last, low, high)]


def _moved_together(bounds: Int64, docs: Int64) -> Int64:
    """Returns by how much each of `docs` lies further back than if only they were there: int64[n_docs], 0 elsewhere."""
    sizes = bounds[docs + 1] - bounds[docs]
    shift = np.zeros(bounds.size - 1, np.int64)
    shift[docs] = bounds[docs] - (np.cumsum(sizes) - sizes)
    return shift
