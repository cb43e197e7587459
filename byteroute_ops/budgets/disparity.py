"""How unequally the same content is billed in different languages. Definitions and sources: docs/measures.md.

Everything here needs parallel data: the same units (articles, sentences, messages) in every language. On other
data languages differ in what they say before they differ in what it costs, and none of this is defined.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..errors import ConfigError

UNIT_COVERAGE: Final = 0.9
"""A unit counts when at least this share of the languages has it."""


def gini(costs: npt.ArrayLike) -> float:
    """Returns the Gini coefficient: 0 where all costs are equal, towards 1 where one language bears all.

    The mean absolute difference of all ordered pairs, divided by twice the mean: sum_ij |c_i - c_j| / (2 n² µ).
    Computed from the sorted costs in O(n log n). NaN where there is nothing to compare: no costs, or a sum of 0.

    Args:
        costs: one non-negative number a language.

    >>> gini([1, 1, 1]), gini([0, 0, 3])
    (0.0, 0.6666666666666666)
    """
    ordered = np.sort(np.asarray(costs, dtype=np.float64))
    total = ordered.sum()
    if not total:
        return float("nan")
    n = len(ordered)
    ranks = np.arange(1, n + 1)
    return float((2 * ranks - n - 1) @ ordered / (n * total))


@dataclass(frozen=True)
class Alignment:
    """Which units and languages are compared.

    Attributes:
        units: sorted; each compared language has all of them.
        languages: sorted; the reference is one of them.
        dropped_units: units of the reference that too few languages have.
        dropped_languages: language → how many of `units` it lacks.
    """

    units: tuple[str, ...]
    languages: tuple[str, ...]
    dropped_units: tuple[str, ...]
    dropped_languages: Mapping[str, int]


def align(units: Mapping[str, Collection[str]], reference: str, *, coverage: float = UNIT_COVERAGE) -> Alignment:
    """Returns the units and languages that can be compared fairly: a full grid without holes.

    First the units of the reference that at least `coverage` of the languages have, then the languages that
    have every one of these. A sum over fewer units would be a smaller bill for less content.

    Args:
        units: language → its units.
        reference: a key of `units`.
        coverage: between 0 and 1.

    Raises:
        ConfigError: no such reference language, or a coverage out of range.

    >>> found = align({"en": ["1", "2"], "de": ["1", "2"], "fr": ["1"]}, "en", coverage=0.6)
    >>> found.units, found.languages, found.dropped_languages
    (('1', '2'), ('de', 'en'), {'fr': 1})
    """
    if not 0 <= coverage <= 1:
        raise ConfigError(f"unit coverage {coverage!r} is not between 0 and 1")
    if reference not in units:
        known = ", ".join(sorted(units)[:12])
        raise ConfigError(f"no unit in the reference language {reference!r:.80}; there are {len(units)}: {known}")
    held = {language: frozenset(own) for language, own in units.items()}
    needed = coverage * len(held)
    kept = [unit for unit in sorted(held[reference]) if sum(unit in own for own in held.values()) >= needed]
    lacking = {language: len(frozenset(kept) - held[language]) for language in sorted(held)}
    return Alignment(
        units=tuple(kept),
        languages=tuple(language for language, n_missing in lacking.items() if not n_missing),
        dropped_units=tuple(sorted(held[reference] - set(kept))),
        dropped_languages={language: n_missing for language, n_missing in lacking.items() if n_missing},
    )


@dataclass(frozen=True)
class Disparity:
    """What the same content costs in each language. Read `gini` beside `total`, never alone.

    Making every language dear lowers the first and raises the second: UTF-16 for all text does just that.

    Attributes:
        reference: the language that premiums are relative to.
        premium: language → its cost divided by the reference's; dearest first.
        total: cost of all languages together, in the unit of the costs.
        gini: of the costs; see `gini`.
        maximum: the largest premium; the following ones are of premiums too.
        p90: the 90th percentile (the smallest premium that nine tenths of the languages do not exceed).
        median: the middle one (the mean of the two middle ones).
        minimum: the smallest.
    """

    reference: str
    premium: Mapping[str, float]
    total: float
    gini: float
    maximum: float
    p90: float
    median: float
    minimum: float

    @property
    def spread(self) -> float:
        """The dearest language's cost divided by the cheapest's; infinite where one costs nothing."""
        return self.maximum / self.minimum if self.minimum else float("inf")


def disparity(costs: Mapping[str, float], reference: str) -> Disparity:
    """Returns the disparity of what the same content costs in each language.

    Args:
        costs: language → tokens, bytes or money for the whole content.
        reference: a key of `costs`; its cost must be positive.

    Raises:
        ConfigError: no such language, or it costs nothing.

    >>> found = disparity({"en": 100, "my": 1170, "fr": 160}, "en")
    >>> found.premium, found.median, found.total
    ({'my': 11.7, 'fr': 1.6, 'en': 1.0}, 1.6, 1430.0)
    """
    if not costs.get(reference):
        raise ConfigError(f"the reference language {reference!r:.80} has no cost to compare with")
    ordered = sorted(costs.items(), key=lambda item: (-item[1], item[0]))
    premium = {language: cost / costs[reference] for language, cost in ordered}
    values = np.array(list(premium.values()))
    return Disparity(
        reference=reference,
        premium=premium,
        total=float(sum(costs.values())),
        gini=gini(list(costs.values())),
        maximum=float(values.max()),
        p90=float(np.quantile(values, 0.9, method="inverted_cdf")),
        median=float(np.median(values)),
        minimum=float(values.min()),
    )
