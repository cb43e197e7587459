# cython: language_level=3
"""Steps over UTF-8 (The Unicode Standard, section 3.9, table 3-7), for the compiled modules."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef enum:
    BAD = 0


cdef inline int64_t decode(const uint8_t *utf8, int64_t at, int64_t end, uint32_t *codepoint) noexcept nogil:
    """Reads the character at `at`; returns its bytes, or `BAD` where none that is well-formed ends by `end`."""
    cdef uint32_t first = utf8[at], second, third, fourth
    if first < 0x80:
        codepoint[0] = first
        return 1
    if first < 0xC2 or first > 0xF4 or at + 1 >= end:
        return BAD
    second = utf8[at + 1] ^ 0x80
    if second > 0x3F:
        return BAD
    if first < 0xE0:
        codepoint[0] = (first & 0x1F) << 6 | second
        return 2
    if at + 2 >= end:
        return BAD
    third = utf8[at + 2] ^ 0x80
    if third > 0x3F:
        return BAD
    if first < 0xF0:
        codepoint[0] = (first & 0x0F) << 12 | second << 6 | third
        # What is shorter in two bytes, and surrogates.
        return BAD if codepoint[0] < 0x800 or codepoint[0] >> 11 == 0x1B else 3
    if at + 3 >= end:
        return BAD
    fourth = utf8[at + 3] ^ 0x80
    if fourth > 0x3F:
        return BAD
    codepoint[0] = (first & 0x07) << 18 | second << 12 | third << 6 | fourth
    return BAD if codepoint[0] < 0x10000 or codepoint[0] > 0x10FFFF else 4


cdef inline int64_t step_back(const uint8_t *utf8, int64_t at) noexcept nogil:
    """Returns where the character before `at` starts, in text that has been read already."""
    at -= 1
    while utf8[at] & 0xC0 == 0x80:
        at -= 1
    return at


cdef inline int64_t decode_known(const uint8_t *utf8, int64_t at, uint32_t *codepoint) noexcept nogil:
    """As `decode`, of text that has been read already."""
    cdef uint32_t first = utf8[at]
    if first < 0x80:
        codepoint[0] = first
        return 1
    if first < 0xE0:
        codepoint[0] = (first & 0x1F) << 6 | utf8[at + 1] & 0x3F
        return 2
    if first < 0xF0:
        codepoint[0] = (first & 0x0F) << 12 | (utf8[at + 1] & 0x3F) << 6 | utf8[at + 2] & 0x3F
        return 3
    codepoint[0] = (first & 0x07) << 18 | (utf8[at + 1] & 0x3F) << 12 | (utf8[at + 2] & 0x3F) << 6 | utf8[at + 3] & 0x3F
    return 4
