r"""Long documents in pieces that provably give the ids of the whole.

Where. Before a character of `_MARKS` (space, newline, some punctuation) that follows a letter of `_LETTERS`: written
`letter | mark` below.

Why the ids are the same. For the pre-tokenizers of `PATTERNS` (GPT-2, cl100k, Llama 3, Qwen 2 and 3, o200k), used
alone and followed by ByteLevel, which splits nothing:

1. *There is always a boundary at the cut.* In every alternative of these expressions, what can match a letter is
   followed only by what matches letters, marks of category M, or contractions (which begin with an apostrophe).
   So no match contains `letter | mark`.
2. *The left part does not see the right one.* Matching goes from left to right, and a match that ends at or before the
   cut is found from characters before the cut, by 1 (no alternative, tried to the end, gets past it), except that
   `\s+(?!\S)` looks one character ahead; but it ends in white space, and the character before the cut is a letter.
3. *The right part does not see the left one.* The expressions have no look-behind, no anchors, no back-references:
   from a boundary on, matches depend on what follows.
4. *Nothing else looks across.* The model encodes each pre-token alone. The normalizer is none, or NFC, for which every
   character of `_MARKS` is stable: a starter that never composes with what stands before (UAX #15, section 9.1). Added
   tokens are searched in the raw text first: none may contain `letter | mark` or look at its neighbours
   (`Traits.steady`).

For BERT (BertNormalizer, BertPreTokenizer) the places are the same, and the reasons simpler: the normalizer works on
single characters, but for NFD, to which every mark is a boundary; the pre-tokenizer drops white space and isolates
punctuation, so there is a boundary before every mark; WordPiece encodes each word alone.

For XLM-R (Precompiled, perhaps then runs of spaces made one; Metaspace with `prepend_scheme` "always") the place is
before the space of `letter letter | space letter`. Precompiled maps grapheme clusters (UAX #29), and these letters and
this space are clusters of their own that it leaves alone (asked of the normalizer itself); Metaspace splits before
every space and puts none before a piece that begins with one; Unigram encodes each word alone.

A document without such a place, or with a tokenizer of which this is not known, is encoded alone.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from .source import GPT2_PATTERN, Traits

PIECE_BYTES: Final = 1 << 18
"""Documents above this are cut, into pieces of little more than this."""

_MARKS: Final = " \n.,;:!?、。，！？"
# Letters (category L) in every version of Unicode that an engine may have: all were in Unicode 2.0.
_LETTERS: Final = "A-Za-zÀ-ÖØ-öø-ıĴ-ľŁ-ňŊ-žƀ-ƺΑ-Ρα-ωА-яא-תا-غف-يก-ฮぁ-ゔァ-ヺ一-龥가-힣ა-ჶა-ჰअ-हঅ-ঌ"
_CUT: Final = re.compile(f"[{_LETTERS}](?=[{re.escape(_MARKS)}])")
_SPACE_CUT: Final = re.compile(f"[{_LETTERS}][{_LETTERS}](?= [{_LETTERS}])")
_WINDOW: Final = 1 << 16

PATTERNS: Final = frozenset(
    {
        GPT2_PATTERN,
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
        r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    }
)
"""The expressions for which points 1 to 3 were checked, as tokenizer.json files spell them."""


def cut_places(traits: Traits, is_normal: Callable[[str], bool]) -> re.Pattern[str] | None:
    """Returns where documents may be cut, behind each match; None: nothing is known for the tokenizer.

    Args:
        traits: of the tokenizer.
        is_normal: whether its normalizer leaves a text as it is.
    """
    places = None
    if traits.kind == "byte-level BPE" and traits.exact:  # no normalizer, or NFC
        patterns = traits.patterns or ()
        places = _CUT if len(patterns) == 1 and patterns[0] in PATTERNS else None
    elif traits.spaced == "BERT":
        places = _CUT
    elif traits.spaced == "Metaspace" and is_normal(_spaced_letters()):
        places = _SPACE_CUT
    if places is None or not traits.steady or any(_CUT.search(content) for content in traits.added.values()):
        return None
    return places


def cut_document(utf8: bytes, places: re.Pattern[str] = _CUT, piece_bytes: int = PIECE_BYTES) -> list[bytes]:
    """Returns a document in pieces, cut at the first fitting place after every `piece_bytes` bytes.

    >>> cut_document(b"one two three", piece_bytes=5)
    [b'one two', b' three']
    """
    pieces, first = [], 0
    while len(utf8) - first > piece_bytes:
        place = _next_cut(utf8, first + piece_bytes, places)
        if place is None:
            break
        pieces.append(utf8[first:place])
        first = place
    pieces.append(utf8[first:])
    return pieces


@cache
def _spaced_letters() -> str:
    return " ".join(re.findall(f"[{_LETTERS}]", "".join(map(chr, range(0x20, 0xD800)))))


def _next_cut(utf8: bytes, place: int, places: re.Pattern[str]) -> int | None:
    """Returns the first place for a cut from `place` on, in bytes."""
    while place < len(utf8):
        while place < len(utf8) and utf8[place] & 0xC0 == 0x80:
            place += 1
        # A window may end inside a character, and inside a match: the next one begins three characters before its end.
        text = utf8[place : place + _WINDOW].decode(errors="ignore")
        found = places.search(text)
        if found:
            return place + len(text[: found.end()].encode())
        step = len(text[:-3].encode())
        if step == 0:
            return None
        place += step
    return None
