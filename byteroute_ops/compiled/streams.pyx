# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Bytes of routed streams: stretches taken out and put in, payloads in UTF-16, shortest segmentations."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy

import numpy as np

from byteroute_ops.compiled.utf8 cimport decode_known


def take(const uint8_t[::1] source not None, const int64_t[::1] start not None, const int64_t[::1] end not None):
    """The elements in [start, end) of each stretch, one stretch after the other; see `stretches.take_stretches`."""
    cdef int64_t k, n = 0, at = 0
    for k in range(start.shape[0]):
        n += end[k] - start[k]
    out_ = np.empty(n, np.uint8)
    cdef uint8_t[::1] out = out_
    with nogil:
        for k in range(start.shape[0]):
            if end[k] > start[k]:
                memcpy(&out[at], &source[start[k]], end[k] - start[k])
                at += end[k] - start[k]
    return out_


def woven(
    const uint8_t[::1] source not None,
    const int64_t[::1] start not None,
    const int64_t[::1] end not None,
    const uint8_t[::1] insert not None,
    const int64_t[::1] n_insert not None,
):
    """`source` with each stretch replaced by the next elements of `insert`; see `stretches.woven`."""
    cdef int64_t k, done = 0, used = 0, at = 0, n = source.shape[0] + insert.shape[0]
    for k in range(start.shape[0]):
        n -= end[k] - start[k]
    out_ = np.empty(n, np.uint8)
    cdef uint8_t[::1] out = out_
    with nogil:
        for k in range(start.shape[0]):
            if start[k] > done:
                memcpy(&out[at], &source[done], start[k] - done)
                at += start[k] - done
            if n_insert[k]:
                memcpy(&out[at], &insert[used], n_insert[k])
                at += n_insert[k]
                used += n_insert[k]
            done = end[k]
        if source.shape[0] > done:
            memcpy(&out[at], &source[done], source.shape[0] - done)
    return out_


