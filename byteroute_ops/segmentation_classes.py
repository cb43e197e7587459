"""Script runs: Common and Inherited resolved, emoji split off, East Asian runs joined for the report.

The rules (a class per grapheme cluster; UAX #24, UTS #51, UTS #39):

* A cluster has the class of its first character that is neither Common nor Inherited ("strong";
  Unknown is a value like any other); an emoji cluster is `Emoji`; the rest are neutral.
* A neutral cluster between strong A and strong B is A, until the first whose Script_Extensions lack A
  and hold B; that one and all after it are B. The extensions of a cluster are those of its first
  character that has explicit ones. Emoji clusters in between change nothing.
* Neutral clusters before the first strong one take its class, those after the last keep that. Without
  a strong cluster they are Common.

So only the places where one strong character differs from the next need work, and the neutral
characters between such two. Classes are held as script id + 1, with 0 for neutral.
"""

from typing import Final, NamedTuple

import numpy as np

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables
from byteroute_ops.graphemes import Indices, cluster_ends, cluster_starts, sorted_distinct, walk
from byteroute_ops.unicode_tables import U8, U32, Bools

_JPAN, _KORE, _HANB = 1, 2, 4
_AUGMENTED: Final = {"Hani": _JPAN | _KORE | _HANB, "Hira": _JPAN, "Kana": _JPAN, "Hang": _KORE, "Bopo": _HANB}


class Text(NamedTuple):
    """What the steps look at: non-empty texts back to back.

    Attributes:
        codepoints: uint32[n], or uint8[n] where all are ASCII.
        classes: uint8[n], script id + 1 of strong characters, 0 of neutral ones; the steps settle it to
            one class a cluster.
        breaks: bool[n], where clusters start.
        docs: int64[n_docs], first code point of every text, strictly ascending.
        emoji: [start, end) of the emoji clusters.
        scx: int64, positions of all neutral characters with explicit Script_Extensions.
    """

    codepoints: U32 | U8
    classes: U8
    breaks: Bools
    docs: Indices
    emoji: tuple[Indices, Indices]
    scx: Indices


class Runs(NamedTuple):
    """Runs that tile the texts, and where their strong characters are.

    Attributes:
        start: int64[n_runs].
        script: uint8[n_runs], encoding class.
        low: int64[n_runs], a place at or before the run's first strong character, no other between.
        high: int64[n_runs], likewise after its last; `low` equals `high` where the run has none.
    """

    start: Indices
    script: U8
    low: Indices
    high: Indices


class _Stretches(NamedTuple):
    """Stretches [start, end) of one class: int64, int64, uint8; only strong ones, or with neutral ones inside."""

    start: Indices
    end: Indices
    cls: U8


def resolve_scripts(text: Text) -> Runs:
    """Runs of one encoding class; every text starts a run, every boundary is a cluster boundary."""
    changes = _settle(text)
    stretches = _stretches(text, changes)
    base, script, low = _strong_runs(text, stretches)
    start, script = _split_emoji(base, script, text)
    if text.emoji[0].size:
        low = np.searchsorted(stretches.start, start)
    high = np.append(low, len(stretches.start))[1:]
    some = np.flatnonzero(high > low)
    first, last = start.copy(), start.copy()
    first[some], last[some] = stretches.start[low[some]], stretches.end[high[some] - 1]
    return Runs(start, script, first, last)


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


def _settle(text: Text) -> Bools:
    """Gives every cluster one class, in place; returns bool[n]: where the class changes or a text starts.

    A cluster needs it only if a strong character inside differs from the character before: in all
    others the class stands at the start and neutral characters follow.
    """
    classes, breaks = text.classes, text.breaks
    if text.emoji[0].size:
        classes[ranges(*text.emoji)] = 0
    changes = np.ones(len(classes), np.bool_)
    np.not_equal(classes[1:], classes[:-1], out=changes[1:])
    at = np.flatnonzero(changes & ~breaks)
    at = at[classes[at] != 0]
    if at.size:
        start = sorted_distinct(cluster_starts(breaks, at))
        end = cluster_ends(breaks, start)
        decides = walk(start, 1, len(classes), lambda i: classes[i] == 0)
        classes[ranges(start, end)] = np.repeat(classes[decides], end - start)
        seam = ranges(np.maximum(start, 1), np.minimum(end + 1, len(classes)))
        changes[seam] = classes[seam] != classes[seam - 1]
    changes[text.docs] = True
    return changes


