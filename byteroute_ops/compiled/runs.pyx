# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Script runs and grapheme cluster breaks of a batch in one pass over its UTF-8.

The same rules as in `segmentation_classes`, `graphemes` and `emoji`, which say what they are and where they come
from, applied one character after the other. Script classes are script id + 1, 0 for Common and Inherited.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

import numpy as np

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables

from byteroute_ops.compiled.utf8 cimport BAD, decode, step_back

cdef uint16_t STRONG = tables.STRONG, EXTENDS = tables.EXTENDS, SPECIAL = tables.SPECIAL
cdef uint16_t EXPLICIT_SCX = tables.EXPLICIT_SCX, EMOJI_TRIGGER = tables.EMOJI_TRIGGER
cdef uint8_t GCB_MASK = tables.GCB_MASK, INCB_SHIFT = tables.INCB_SHIFT, EXT_PICT = tables.EXT_PICT
cdef uint8_t CR = tables.GCB["CR"], LF = tables.GCB["LF"], CONTROL = tables.GCB["Control"]
cdef uint8_t PREPEND = tables.GCB["Prepend"], INDICATOR = tables.GCB["Regional_Indicator"], JOINER = tables.GCB["ZWJ"]
cdef uint8_t EXTEND = tables.GCB["Extend"], LINKER = tables.INCB["Linker"], CONSONANT = tables.INCB["Consonant"]
cdef uint8_t INCB_EXTEND = tables.INCB["Extend"]
cdef uint8_t L = tables.GCB["L"], V = tables.GCB["V"], T = tables.GCB["T"]
cdef uint8_t LV = tables.GCB["LV"], LVT = tables.GCB["LVT"]
cdef uint8_t IS_EMOJI = tables.IS_EMOJI, IS_PRESENTATION = tables.IS_PRESENTATION
cdef uint8_t IS_MODIFIER = tables.IS_MODIFIER, IS_MODIFIER_BASE = tables.IS_MODIFIER_BASE
cdef uint32_t ZWJ = tables.ZWJ, KEYCAP = tables.KEYCAP, CANCEL_TAG = tables.CANCEL_TAG
cdef uint32_t TEXT_SELECTOR = tables.TEXT_SELECTOR, EMOJI_SELECTOR = tables.EMOJI_SELECTOR
cdef uint8_t COMMON_CLASS = data.ZYYY + 1, EMOJI_CLASS = data.EMOJI + 1

cdef struct Tables:
    const uint16_t *words
    const uint8_t *graphemes
    const uint8_t *emoji
    const uint8_t *scx
    const uint8_t *holds
    int64_t n_scripts

cdef struct Piece:  # a stretch of a document with one class; where it ends, the next begins
    int64_t cp
    int64_t byte
    int64_t cp_end  # of emoji only
    int64_t byte_end
    int64_t strong_start
    int64_t strong_end
    int32_t doc
    uint8_t cls

cdef struct Pieces:
    Piece *items
    int64_t n
    int64_t room

cdef struct Scan:
    const uint8_t *utf8
    Tables tables
    Pieces runs  # of the batch
    Pieces scripts  # of the document in hand, before emoji are cut out
    Pieces emoji  # likewise: its emoji, neighbours joined
    # The class of the last strong cluster, and for each set of extensions the first neutral cluster since then with it.
    uint8_t cls
    int n_pending
    uint8_t pending[256]
    int64_t pending_cp[256]
    int64_t pending_byte[256]
    # What UAX #29 has to know of the characters before.
    int indicators
    bint after_linker
    bint after_pictograph  # and a ZWJ


cdef Piece *_append(Pieces *pieces) noexcept nogil:
    """Returns room for one more, its class 0; NULL without memory."""
    cdef int64_t room
    cdef Piece *items
    if pieces.n == pieces.room:
        room = 2 * pieces.room if pieces.room else 1024
        items = <Piece *> realloc(pieces.items, room * sizeof(Piece))
        if items == NULL:
            return NULL
        pieces.items = items
        pieces.room = room
    pieces.n += 1
    return &pieces.items[pieces.n - 1]


cdef inline bint _is_control(uint8_t gcb) noexcept nogil:
    return CR <= gcb <= CONTROL


cdef inline bint _jamo_join(uint8_t before, uint8_t after) noexcept nogil:
    """GB6 to GB8."""
    if before == L:
        return after == L or after == V or after == LV or after == LVT
    if before == LV or before == V:
        return after == V or after == T
    return (before == LVT or before == T) and after == T


