"""What holds for histograms of any values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from byteroute_ops.budgets.histogram import Histogram, bounds, bucket_of

values = st.lists(st.one_of(st.integers(0, 300), st.integers(0, (1 << 63) - 1)), max_size=60)


def of(numbers: list[int]) -> Histogram:
    """Returns the histogram of a list of values."""
    return Histogram.of(np.array(numbers, np.int64))


def plain_bucket(value: int) -> int:
    """Returns the bucket by the definition, one value at a time."""
    shift = max(value.bit_length() - 7, 0)
    return 64 * shift + (value >> shift)


@given(values)
def test_buckets_agree_with_the_plain_definition(numbers: list[int]) -> None:
    """The vectorised bucket equals the plain one, and the value lies within its bounds."""
    buckets = bucket_of(np.array(numbers, np.int64)).tolist()
    assert buckets == [plain_bucket(value) for value in numbers]
    assert all(bounds(b)[0] <= value < bounds(b)[1] for b, value in zip(buckets, numbers, strict=True))


@given(values, values, values)
def test_merge_is_associative_and_commutative(a: list[int], b: list[int], c: list[int]) -> None:
    """Any order and grouping of merges gives the histogram of all values."""
    assert of(a).merge(of(b)).merge(of(c)) == of(c).merge(of(b).merge(of(a))) == of(a + b + c)


@given(values.filter(bool), st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.5, 0.7, 0.9, 0.99, 1.0]))
def test_quantiles_are_within_one_percent(numbers: list[int], q: float) -> None:
    """A quantile is within 1/128 of the order statistic that it estimates."""
    true = float(np.quantile(np.array(numbers, np.float64), q, method="inverted_cdf"))
    # NumPy ranks by q * n in floating point: 0.7 * 10 is above 7. Whole ranks are ours exactly.
    if abs(q * len(numbers) - round(q * len(numbers))) < 1e-9:
        true = float(sorted(numbers)[max(round(q * len(numbers)), 1) - 1])
    assert abs(of(numbers).quantile(q) - true) <= true / 128 * (1 + 1e-12)


@given(values, st.integers(0, 62))
def test_counts_from_powers_of_two_are_exact(numbers: list[int], bits: int) -> None:
    """`documents_from` is exact where a bucket begins."""
    assert of(numbers).documents_from(1 << bits) == sum(value >= 1 << bits for value in numbers)
