"""Mergeable histograms of tokens per document, with buckets that grow with the value.

The buckets are log-linear, the scheme of HdrHistogram: values below 128 have a bucket each; from there on
every power of two is cut into 64 equal buckets. A bucket's midpoint is therefore within 1/128 (0.78 %) of
every value in it. The boundaries are fixed, so histograms of different files, workers and runs merge by
adding counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from ..errors import ConfigError

Ints = npt.NDArray[np.int64]

SUB_BUCKETS: Final = 64
"""Buckets per power of two."""

EXACT_BELOW: Final = 2 * SUB_BUCKETS
"""Smaller values have a bucket of their own."""

_STEPS: Final = np.array([1 << bits for bits in range(7, 63)], dtype=np.int64)
# Where buckets double their width. A float logarithm would be shorter and wrong near 2**53 and above.

N_BUCKETS: Final = SUB_BUCKETS * (len(_STEPS) + 2)
"""Bucket numbers are 0 to N_BUCKETS - 1; the last one ends at the largest int64."""


def bucket_of(values: Ints) -> npt.NDArray[np.int32]:
    """Returns the bucket number of every value.

    Args:
        values: int64[n], none negative.

    Returns:
        int32[n], in ascending order of value.

    Raises:
        ValueError: a value is negative.

    >>> bucket_of(np.array([0, 127, 128, 129, 130, 1 << 40])).tolist()
    [0, 127, 128, 128, 129, 2240]
    """
    values = np.asarray(values, dtype=np.int64)
    if values.size and values.min() < 0:
        raise ValueError(f"a histogram counts values from 0 on, found {values.min()}")
    shift = np.searchsorted(_STEPS, values, side="right")
    return (SUB_BUCKETS * shift + (values >> shift)).astype(np.int32)


def bounds(bucket: int) -> tuple[int, int]:
    """Returns the half-open interval `[lo, hi)` of the values of a bucket.

    Raises:
        ValueError: no bucket has that number.

    >>> bounds(127), bounds(128), bounds(2240)
    ((127, 128), (128, 130), (1099511627776, 1116691496960))
    """
    if not 0 <= bucket < N_BUCKETS:
        raise ValueError(f"bucket {bucket} is not between 0 and {N_BUCKETS - 1}")
    shift = max(bucket // SUB_BUCKETS - 1, 0)
    lo = (bucket - SUB_BUCKETS * shift) << shift
    return lo, lo + (1 << shift)


def representative(bucket: int) -> float:
    """Returns the midpoint of a bucket's values, within 1/128 of each of them.

    >>> representative(5), representative(128)
    (5.0, 128.5)
    """
    lo, hi = bounds(bucket)
    return (lo + hi - 1) / 2


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many documents fall into each bucket; buckets without a document are left out.

    Attributes:
        buckets: int32[k], ascending.
        documents: int64[k], each at least 1.
    """

    buckets: npt.NDArray[np.int32]
    documents: Ints

    @classmethod
    def zero(cls) -> Self:
        """Returns the histogram of no documents."""
        return cls(np.empty(0, np.int32), np.empty(0, np.int64))

    @classmethod
    def of(cls, values: Ints) -> Self:
        """Returns the histogram of one value a document.

        >>> Histogram.of(np.array([3, 200, 3, 201])).to_pairs()
        [(3, 2), (164, 2)]
        """
        buckets, documents = np.unique(bucket_of(values), return_counts=True)
        return cls(buckets, documents.astype(np.int64))

    @classmethod
    def from_pairs(cls, pairs: Sequence[tuple[int, int]]) -> Self:
        """Returns the histogram of (bucket, documents) pairs, in any order.

        Raises:
            ValueError: a bucket number is out of range or comes twice, or a count is below 1.
        """
        table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        buckets, documents = table[:, 0], table[:, 1]
        outside = (buckets < 0) | (buckets >= N_BUCKETS) | (documents < 1)
        outside[1:] |= buckets[1:] == buckets[:-1]
        if outside.any():
            bucket, count = table[outside.argmax()].tolist()
            raise ValueError(f"bucket {bucket} with {count} documents: out of range, repeated or empty")
        return cls(buckets.astype(np.int32), documents.copy())

    def to_pairs(self) -> list[tuple[int, int]]:
        """Returns (bucket, documents) pairs in ascending order."""
        return list(zip(self.buckets.tolist(), self.documents.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and self.to_pairs() == other.to_pairs()

    def __hash__(self) -> int:
        return hash(tuple(self.to_pairs()))

    @property
    def n_documents(self) -> int:
        """All documents counted."""
        return int(self.documents.sum())

    def merge(self, other: "Histogram") -> "Histogram":
        """Returns the histogram of both sets of documents.

        >>> Histogram.of(np.array([1, 2])).merge(Histogram.of(np.array([2]))).to_pairs()
        [(1, 1), (2, 2)]
        """
        buckets, place = np.unique(np.concatenate([self.buckets, other.buckets]), return_inverse=True)
        documents = np.zeros(len(buckets), np.int64)
        np.add.at(documents, place, np.concatenate([self.documents, other.documents]))
        return Histogram(buckets, documents)

    def quantile(self, q: float) -> float:
        """Returns an estimate of the smallest value that at least the share `q` of the documents do not exceed.

        Exact below 128, within 1/128 of the true value above; NaN where there are no documents.

        Raises:
            ConfigError: `q` is not between 0 and 1.

        >>> h = Histogram.of(np.arange(1, 101))
        >>> h.quantile(0.5), h.quantile(0.9), h.quantile(1)
        (50.0, 90.0, 100.0)
        """
        if not 0 <= q <= 1:
            raise ConfigError(f"quantile {q!r} is not between 0 and 1")
        if not len(self.buckets):
            return float("nan")
        total = self.documents.cumsum()
        # The rank is counted from 1: q = 0 is the smallest document. Rounded, as 0.7 * 10 is a little above 7.
        rank = max(math.ceil(round(q * int(total[-1]), 6)), 1)
        return representative(int(self.buckets[np.searchsorted(total, rank)]))

    def documents_from(self, value: int) -> int:
        """Returns the number of documents with at least `value` tokens.

        Exact where a bucket begins at `value`: up to 128 and at every power of two. Elsewhere the documents
        of the bucket that holds `value` are counted when its midpoint reaches it.

        >>> Histogram.of(np.array([2047, 2048, 9000])).documents_from(2048)
        2
        """
        return sum(count for bucket, count in self.to_pairs() if representative(bucket) >= value)
