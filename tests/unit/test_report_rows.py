"""What the report derives from rows of a budget table, and how numbers are spelled."""

import itertools

import numpy as np
import pytest
from byteroute.pipelines.report.rows import WINDOWS, bin_end, bin_start, change, coarse_bins, make_row, ratio, total_of
from byteroute.pipelines.report.show import SPACE, compact, show
from hypothesis import given
from hypothesis import strategies as st
from report_support import budget_row

from byteroute_ops.budgets import Histogram
from byteroute_ops.budgets.histogram import bounds, bucket_of

values = st.lists(st.integers(0, 2**40), min_size=1, max_size=60)


@given(st.integers(0, 2**40))
def test_bins_tile_all_values(value: int) -> None:
    """Every value lies in exactly one bin, and the next bin begins where it ends."""
    start = bin_start(value)
    assert start <= value < bin_end(start)
    assert bin_start(start) == start
    assert bin_start(bin_end(start)) == bin_end(start)


@given(values)
def test_coarse_bins_are_exact(tokens: list[int]) -> None:
    """A bin of the chart holds the documents whose tokens lie in it, though it is made of buckets."""
    bins = coarse_bins(Histogram.of(np.array(tokens)))
    for start, documents in bins:
        assert documents == sum(start <= n < bin_end(start) for n in tokens)
    assert sum(documents for _, documents in bins) == len(tokens)


@pytest.mark.parametrize("window", WINDOWS)
def test_context_lengths_are_exact(window: int) -> None:
    """A histogram bucket begins at each context length, so that one token less is not counted."""
    assert bounds(int(bucket_of(np.array([window]))[0]))[0] == window
    row = budget_row("t", "lang", "en", 0)
    pairs = Histogram.of(np.array([window - 1, window, window + 1])).to_pairs()
    row["text_token_histogram"] = [{"bucket": bucket, "documents": n} for bucket, n in pairs]
    assert make_row(row, "en", tokens=1, characters=1).above[window] == 2


def test_ratios_need_something_to_divide_by() -> None:
    """No characters, no routed ids: None, and no error."""
    assert ratio(1, 0) is ratio(None, 1) is change(0, 1) is change(1, None) is None
    empty = budget_row("t", "script", "Latn", 0) | {"n_routed_tokens": None}
    row = make_row(empty, "Latn", tokens=0, characters=0)
    assert row.tokens_per_character is row.token_share is row.tokens_change is row.routed_tokens_per_character is None
    assert row.quantiles == row.above == {}


def test_total_is_the_sum_of_its_rows() -> None:
    """Counts and histograms add up; routed tokens are None where one row has none."""
    rows = [budget_row("t", "lang", name, n) for name, n in (("a", 4), ("b", 9))]
    total = total_of(rows)
    assert total["documents"] == 13
    assert total["n_text_tokens"] == rows[0]["n_text_tokens"] + rows[1]["n_text_tokens"]
    assert sum(pair["documents"] for pair in total["text_token_histogram"]) == 13
    assert total_of([rows[0], rows[1] | {"n_routed_tokens": None}])["n_routed_tokens"] is None


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (0, "share", "0 %"),
        (1, "share", "100 %"),
        (0.123456, "share", "12.3 %"),
        (0.0004, "change", "0.0 %"),
        (-0.0004, "change", "0.0 %"),
        (12.5, "change", "+1,250.0 %"),
        (0, "ratio", "0.000"),
        (0.00001234, "number", "1.23e−05"),
        (1234.5, "ratio", "1,234"),
        (123.4, "factor", "123×"),
        (float("inf"), "factor", "∞×"),
        (float("nan"), "ratio", "–"),
        (999, "bytes", "999 B"),
        (1_234_000_000, "bytes", "1.23 GB"),
        ("<b>", "text", "<b>"),
    ],
)
def test_numbers_as_text(value: object, kind: str, shown: str) -> None:
    """Three figures, real minus signs, a number and its unit never apart."""
    assert show(value, kind) == shown.replace(" ", SPACE)  # type: ignore[arg-type]


def test_axis_labels() -> None:
    """Powers of two are named as context lengths are."""
    assert [compact(v) for v in (0, 512, 1024, 32768, 1 << 20, 1500, 2e9)] == [
        "0",
        "512",
        "1k",
        "32k",
        "1Mi",
        "1.5k",
        "2G",
    ]


def test_bins_of_a_row_follow_each_other() -> None:
    """Bins come in ascending order and do not overlap."""
    bins = make_row(budget_row("t", "lang", "en", 50), "en", tokens=1, characters=1).bins
    assert all(bin_end(left[0]) <= right[0] for left, right in itertools.pairwise(bins))
