"""The passes over text: code points, cluster breaks and runs of as many documents as fit the cache.

A batch is 8 MiB, and its temporary arrays would be ten times that: taken in pieces of a few hundred
kilobytes they stay in the second-level cache, which is worth a factor of two.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables
from byteroute_ops.emoji import emoji_clusters
from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.graphemes import Indices, breaks_from_words, walk
from byteroute_ops.segmentation_classes import Runs, Text, resolve_scripts
from byteroute_ops.unicode_tables import U8, U32, Bools

CHUNK_BYTES: Final = 1 << 18
"""Documents are taken together up to this many bytes of UTF-8; a longer one is taken alone."""

_NO_POSITIONS: Final = np.zeros(0, np.int64)
_NO_EMOJI: Final = (_NO_POSITIONS, _NO_POSITIONS)
_LATIN: Final = np.uint8(data.SCRIPTS.index("Latn") + 1)


class Chunk(NamedTuple):
    """Some documents, segmented. All offsets count from the start of the chunk.

    Attributes:
        codepoints: uint32[n_cp], or the UTF-8 bytes uint8[n_cp] themselves where all are ASCII.
        breaks: bool[n_cp], where clusters start.
        run_start: int64[n_runs], code points.
        run_script: uint8[n_runs].
        run_byte: int64[n_runs], bytes.
        strong_start: int64[n_runs], bytes.
        strong_end: int64[n_runs], bytes.
    """

    codepoints: U32 | U8
    breaks: Bools
    run_start: Indices
    run_script: U8
    run_byte: Indices
    strong_start: Indices
    strong_end: Indices


def decode_utf8(utf8: U8, *, offset: int = 0) -> str:
    """The text of UTF-8 bytes uint8[n_bytes]; `offset` is where they stand in the batch, for the error.

    Raises:
        InputError: the bytes are not well-formed UTF-8.
    """
    try:
        return utf8.tobytes().decode()
    except UnicodeDecodeError as error:
        at = offset + error.start
        detail = f"not well-formed UTF-8 at byte {at} of the batch; decode with the right encoding first"
        raise InputError(RejectReason.INVALID_UTF8, detail, offset=at) from None


def chunk_bounds(doc_byte: Indices) -> list[int]:
    """Indices of the documents at which chunks start, and the number of documents."""
    marks = np.arange(0, int(doc_byte[-1]), CHUNK_BYTES)
    return sorted({*np.searchsorted(doc_byte[:-1], marks).tolist(), len(doc_byte) - 1})


def segment_chunk(utf8: U8, text: str, docs: Indices) -> Chunk:
    """Segments documents that stand back to back.

    Args:
        utf8: uint8[n_bytes].
        text: the same, decoded; not empty.
        docs: int64, first code point of every document that is not empty.
    """
    if text.isascii():
        return _ascii_chunk(utf8, docs)
    codepoints = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    words = tables.property_words(codepoints)
    rare = np.flatnonzero(words & tables.RARE != 0)
    kinds = words[rare]
    breaks = breaks_from_words(codepoints, words, rare[kinds & tables.SPECIAL != 0], docs)
    emoji = emoji_clusters(codepoints, rare[kinds & tables.EMOJI_TRIGGER != 0], breaks)
    scx = rare[kinds & tables.EXPLICIT_SCX != 0]
    runs = resolve_scripts(Text(codepoints, words.astype(np.uint8), breaks, docs, emoji, scx))
    first, last = _trim(runs, len(words), lambda at: words[at] & tables.STRONG == 0)
    # As int8 the bytes that continue a character, 80..BF, are those below -64.
    cp_byte = np.flatnonzero(utf8.view(np.int8) >= -64)
    strong_end = np.where(last < len(codepoints), cp_byte.take(last, mode="clip"), len(utf8))
    return Chunk(codepoints, breaks, runs.start, runs.script, cp_byte[runs.start], cp_byte[first], strong_end)


def _ascii_chunk(utf8: U8, docs: Indices) -> Chunk:
    """ASCII has one script, no emoji, no extensions, and one cluster of two characters."""
    classes = np.where((utf8 | 0x20) - np.uint8(ord("a")) < 26, _LATIN, 0).astype(np.uint8)
    breaks = np.ones(len(utf8), np.bool_)
    lines = np.flatnonzero((utf8[1:] == 0x0A) & (utf8[:-1] == 0x0D)) + 1
    breaks[lines] = False
    breaks[docs] = True
    runs = resolve_scripts(Text(utf8, classes, breaks, docs, _NO_EMOJI, _NO_POSITIONS))
    first, last = _trim(runs, len(utf8), lambda at: classes[at] == 0)
    return Chunk(utf8, breaks, runs.start, runs.script, runs.start, first, last)


def _trim(runs: Runs, n: int, neutral: Callable[[Indices], Bools]) -> tuple[Indices, Indices]:
    """Code points [first, last) of the strong characters of each run; of all its characters where it is emoji."""
    some = np.flatnonzero(runs.high > runs.low)
    first, last = runs.low, runs.high
    first[some] = walk(first[some], 1, n, neutral)
    last[some] = walk(last[some] - 1, -1, n, neutral) + 1
    emoji = np.flatnonzero(runs.script == data.EMOJI)
    first[emoji], last[emoji] = runs.start[emoji], np.append(runs.start, n)[1:][emoji]
    return first, last
