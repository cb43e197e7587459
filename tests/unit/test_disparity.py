"""Premiums, the Gini coefficient, and which units and languages are compared."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byteroute_ops.budgets.disparity import align, disparity, gini
from byteroute_ops.errors import ConfigError

costs = st.lists(st.integers(0, 10**9), min_size=1, max_size=40)


@given(costs)
def test_gini_equals_its_definition(values: list[int]) -> None:
    """The sorted form equals the sum over all pairs, divided by 2 n² times the mean."""
    pairs = sum(abs(a - b) for a in values for b in values)
    if sum(values):
        assert gini(values) == pytest.approx(pairs / (2 * len(values) * sum(values)), abs=1e-12)
    else:
        assert math.isnan(gini(values))


@given(costs.filter(any), st.floats(0.001, 1000))
def test_gini_has_no_unit(values: list[int], factor: float) -> None:
    """Counting in thousands, or money, changes nothing; neither does the order."""
    assert gini([value * factor for value in reversed(values)]) == pytest.approx(gini(values), abs=1e-9)


def test_gini_knows_its_bounds() -> None:
    """Equal costs give 0; all on one of n languages gives (n - 1) / n; nothing to compare gives NaN."""
    assert gini([7] * 9) == pytest.approx(0, abs=1e-15)
    assert gini([0] * 9 + [5]) == pytest.approx(0.9)
    assert math.isnan(gini([]))


def test_gini_can_be_gamed_and_the_total_shows_it() -> None:
    """Adding the same cost to every language lowers the Gini coefficient; the total beside it says at what price."""
    plain = disparity({"en": 100, "my": 500}, "en")
    dear = disparity({"en": 600, "my": 1000}, "en")
    assert dear.gini < plain.gini
    assert dear.total > plain.total


def test_premiums_are_relative_to_the_reference() -> None:
    """Each cost is divided by the reference's, dearest first, ties by name; percentiles are of premiums."""
    found = disparity({"b": 20, "en": 10, "a": 20, "zh": 5, "my": 90}, "en")
    assert list(found.premium.items()) == [("my", 9.0), ("a", 2.0), ("b", 2.0), ("en", 1.0), ("zh", 0.5)]
    assert (found.maximum, found.median, found.minimum, found.total) == (9.0, 2.0, 0.5, 145)
    assert found.spread == 18
    assert found.p90 == 9


def test_ninetieth_percentile_is_a_premium_that_occurs() -> None:
    """Nine of ten languages pay at most p90, and fewer would with any smaller premium."""
    values = {f"l{i}": i for i in range(1, 21)}
    found = disparity(values, "l1")
    assert found.p90 == 18
    assert sum(value <= found.p90 for value in found.premium.values()) == 18


def test_a_language_that_costs_nothing() -> None:
    """The spread is infinite, not an error."""
    assert disparity({"en": 10, "x": 0}, "en").spread == math.inf


@pytest.mark.parametrize("values", [{"de": 1}, {"en": 0, "de": 1}])
def test_reference_must_have_a_cost(values: dict[str, float]) -> None:
    """Without the reference, or with nothing to divide by, the message names it."""
    with pytest.raises(ConfigError, match="'en'"):
        disparity(values, "en")


def test_alignment_leaves_no_hole() -> None:
    """Rare units go first, then languages that lack one of the rest; both are listed."""
    units = {f"l{i:02d}": {"1", "2"} for i in range(18)}
    units |= {"en": {"1", "2", "rare"}, "short": {"1"}}
    found = align(units, "en")
    assert found.units == ("1", "2")
    assert found.dropped_units == ("rare",)
    assert found.dropped_languages == {"short": 1}
    assert set(found.languages) == set(units) - {"short"}


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("12345")), min_size=1), st.floats(0, 1))
def test_every_compared_language_has_every_unit(units: dict[str, set[str]], coverage: float) -> None:
    """The grid is full, the reference is in it, and nothing disappears without being listed."""
    found = align(units | {"en": {"1", "2"}}, "en", coverage=coverage)
    everything = units | {"en": {"1", "2"}}
    assert "en" in found.languages
    assert all(set(found.units) <= set(everything[lang]) for lang in found.languages)
    assert sorted([*found.languages, *found.dropped_languages]) == sorted(everything)
    assert sorted([*found.units, *found.dropped_units]) == ["1", "2"]


def test_alignment_names_what_it_cannot_use() -> None:
    """An unknown reference lists what there is; a coverage out of range is named."""
    with pytest.raises(ConfigError, match=r"'fr'.*de, en"):
        align({"en": {"1"}, "de": {"1"}}, "fr")
    with pytest.raises(ConfigError, match=r"1\.5"):
        align({"en": {"1"}}, "en", coverage=1.5)


def test_gini_takes_arrays() -> None:
    """NumPy arrays of any integer type do as well as lists, and are not changed."""
    values = np.array([3, 1, 2], np.uint8)
    assert gini(values) == pytest.approx(gini([3, 1, 2]))
    assert values.tolist() == [3, 1, 2]
