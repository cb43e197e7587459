"""How much of each language a tokenizer is trained on."""

import pytest

from byteroute_ops.errors import ConfigError
from byteroute_ops.workshop.mix import Sampler, quotas, shares


def test_temperature_evens_out() -> None:
    """At 1 the corpus' own mix stays; towards infinity all languages weigh the same."""
    available = {"en": 10_000, "my": 10}
    assert shares(available, 1) == available
    assert shares(available, 4) == {"en": pytest.approx(10), "my": pytest.approx(10**0.25)}
    even = shares(available, 1e9)
    assert even["en"] == pytest.approx(even["my"])


@pytest.mark.parametrize("temperature", [0.5, 0, float("nan")])
def test_temperature_below_one_is_refused(temperature: float) -> None:
    """A temperature that would sharpen the mix is an error."""
    with pytest.raises(ConfigError, match="below 1"):
        shares({"en": 1}, temperature)


def test_scarce_languages_give_all_and_others_make_up() -> None:
    """No language gives more than it has, and the sum is still what was asked for, one character a language aside."""
    found = quotas({"a": 10, "b": 25, "c": 1000, "d": 1000}, {"a": 1, "b": 1, "c": 1, "d": 2}, 500)
    assert found["a"] == 10
    assert found["b"] == 25
    assert found["d"] == 2 * found["c"] == 310


def test_more_than_there_is_takes_all() -> None:
    """A total beyond the corpus takes the corpus."""
    available = {"a": 10, "b": 25}
    assert quotas(available, {"a": 5, "b": 1}, 10**9) == available


def test_weights_leave_other_languages_out() -> None:
    """A language without a weight gives nothing."""
    assert quotas({"a": 10, "b": 25}, {"b": 3}, 20) == {"b": 20}


@pytest.mark.parametrize(
    ("weights", "message"), [({"a": 1, "x": 1}, "weight for x"), ({"a": 0}, "positive"), ({"a": -1}, "positive")]
)
def test_weights_that_do_not_fit_are_named(weights: dict[str, float], message: str) -> None:
    """A weight for an absent language, or one that is not positive, is an error that says which."""
    with pytest.raises(ConfigError, match=message):
        quotas({"a": 10}, weights, 5)


def test_sampler_keeps_to_quotas_and_spreads() -> None:
    """Each language gets its quota but for less than a document, from the first and last quarter alike."""
    quota, available = {"a": 2500, "b": 300}, {"a": 10_000, "b": 300}
    sampler = Sampler(quota, available)
    taken = [sampler.take("a", 10) for _ in range(1000)]
    rest = [sampler.take("b", 100) for _ in range(3)]
    assert 2490 <= sampler.taken["a"] <= 2500
    assert all(rest)
    assert abs(sum(taken[:250]) - sum(taken[-250:])) <= 1


def test_sampler_takes_nothing_of_others() -> None:
    """A language without a quota is never taken."""
    assert not Sampler({"a": 5}, {"a": 5, "b": 5}).take("b", 1)
