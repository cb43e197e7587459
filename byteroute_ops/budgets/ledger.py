"""Sums and histograms of one tokenizer under one grouping (script or language), one row a key."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..records import SCRIPT_BUDGET
from .histogram import N_BUCKETS, bucket_of

Ints = npt.NDArray[np.int64]

MEASURES: Final = ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens", "n_routed_tokens")
"""What an entry measures, in the order of the rows of `Ledger.add`'s matrix."""

_TEXT, _ROUTED = 3, 4
_HISTOGRAM: Final = SCRIPT_BUDGET.field("text_token_histogram").type
_FOLD_AT: Final = 1 << 16
# Pending codes before they are folded: folding sorts everything, so it must not happen once a batch.


class _SparseCounts:
    """How often each int64 code was seen."""

    def __init__(self) -> None:
        self._codes: list[Ints] = []
        self._counts: list[Ints] = []
        self._pending = 0

    def add(self, codes: Ints, counts: Ints | None = None) -> None:
        """Counts each code once, or `counts` times."""
        if counts is None:
            codes, counts = np.unique(codes, return_counts=True)
        self._codes.append(codes)
        self._counts.append(counts)
        self._pending += len(codes)
        if self._pending > _FOLD_AT:
            self.fold()

    def fold(self) -> tuple[Ints, Ints]:
        """Returns the codes, ascending and each once, and their counts."""
        if len(self._codes) != 1:
            joined = np.concatenate([*self._codes, np.empty(0, np.int64)])
            codes, place = np.unique(joined, return_inverse=True)
            counts = np.zeros(len(codes), np.int64)
            np.add.at(counts, place, np.concatenate([*self._counts, np.empty(0, np.int64)]))
            self._codes, self._counts = [codes], [counts]
        self._pending = 0
        return self._codes[0], self._counts[0]


class Ledger:
    """Counts of documents, measures and histograms by key. An accumulator: `add` and `merge_in` change it."""

    def __init__(self) -> None:
        self._row_of: dict[str, int] = {}
        self._sums = np.zeros((16, 1 + len(MEASURES)), np.int64)
        # A code is row * N_BUCKETS + bucket; [0] counts text tokens, [1] routed ones.
        self._histograms = (_SparseCounts(), _SparseCounts())

    def _rows(self, names: Iterable[str]) -> Ints:
        rows = np.array([self._row_of.setdefault(name, len(self._row_of)) for name in names], np.int64)
        if len(self._row_of) > len(self._sums):
            grown = np.zeros((2 * len(self._row_of), self._sums.shape[1]), np.int64)
            grown[: len(self._sums)] = self._sums
            self._sums = grown
        return rows

    def add(self, names: Sequence[str], key: Ints, values: Ints, *, routed: bool) -> None:
        """Adds entries, each one document under one key.

        Args:
            names: what the numbers in `key` stand for; names that no entry has get no row.
            key: int[n_entries], indexes into `names`.
            values: int64[5, n_entries], see `MEASURES`. Sums are exact below 2**63.
            routed: whether the last row of `values` counts anything; without it there is no routed histogram.
        """
        used, place = np.unique(key, return_inverse=True)
        row = self._rows(names[i] for i in used.tolist())[place]
        np.add.at(self._sums[:, 0], row, 1)
        for column, measured in enumerate(values, start=1):
            np.add.at(self._sums[:, column], row, measured)
        self._histograms[0].add(row * N_BUCKETS + bucket_of(values[_TEXT]))
        if routed:
            self._histograms[1].add(row * N_BUCKETS + bucket_of(values[_ROUTED]))

    def merge_in(self, other: "Ledger") -> None:
        """Adds everything that another ledger holds."""
        rows = self._rows(other._row_of)
        self._sums[rows] += other._sums[: len(rows)]
        for mine, theirs in zip(self._histograms, other._histograms, strict=True):
            codes, counts = theirs.fold()
            mine.add(rows[codes // N_BUCKETS] * N_BUCKETS + codes % N_BUCKETS, counts)

    def totals(self) -> dict[str, int]:
        """Returns the sum of each measure over all keys."""
        return dict(zip(MEASURES, self._sums[:, 1:].sum(axis=0).tolist(), strict=True))

    def to_columns(self, *, routed: bool) -> tuple[list[str], list[pa.Array]]:
        """Returns the keys, sorted, and the columns from `documents` on of a budget table."""
        names = sorted(self._row_of)
        order = self._rows(names)
        columns = [pa.array(self._sums[order, column]) for column in range(self._sums.shape[1])]
        if not routed:
            columns[-1] = pa.nulls(len(names), pa.int64())
        rank = np.empty(len(names), np.int64)
        rank[order] = np.arange(len(names))
        for histogram in self._histograms:
            codes, counts = histogram.fold()
            ranked = rank[codes // N_BUCKETS] * N_BUCKETS + codes % N_BUCKETS
            sort = np.argsort(ranked)
            offsets = np.searchsorted(ranked[sort], np.arange(len(names) + 1) * N_BUCKETS)
            buckets = (ranked[sort] % N_BUCKETS).astype(np.int32)
            pairs = pa.StructArray.from_arrays(
                [pa.array(buckets), pa.array(counts[sort])], fields=list(_HISTOGRAM.value_type)
            )
            columns.append(pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pairs, type=_HISTOGRAM))
        return names, columns

    @classmethod
    def from_rows(cls, keys: Sequence[str], table: pa.Table) -> "Ledger":
        """Returns the ledger whose `to_columns` gave these rows of a budget table, in any order.

        Raises:
            ValueError: a key comes twice, or a bucket is out of range, repeated or empty.
        """
        ledger = cls()
        rows = ledger._rows(keys)
        if len(ledger._row_of) != len(keys):
            raise ValueError(f"{len(keys) - len(ledger._row_of)} keys of a budget table come twice")
        names = ("documents", *MEASURES)
        for column, name in enumerate(names):
            ledger._sums[rows, column] = table[name].combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
        for counts, name in zip(ledger._histograms, ("text_token_histogram", "routed_token_histogram"), strict=True):
            column_of_lists = table[name].combine_chunks()
            pairs = column_of_lists.flatten()
            bucket, documents = (part.to_numpy().astype(np.int64) for part in pairs.flatten())
            codes = np.repeat(rows, column_of_lists.value_lengths().to_numpy()) * N_BUCKETS + bucket
            wrong = (bucket < 0) | (bucket >= N_BUCKETS) | (documents < 1)
            if wrong.any() or len(np.unique(codes)) < len(codes):
                raise ValueError(f"{name}: a bucket is out of range, repeated or empty")
            counts.add(codes, documents)
        return ledger
