"""The passes over text: code points, cluster breaks and runs of as many documents as fit the cache.

A batch is 8 MiB, and its temporary arrays would be ten times that: taken in pieces they stay in the
second-level cache, which is worth a fourth of the time; smaller pieces lose as much to calls of NumPy.
"""

from typing import Final, NamedTuple

import numpy as np

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables
from byteroute_ops.emoji import emoji_clusters
from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.graphemes import Indices, breaks_from_words, slide
from byteroute_ops.segmentation_classes import Text, resolve_scripts
from byteroute_ops.unicode_tables import U8, Bools

CHUNK_BYTES: Final = 3 << 18
"""Documents are taken together up to this many bytes of UTF-8; a longer one is taken alone."""

_LATIN: Final = data.SCRIPTS.index("Latn")


class Chunk(NamedTuple):
    """Some documents, segmented. All offsets count from the start of the chunk.

    Attributes:
        breaks: bool[n_cp], where clusters start.
        doc_start: int64[n_docs], first code point of every document.
        run_start: int64[n_runs], code points.
        run_script: uint8[n_runs].
        run_byte: int64[n_runs], bytes.
        strong_start: int64[n_runs], bytes.
        strong_end: int64[n_runs], bytes.
    """

    breaks: Bools
    doc_start: Indices
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
        docs: int64, first byte of every document that is not empty.
    """
    if text.isascii():
        return _ascii_chunk(utf8, docs)
    codepoints = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    # As int8 the bytes that continue a character, 80..BF, are those below -64.
    cp_byte = np.flatnonzero(utf8.view(np.int8) >= -64)
    docs = np.searchsorted(cp_byte, docs)
    words = tables.property_words(codepoints)
    rare = np.flatnonzero(words >= tables.LEAST_RARE)
    kinds = words[rare]
    breaks = breaks_from_words(codepoints, words, rare[kinds & tables.SPECIAL != 0], docs)
    emoji = emoji_clusters(codepoints, rare[kinds & tables.EMOJI_TRIGGER != 0], breaks)
    scx = rare[kinds & tables.EXPLICIT_SCX != 0]
    classes = words.astype(np.uint8)
    neutral = classes == 0
    start, script = resolve_scripts(Text(codepoints, classes, breaks, docs, emoji, scx))
    first, last = _trim(start, neutral)
    end = np.append(start[1:], len(words))
    is_emoji = np.flatnonzero(script == data.EMOJI)
    first[is_emoji], last[is_emoji] = start[is_emoji], end[is_emoji]
    strong_end = np.where(last < len(words), cp_byte.take(last, mode="clip"), len(utf8))
    return Chunk(breaks, docs, start, script, cp_byte[start], cp_byte[first], strong_end)


def _ascii_chunk(utf8: U8, docs: Indices) -> Chunk:
    """ASCII has one script, no emoji, no extensions, and one cluster of two characters."""
    neutral = (utf8 | 0x20) - np.uint8(ord("a")) >= 26
    breaks = np.ones(len(utf8), np.bool_)
    lines = np.flatnonzero((utf8[1:] == 0x0A) & (utf8[:-1] == 0x0D)) + 1
    breaks[lines] = False
    breaks[docs] = True
    first, last = _trim(docs, neutral)
    script = np.where(last > first, _LATIN, data.ZYYY).astype(np.uint8)
    return Chunk(breaks, docs, docs, script, docs, first, last)


def _trim(start: Indices, neutral: Bools) -> tuple[Indices, Indices]:
    """Code points [first, last) of the strong characters of each run; its start twice where it has none."""
    end = np.append(start[1:], len(neutral))
    goes_on = neutral.copy()
    goes_on[end - 1] = False
    first = slide(goes_on, start, 1)
    none = neutral[first]
    first[none] = start[none]
    last = start.copy()
    some = np.flatnonzero(~none)
    last[some] = slide(neutral, end[some] - 1, -1) + 1
    return first, last
