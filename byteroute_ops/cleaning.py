"""Removal of byte order marks and stray zero-width spaces, with counts of what was removed.

Three things may go, everything else stays as it is (joiners, variation selectors, bidi controls and
word joiners carry meaning, and nothing is normalized):

* a leading U+FEFF, a byte order mark that a decoder left in place (counted as `bom`, one a text);
* U+FEFF anywhere else, the zero-width no-break space of old, deprecated since Unicode 3.2 (`feff`);
* U+200B ZERO WIDTH SPACE (`zwsp`), as the setting says: `strip` all, `keep` all, or `script-aware`:
  kept next to the scripts that are written without spaces and use it as a word break.

Script-aware means: after all U+FEFF are gone, a U+200B stays if the nearest character before it or
after it, of those that are not removable and not Common, is of a script in `WORD_BREAK_SCRIPTS`.
Inherited characters are passed over too, for their script is that of their base. What decides is
never removed, so cleaning twice is cleaning once.
"""

from typing import Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables
from byteroute_ops.errors import ConfigError, InputError, RejectReason
from byteroute_ops.graphemes import Indices
from byteroute_ops.segmentation import utf8_of
from byteroute_ops.segmentation_chunks import decode_utf8
from byteroute_ops.unicode_tables import U8, Bools

ZwspMode = Literal["script-aware", "strip", "keep"]

# UAX #14 gives the letters of these scripts the classes SA (complex context) or AK, AS, AP (orthographic
# syllables), because they are written without spaces between words; U+200B is how their writers mark one.
# Tibetan is added: it marks syllables, not words, and U+200B is used in it for breaks after other signs.
WORD_BREAK_SCRIPTS: Final = (
    "Ahom", "Bali", "Batk", "Brah", "Cham", "Diak", "Gran", "Gukh", "Java", "Kawi", "Khmr", "Lana", "Laoo", "Maka",
    "Mymr", "Tale", "Talu", "Tavt", "Thai", "Tibt", "Tutg",
)  # fmt: skip

_FEFF: Final = b"\xef\xbb\xbf"
_ZWSP: Final = b"\xe2\x80\x8b"


class Cleaned(NamedTuple):
    """A clean text and the number of characters removed of each kind."""

    text: str
    n_bom: int
    n_feff: int
    n_zwsp: int


def clean_text(text: str, *, zwsp: ZwspMode = "script-aware") -> Cleaned:
    """The text without byte order marks and stray zero-width spaces.

    >>> clean_text("\ufeffzero\u200bwidth")
    Cleaned(text='zerowidth', n_bom=1, n_feff=0, n_zwsp=1)
    >>> clean_text("ភាសា\u200bខ្មែរ").n_zwsp
    0

    Raises:
        ConfigError: `zwsp` is none of the settings.
        InputError: the text holds a lone surrogate (`offset` in code points).
    """
    try:
        texts = pa.array([text.encode()], pa.binary()).cast(pa.string())
    except UnicodeEncodeError as error:
        detail = f"lone surrogate at code point {error.start}; replace or drop it first"
        raise InputError(RejectReason.LONE_SURROGATE, detail, offset=error.start) from None
    cleaned, counts = clean_batch(texts, zwsp=zwsp)
    n_bom, n_feff, n_zwsp = counts[0].tolist()
    return Cleaned(text if cleaned is texts else cleaned[0].as_py(), n_bom, n_feff, n_zwsp)


def clean_batch(
    texts: pa.StringArray, *, zwsp: ZwspMode = "script-aware"
) -> tuple[pa.StringArray, npt.NDArray[np.int64]]:
    """Every text without byte order marks and stray zero-width spaces, and what was removed.

    Args:
        texts: string or large_string array of well-formed UTF-8; nulls stay null and count as empty.
        zwsp: what happens to U+200B.

    Returns:
        The clean texts (the very same array, where there is nothing to remove) and counts
        int64[n_docs, 3]: columns bom, feff, zwsp.

    Raises:
        ConfigError: `zwsp` is none of the settings.
        InputError: the bytes are not well-formed UTF-8.
    """
    if zwsp not in get_args(ZwspMode):
        raise ConfigError(f"zwsp: {zwsp!r:.80} is not known; allowed are {', '.join(get_args(ZwspMode))}")
    utf8, doc_byte = utf8_of(texts)
    counts = np.zeros((len(texts), 3), np.int64)
    marks = _occurrences(utf8, _FEFF)
    spaces = _occurrences(utf8, _ZWSP) if zwsp != "keep" else marks[:0]
    if spaces.size and zwsp == "script-aware":
        spaces = spaces[~_is_word_break(utf8, doc_byte, spaces)]
    if not marks.size and not spaces.size:
        return texts, counts
    leading = doc_byte[np.searchsorted(doc_byte, marks)] == marks
    for column, positions in enumerate((marks[leading], marks[~leading], spaces)):
        counts[:, column] = np.diff(np.searchsorted(positions, doc_byte))
    return _without(texts, utf8, doc_byte, np.concatenate([marks, spaces])), counts


