"""Extended grapheme cluster boundaries of a batch of texts (UAX #29, Unicode 18.0, all of GB1 to GB999).

Most code points need two rules only: GB9/GB9a (marks extend) and GB999 (all else breaks), one bit of
the property word each. The other rules are applied where a code point that can start one of them
stands. Unicode 18.0 gave GB9c its present form, `Linker Extend* x Consonant`: no consonant is needed
before the linker any more.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from byteroute_ops import unicode_tables as tables
from byteroute_ops.unicode_tables import EXT_PICT, GCB, GCB_MASK, INCB, INCB_SHIFT, U16, U32, Bools

Indices = npt.NDArray[np.int64]

# Steps done for all walkers at once, at least and at most, before those that remain are followed one by one,
# and how many must remain for the steps after the least to be worth it.
_LEAST_STEPS, _MOST_STEPS, _MANY = 8, 64, 16
_SLIDE_STEPS = 3


def grapheme_breaks(codepoints: U32, doc_starts: Indices) -> Bools:
    """Where clusters start: bool[n] over the code points of texts that stand back to back.

    Args:
        codepoints: uint32[n], Unicode scalar values; not modified.
        doc_starts: int64[n_docs], ascending indices at which a text starts (GB1); those equal to n are
            empty texts and count for nothing.

    Returns:
        bool[n], True at the first code point of every extended grapheme cluster.

    >>> text = "e\u0301\U0001f1e9\U0001f1ea!"
    >>> codepoints = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    >>> grapheme_breaks(codepoints, np.array([0])).tolist()
    [True, False, True, False, True]
    """
    words = tables.property_words(codepoints)
    special = np.flatnonzero(words & tables.SPECIAL != 0)
    return breaks_from_words(codepoints, words, special, doc_starts)


def breaks_from_words(codepoints: U32, words: U16, special: Indices, doc_starts: Indices) -> Bools:
    """As `grapheme_breaks`, for a caller that has the property words and their SPECIAL positions already."""
    breaks: Bools = (words & tables.EXTENDS) == 0
    starts = doc_starts[doc_starts < len(codepoints)]
    if special.size:
        kinds = tables.grapheme_table()[codepoints[special]]
        gcb = kinds & GCB_MASK
        _join_jamo(codepoints, special[(gcb >= GCB["L"]) & (gcb <= GCB["T"])], breaks)
        _join_after(special[gcb == GCB["Prepend"]], breaks)
        _join_flags(special[gcb == GCB["Regional_Indicator"]], starts, breaks)
        _join_pictographs(codepoints, special[gcb == GCB["ZWJ"]], starts, breaks)
        _join_conjuncts(codepoints, special[kinds >> INCB_SHIFT & 3 == INCB["Linker"]], starts, breaks)
        # GB4 and GB5 stand above all joining rules, so they are applied after them; GB3 above those.
        controls = special[(gcb >= GCB["CR"]) & (gcb <= GCB["Control"])]
        breaks[controls] = True
        breaks[controls[controls < len(breaks) - 1] + 1] = True
        lines = special[gcb == GCB["LF"]]
        lines = lines[lines > 0]
        breaks[lines[codepoints[lines - 1] == 0x0D]] = False
    breaks[starts] = True
    return breaks


def cluster_starts(breaks: Bools, positions: Indices) -> Indices:
    """First code point of the cluster that each position lies in: int64, same shape."""
    return _nearest_break(breaks, positions, -1)


def cluster_ends(breaks: Bools, positions: Indices) -> Indices:
    """First code point after the cluster that each position lies in: int64, same shape."""
    return _nearest_break(breaks, positions + 1, 1)


def _nearest_break(breaks: Bools, positions: Indices, step: int) -> Indices:
    """The first break at or before (`step` -1) or at or after (1) each position; the end of the text is one.

    Clusters are short, so a few steps find nearly all. The rest is looked up and not walked to: many
    positions can lie in one long cluster.
    """
    n = len(breaks)
    out = positions.astype(np.int64)
    moving = np.arange(len(out))
    for _ in range(_LEAST_STEPS):
        moving = moving[out[moving] < n]
        moving = moving[~breaks[out[moving]]]
        if not moving.size:
            return out
        out[moving] += step
    if moving.size < _MANY:
        out[moving] = walk(out[moving], step, n, lambda at: ~breaks[at])
        return out
    starts = np.append(np.flatnonzero(breaks), n)
    index = np.searchsorted(starts, out[moving]) if step > 0 else np.searchsorted(starts, out[moving], "right") - 1
    out[moving] = starts[index]
    return out


def _join_after(positions: Indices, breaks: Bools) -> None:
    """GB9b: nothing breaks after a Prepend."""
    breaks[positions[positions < len(breaks) - 1] + 1] = False


def _join_jamo(codepoints: U32, jamo: Indices, breaks: Bools) -> None:
    """GB6 to GB8: Hangul syllables built of conjoining jamo. Precomposed syllables matter next to a jamo only."""
    if not jamo.size:
        return
    left = sorted_distinct(np.concatenate([jamo - 1, jamo]))
    left = left[(left >= 0) & (left < len(codepoints) - 1)]
    table = tables.grapheme_table()
    joined = _JAMO_JOINS[table[codepoints[left]] & GCB_MASK, table[codepoints[left + 1]] & GCB_MASK]
    breaks[left[joined] + 1] = False


def _jamo_joins() -> Bools:
    joins = np.zeros((16, 16), np.bool_)
    rules = (("L", "L V LV LVT"), ("LV", "V T"), ("V", "V T"), ("LVT", "T"), ("T", "T"))
    for before, after in rules:
        joins[GCB[before], [GCB[name] for name in after.split()]] = True
    return joins


_JAMO_JOINS = _jamo_joins()


def _join_flags(indicators: Indices, doc_starts: Indices, breaks: Bools) -> None:
    """GB12, GB13: the second, fourth, ... of a run of Regional_Indicators joins the one before."""
    if not indicators.size:
        return
    rank = np.arange(len(indicators))
    first = np.ones(len(indicators), np.bool_)
    first[1:] = np.diff(indicators) != 1
    at = np.minimum(np.searchsorted(doc_starts, indicators), len(doc_starts) - 1)
    first |= doc_starts[at] == indicators
    since = rank - np.maximum.accumulate(np.where(first, rank, 0))
    breaks[indicators[since % 2 == 1]] = False


def _join_pictographs(codepoints: U32, joiners: Indices, doc_starts: Indices, breaks: Bools) -> None:
    """GB11: Extended_Pictographic Extend* ZWJ x Extended_Pictographic."""
    table = tables.grapheme_table()
    joiners = joiners[joiners < len(codepoints) - 1]
    joiners = joiners[table[codepoints[joiners + 1]] & EXT_PICT != 0]
    if not joiners.size:
        return
    base = walk(joiners - 1, -1, len(codepoints), lambda at: table[codepoints[at]] & GCB_MASK == GCB["Extend"])
    joiners, base = joiners[base >= 0], base[base >= 0]
    joined = (table[codepoints[base]] & EXT_PICT != 0) & _same_text(doc_starts, base, joiners)
    breaks[joiners[joined] + 1] = False


def _join_conjuncts(codepoints: U32, linkers: Indices, doc_starts: Indices, breaks: Bools) -> None:
    """GB9c: Linker Extend* x Consonant, in the values of Indic_Conjunct_Break."""
    if not linkers.size:
        return
    table = tables.grapheme_table()

    def has(at: Indices, value: str) -> Bools:
        found: Bools = table[codepoints[at]] >> INCB_SHIFT & 3 == INCB[value]
        return found

    n = len(codepoints)
    after = walk(linkers + 1, 1, n, lambda at: has(at, "Extend"))
    linkers, after = linkers[after < n], after[after < n]
    joined = has(after, "Consonant") & _same_text(doc_starts, linkers, after)
    breaks[after[joined]] = False


def sorted_distinct(values: Indices) -> Indices:
    """The distinct values, ascending."""
    # np.unique hashes, which takes several times as long on what is nearly sorted.
    ordered = np.sort(values)
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def _same_text(doc_starts: Indices, before: Indices, after: Indices) -> Bools:
    """Whether two positions lie in the same text."""
    same: Bools = np.searchsorted(doc_starts, before, "right") == np.searchsorted(doc_starts, after, "right")
    return same


def slide(mask: Bools, positions: Indices, step: int) -> Indices:
    """Moves every position by `step` (1 or -1) while `mask` is true there; ends at -1 or len(mask) at the latest.

    For many positions that nearly all stop soon: a few steps are done for all of them, whether they move or not.
    """
    out, move = positions.astype(np.int64), np.add if step > 0 else np.subtract
    for _ in range(_SLIDE_STEPS):
        # Beyond an end the mask goes on as it ended, with true.
        move(out, mask.take(out, mode="clip"), out=out)
    np.clip(out, -1, len(mask), out=out)
    rest = np.flatnonzero(mask.take(out, mode="clip"))
    if rest.size:
        out[rest] = walk(out[rest], step, len(mask), lambda at: mask[at])
    return out


def walk(positions: Indices, step: int, n: int, holds: Callable[[Indices], Bools]) -> Indices:
    """Moves every position by `step` (1 or -1) while it lies in [0, n) and `holds` is true of it.

    Linear in the sum of the distances. A long walk (a million combining marks) goes on in doubling
    windows, because single NumPy steps would take minutes.
    """
    out = positions.astype(np.int64)
    moving = np.arange(len(out))
    for step_number in range(_MOST_STEPS):
        if step_number >= _LEAST_STEPS and moving.size < _MANY:
            break
        at = out[moving]
        moving = moving[(at >= 0) & (at < n)]
        moving = moving[holds(out[moving])]
        if not moving.size:
            return out
        out[moving] += step
    for i in moving:
        out[i] = _follow(int(out[i]), step, n, holds)
    return out


def _follow(position: int, step: int, n: int, holds: Callable[[Indices], Bools]) -> int:
    window = 2 * _LEAST_STEPS
    while 0 <= position < n:
        end = min(position + window, n) if step > 0 else max(position - window, -1)
        at = np.arange(position, end, step)
        stops = np.flatnonzero(~holds(at))
        if stops.size:
            return int(at[stops[0]])
        position, window = end, window * 2
    return position