def _stretches(text: Text, changes: Bools) -> _Stretches:
    """Stretches of strong characters.

    Text of one script is most text, and needs none of its word boundaries: a document with one script
    and no emoji is a single stretch from its first strong character to its end.
    """
    classes, docs = text.classes, text.docs
    n, n_docs = len(classes), np.diff(np.append(docs, len(classes)))
    first = docs.copy()
    neutral = np.flatnonzero(classes[docs] == 0)
    first[neutral] = walk(docs[neutral] + 1, 1, n, lambda i: ~changes[i])
    strong = first < docs + n_docs
    main = np.where(strong, classes[np.minimum(first, n - 1)], 0).astype(np.uint8)
    other = np.flatnonzero((classes != np.repeat(main, n_docs)) & (classes != 0))
    mixed = np.zeros(len(docs), np.bool_)
    if other.size > n // 16:  # then nearly every document is, and looking each up costs more than it saves
        mixed[:] = True
    else:
        mixed[np.searchsorted(docs, other, "right") - 1] = True
    if text.emoji[0].size:
        mixed[np.searchsorted(docs, text.emoji[0], "right") - 1] = True
    changes &= np.repeat(mixed, n_docs)
    changes[docs] = True
    changes[first[strong]] = True
    start = np.flatnonzero(changes)
    cls = classes[start]
    keep = cls != 0
    return _Stretches(start[keep], np.append(start, n)[1:][keep], cls[keep])


def _strong_runs(text: Text, stretches: _Stretches) -> tuple[Indices, U8, Indices]:
    """Run starts, scripts and first stretch of every run, as if emoji clusters were neutral."""
    first_of_doc = np.searchsorted(stretches.start, text.docs)
    empty = first_of_doc == np.append(first_of_doc, len(stretches.start))[1:]
    if empty.all():
        return text.docs, np.full(len(text.docs), data.ZYYY, np.uint8), first_of_doc
    change = np.ones(len(stretches.cls), np.bool_)
    np.not_equal(stretches.cls[1:], stretches.cls[:-1], out=change[1:])
    is_first = np.zeros(len(change), np.bool_)
    is_first[first_of_doc[~empty]] = True
    heads = np.flatnonzero(change | is_first)
    cls, starts, is_first = stretches.cls[heads], stretches.start[heads], is_first[heads]
    inner = np.flatnonzero(~is_first)
    if inner.size and text.scx.size:
        before = stretches.end[heads[inner] - 1] - 1
        starts[inner] = _move_by_extensions(starts[inner], before, (cls[inner - 1] - 1, cls[inner] - 1), text)
    starts[is_first] = text.docs[~empty]
    scripts = cls - 1
    if not empty.any():
        return starts, scripts, heads
    starts = np.concatenate([starts, text.docs[empty]])
    scripts = np.concatenate([scripts, np.full(int(empty.sum()), data.ZYYY, np.uint8)])
    heads = np.concatenate([heads, first_of_doc[empty]])
    order = np.argsort(starts)
    return starts[order], scripts[order], heads[order]


def _move_by_extensions(starts: Indices, before: Indices, pair: tuple[U8, U8], text: Text) -> Indices:
    """Run starts, moved back to the first neutral cluster whose extensions ask for the next class.

    Args:
        starts: cluster start of the first strong character of each run.
        before: the last strong character before it.
        pair: scripts before and after.
        text: the texts.
    """
    which = np.searchsorted(starts, text.scx, "right")  # the run that comes next
    between = np.flatnonzero(text.scx > np.append(before, len(text.classes))[which])
    if not between.size:
        return starts
    at, which = text.scx[between], which[between]
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
