"""Script runs: Common and Inherited resolved, emoji split off, East Asian runs joined for the report.

The rules (a class per grapheme cluster; UAX #24, UTS #51, UTS #39):

* A cluster has the class of its first character that is neither Common nor Inherited ("strong";
  Unknown is a value like any other); an emoji cluster is `Emoji`; the rest are neutral.
* A neutral cluster between strong A and strong B is A, until the first whose Script_Extensions lack A
  and hold B; that one and all after it are B. The extensions of a cluster are those of its first
  character that has explicit ones. Emoji clusters in between change nothing.
* Neutral clusters before the first strong one take its class, those after the last keep that. Without
  a strong cluster they are Common.

Classes are held as script id + 1, with 0 for neutral. Runs come from passes over all classes as bytes,
which cost next to nothing: neutral characters take the class before them, a few at a time, and what then
still differs from its neighbour is looked at.
"""

from typing import Final, NamedTuple

import numpy as np

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables
from byteroute_ops.graphemes import Indices, cluster_ends, cluster_starts, slide, sorted_distinct
from byteroute_ops.unicode_tables import U8, U32, Bools

_JPAN, _KORE, _HANB = 1, 2, 4
_AUGMENTED: Final = {"Hani": _JPAN | _KORE | _HANB, "Hira": _JPAN, "Kana": _JPAN, "Hang": _KORE, "Bopo": _HANB}

_LEADING: Final = 255
"""Stands for the class of neutral characters at the start of a text until it is known; no script has it."""
_FILL_STEPS: Final = (1, 2, 4, 8)


class Text(NamedTuple):
    """What the steps look at: non-empty texts back to back.

    Attributes:
        codepoints: uint32[n].
        classes: uint8[n], script id + 1 of strong characters, 0 of neutral ones; the steps settle it to
            one class a cluster.
        breaks: bool[n], where clusters start.
        docs: int64[n_docs], first code point of every text, strictly ascending.
        emoji: [start, end) of the emoji clusters.
        scx: int64, positions of all neutral characters with explicit Script_Extensions.
    """

    codepoints: U32
    classes: U8
    breaks: Bools
    docs: Indices
    emoji: tuple[Indices, Indices]
    scx: Indices


def resolve_scripts(text: Text) -> tuple[Indices, U8]:
    """Runs that tile the texts: their starts, int64[n_runs], and encoding classes, uint8[n_runs].

    Every text starts a run, every boundary is a cluster boundary.
    """
    _settle(text)
    start, cls, is_first = _changes(_filled(text.classes, text.docs), text.docs)
    inner = np.flatnonzero(~is_first)
    if inner.size and text.scx.size:
        start[inner] = _move_by_extensions(start[inner], (cls[inner - 1] - 1, cls[inner] - 1), text)
    return _split_emoji(start, cls - 1, text)


def report_scripts(script: U8, doc: Indices) -> U8:
    """Report class per run: Jpan, Kore, Hanb for East Asian stretches that only one of them fits (UTS #39, 5.1).

    Args:
        script: uint8[n_runs], encoding classes.
        doc: int[n_runs], the document of each run.
    """
    sets = _AUGMENTED_SETS[script]
    asian = np.flatnonzero(sets != 0)
    report = script.copy()
    if asian.size:
        new = np.ones(len(asian), np.bool_)
        new[1:] = (np.diff(asian) != 1) | (np.diff(doc[asian]) != 0)
        first = np.flatnonzero(new)
        common = np.bitwise_and.reduceat(sets[asian], first)
        joined = np.repeat(_JOINED[common], np.diff(np.append(first, len(asian))))
        report[asian] = np.where(joined, joined, report[asian])
    return report


def _augmented_sets() -> U8:
    sets = np.zeros(len(data.SCRIPTS), np.uint8)
    for code, value in _AUGMENTED.items():
        sets[data.SCRIPTS.index(code)] = value
    return sets


_AUGMENTED_SETS: Final = _augmented_sets()
_JOINED: Final = np.zeros(8, np.uint8)
_JOINED[[_JPAN, _KORE, _HANB]] = data.JPAN, data.KORE, data.HANB


def _settle(text: Text) -> None:
    """Gives every cluster one class, in place.

    A cluster needs it only if a strong character inside differs from the character before: in all
    others the class stands at the start and neutral characters follow.
    """
    classes, breaks = text.classes, text.breaks
    if text.emoji[0].size:
        classes[ranges(*text.emoji)] = 0
    inside = classes != 0
    inside[:1] = False
    inside[1:] &= classes[1:] != classes[:-1]
    inside &= ~breaks
    at = np.flatnonzero(inside)
    if at.size:
        start = sorted_distinct(cluster_starts(breaks, at))
        end = cluster_ends(breaks, start)
        decides = slide(classes == 0, start, 1)
        classes[ranges(start, end)] = np.repeat(classes[decides], end - start)


