"""Pre-tokens: where no token may reach across, the same places in text and in routed bytes.

A regular expression is run over the clean text only. Its boundaries, and those of the routed segments, are carried over
to the routed stream code point by code point, so a tokenizer that is trained on routed bytes differs from one that is
trained on text in the bytes and in nothing else. Markers, escapes and barriers are pre-tokens of their own, as when
routed streams are tokenized (`tokenization.routed`).
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, pre_tokenizers

from byteroute_ops.encoders import BYTE_ALPHABET, UTF8_ID, framing_named, payload_widths
from byteroute_ops.routing import Routed
from byteroute_ops.segmentation import Segmentation
from byteroute_ops.tokenization.routed import routed_pieces

Int64 = npt.NDArray[np.int64]

PATTERN: Final = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""The expression of GPT-4o's o200k: it keeps marks (category M) with their letters, so no Indic word is cut at one."""

SEPARATOR: Final = " "
"""Stands between spelled pre-tokens; no character of the byte alphabet."""

_SPELLED: Final = np.array([ord(char) for char in BYTE_ALPHABET], "<u4")
_CHUNK: Final = 1 << 16


def splitter() -> pre_tokenizers.PreTokenizer:
    """Returns the pre-tokenizer of `PATTERN`; nothing is dropped."""
    return pre_tokenizers.Split(Regex(PATTERN), "isolated")


def regex_cuts(texts: Sequence[str]) -> Int64:
    """Returns where the pre-tokens of `PATTERN` begin: int64[k], code points of the texts back to back, ascending.

    >>> regex_cuts(["I can't, 再见!", "ok"]).tolist()
    [0, 1, 7, 8, 11, 12]
    """
    split = splitter()
    places: list[int] = []
    base = 0
    for text in texts:
        places += [base + span[0] for _, span in split.pre_tokenize_str(text)]
        base += len(text)
    return np.array(places, np.int64)


def stream_places(routed: Routed, seg: Segmentation) -> tuple[Int64, Int64]:
    """Returns where each code point of a batch stands in the routed streams, and in how many bytes.

    An escape belongs to the code point that it precedes; markers and barriers belong to none.

    Returns:
        int64[n_cp], bytes in `Routed.data`, and int64[n_cp].
    """
    low = seg.doc_cp[routed.row_doc] + routed.row_text_start
    n_codepoints = routed.row_text_end - routed.row_text_start
    framing = framing_named(routed.router.framing)
    widths = np.diff(seg.cp_byte).astype(np.int64)
    if len(framing.literals):
        literal = (seg.codepoints >= framing.literals.start) & (seg.codepoints < framing.literals.stop)
        widths[literal] += len(framing.escape)
    in_payload = np.repeat(routed.row_encoding != UTF8_ID, n_codepoints)
    widths[in_payload] = payload_widths(seg.codepoints[in_payload], routed.router.profile)
    total = np.concatenate([[0], np.cumsum(widths)])
    base = routed.doc_routed[routed.row_doc] + routed.row_start - total[low]
    return total[:-1] + np.repeat(base, n_codepoints), widths


def text_cuts(seg: Segmentation, cuts: Int64, routed: Routed | None = None) -> Int64:
    """Returns where pre-tokens of the text begin: int64[k], bytes in `Segmentation.utf8`.

    Args:
        seg: the batch.
        cuts: of `regex_cuts`.
        routed: its streams: text is cut at the edges of their segments, and at escapes, too. None: at `cuts` alone.
    """
    if routed is None:
        return seg.cp_byte[cuts]
    starts, _ = stream_places(routed, seg)
    edges = np.flatnonzero(np.isin(starts, routed_pieces(routed).starts))
    return seg.cp_byte[np.union1d(cuts, edges)]


def routed_cuts(seg: Segmentation, cuts: Int64, routed: Routed) -> Int64:
    """Returns where pre-tokens of the routed streams begin: int64[k], bytes in `Routed.data`.

    Args:
        seg: the batch.
        cuts: of `regex_cuts`.
        routed: its streams.
    """
    starts, _ = stream_places(routed, seg)
    return np.union1d(starts[cuts], routed_pieces(routed).starts)


def spelled(data: npt.NDArray[np.uint8], cuts: Int64) -> Iterator[str]:
    r"""Yields bytes in the byte alphabet with a `SEPARATOR` between pre-tokens, many of them in one string.

    >>> list(spelled(np.frombuffer(b"a \xff", np.uint8), np.array([0, 1])))
    ['a Ġÿ']
    """
    for first in range(0, cuts.size, _CHUNK):
        begins = cuts[first : first + _CHUNK]
        end = cuts[first + _CHUNK] if first + _CHUNK < cuts.size else data.size
        spelled_ = np.insert(_SPELLED[data[begins[0] : end]], begins[1:] - begins[0], ord(SEPARATOR))
        yield spelled_.tobytes().decode("utf-32-le")
