"""Cuts a document that is too long into pieces that are not, when the user asks for it."""

import unicodedata
from collections.abc import Iterator

_LOOK_BACK = 4096
"""How far back from the limit, in code points, white space is looked for."""


def split_document(text: str, max_bytes: int) -> Iterator[tuple[str, int]]:
    r"""Yields pieces of at most `max_bytes` UTF-8 bytes, with their sizes in bytes; joined they are the text.

    A cut falls after white space near the limit. Where there is none it falls between two code points, never after
    a zero-width joiner and never before a combining mark, variation selector or joiner, as far as `_LOOK_BACK`
    code points reach. `max_bytes` must hold any code point, so it is at least 4.

    >>> list(split_document("one two three", 8))
    [('one two ', 8), ('three', 5)]
    >>> list(split_document("\u0915\u0915\u0915", 4))
    [('\u0915', 3), ('\u0915', 3), ('\u0915', 3)]
    """
    start = 0
    while start < len(text):
        # A code point has at most four bytes and at least one, so the end lies in this window.
        window = text[start : start + max_bytes]
        encoded = window.encode()
        if len(encoded) > max_bytes:
            window = encoded[:max_bytes].decode(errors="ignore")
        if start + len(window) < len(text):
            window = window[: _cut(window, text[start + len(window)])]
        yield window, len(window.encode())
        start += len(window)


def _cut(window: str, following: str) -> int:
    """Returns where to end a piece: at most `len(window)`, at least 1."""
    lowest = max(1, len(window) - _LOOK_BACK)
    for end in range(len(window), lowest, -1):
        if window[end - 1].isspace():
            return end
    for end in range(len(window), lowest, -1):
        after = window[end] if end < len(window) else following
        if window[end - 1] != "\u200d" and not _extends(after):
            return end
    return len(window)


def _extends(char: str) -> bool:
    """Whether a character belongs to the cluster before it; the marks of any version of Unicode are good enough."""
    return (
        unicodedata.category(char).startswith("M")
        or char in "\u200c\u200d\u200b\ufeff"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    )