def _filled(classes: U8, docs: Indices) -> U8:
    """The classes, where neutral characters have the class before them: uint8[n].

    Those at the start of a text have `_LEADING`. Of a long row of neutral characters only the first 15 are
    filled, the rest stays 0: more passes would cost all texts and serve few.
    """
    filled = classes.copy()
    filled[docs[classes[docs] == 0]] = _LEADING
    mask = np.empty(len(classes), np.uint8)
    for step in _FILL_STEPS:
        # A text begins with a class, so what is filled from `step` before is never filled from another text.
        part = mask[step:]
        np.equal(filled[step:], 0, out=part.view(np.bool_))
        np.negative(part, out=part)
        part &= filled[:-step]
        filled[step:] |= part
    return filled


def _changes(filled: U8, docs: Indices) -> tuple[Indices, U8, Bools]:
    """Where the class changes or a text starts: starts, classes, and whether a text starts there.

    Neutral characters at the start of a text have the class of the first strong one, or Common.
    """
    change = np.ones(len(filled), np.bool_)
    np.not_equal(filled[1:], filled[:-1], out=change[1:])
    change[docs] = True
    start = np.flatnonzero(change)
    cls = filled[start]
    known = cls != 0
    if not known.all():
        start, cls = start[known], cls[known]
    is_first = np.zeros(len(start), np.bool_)
    is_first[np.searchsorted(start, docs)] = True
    keep = is_first.copy()
    keep[1:] |= cls[1:] != cls[:-1]
    lead = np.flatnonzero(cls == _LEADING)
    if lead.size:
        after = np.minimum(lead + 1, len(cls) - 1)
        has_strong = ~is_first[after] & (after > lead)
        cls[lead] = np.where(has_strong, cls[after], data.ZYYY + 1)
        keep[after[has_strong]] = False
    return start[keep], cls[keep], is_first[keep]


def _move_by_extensions(starts: Indices, pair: tuple[U8, U8], text: Text) -> Indices:
    """Run starts, moved back to the first neutral cluster whose extensions ask for the next class.

    Args:
        starts: cluster start of the first strong character of each run, never the first run of a text.
        pair: scripts before and after.
        text: the texts, settled.
    """
    classes = text.classes
    which = np.searchsorted(starts, text.scx, "right")  # the run that comes next
    n_followed = int(np.searchsorted(which, len(starts)))  # behind the last run there is nothing to move
    which, at = which[:n_followed], text.scx[:n_followed]
    run = sorted_distinct(which)
    before = np.zeros(len(starts), np.int64)  # the last strong character before each run that counts
    before[run] = slide(classes == 0, starts[run] - 1, -1)
    between = np.flatnonzero(at > before[which])
    if not between.size:
        return starts
    at, which = at[between], which[between]
    cluster = cluster_starts(text.breaks, at)
    # In the cluster of the strong character before, of an emoji, or behind other extensions of its cluster: no say.
    says = cluster > before[which]
    says[1:] &= cluster[1:] != cluster[:-1]
    begin = text.emoji[0]
    if begin.size:
        says &= begin[np.minimum(np.searchsorted(begin, cluster), len(begin) - 1)] != cluster
    holds, sets = tables.scx_matrix(), tables.scx_table()[text.codepoints[at]]
    says &= ~holds[sets, pair[0][which]] & holds[sets, pair[1][which]]
    moved, cluster = which[says], cluster[says]
    first = np.ones(len(moved), np.bool_)
    first[1:] = moved[1:] != moved[:-1]
    starts = starts.copy()
    starts[moved[first]] = cluster[first]
    return starts


def _split_emoji(start: Indices, script: U8, text: Text) -> tuple[Indices, U8]:
    """Runs with the emoji clusters cut out; neighbouring emoji clusters of one text make one run."""
    begin, end = text.emoji
    if not begin.size:
        return start, script
    apart = np.ones(len(begin), np.bool_)
    apart[1:] = (begin[1:] != end[:-1]) | _member(begin[1:], text.docs)
    begin, end = begin[apart], end[np.append(apart[1:], True)]
    resumed = end[end < len(text.codepoints)]
    starts = sorted_distinct(np.concatenate([start, begin, resumed]))
    scripts = script[np.searchsorted(start, starts, "right") - 1]
    scripts[np.searchsorted(starts, begin)] = data.EMOJI
    return starts, scripts


def _member(values: Indices, of: Indices) -> Bools:
    """Which values are in an ascending array that is not empty."""
    found: Bools = of[np.minimum(np.searchsorted(of, values), len(of) - 1)] == values
    return found


def ranges(low: Indices, high: Indices) -> Indices:
    """All integers of the half-open ranges [low, high), one after the other; an empty one gives none."""
    n = np.maximum(high - low, 0)
    ends = np.cumsum(n)
    return np.repeat(low - ends + n, n) + np.arange(int(ends[-1]) if len(ends) else 0)
