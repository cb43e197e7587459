"""Script runs: Common and Inherited resolved, emoji split off, East Asian runs joined for the report.

The rules (architecture: a class per grapheme cluster, UAX #24 and UTS #51 and UTS #39):

* A cluster has the class of its first character that is neither Common nor Inherited ("strong";
  Unknown is a value like any other); an emoji cluster is `Emoji`; the rest are neutral.
* A neutral cluster between strong A and strong B is A, until the first whose Script_Extensions lack A
  and hold B; that one and all after it are B. The extensions of a cluster are those of its first
  character that has explicit ones. Emoji clusters in between change nothing.
* Neutral clusters before the first strong one take its class, those after the last keep that. Without
  a strong cluster they are Common.

So only the places where one strong character differs from the next need work, and the neutral
characters between such two.
"""

from typing import Final, NamedTuple

import numpy as np

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables
from byteroute_ops.graphemes import Indices, cluster_ends, cluster_starts
from byteroute_ops.unicode_tables import U8, U16, U32, Bools

_JPAN, _KORE, _HANB = 1, 2, 4
_AUGMENTED: Final = {"Hani": _JPAN | _KORE | _HANB, "Hira": _JPAN, "Kana": _JPAN, "Hang": _KORE, "Bopo": _HANB}


class Text(NamedTuple):
    """What the steps look at: a batch of non-empty texts back to back.

    Attributes:
        codepoints: uint32[n].
        words: uint16[n], property words.
        breaks: bool[n], where clusters start.
        docs: int64[n_docs], first code point of every text, strictly ascending.
        strong: int64, positions of all strong characters.
        scx: int64, positions of all neutral characters with explicit Script_Extensions.
    """

    codepoints: U32
    words: U16
    breaks: Bools
    docs: Indices
    strong: Indices
    scx: Indices


class Runs(NamedTuple):
    """Runs that tile the batch: `start` int64[n_runs], `script` uint8[n_runs]."""

    start: Indices
    script: U8


def resolve_scripts(text: Text, emoji: tuple[Indices, Indices]) -> Runs:
    """Runs of one encoding class; every text starts a run, every boundary is a cluster boundary.

    Args:
        text: the batch, with at least one text.
        emoji: [start, end) of the emoji clusters.
    """
    if emoji[0].size:
        inner = np.searchsorted(text.strong, emoji[0]), np.searchsorted(text.strong, emoji[1])
        if (inner[1] > inner[0]).any():  # a Cyrillic sign put on an emoji, say
            text = text._replace(strong=np.delete(text.strong, _ranges(*inner)))
    return _split_emoji(_strong_runs(text, emoji[0]), emoji, text)


def report_scripts(script: U8, doc: Indices) -> U8:
    """Report class per run: Jpan, Kore, Hanb for East Asian stretches that only one of them fits (UTS #39, 5.1).

    Args:
        script: uint8[n_runs], encoding classes.
        doc: int[n_runs], the document of each run.
    """
    sets = _AUGMENTED_SETS[script]
    asian = np.flatnonzero(sets)
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


def _strong_runs(text: Text, emoji_starts: Indices) -> Runs:
    """Runs as if emoji clusters were neutral."""
    first_of_doc = np.searchsorted(text.strong, text.docs)
    empty = first_of_doc == np.append(first_of_doc[1:], len(text.strong))
    common = Runs(text.docs[empty], np.full(int(empty.sum()), data.ZYYY, np.uint8))
    if empty.all():
        return common
    first_of_doc = first_of_doc[~empty]
    scripts = text.words[text.strong].astype(np.uint8)
    change = np.empty(len(scripts), np.bool_)
    change[1:] = scripts[1:] != scripts[:-1]
    change[first_of_doc] = True
    heads = _unmask(np.flatnonzero(change), scripts, first_of_doc, text)
    is_first = np.zeros(len(heads), np.bool_)
    is_first[np.searchsorted(heads, first_of_doc)] = True
    starts = cluster_starts(text.breaks, text.strong[heads])
    starts[is_first] = text.docs[~empty]
    inner = np.flatnonzero(~is_first)
    if inner.size and text.scx.size:
        pair = scripts[heads[inner - 1]], scripts[heads[inner]]
        starts[inner] = _move_by_extensions(starts[inner], text.strong[heads[inner] - 1], pair, text, emoji_starts)
    runs = Runs(np.concatenate([starts, common.start]), np.concatenate([scripts[heads], common.script]))
    if not common.start.size:
        return runs
    order = np.argsort(runs.start)
    return Runs(runs.start[order], runs.script[order])


