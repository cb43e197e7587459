"""The tables of `unicode_data` expanded to arrays over all code points, on first use.

Everything here is read-only, the same in every thread, and built once a process (about 30 ms, 9 MB).
"""

import base64
import zlib
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from byteroute_ops import unicode_data as data

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
Bools = npt.NDArray[np.bool_]

N_CODEPOINTS: Final = 0x110000

# Grapheme_Cluster_Break values (bits 0-3 of a grapheme class) and Indic_Conjunct_Break (bits 4-5).
GCB: Final = {name: value for value, name in enumerate(data.GRAPHEME_VALUES)}
INCB: Final = {name: value for value, name in enumerate(data.INCB_VALUES)}
GCB_MASK: Final = 0x0F
INCB_SHIFT: Final = 4
EXT_PICT: Final = 0x40  # Extended_Pictographic, bit 6 of a grapheme class

# Bits of an emoji class.
IS_EMOJI: Final = 1 << data.EMOJI_PROPERTIES.index("Emoji")
IS_PRESENTATION: Final = 1 << data.EMOJI_PROPERTIES.index("Emoji_Presentation")
IS_MODIFIER: Final = 1 << data.EMOJI_PROPERTIES.index("Emoji_Modifier")
IS_MODIFIER_BASE: Final = 1 << data.EMOJI_PROPERTIES.index("Emoji_Modifier_Base")

# A property word (uint16): class in the low byte (script id + 1; 0 for Common and Inherited), and above it
# what a pass over text has to look at.
STRONG: Final = 0x0100
"""Script is neither Common nor Inherited (Unknown is a value like any other)."""
EXTENDS: Final = 0x0200
"""Never starts a cluster inside a text, save after a control: Extend, ZWJ, SpacingMark (UAX #29 GB9, GB9a)."""
SPECIAL: Final = 0x0400
"""Starts one of the other rules of UAX #29: controls, Prepend, jamo, Regional_Indicator, ZWJ, linker."""
EXPLICIT_SCX: Final = 0x0800
"""Common or Inherited with Script_Extensions of its own."""
EMOJI_TRIGGER: Final = 0x1000
"""At least one of them is in every emoji sequence of UTS #51: presentation emoji, FE0F, 20E3, ZWJ, cancel tag."""
LEAST_RARE: Final = SPECIAL
"""Words from here on have one of the last three bits, what few code points have."""

ZWJ: Final = 0x200D
KEYCAP: Final = 0x20E3
TEXT_SELECTOR: Final = 0xFE0E
EMOJI_SELECTOR: Final = 0xFE0F
CANCEL_TAG: Final = 0xE007F

# Gathering through int64 indices: this many at a time stay in the second-level cache.
_CHUNK: Final = 1 << 15


def _expand(runs: str) -> U8:
    """Table uint8[0x110000] from one *_RUNS constant."""
    raw = zlib.decompress(base64.b85decode(runs))
    n = int.from_bytes(raw[:4], "little")
    lengths = np.frombuffer(raw, "<u4", n, 4)
    table = np.repeat(np.frombuffer(raw, np.uint8, n, 4 + 4 * n), lengths)
    table.setflags(write=False)
    return table


@cache
def script_table() -> U8:
    """Script id of every code point: uint8[0x110000]."""
    return _expand(data.SCRIPT_RUNS)


@cache
def scx_table() -> U8:
    """Explicit Script_Extensions of every code point: uint8[0x110000], 0 for none, else a row of `scx_matrix`."""
    return _expand(data.SCX_RUNS)


@cache
def scx_matrix() -> Bools:
    """Which scripts an explicit set holds: bool[n_sets + 1, n_scripts]; row 0 is empty."""
    ids = {code: i for i, code in enumerate(data.SCRIPTS)}
    matrix = np.zeros((len(data.SCX_SETS) + 1, len(data.SCRIPTS)), np.bool_)
    for row, codes in enumerate(data.SCX_SETS, 1):
        matrix[row, [ids[code] for code in codes.split("+")]] = True
    matrix.setflags(write=False)
    return matrix


@cache
def emoji_table() -> U8:
    """Emoji properties of every code point: uint8[0x110000] of the IS_* bits."""
    return _expand(data.EMOJI_RUNS)


@cache
def grapheme_table() -> U8:
    """Grapheme class of every code point: uint8[0x110000], GCB | InCB << 4 | EXT_PICT."""
    pictographic = 1 << data.EMOJI_PROPERTIES.index("Extended_Pictographic")
    table = _expand(data.GRAPHEME_RUNS) | np.where(emoji_table() & pictographic, EXT_PICT, 0).astype(np.uint8)
    table.setflags(write=False)
    return table


@cache
def property_table() -> U16:
    """Property word of every code point: uint16[0x110000]."""
    script, grapheme = script_table(), grapheme_table()
    gcb, incb = grapheme & GCB_MASK, grapheme >> INCB_SHIFT & 3
    strong = (script != data.ZYYY) & (script != data.ZINH)
    special = ("CR", "LF", "Control", "Prepend", "L", "V", "T", "Regional_Indicator", "ZWJ")
    trigger = (emoji_table() & IS_PRESENTATION) != 0
    trigger[[ZWJ, KEYCAP, EMOJI_SELECTOR, CANCEL_TAG]] = True
    table = np.where(strong, script + 1, 0).astype(np.uint16)
    table |= np.where(strong, STRONG, 0).astype(np.uint16)
    table |= np.where(np.isin(gcb, [GCB["Extend"], GCB["ZWJ"], GCB["SpacingMark"]]), EXTENDS, 0).astype(np.uint16)
    joins = np.isin(gcb, [GCB[name] for name in special]) | (incb == INCB["Linker"])
    table |= np.where(joins, SPECIAL, 0).astype(np.uint16)
    table |= np.where(~strong & (scx_table() != 0), EXPLICIT_SCX, 0).astype(np.uint16)
    table |= np.where(trigger, EMOJI_TRIGGER, 0).astype(np.uint16)
    table.setflags(write=False)
    return table


def property_words(codepoints: U32) -> U16:
    """Property words of a text: uint16[n] for uint32[n]; values above U+10FFFF count as U+10FFFF."""
    table, n = property_table(), len(codepoints)
    out = np.empty(n, np.uint16)
    index = np.empty(min(n, _CHUNK), np.intp)
    for start in range(0, n, _CHUNK):
        part = codepoints[start : start + _CHUNK]
        index[: len(part)] = part
        table.take(index[: len(part)], out=out[start : start + len(part)], mode="clip")
    return out
