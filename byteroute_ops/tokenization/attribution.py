"""Which script run a token counts for.

A token counts for the run of its first character that is strong: neither Common nor Inherited, or part of an emoji
cluster. So a leading space goes with its word. A token without a strong character counts for the run of its
first character; one that holds part of a character, for that character. Added tokens count for no run.

All strong characters of a run have the run's class, so only tokens that begin in one run and end in another need
a look: does a strong character follow the token's start in the first run, or which later run has one in the token?
"""

import numpy as np

from byteroute_ops.encoders import UTF8_ID, framing_named, payload_widths
from byteroute_ops.routing import Routed
from byteroute_ops.segmentation import Segmentation

from .protocol import Int64, Tokens


def text_tokens_per_run(tokens: Tokens, seg: Segmentation) -> tuple[Int64, Int64]:
    """Returns the tokens of clean texts by script run.

    Args:
        tokens: of the texts that were segmented.
        seg: the segmentation.

    Returns:
        int64[n_runs], and int64[n_docs] added tokens (with them, tokens of an empty document: there is no text that
        they could count for). Together they sum to `tokens.counts`, document by document.
    """
    return _per_stretch(tokens, seg.run_byte, seg.run_strong_start, seg.run_strong_end, seg.doc_byte)


def routed_tokens_per_row(tokens: Tokens, routed: Routed, seg: Segmentation) -> tuple[Int64, Int64]:
    """Returns the tokens of routed streams by row of `segments`; framing counts for the row it is billed to.

    Args:
        tokens: of the streams.
        routed: the streams.
        seg: the segmentation that was routed.

    Returns:
        int64[n_rows], and int64[n_docs] added tokens, as `text_tokens_per_run`.
    """
    strong_start, strong_end = _strong_in_stream(routed, seg)
    return _per_stretch(tokens, routed.row_region, strong_start, strong_end, routed.doc_routed)


def _per_stretch(
    tokens: Tokens, bounds: Int64, strong_start: Int64, strong_end: Int64, doc_bounds: Int64
) -> tuple[Int64, Int64]:
    """Returns tokens by stretch, int64[k], and tokens without one by document; `bounds`: int64[k + 1]."""
    starts, ends, per_doc = tokens.starts, tokens.ends, tokens.counts
    added = np.flatnonzero(tokens.added)
    homeless = np.bincount(np.searchsorted(tokens.doc_offsets, added, "right") - 1, minlength=per_doc.size)
    empty = np.diff(doc_bounds) == 0
    stray = bool((per_doc[empty] > homeless[empty]).any())
    homeless[empty] = per_doc[empty]
    if added.size or stray:
        has_text = ~tokens.added & ~np.repeat(empty, per_doc)
        starts, ends = starts[has_text], ends[has_text]
    n_stretches = bounds.size - 1
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
        counts = np.bincount(of, minlength=n_stretches)
        token = np.flatnonzero(ends > bounds[of + 1])
        home = of[token]
    moved = _home_of_crossing(
        home, starts[token], ends[token], bounds, strong_start=strong_start, strong_end=strong_end
    )
    counts = counts - np.bincount(home, minlength=n_stretches) + np.bincount(moved, minlength=n_stretches)
    return counts.astype(np.int64), homeless.astype(np.int64)


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
    """Returns where the strong characters of each row begin and end in the stream; int64[n_rows] each.

    A row may be part of a run. Within it, strong begins and ends where the run's does, or at the row's own edges.
    """
    low, high = seg.doc_cp[routed.row_doc] + routed.row_text_start, seg.doc_cp[routed.row_doc] + routed.row_text_end
    first = np.searchsorted(seg.cp_byte, seg.run_strong_start)[routed.row_run]
    last = np.searchsorted(seg.cp_byte, seg.run_strong_end)[routed.row_run]
    widths = np.diff(seg.cp_byte).astype(np.int64)
    literals = framing_named(routed.router.framing).literals
    if len(literals):
        widths[(seg.codepoints >= literals.start) & (seg.codepoints < literals.stop)] += 3
    in_payload = np.repeat(routed.row_encoding != UTF8_ID, high - low)
    widths[in_payload] = payload_widths(seg.codepoints[in_payload], routed.router.profile)
    total = np.concatenate([[0], np.cumsum(widths)])
    base = routed.doc_routed[routed.row_doc] + routed.row_start - total[low]
    return base + total[np.clip(first, low, high)], base + total[np.clip(last, low, high)]