cdef bint _breaks(Scan *s, uint32_t cp, uint32_t before, int64_t doc_byte, int64_t byte) noexcept nogil:
    """Whether a cluster starts between two characters of which one begins a rule, or some earlier one did."""
    cdef uint8_t own = s.tables.graphemes[cp], gcb = own & GCB_MASK, incb = own >> INCB_SHIFT & 3
    cdef uint8_t last = s.tables.graphemes[before] & GCB_MASK
    cdef bint breaks = s.tables.words[cp] & EXTENDS == 0
    cdef bint linked = s.after_linker, joined = s.after_pictograph
    if breaks:
        breaks = not (
            _jamo_join(last, gcb)
            or last == PREPEND
            or (gcb == INDICATOR and s.indicators & 1)
            or (joined and own & EXT_PICT)
            or (linked and incb == CONSONANT)
        )
    if _is_control(gcb) or _is_control(last):
        breaks = not (gcb == LF and last == CR)
    _remember(s, cp, doc_byte, byte)
    return breaks


cdef void _remember(Scan *s, uint32_t cp, int64_t doc_byte, int64_t byte) noexcept nogil:
    """Notes what later characters have to know of this one, which starts at `byte`."""
    cdef uint8_t own = s.tables.graphemes[cp], gcb = own & GCB_MASK, incb = own >> INCB_SHIFT & 3
    cdef uint32_t base = 0
    s.indicators = s.indicators + 1 if gcb == INDICATOR else 0
    s.after_linker = incb == LINKER or (s.after_linker and incb == INCB_EXTEND)
    s.after_pictograph = False
    if gcb == JOINER:
        # GB11: the character before all Extend before the ZWJ.
        while byte > doc_byte:
            byte = step_back(s.utf8, byte)
            decode(s.utf8, byte, byte + 4, &base)
            if s.tables.graphemes[base] & GCB_MASK != EXTEND:
                s.after_pictograph = s.tables.graphemes[base] & EXT_PICT != 0
                return


cdef bint _is_emoji(Scan *s, int64_t start, int64_t end) noexcept nogil:
    """Whether the cluster in [start, end) is emoji; see `emoji`."""
    cdef uint32_t first = 0, second = 0, third = 0
    cdef int64_t at = start + decode(s.utf8, start, end, &first)
    cdef uint8_t base = s.tables.emoji[first]
    cdef bint flag = 0x1F1E6 <= first <= 0x1F1FF
    if at == end:
        return base & IS_PRESENTATION != 0 and not flag
    at += decode(s.utf8, at, end, &second)
    if base & IS_PRESENTATION:
        if (0x1F1E6 <= second <= 0x1F1FF) if flag else second != TEXT_SELECTOR:
            return True
    if second == EMOJI_SELECTOR:
        return base & IS_EMOJI != 0
    if second == KEYCAP:
        return first == 0x23 or first == 0x2A or 0x30 <= first <= 0x39
    if s.tables.emoji[second] & IS_MODIFIER and base & IS_MODIFIER_BASE:
        return True
    if base & IS_EMOJI == 0 or at == end:
        return False
    if second == ZWJ:
        decode(s.utf8, at, end, &third)
        return s.tables.emoji[third] & IS_EMOJI != 0
    while 0xE0020 <= second <= 0xE007E and at < end:
        at += decode(s.utf8, at, end, &second)
        if second == CANCEL_TAG:
            return True
    return False


cdef int _finish_cluster(
    Scan *s, int64_t cp, int64_t byte, int64_t cp_end, int64_t byte_end, uint8_t cls, uint8_t extensions, bint trigger
) noexcept nogil:
    """Takes a cluster into account that may change something; `extensions`: its set, or 0. Returns -1 without memory."""
    cdef Piece *piece
    cdef int k
    cdef uint8_t one
    if trigger and _is_emoji(s, byte, byte_end):
        if s.emoji.n and s.emoji.items[s.emoji.n - 1].cp_end == cp:
            piece = &s.emoji.items[s.emoji.n - 1]
        else:
            piece = _append(&s.emoji)
            if piece == NULL:
                return -1
            piece.cp, piece.byte = cp, byte
        piece.cp_end, piece.byte_end = cp_end, byte_end
        return 0
    if cls == 0:
        if extensions == 0 or s.cls == 0:
            return 0
        for k in range(s.n_pending):
            if s.pending[k] == extensions:
                return 0
        s.pending[s.n_pending] = extensions
        s.pending_cp[s.n_pending], s.pending_byte[s.n_pending] = cp, byte
        s.n_pending += 1
        return 0
    if s.cls == 0:
        s.scripts.items[0].cls = cls
    elif cls != s.cls:
        for k in range(s.n_pending):
            one = s.pending[k]
            if s.pending_cp[k] < cp and not s.tables.holds[one * s.tables.n_scripts + s.cls - 1] \
                    and s.tables.holds[one * s.tables.n_scripts + cls - 1]:
                cp, byte = s.pending_cp[k], s.pending_byte[k]
        piece = _append(&s.scripts)
        if piece == NULL:
            return -1
        piece.cp, piece.byte, piece.cls = cp, byte, cls
    s.cls, s.n_pending = cls, 0
    return 0


