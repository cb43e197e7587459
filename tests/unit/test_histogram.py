"""Buckets and histograms of tokens per document."""

import itertools
import math

import numpy as np
import pytest

from byteroute_ops.budgets.histogram import EXACT_BELOW, N_BUCKETS, Histogram, bounds, bucket_of, representative
from byteroute_ops.errors import ConfigError

LARGEST = (1 << 63) - 1


def test_buckets_tile_all_values() -> None:
    """Buckets follow each other without gap or overlap, from 0 to the largest int64."""
    edges = [bounds(bucket) for bucket in range(N_BUCKETS)]
    assert edges[0][0] == 0
    assert all(left[1] == right[0] for left, right in itertools.pairwise(edges))
    assert edges[-1][1] == LARGEST + 1


def test_first_and_last_value_of_every_bucket_map_back() -> None:
    """`bucket_of` agrees with `bounds` at both ends of each bucket, beyond 2**53 too."""
    edges = [bounds(bucket) for bucket in range(N_BUCKETS)]
    every = np.arange(N_BUCKETS)
    assert bucket_of(np.array([lo for lo, _ in edges])).tolist() == every.tolist()
    assert bucket_of(np.array([hi - 1 for _, hi in edges])).tolist() == every.tolist()


def test_small_values_are_exact() -> None:
    """Each value below 128 has a bucket of its own, numbered like it."""
    small = np.arange(EXACT_BELOW)
    assert bucket_of(small).tolist() == small.tolist()
    assert [representative(value) for value in range(EXACT_BELOW)] == small.tolist()


def test_midpoints_are_within_one_percent() -> None:
    """The midpoint differs from the ends of its bucket by at most 1/128 of them."""
    for bucket in range(EXACT_BELOW, N_BUCKETS):
        lo, hi = bounds(bucket)
        assert representative(bucket) - lo <= lo / 128
        assert hi - 1 - representative(bucket) <= lo / 128


def test_powers_of_two_begin_buckets() -> None:
    """The usual context lengths are bucket boundaries, so counts above them are exact."""
    for bits in range(63):
        assert bounds(int(bucket_of(np.array([1 << bits]))[0]))[0] == 1 << bits


def test_wrong_input_is_refused() -> None:
    """Negative values, unknown buckets and quantiles beyond 1 are errors that show the value."""
    with pytest.raises(ValueError, match="found -3"):
        bucket_of(np.array([1, -3]))
    with pytest.raises(ValueError, match=str(N_BUCKETS)):
        bounds(N_BUCKETS)
    with pytest.raises(ConfigError, match=r"1\.5"):
        Histogram.zero().quantile(1.5)


@pytest.mark.parametrize("pairs", [[(1, 0)], [(-1, 1)], [(N_BUCKETS, 1)], [(2, 1), (2, 3)]])
def test_damaged_pairs_are_refused(pairs: list[tuple[int, int]]) -> None:
    """Empty, unknown and repeated buckets do not become a histogram."""
    with pytest.raises(ValueError, match=f"bucket {pairs[-1][0]}"):
        Histogram.from_pairs(pairs)


def test_pairs_round_trip_in_any_order() -> None:
    """`from_pairs` sorts; `to_pairs` gives the pairs back."""
    histogram = Histogram.from_pairs([(300, 2), (5, 1)])
    assert histogram.to_pairs() == [(5, 1), (300, 2)]
    assert histogram == Histogram.from_pairs(histogram.to_pairs())
    assert histogram.n_documents == 3


def test_quantiles_of_exact_values() -> None:
    """Quantiles of small values are the order statistics themselves, whatever the rounding of q * n."""
    histogram = Histogram.of(np.arange(1, 11))
    assert [histogram.quantile(k / 10) for k in range(11)] == [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]


def test_no_documents() -> None:
    """An empty histogram has no quantile and is neutral in a merge."""
    assert math.isnan(Histogram.zero().quantile(0.5))
    one = Histogram.of(np.array([7, 9000]))
    assert Histogram.zero().merge(one) == one == one.merge(Histogram.zero())


def test_documents_from_counts_at_powers_of_two() -> None:
    """Documents of at least 2,048 tokens are counted exactly."""
    histogram = Histogram.of(np.array([2046, 2047, 2048, 2049, 100_000]))
    assert [histogram.documents_from(value) for value in (0, 2048, 32_768, 1 << 20)] == [5, 3, 1, 0]
