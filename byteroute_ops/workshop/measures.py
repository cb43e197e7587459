"""What `bench` measures of a tokenizer on a corpus, as counts that add up."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from byteroute_ops.segmentation import Segmentation
from byteroute_ops.tokenization.protocol import Tokens
from byteroute_ops.workshop.vocabulary import Vocabulary

Int64 = npt.NDArray[np.int64]

ALPHA: Final = 2.5
"""The order at which Rényi efficiency went best with translation quality (Zouhar et al. 2023, section 5)."""


def renyi_efficiency(counts: npt.ArrayLike, n_ids: int, alpha: float = ALPHA) -> float:
    """Returns the Rényi entropy of the distribution of tokens over the logarithm of the vocabulary's size.

    1 where all ids are equally frequent, towards 0 where few ids do all the work: H_a = log(sum p^a) / (1 - a), and
    Shannon's entropy for a = 1. NaN for no tokens, or fewer than two ids. Source: Zouhar et al., "Tokenization and the
    Noiseless Channel", ACL 2023, definitions 3.2 and 4.3.

    Args:
        counts: how often each id occurs; ids that do not occur may be left out.
        n_ids: size of the vocabulary.
        alpha: the order.

    >>> renyi_efficiency([7, 7, 7, 7], 4), round(renyi_efficiency([2, 1, 1], 3, alpha=2), 4)
    (1.0, 0.8928)
    """
    seen = np.asarray(counts, np.float64)
    seen = seen[seen > 0]
    if not seen.size or n_ids < 2:
        return math.nan
    p = seen / seen.sum()
    entropy = -(p * np.log(p)).sum() if alpha == 1 else np.log((p**alpha).sum()) / (1 - alpha)
    return float(entropy / math.log(n_ids))


_ENDS: Final = np.array([ord(char) for char in ".!?…؟۔।॥።፧၊။។៕。！？．｡‼⁇⁈⁉"], np.uint32)
_NEED_SPACE: Final = np.array([ord(char) for char in ".!?…"], np.uint32)
_SPACES: Final = np.array([*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C), 0x2028, 0x2029, 0x3000])
_BREAKS: Final = np.array([10, 13, 0x85, 0x2028, 0x2029], np.uint32)


def count_sentences(seg: Segmentation) -> Int64:
    """Returns the sentences of every document: int64[n_docs].

    A plain rule that is the same for every tokenizer: a sentence ends at a line break, at `. ! ? …` before white space,
    or at the end mark of another script; a stretch without anything but marks and spaces is none. Scripts without such
    marks (Thai) have one a line.

    >>> from byteroute_ops.segmentation import segment_batch; import pyarrow as pa
    >>> count_sentences(segment_batch(pa.array(["One. Two 3.5!", "你好。再见。", "..."]))).tolist()
    [2, 2, 0]
    """
    codepoints, n_docs = seg.codepoints, seg.doc_cp.size - 1
    if not codepoints.size:
        return np.zeros(n_docs, np.int64)
    space, mark = np.isin(codepoints, _SPACES), np.isin(codepoints, _ENDS)
    before_space = np.append(space[1:], True)
    last = seg.doc_cp[1:][np.diff(seg.doc_cp) > 0] - 1
    before_space[last] = True
    ends = np.isin(codepoints, _BREAKS) | (mark & (before_space | ~np.isin(codepoints, _NEED_SPACE)))
    ends[last] = True
    stretch: Int64 = np.cumsum(ends) - ends
    held = np.zeros(int(stretch[-1]) + 1, np.bool_)
    held[stretch[~space & ~mark]] = True
    doc = np.searchsorted(seg.doc_cp, np.flatnonzero(ends), "right") - 1
    return np.bincount(doc[held], minlength=n_docs).astype(np.int64)


@dataclass
class Tally:
    """The tokens of one tokenizer on a corpus.

    Attributes:
        vocabulary: of the tokenizer.
        counts: int64[n_ids], how often each id occurs.
        documents: encoded.
        failed: documents on which the tokenizer raised; they count nowhere else.
        sentences: in them.
        codepoints: in them.
        units: (language, unit) → tokens, for documents of parallel data.
        repeated: languages that have a unit more than once: several languages under one tag, as a rule.
        seconds: spent encoding.
    """

    vocabulary: Vocabulary
    counts: Int64 = field(init=False)
    documents: int = 0
    failed: int = 0
    sentences: int = 0
    codepoints: int = 0
    units: dict[tuple[str, str], int] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.vocabulary.n_ids, np.int64)

    def add(
        self, tokens: Tokens, n_codepoints: Int64, n_sentences: Int64, keys: Collection[tuple[str, str] | None]
    ) -> None:
        """Adds a batch.

        Args:
            tokens: of the batch.
            n_codepoints: int64[n_docs].
            n_sentences: int64[n_docs].
            keys: language and unit of each document, or None.
        """
        good = np.ones(tokens.counts.size, np.bool_)
        good[tokens.failed] = False
        self.counts += np.bincount(tokens.ids[~tokens.added], minlength=self.counts.size)
        self.documents += int(good.sum())
        self.failed += int(tokens.failed.size)
        self.codepoints += int(n_codepoints[good].sum())
        self.sentences += int(n_sentences[good].sum())
        added = np.concatenate([[0], np.cumsum(tokens.added)])
        own = tokens.counts - np.diff(added[tokens.doc_offsets])
        for key, n_tokens in zip(keys, own.tolist(), strict=True):
            if key is None:
                continue
            if key in self.units:
                self.repeated.add(key[0])
            self.units[key] = n_tokens

    @property
    def tokens(self) -> int:
        """Tokens in all, without those that the post-processor adds."""
        return int(self.counts.sum())

    @property
    def utilisation(self) -> float:
        """Share of the vocabulary's ids that occur."""
        return int(np.count_nonzero(self.counts)) / self.vocabulary.size

    @property
    def unknown_rate(self) -> float:
        """Share of the tokens that are the unknown token."""
        return self._share(self.vocabulary.is_unknown)

    @property
    def fallback_rate(self) -> float:
        """Share of the tokens that are bytes of a character: `<0xNN>`, or byte-level tokens that are no whole UTF-8."""
        return self._share(self.vocabulary.is_fragment)

    @property
    def renyi(self) -> float:
        """Rényi efficiency at `ALPHA`."""
        return renyi_efficiency(self.counts, self.vocabulary.size)

    def _share(self, of: npt.NDArray[np.bool_]) -> float:
        return int(self.counts[of].sum()) / self.tokens if self.tokens else math.nan