cdef int _emit(Scan *s, int32_t doc, int64_t cp, int64_t byte, int64_t byte_end, uint8_t cls) noexcept nogil:
    """Adds a run with its strong characters; returns -1 without memory."""
    cdef Piece *run = _append(&s.runs)
    cdef int64_t first = byte, last = byte_end, at
    cdef uint32_t one = 0
    if run == NULL:
        return -1
    if cls != EMOJI_CLASS:
        while first < byte_end:
            at = decode(s.utf8, first, byte_end, &one)
            if s.tables.words[one] & STRONG:
                break
            first += at
        if first == byte_end:
            first = last = byte
        else:
            while True:
                at = step_back(s.utf8, last)
                decode(s.utf8, at, byte_end, &one)
                if s.tables.words[one] & STRONG:
                    break
                last = at
    run.cp, run.byte, run.doc, run.cls = cp, byte, doc, cls
    run.strong_start, run.strong_end = first, last
    return 0


cdef int _finish_document(Scan *s, int32_t doc, int64_t byte_end) noexcept nogil:
    """Adds the runs of a document, its emoji cut out; returns -1 without memory."""
    cdef int64_t k, e = 0, cp, byte, until
    cdef Piece *script
    cdef Piece *emoji
    if s.cls == 0:
        s.scripts.items[0].cls = COMMON_CLASS
    for k in range(s.scripts.n):
        script = &s.scripts.items[k]
        until = s.scripts.items[k + 1].byte if k + 1 < s.scripts.n else byte_end
        cp, byte = script.cp, script.byte
        while e < s.emoji.n and s.emoji.items[e].byte < until:
            emoji = &s.emoji.items[e]
            if emoji.byte > byte and _emit(s, doc, cp, byte, emoji.byte, script.cls) < 0:
                return -1
            if _emit(s, doc, emoji.cp, emoji.byte, emoji.byte_end, EMOJI_CLASS) < 0:
                return -1
            cp, byte = emoji.cp_end, emoji.byte_end
            e += 1
        if byte < until and _emit(s, doc, cp, byte, until, script.cls) < 0:
            return -1
    return 0


cdef int64_t _scan_document(
    Scan *s, int32_t doc, int64_t doc_byte, int64_t end, int64_t cp, uint8_t *breaks
) noexcept nogil:
    """Returns the number of the first code point after a document, -1 for bytes that are no UTF-8, -2 without memory.

    Args:
        s: the batch.
        doc: number of the document, which is not empty.
        doc_byte: its first byte.
        end: past its last one.
        cp: number of its first code point.
        breaks: filled for all code points of the document.
    """
    cdef const uint16_t *words = s.tables.words
    cdef const uint8_t *utf8 = s.utf8
    cdef uint16_t special = SPECIAL, extends = EXTENDS, rare = EXPLICIT_SCX | EMOJI_TRIGGER, word
    cdef uint32_t one = 0, before = 0
    cdef int64_t byte = doc_byte, size, cluster_cp = cp, cluster_byte = byte
    cdef uint16_t flags = 0  # of all characters of the cluster, those that make it rare
    # The class of the cluster, and for each class whether a cluster of it changes something: all but 0 and the class of
    # the cluster before, while none is pending. A look-up, since branches on classes are guessed wrong at every word.
    cdef unsigned int cls = 0
    cdef uint8_t matters[256]
    cdef uint8_t extensions = 0
    # Whether the next character needs no look at those before it, if it has no rule of its own.
    cdef bint calm = False, is_break
    memset(matters, 1, sizeof(matters))
    matters[0] = 0
    s.cls, s.n_pending, s.emoji.n, s.scripts.n = 0, 0, 0, 0
    s.indicators, s.after_linker, s.after_pictograph = 0, False, False
    if _append(&s.scripts) == NULL:
        return -2
    s.scripts.items[0].cp, s.scripts.items[0].byte = cp, byte
    while byte < end:
        if utf8[byte] < 0x80:
            one, size = utf8[byte], 1
        else:
            size = decode(utf8, byte, end, &one)
            if size == BAD:
                return -1
        word = words[one]
        if calm and word < special:
            is_break = word & extends == 0
        elif byte == doc_byte:
            is_break = True
            _remember(s, one, doc_byte, byte)
        else:
            is_break = _breaks(s, one, before, doc_byte, byte)
        breaks[cp] = is_break
        if is_break and (matters[cls] or flags):
            matters[s.cls] = s.cls != 0
            if _finish_cluster(
                s, cluster_cp, cluster_byte, cp, byte, <uint8_t> cls, extensions, flags & EMOJI_TRIGGER != 0
            ) < 0:
                return -2
            matters[s.cls] = s.n_pending != 0
            flags, extensions = 0, 0
        if is_break:
            cluster_cp, cluster_byte = cp, byte
        if is_break or cls == 0:
            cls = word & 0xFF
        if word >= special:
            flags |= word & rare
            if word & EXPLICIT_SCX and extensions == 0:
                extensions = s.tables.scx[one]
            calm = word & special == 0 and not s.after_linker
        else:
            calm = not s.after_linker
        before = one
        byte += size
        cp += 1
    if _finish_cluster(s, cluster_cp, cluster_byte, cp, end, <uint8_t> cls, extensions, flags & EMOJI_TRIGGER != 0) < 0:
        return -2
    return cp if _finish_document(s, doc, end) == 0 else -2