def _unmask(heads: Indices, scripts: U8, first_of_doc: Indices, text: Text) -> Indices:
    """Drops heads that stand behind another strong character in their cluster, and sees to what follows.

    Args:
        heads: indices into `strong` where a script differs from the one before, or a text starts.
        scripts: uint8[n_strong].
        first_of_doc: indices into `strong` of each text's first.
        text: the batch.
    """
    at = text.strong[heads]
    behind = np.unique(cluster_starts(text.breaks, at[~text.breaks[at]]))
    if not behind.size:
        return heads
    first = np.searchsorted(text.strong, behind)
    end = np.searchsorted(text.strong, cluster_ends(text.breaks, behind))
    keep = np.ones(len(heads), np.bool_)
    keep[_ranges(np.searchsorted(heads, first + 1), np.searchsorted(heads, end))] = False
    # The strong character after such a cluster was compared with the cluster's last, not with its first.
    end, first = end[end < len(scripts)], first[end < len(scripts)]
    same_text = ~np.isin(end, first_of_doc)
    end, first = end[same_text], first[same_text]
    differs = scripts[end] != scripts[first]
    again = heads[keep]
    again = again[~np.isin(again, end[~differs])]
    result: Indices = np.union1d(again, end[differs])
    return result


def _move_by_extensions(
    starts: Indices, before: Indices, pair: tuple[U8, U8], text: Text, emoji_starts: Indices
) -> Indices:
    """Run starts, moved back to the first neutral cluster whose extensions ask for the next class.

    Args:
        starts: cluster start of the first strong character of each run.
        before: the last strong character before it.
        pair: scripts before and after.
        text: the batch.
        emoji_starts: ascending starts of emoji clusters.
    """
    low, high = np.searchsorted(text.scx, before), np.searchsorted(text.scx, starts)
    which = np.repeat(np.arange(len(starts)), np.maximum(high - low, 0))
    if not which.size:
        return starts
    at = text.scx[_ranges(low, high)]
    cluster = cluster_starts(text.breaks, at)
    # In the cluster of the strong character before, of an emoji, or behind other extensions of its cluster: no say.
    says = cluster > before[which]
    says[1:] &= cluster[1:] != cluster[:-1]
    if emoji_starts.size:
        says &= emoji_starts[np.minimum(np.searchsorted(emoji_starts, cluster), len(emoji_starts) - 1)] != cluster
    holds, sets = tables.scx_matrix(), tables.scx_table()[text.codepoints[at]]
    says &= ~holds[sets, pair[0][which]] & holds[sets, pair[1][which]]
    moved, first = np.unique(which[says], return_index=True)
    starts = starts.copy()
    starts[moved] = cluster[says][first]
    return starts


def _split_emoji(runs: Runs, emoji: tuple[Indices, Indices], text: Text) -> Runs:
    """Runs with the emoji clusters cut out; neighbouring emoji clusters of one text make one run."""
    begin, end = emoji
    if not begin.size:
        return runs
    apart = np.ones(len(begin), np.bool_)
    apart[1:] = (begin[1:] != end[:-1]) | np.isin(begin[1:], text.docs)
    begin, end = begin[apart], end[np.append(apart[1:], True)]
    resumed = end[end < len(text.codepoints)]
    starts = np.unique(np.concatenate([runs.start, begin, resumed]))
    script = runs.script[np.searchsorted(runs.start, starts, "right") - 1]
    script[np.searchsorted(starts, begin)] = data.EMOJI
    return Runs(starts, script)


def _ranges(low: Indices, high: Indices) -> Indices:
    """All integers of the half-open ranges [low, high), one after the other; an empty one gives none."""
    n = np.maximum(high - low, 0)
    ends = np.cumsum(n)
    return np.repeat(low - ends + n, n) + np.arange(int(ends[-1]) if len(ends) else 0)