def _occurrences(utf8: U8, needle: bytes) -> Indices:
    """Byte offsets of a three-byte character: int64, ascending."""
    first, second, third = needle
    at = np.flatnonzero(utf8[:-2] == first)
    found: Indices = at[(utf8[at + 1] == second) & (utf8[at + 2] == third)]
    return found


def _is_word_break(utf8: U8, doc_byte: Indices, spaces: Indices) -> Bools:
    """Which U+200B (byte offsets) stand next to a script of the list: bool, same shape."""
    # Only the documents that hold one are decoded: `spaces` are counted from their first byte on.
    holds = np.diff(np.searchsorted(spaces, doc_byte)) > 0
    sizes = np.diff(doc_byte)[holds]
    part = np.concatenate([utf8[a:b] for a, b in zip(doc_byte[:-1][holds], doc_byte[1:][holds], strict=True)])
    codepoints = np.frombuffer(decode_utf8(part).encode("utf-32-le"), np.uint32)
    words = tables.property_words(codepoints)
    strong = np.flatnonzero(words & tables.STRONG != 0)
    listed = np.append(_LISTED[words[strong].astype(np.uint8) - 1], False)  # the last: no such character
    at = np.flatnonzero(codepoints == 0x200B)
    is_start = part.view(np.int8) >= -64  # as int8 the bytes that continue a character, 80..BF, are below -64
    n_codepoints = np.add.reduceat(is_start, np.cumsum(sizes) - sizes, dtype=np.int64)
    doc_end = np.cumsum(n_codepoints)
    doc = np.searchsorted(doc_end, at, "right")
    after = np.searchsorted(strong, at)
    before = after - 1
    padded = np.append(strong, len(codepoints))
    before_ok = (before >= 0) & (padded[before] >= (doc_end - n_codepoints)[doc])
    after_ok = padded[after] < doc_end[doc]
    found: Bools = (before_ok & listed[before]) | (after_ok & listed[after])
    return found


def _listed() -> Bools:
    listed = np.zeros(256, np.bool_)
    listed[[data.SCRIPTS.index(code) for code in WORD_BREAK_SCRIPTS]] = True
    return listed


_LISTED: Final = _listed()


def _without(texts: pa.StringArray, utf8: U8, doc_byte: Indices, positions: Indices) -> pa.StringArray:
    """The texts without the three-byte characters at these byte offsets."""
    positions = np.sort(positions)
    removed = np.searchsorted(positions, doc_byte) * 3
    large = pa.types.is_large_string(texts.type)
    offsets = (doc_byte - removed).astype(np.int64 if large else np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(_cut_out(utf8, positions))]
    cleaned = pa.Array.from_buffers(texts.type, len(texts), buffers)
    return pc.if_else(texts.is_valid(), cleaned, None) if texts.null_count else cleaned


def _cut_out(utf8: U8, positions: Indices) -> bytes | U8:
    """The bytes without the three-byte characters at these offsets, which ascend."""
    if len(positions) * _FEW > len(utf8):
        keep = np.ones(len(utf8), np.bool_)
        for i in range(3):
            keep[positions + i] = False
        return utf8[keep]
    whole = utf8.tobytes()
    starts, ends = (positions + 3).tolist(), positions.tolist()
    return b"".join([whole[a:b] for a, b in zip([0, *starts], [*ends, len(utf8)], strict=True)])


_FEW: Final = 256
# Bytes for each character that goes, above which copying stretches is cheaper than a mask of all bytes.