def segment(const uint8_t[::1] utf8 not None, const int64_t[::1] doc_byte not None):
    """Runs and breaks of documents that stand back to back.

    Args:
        utf8: uint8[n_bytes], n_bytes > 0.
        doc_byte: int64[n_docs + 1], byte offsets of the documents.

    Returns:
        doc_cp, int64[n_docs + 1]; breaks, bool[n_cp]; and of the runs, as in `segmentation.Segmentation`: run_doc,
        run_start, run_script, run_byte (n_runs values, without the end), run_strong_start, run_strong_end.

    Raises:
        UnicodeError: the bytes are not well-formed UTF-8.
        MemoryError: there is no room for the runs.
    """
    cdef const uint16_t[::1] words = tables.property_table()
    cdef const uint8_t[::1] graphemes = tables.grapheme_table(), emoji = tables.emoji_table(), scx = tables.scx_table()
    cdef const uint8_t[:, ::1] holds = tables.scx_matrix().view(np.uint8)
    doc_cp_ = np.zeros(len(doc_byte), np.int64)
    breaks_ = np.empty(len(utf8), np.uint8)
    cdef int64_t[::1] doc_cp = doc_cp_
    cdef uint8_t[::1] breaks = breaks_
    cdef Scan s
    cdef int64_t doc, n_docs = len(doc_byte) - 1, cp = 0
    s.utf8 = &utf8[0]
    s.tables.words, s.tables.graphemes, s.tables.emoji, s.tables.scx = &words[0], &graphemes[0], &emoji[0], &scx[0]
    s.tables.holds, s.tables.n_scripts = &holds[0, 0], holds.shape[1]
    s.runs.items = s.scripts.items = s.emoji.items = NULL
    s.runs.n = s.runs.room = s.scripts.n = s.scripts.room = s.emoji.n = s.emoji.room = 0
    try:
        with nogil:
            for doc in range(n_docs):
                doc_cp[doc] = cp
                if doc_byte[doc + 1] > doc_byte[doc]:
                    cp = _scan_document(&s, <int32_t> doc, doc_byte[doc], doc_byte[doc + 1], cp, &breaks[0])
                    if cp < 0:
                        break
        if cp == -1:
            raise UnicodeError("not well-formed UTF-8")
        if cp == -2:
            raise MemoryError("no room for the runs of a batch")
        doc_cp[n_docs] = cp
        return doc_cp_, breaks_[:cp].view(np.bool_), *_columns(&s.runs)
    finally:
        free(s.runs.items)
        free(s.scripts.items)
        free(s.emoji.items)


cdef tuple _columns(Pieces *runs):
    """Returns the runs as arrays, in the order that `segment` states."""
    n = runs.n
    arrays = [np.empty(n, kind) for kind in (np.int32, np.int64, np.uint8, np.int64, np.int64, np.int64)]
    cdef int32_t[::1] doc = arrays[0]
    cdef uint8_t[::1] script = arrays[2]
    cdef int64_t[::1] cp = arrays[1], byte = arrays[3], strong_start = arrays[4], strong_end = arrays[5]
    cdef int64_t k
    for k in range(runs.n):
        doc[k], cp[k], byte[k] = runs.items[k].doc, runs.items[k].cp, runs.items[k].byte
        script[k] = runs.items[k].cls - 1
        strong_start[k], strong_end[k] = runs.items[k].strong_start, runs.items[k].strong_end
    return tuple(arrays)
