"""How much of each language a tokenizer is trained on, and which documents that takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from byteroute_ops.errors import ConfigError


def shares(available: Mapping[str, int], temperature: float) -> dict[str, float]:
    """Returns the weights n^(1/T) of languages with n characters: 1 keeps the corpus' own mix, large T evens it out.

    Source: the exponential smoothing of multilingual BERT's and XLM-R's sampling (Conneau et al. 2020, section 3.1,
    with alpha = 1/T).

    Raises:
        ConfigError: the temperature is below 1.

    >>> shares({"en": 10000, "my": 100}, 2)
    {'en': 100.0, 'my': 10.0}
    """
    if not temperature >= 1:
        raise ConfigError(f"temperature {temperature!r} is below 1: use 1 for the corpus' own mix, more to even it out")
    return {language: n ** (1 / temperature) for language, n in available.items() if n}


def quotas(available: Mapping[str, int], weights: Mapping[str, float], total: int) -> dict[str, int]:
    """Returns how many characters of each language to take, in proportion to the weights.

    A language never gives more than it has; what it lacks is spread over the others by their weights.

    Args:
        available: language → characters there are.
        weights: language → positive number; languages without one are left out.
        total: characters wanted in all.

    Raises:
        ConfigError: a weight that is not positive, or for a language of which there is no text.

    >>> quotas({"en": 1000, "my": 30, "fr": 1000}, {"en": 1, "my": 1, "fr": 2}, 300)
    {'en': 90, 'fr': 180, 'my': 30}
    """
    missing = sorted(set(weights) - {language for language, n in available.items() if n})
    if missing:
        known = ", ".join(sorted(available)[:20])
        raise ConfigError(
            f"the mix has a weight for {', '.join(missing)!s:.200}, but no text is there; there is: {known}"
        )
    bad = {language: weight for language, weight in weights.items() if not 0 < weight < float("inf")}
    if bad:
        raise ConfigError(f"the mix has weights that are not positive numbers: {bad!r:.80}")
    granted: dict[str, int] = {}
    open_ = dict(weights)
    while open_:
        left = total - sum(granted.values())
        unit = left / sum(open_.values())
        scarce = [language for language, weight in open_.items() if weight * unit >= available[language]]
        if not scarce:
            granted |= {language: int(weight * unit) for language, weight in open_.items()}
            break
        granted |= {language: available[language] for language in scarce}
        open_ = {language: weight for language, weight in open_.items() if language not in granted}
    return dict(sorted(granted.items()))


@dataclass
class Sampler:
    """Takes documents so that a language's quota comes from all parts of the corpus, within one document of it.

    What is taken depends on the order of the documents alone, and nothing is held.

    Attributes:
        quota: language → characters to take.
        available: language → characters there are.
    """

    quota: Mapping[str, int]
    available: Mapping[str, int]
    _seen: dict[str, int] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)

    def take(self, language: str, n_codepoints: int) -> bool:
        """Returns whether the next document, of so many characters, belongs to the sample.

        >>> sampler = Sampler({"en": 20}, {"en": 40})
        >>> [sampler.take("en", 10) for _ in range(4)]
        [False, True, False, True]
        """
        quota = self.quota.get(language, 0)
        seen = self._seen[language] = self._seen.get(language, 0) + n_codepoints
        taken = self.taken.get(language, 0) + n_codepoints
        if not quota or taken * self.available[language] > quota * seen:
            return False
        self.taken[language] = taken
        return True
