"""Cost weights: a price or weight per token turns tokens into cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from byteroute_ops.errors import ConfigError

from .rows import Row, ratio
from .tables import number_of, read_rows, text_of

FORMULA: Final = "cost = tokens × weight; share = cost / sum of costs; change = (routed cost − text cost) / text cost"

COLUMNS: Final = ("tokenizer", "lang", "script", "weight")


@dataclass(frozen=True, kw_only=True)
class Weight:
    """A price or weight per token, for what it names; None names everything."""

    weight: float
    tokenizer: str | None = None
    lang: str | None = None
    script: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a language or script costs under one tokenizer, in the unit of the weights."""

    kind: str
    key: str
    weight: float
    n_text_tokens: int
    cost: float
    share: float | None
    routed_cost: float | None


def read_weights(path: str) -> list[Weight]:
    """Returns the rows of a table with the columns tokenizer, lang, script (each optional) and weight.

    Raises:
        ConfigError: a file or a row that cannot be used.
    """
    weights = []
    for number, row in enumerate(read_rows(path, COLUMNS), start=1):
        if "weight" not in row:
            raise ConfigError(f"{path}, row {number}: no weight")
        if "lang" in row and "script" in row:
            raise ConfigError(f"{path}, row {number}: names a language and a script; a token is billed to one of them")
        names = {name: text_of(path, number, row, name) for name in COLUMNS[:3]}
        weights.append(Weight(weight=number_of(path, number, row, "weight"), **names))
    keys = [(one.tokenizer, one.lang, one.script) for one in weights]
    if len(set(keys)) < len(keys):
        raise ConfigError(f"{path}: two rows name the same")
    return weights


def weight_of(weights: Sequence[Weight], tokenizer: str, kind: str, key: str) -> float | None:
    """Returns the weight of the most specific row that applies; None if none does.

    A row that names the language or script goes before one that names only the tokenizer, and that before one
    that names nothing.

    >>> rows = [Weight(weight=1), Weight(weight=2, tokenizer="t"), Weight(weight=3, lang="my")]
    >>> [weight_of(rows, "t", "lang", key) for key in ("my", "en")], weight_of(rows, "u", "script", "Latn")
    ([3, 2], 1)
    """
    best: tuple[int, float] | None = None
    for one in weights:
        named = one.lang if kind == "lang" else one.script
        other = one.script if kind == "lang" else one.lang
        if other is not None or named not in (None, key) or one.tokenizer not in (None, tokenizer):
            continue
        rank = 2 * (named is not None) + (one.tokenizer is not None)
        if best is None or rank > best[0]:
            best = rank, one.weight
    return None if best is None else best[1]


def price(weights: Sequence[Weight], tokenizer: str, kind: str, rows: Sequence[Row]) -> list[Cost]:
    """Returns the costs of all rows that a weight applies to, dearest first.

    Args:
        weights: see `read_weights`.
        tokenizer: whose tokens the rows count.
        kind: `lang` or `script`.
        rows: budget rows.
    """
    found = [(row, weight_of(weights, tokenizer, kind, row.key)) for row in rows]
    total = sum(row.n_text_tokens * weight for row, weight in found if weight is not None)
    costs = [
        Cost(
            kind=kind,
            key=row.key,
            weight=weight,
            n_text_tokens=row.n_text_tokens,
            cost=row.n_text_tokens * weight,
            share=ratio(row.n_text_tokens * weight, total),
            routed_cost=None if row.n_routed_tokens is None else row.n_routed_tokens * weight,
        )
        for row, weight in found
        if weight is not None
    ]
    return sorted(costs, key=lambda one: (-one.cost, one.key))