def utf16(
    const uint8_t[::1] utf8 not None,
    const int64_t[::1] start not None,
    const int64_t[::1] end not None,
    const uint8_t[::1] is_little not None,
    uint32_t first_unit,
    uint32_t second_unit,
):
    """Stretches of well-formed UTF-8 in UTF-16, one after the other.

    Args:
        utf8: uint8[n_bytes].
        start: int64[n], first byte of each stretch.
        end: int64[n].
        is_little: uint8[n], whether a stretch is written in little-endian order.
        first_unit: a code unit to look for.
        second_unit: another one.

    Returns:
        uint8[n_payload]; int64[n + 1], where the stretches begin in it; int64[n_wide], where characters of two code
        units begin, in bytes of the stretches back to back; whether any code unit is one of the two.
    """
    cdef int64_t k, at, n = 0, room = 0, n_wide = 0, before = 0
    for k in range(start.shape[0]):
        room += end[k] - start[k]
    # No character takes more than twice its UTF-8, which is ASCII in two bytes.
    payload_ = np.empty(2 * room, np.uint8)
    bounds_, wide_ = np.zeros(start.shape[0] + 1, np.int64), np.empty(room // 4, np.int64)
    cdef uint8_t[::1] payload = payload_
    cdef int64_t[::1] bounds = bounds_, wide = wide_
    cdef uint8_t *out
    cdef uint32_t one = 0, unit
    cdef bint found = False
    cdef int high
    if room:
        out = &payload[0]
        with nogil:
            for k in range(start.shape[0]):
                at = start[k]
                high = 1 if is_little[k] else 0  # where the high byte of a code unit stands
                while at < end[k]:
                    at += decode_known(&utf8[0], at, &one)
                    if one > 0xFFFF:
                        wide[n_wide] = before + at - 4 - start[k]
                        n_wide += 1
                        unit = 0xD800 + ((one - 0x10000) >> 10)
                        out[n + high], out[n + 1 - high] = unit >> 8, unit & 0xFF
                        n += 2
                        one = 0xDC00 + (one & 0x3FF)
                    found |= one == first_unit or one == second_unit
                    out[n + high], out[n + 1 - high] = one >> 8, one & 0xFF
                    n += 2
                bounds[k + 1] = n
                before += end[k] - start[k]
    return payload_[:n], bounds_, wide_[:n_wide].copy(), bool(found)


cdef struct Block:  # clusters that all gain, or all do not
    int64_t cp
    int64_t byte
    int64_t cost


def shortest(
    const uint8_t[::1] utf8 not None,
    const int64_t[::1] doc_byte not None,
    const int64_t[::1] doc_cp not None,
    const uint8_t[::1] breaks not None,
    int64_t penalty,
    uint32_t first_unit,
    uint32_t second_unit,
):
    """The segments of the shortest streams where characters cost what their number of bytes says; see `min_bytes`.

    Documents with a character that some segment must not hold are left out.

    Args:
        utf8: uint8[n_bytes], well-formed.
        doc_byte: int64[n_docs + 1].
        doc_cp: int64[n_docs + 1].
        breaks: uint8[n_cp], where clusters start.
        penalty: the scaled price of a segment.
        first_unit: a character of three bytes that some segment must not hold.
        second_unit: another one.

    Returns:
        int64[n_spans], four times: first code point and past the last, first byte and past the last; and bool[n_docs],
        the documents left out.
    """
    cdef int64_t n_docs = doc_byte.shape[0] - 1, longest = 0, d, k
    for d in range(n_docs):
        longest = max(longest, doc_cp[d + 1] - doc_cp[d])
    # A span holds a cluster of three bytes at least.
    columns = [np.empty(utf8.shape[0] // 3 + 1, np.int64) for _ in range(4)]
    left_out_ = np.zeros(n_docs, np.uint8)
    cdef uint8_t[::1] left_out = left_out_
    cdef int64_t[::1] start = columns[0], end = columns[1], start_byte = columns[2], end_byte = columns[3]
    cdef int64_t n = 0, n_blocks, to_go
    cdef bint state, inside
    cdef Block *blocks = <Block *> malloc((longest + 1) * sizeof(Block))
    if blocks == NULL:
        raise MemoryError("no room for the blocks of a document")
    try:
        with nogil:
            for d in range(n_docs):
                if not _may_gain(&utf8[0], doc_byte[d], doc_byte[d + 1], penalty >> 2):
                    continue
                n_blocks = _blocks(
                    &utf8[0], doc_byte[d], doc_byte[d + 1], doc_cp[d], &breaks[0], blocks, first_unit, second_unit
                )
                if n_blocks < 0:
                    left_out[d] = True
                    continue
                # From here on `cost` is the block's cost in a segment less that in UTF-8, to the end of the document.
                to_go = 0
                for k in range(n_blocks - 1, -1, -1):
                    to_go = 2 * blocks[k].cost + max(-penalty, min(to_go, 0))
                    blocks[k].cost = to_go
                blocks[n_blocks].cp, blocks[n_blocks].byte = doc_cp[d + 1], doc_byte[d + 1]
                inside = False
                for k in range(n_blocks):
                    state = blocks[k].cost < -penalty or (inside and blocks[k].cost < 0)
                    if state and not inside:
                        start[n], start_byte[n] = blocks[k].cp, blocks[k].byte
                    if state:
                        end[n], end_byte[n] = blocks[k + 1].cp, blocks[k + 1].byte
                    elif inside:
                        n += 1
                    inside = state
                n += inside
    finally:
        free(blocks)
    return *(column[:n].copy() for column in columns), left_out_.view(np.bool_)


cdef bint _may_gain(const uint8_t *utf8, int64_t byte, int64_t end, int64_t half_framing) noexcept nogil:
    """Whether a segment might pay in a document: no is certain, yes is not. Why, says `min_bytes._may_gain`."""
    cdef int three, ascii, k
    while byte < end:
        three, ascii = 0, 0
        for k in range(<int> min(64, end - byte)):
            three += utf8[byte + k] & 0xF0 == 0xE0
            ascii += utf8[byte + k] < 0x80
        if three > half_framing or three > ascii:
            return True
        byte += 64
    return False


cdef int64_t _blocks(
    const uint8_t *utf8, int64_t byte, int64_t end, int64_t cp, const uint8_t *breaks, Block *blocks,
    uint32_t first_unit, uint32_t second_unit
) noexcept nogil:
    """Writes the blocks of a document, and returns how many there are; -1 if it holds one of the two characters."""
    # Branches on sizes and gains would be guessed wrong at every word: sums and choices instead.
    cdef int64_t n = -1, cluster_cp = cp, cluster_byte = byte, block_cp = cp, block_byte = byte, cost = 0, total = 0
    cdef uint8_t lead, first_lead = <uint8_t> (0xE0 | first_unit >> 12), second_lead = <uint8_t> (0xE0 | second_unit >> 12)
    cdef uint32_t one = 0
    cdef int gains, before = -1
    while byte < end:
        lead = utf8[byte]
        if lead == first_lead or lead == second_lead:
            decode_known(utf8, byte, &one)
            if one == first_unit or one == second_unit:
                return -1
        # A byte more, none, one less, none.
        cost += (lead < 0x80) - (lead >= 0xE0) + (lead >= 0xF0)
        byte += 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        cp += 1
        if byte == end or breaks[cp]:
            gains = cost < 0
            block_cp = block_cp if gains == before else cluster_cp
            block_byte = block_byte if gains == before else cluster_byte
            total = cost + (total if gains == before else 0)
            n += gains != before
            blocks[n].cp, blocks[n].byte, blocks[n].cost = block_cp, block_byte, total
            before, cluster_cp, cluster_byte, cost = gains, cp, byte, 0
    return n + 1


def holds(const uint8_t[::1] utf8 not None, uint32_t first, uint32_t end):
    """Whether text, well-formed, has any character in [first, end), all of which have the same first byte of three."""
    cdef const uint8_t *at
    cdef const uint8_t *past
    cdef uint32_t one = 0
    cdef bint found = False
    if utf8.shape[0] == 0:
        return False
    with nogil:
        at, past = &utf8[0], &utf8[0] + utf8.shape[0]
        while not found:
            at = <const uint8_t *> memchr(at, 0xE0 | first >> 12, past - at)
            if at == NULL:
                break
            at += decode_known(at, 0, &one)
            found = first <= one < end
    return bool(found)


def rows(
    const int64_t[::1] run_start not None,
    const int64_t[::1] run_byte not None,
    const int64_t[::1] start not None,
    const int64_t[::1] end not None,
    const int64_t[::1] start_byte not None,
    const int64_t[::1] end_byte not None,
):
    """Script runs, cut where segments start and end within them.

    Args:
        run_start: int64[n_runs], first code points.
        run_byte: int64[n_runs + 1].
        start: int64[n_spans], of the segments, in order, as `spans.Spans`; likewise what follows.
        end: int64[n_spans].
        start_byte: int64[n_spans].
        end_byte: int64[n_spans].

    Returns:
        int64[n_rows], four times: first code point, first byte, number of the run, number of the segment or -1.
    """
    cdef int64_t n = 0, k, span = 0, n_runs = run_start.shape[0], n_spans = start.shape[0], cp, byte, until
    columns = [np.empty(n_runs + 2 * n_spans, np.int64) for _ in range(4)]
    cdef int64_t[::1] row_start = columns[0], row_byte = columns[1], row_run = columns[2], row_span = columns[3]
    with nogil:
        for k in range(n_runs):
            cp, byte, until = run_start[k], run_byte[k], run_byte[k + 1]
            while byte < until:
                while span < n_spans and end_byte[span] <= byte:
                    span += 1
                row_start[n], row_byte[n], row_run[n], row_span[n] = cp, byte, k, -1
                if span == n_spans or start_byte[span] >= until:
                    byte = until
                elif start_byte[span] > byte:
                    cp, byte = start[span], start_byte[span]
                else:
                    row_span[n] = span
                    cp, byte = end[span], min(end_byte[span], until)
                n += 1
    return tuple(column[:n] for column in columns)
