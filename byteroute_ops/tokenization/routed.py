"""A routed stream as pre-tokens: what a byte-level BPE is given in place of text.

* A UTF-8 stretch goes through the whole tokenizer, added tokens that occur in it included, as a text of its own.
* A payload stretch (all runs of one segment together) is one pre-token of bytes.
* Every marker, every escape and every barrier is one pre-token of bytes. The literal behind an escape is text: it
  begins the next UTF-8 stretch.
* The post-processor's tokens go once round the whole stream.

A stream without segments and escapes is one UTF-8 stretch, so its ids are the text's.
"""

from typing import Final, NamedTuple

import numpy as np

from byteroute_ops.encoders import UTF8_ID, Framing, framing_named
from byteroute_ops.routing import Routed

from .protocol import Bools, Bytes, Int64


class Pieces(NamedTuple):
    """The pieces of the streams of a batch, in order; none is empty.

    Attributes:
        doc: int64[k], the document of each.
        starts: int64[k], bytes in `Routed.data`.
        ends: int64[k].
        is_text: bool[k]: UTF-8 for the whole tokenizer; else bytes for the bare model.
        is_plain: bool[k]: the only piece of a document that routing left as it was.
    """

    doc: Int64
    starts: Int64
    ends: Int64
    is_text: Bools
    is_plain: Bools


def routed_pieces(routed: Routed) -> Pieces:
    """Returns the pieces of routed streams."""
    framing = framing_named(routed.router.framing)
    size = np.diff(routed.doc_routed)
    plain = np.flatnonzero(routed.doc_is_plain & (size > 0))
    row = np.flatnonzero(~routed.doc_is_plain[routed.row_doc])
    doc = routed.row_doc[row].astype(np.int64)
    starts, ends = routed.doc_routed[doc] + routed.row_start[row], routed.doc_routed[doc] + routed.row_end[row]
    text = routed.row_encoding[row] == UTF8_ID
    # Rows of one segment, and neighbouring UTF-8 rows, touch: between others there is framing.
    head = np.ones(row.size, np.bool_)
    head[1:] = (starts[1:] != ends[:-1]) | (text[1:] != text[:-1]) | (doc[1:] != doc[:-1])
    tail = np.append(head[1:], True)[: row.size]
    first, last, of, is_text = starts[head], ends[tail], doc[head], text[head]
    escapes = _escapes(routed.data, first[is_text], last[is_text], framing)
    inner = np.concatenate(
        [_framing_cuts(first, last, of, routed.doc_routed, framing), escapes, escapes + len(framing.escape)]
    )
    routed_docs = np.unique(doc)
    edges = np.concatenate([routed.doc_routed[routed_docs], routed.doc_routed[routed_docs + 1], first, last, inner])
    edges = np.unique(np.concatenate([edges, routed.doc_routed[plain], routed.doc_routed[plain + 1]]))
    piece_doc = np.searchsorted(routed.doc_routed, edges[:-1], "right") - 1
    stretch = np.searchsorted(first, edges[:-1], "right") - 1
    within = (stretch >= 0) & (edges[:-1] < np.append(last, 0)[stretch])
    text_piece = within & np.append(is_text, False)[stretch] & ~np.isin(edges[:-1], escapes)
    is_plain = routed.doc_is_plain[piece_doc]
    return Pieces(piece_doc, edges[:-1], edges[1:], text_piece | is_plain, is_plain)


_CUTS: Final = {
    # Bytes of framing between two stretches → where it is cut: closing marker, barrier, opening marker.
    3: {3: (), 5: (2,), 6: (3,), 8: (3, 5)},
    2: {2: (), 4: (2,), 6: (2, 4)},
}


def _framing_cuts(first: Int64, last: Int64, doc: Int64, doc_routed: Int64, framing: Framing) -> Int64:
    """Returns where framing between stretches, and at the ends of documents, falls into markers and barriers."""
    cuts_of = _CUTS[len(framing.opening[1])]
    begins = np.concatenate([doc_routed[doc], last])
    finishes = np.concatenate([first, doc_routed[doc + 1]])
    same = doc[1:] == doc[:-1]
    begins[1 : first.size][same] = last[:-1][same]
    finishes[first.size : 2 * first.size - 1][same] = first[1:][same]
    length = finishes - begins
    places = [begins[length == n] + cut for n, cuts in cuts_of.items() for cut in cuts]
    return np.concatenate([*places, np.zeros(0, np.int64)])


def _escapes(data: Bytes, starts: Int64, ends: Int64, framing: Framing) -> Int64:
    """Returns where escapes stand in UTF-8 stretches.

    The literal after an escape may be the escape's own code point, so they are read from the left, not searched for.
    """
    raw = data.tobytes() if framing.escape else b""
    found: list[int] = []
    if not framing.escape or framing.escape not in raw:
        return np.zeros(0, np.int64)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        place = raw.find(framing.escape, start, end)
        while place >= 0:
            found.append(place)
            place = raw.find(framing.escape, place + 2 * len(framing.escape), end)
    return np.array(found, np.int64)
