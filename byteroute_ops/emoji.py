"""Emoji sequences of UTS #51: which grapheme clusters of a batch are emoji.

A cluster is emoji when it begins with one of (definitions of UTS #51, section 1.4)

* a presentation emoji (ED-6) that FE0E does not follow,
* an emoji presentation sequence (ED-9a), any emoji character and FE0F,
* an emoji modifier sequence (ED-13),
* a keycap sequence (ED-14c), also without its FE0F, as it is often written,
* an emoji flag sequence (ED-14), two Regional_Indicators,
* an emoji tag sequence (ED-14a), well-formed, with its cancel tag,
* an emoji ZWJ sequence (ED-16), also of text-presentation characters (unqualified, but seen).

Text-presentation characters alone (the copyright sign, digits, a heart without FE0F) are not.
The grammar is what counts, not the list of sequences recommended for interchange: that one grows.
"""

import numpy as np

from byteroute_ops import unicode_tables as tables
from byteroute_ops.graphemes import Indices, cluster_ends, cluster_starts, sorted_distinct
from byteroute_ops.unicode_tables import IS_EMOJI, IS_MODIFIER, IS_MODIFIER_BASE, IS_PRESENTATION, U32, Bools

_TAG_SPEC = (0xE0020, 0xE007E)
_INDICATORS = (0x1F1E6, 0x1F1FF)
_KEYCAP_BASES = np.array([ord(char) for char in "#*0123456789"], np.uint32)


def emoji_clusters(codepoints: U32, triggers: Indices, breaks: Bools) -> tuple[Indices, Indices]:
    """Emoji clusters as [start, end) code point indices: two int64 arrays, ascending.

    Args:
        codepoints: uint32[n], texts back to back.
        triggers: ascending positions of all code points with the EMOJI_TRIGGER bit.
        breaks: bool[n], where clusters start.
    """
    if not triggers.size:
        return triggers.astype(np.int64), triggers.astype(np.int64)
    found = [_bases_before(codepoints, triggers, breaks), _presentation(codepoints, triggers, breaks)]
    cancels = triggers[codepoints[triggers] == tables.CANCEL_TAG]
    if cancels.size:
        found.append(_tagged(codepoints, cancels, breaks))
    starts = sorted_distinct(np.concatenate(found))
    return starts, cluster_ends(breaks, starts)


def _presentation(codepoints: U32, triggers: Indices, breaks: Bools) -> Indices:
    """Clusters that begin with a presentation emoji or a flag."""
    own = tables.emoji_table()[codepoints[triggers]]
    starts = triggers[(own & IS_PRESENTATION != 0) & breaks[triggers]]
    after = np.minimum(starts + 1, len(codepoints) - 1)
    goes_on = (starts + 1 < len(codepoints)) & ~breaks[after]
    follower, first = codepoints[after], codepoints[starts]
    flag = (first >= _INDICATORS[0]) & (first <= _INDICATORS[1])
    paired = goes_on & (follower >= _INDICATORS[0]) & (follower <= _INDICATORS[1])
    text_style = goes_on & (follower == tables.TEXT_SELECTOR)
    found: Indices = starts[np.where(flag, paired, ~text_style)]
    return found


def _bases_before(codepoints: U32, triggers: Indices, breaks: Bools) -> Indices:
    """Clusters whose first character becomes emoji by the second: FE0F, a modifier, a keycap, ZWJ and an emoji."""
    table = tables.emoji_table()
    seconds = triggers[triggers > 0]
    seconds = seconds[~breaks[seconds] & breaks[seconds - 1]]
    second, base = codepoints[seconds], codepoints[seconds - 1]
    properties = table[base]
    hit = (second == tables.EMOJI_SELECTOR) & (properties & IS_EMOJI != 0)
    hit |= (table[second] & IS_MODIFIER != 0) & (properties & IS_MODIFIER_BASE != 0)
    hit |= (second == tables.KEYCAP) & np.isin(base, _KEYCAP_BASES)
    third = np.minimum(seconds + 1, len(codepoints) - 1)
    joined = (seconds + 1 < len(codepoints)) & ~breaks[third] & (table[codepoints[third]] & IS_EMOJI != 0)
    hit |= (second == tables.ZWJ) & (properties & IS_EMOJI != 0) & joined
    starts: Indices = seconds[hit] - 1
    return starts


def _tagged(codepoints: U32, cancels: Indices, breaks: Bools) -> Indices:
    """Clusters `emoji tag+ cancel`, the part of ED-14a that the other rules do not find."""
    starts = cluster_starts(breaks, cancels)
    tags = np.flatnonzero((codepoints >= _TAG_SPEC[0]) & (codepoints <= _TAG_SPEC[1]))
    n_tags = np.searchsorted(tags, cancels) - np.searchsorted(tags, starts + 1)
    emoji = tables.emoji_table()[codepoints[starts]] & IS_EMOJI != 0
    found: Indices = starts[emoji & (n_tags > 0) & (n_tags == cancels - starts - 1)]
    return found
