"""Is a difference in cost more than noise? A bootstrap over documents that fits in memory whatever the corpus.

Poisson bootstrap (Hanley and MacGibbon 2006; Chamandy et al. 2012): in each replicate every document counts Poisson(1)
times, which is what drawing n of n documents tends to as n grows, and needs no pass to learn n. A document's
weights come from a hash of its key, so they are the same for every policy and tokenizer (differences are
paired), in every batch and in any order. Sums of counts are exact, so the result is too.

The interval is the expanded percentile interval (Hesterberg 2015, section 5.3): for n documents the percentiles are
those that a t interval with n - 1 degrees of freedom would take, since plain percentiles are too narrow for small n.

What the interval says: how much the figure moves when other documents of the same kind are drawn. Documents
count as independent: translations of one text, or pieces of one book, make it too narrow.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Weights = npt.NDArray[np.uint8]

REPLICATES: Final = 1000
CONFIDENCE: Final = 0.95
SEED: Final = 0
MIN_DOCUMENTS: Final = 5
"""With fewer documents the replicates say little: there is no interval and no verdict."""

Group = TypeVar("Group", bound=Hashable)
Verdict = Literal["fewer", "more", "none", "few documents"]

_CHUNK_DOCS: Final = 512
_NORMAL: Final = NormalDist()
_GAMMA: Final = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Estimate:
    """What routing saves, as a fraction of what UTF-8 costs; negative where it costs more.

    Attributes:
        saving: on the documents that were seen; None where UTF-8 costs nothing.
        low: lower end of the interval; None where there is none.
        high: upper end.
        verdict: `fewer` or `more` units where the interval lies on one side of 0, `none` where it does not,
            `few documents` where there is no interval.
    """

    saving: float | None
    low: float | None
    high: float | None
    verdict: Verdict


def _poisson_table() -> Weights:
    """Returns the Poisson(1) quantile of every 16-bit number: uint8[65536]."""
    probabilities = [math.exp(-1) / math.factorial(k) for k in range(10)]
    points = (np.arange(1 << 16) + 0.5) / (1 << 16)
    return np.asarray(np.searchsorted(np.cumsum(probabilities), points), np.uint8)


_POISSON: Final = _poisson_table()


def poisson_weights(keys: npt.NDArray[np.uint64], replicates: int, seed: int = SEED) -> Weights:
    """Returns how often each document counts in each replicate: uint8[n_docs, replicates].

    Each is the Poisson(1) quantile of 16 bits of SplitMix64 (Steele, Lea, Flood 2014) seeded by the key. The
    table's mean is 1 to four digits.

    Args:
        keys: uint64[n_docs], a hash of each document; equal keys give equal weights.
        replicates: how many.
        seed: another one gives other weights.

    >>> poisson_weights(np.array([1, 2, 1], np.uint64), 6).tolist()
    [[3, 1, 0, 0, 2, 0], [1, 1, 0, 1, 1, 1], [3, 1, 0, 0, 2, 0]]
    """
    n_words = -(-replicates // 4)
    steps = np.arange(1, n_words + 1, dtype=np.uint64) * np.uint64(_GAMMA)
    start = _mixed(keys ^ _mixed(np.array([seed + 1], np.uint64)))
    words = _mixed(start[:, None] + steps[None, :])
    weights: Weights = _POISSON[words.astype("<u8").view("<u2")][:, :replicates]
    return weights


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64's output function; wraps at 2**64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def expanded_tail(confidence: float, n_documents: int) -> float:
    """Returns the share of replicates to leave out at either end: Phi(-sqrt(n / (n - 1)) t), t with n - 1 degrees.

    Args:
        confidence: of the interval.
        n_documents: at least `MIN_DOCUMENTS`.

    >>> round(expanded_tail(0.95, 10_000), 4), round(expanded_tail(0.95, 10), 4)
    (0.025, 0.0086)
    """
    z, v = _NORMAL.inv_cdf((1 + confidence) / 2), n_documents - 1
    # Abramowitz and Stegun 26.7.5, to the third order: for v = 4 and 95 % 2.77 for 2.78.
    t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    return _NORMAL.cdf(-math.sqrt(n_documents / v) * t)


class Resampled(Generic[Group]):
    """Sums of several measures by group, on the documents seen and on every replicate of them.

    Memory: 8 bytes for each group, drawn measure and replicate, and a few MiB while adding; nothing grows with
    documents.

    Args:
        n_measures: how many values a cell has.
        n_drawn: how many of them, the first ones, are summed on replicates too; None: all.
        replicates: of the bootstrap.
        seed: of the weights.
    """

    def __init__(
        self, n_measures: int, n_drawn: int | None = None, *, replicates: int = REPLICATES, seed: int = SEED
    ) -> None:
        self._n_drawn = n_measures if n_drawn is None else n_drawn
        self._replicates, self._seed = replicates, seed
        self._rows: dict[Group, int] = {}
        self._documents = np.zeros(0, np.int64)
        self._sums = np.zeros((0, n_measures), np.int64)
        self._draws = np.zeros((0, self._n_drawn, replicates), np.float64)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in the order in which they came."""
        return tuple(self._rows)

    def add(
        self, groups: Sequence[Group], group: Int64, doc: Int64, values: Int64, keys: npt.NDArray[np.uint64]
    ) -> None:
        """Adds a batch.

        Args:
            groups: what the numbers in `group` stand for.
            group: int64[n_cells].
            doc: int64[n_cells], in any order; a document has at most one cell of a group.
            values: int64[n_measures, n_cells]; sums over all documents stay below 2**53.
            keys: uint64[n_docs].
        """
        in_order = np.argsort(doc, kind="stable")
        group, doc, values = group[in_order], doc[in_order], values[:, in_order]
        used, place = np.unique(group, return_inverse=True)
        rows = self._rows_of([groups[i] for i in used.tolist()])[place]
        np.add.at(self._documents, rows, 1)
        np.add.at(self._sums, rows, values.T)
        for first in range(0, len(keys), _CHUNK_DOCS):
            chunk = keys[first : first + _CHUNK_DOCS]
            weights = poisson_weights(chunk, self._replicates, self._seed).astype(np.float64)
            low, high = np.searchsorted(doc, [first, first + _CHUNK_DOCS])
            order = low + np.argsort(rows[low:high], kind="stable")
            bounds = np.flatnonzero(np.diff(rows[order], prepend=-1, append=-1))
            for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                cells = order[start:end]
                # Whole numbers below 2**53, so the product is exact in any order.
                drawn = values[: self._n_drawn, cells].astype(np.float64) @ weights[doc[cells] - first]
                self._draws[rows[cells[0]]] += drawn

    def _rows_of(self, groups: Sequence[Group]) -> Int64:
        rows = np.array([self._rows.setdefault(one, len(self._rows)) for one in groups], np.int64)
        missing = len(self._rows) - len(self._documents)
        if missing:
            self._documents = np.pad(self._documents, (0, missing))
            self._sums = np.pad(self._sums, ((0, missing), (0, 0)))
            self._draws = np.pad(self._draws, ((0, missing), (0, 0), (0, 0)))
        return rows

    def documents(self, group: Group) -> int:
        """Returns the documents with a cell of the group."""
        return int(self._documents[self._rows[group]])

    def total(self, group: Group, measure: int) -> int:
        """Returns the sum of a measure over the documents seen."""
        return int(self._sums[self._rows[group], measure])

    def saving(self, group: Group, base: int, other: int, confidence: float = CONFIDENCE) -> Estimate:
        """Returns how much less `other` is than `base`, as a fraction of `base`: a percentile interval.

        Replicates that drew no document of the group have no ratio and are left out.
        """
        row = self._rows[group]
        before, after = self._sums[row, base], self._sums[row, other]
        if not before:
            return Estimate(None, None, None, "more" if after else "none")
        saving = float(1 - after / before)
        drawn = self._draws[row, base] > 0
        if self._documents[row] < MIN_DOCUMENTS or not drawn.any():
            return Estimate(saving, None, None, "few documents")
        ratios = 1 - self._draws[row, other, drawn] / self._draws[row, base, drawn]
        tail = expanded_tail(confidence, int(self._documents[row]))
        low, high = (float(end) for end in np.quantile(ratios, [tail, 1 - tail]))
        return Estimate(saving, low, high, "fewer" if low > 0 else "more" if high < 0 else "none")
