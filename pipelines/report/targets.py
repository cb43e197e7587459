"""Budget targets: what is there, what is missing, and the sampling weight that would meet a target."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from byteroute_ops.errors import ConfigError

from .rows import Row, ratio
from .tables import number_of, read_rows, text_of

FORMULA: Final = (
    "wanted tokens: weight = wanted / there; wanted share: weight = wanted share / share there, and what has no target "
    "shares the rest in proportion. Draw each document weight times as often."
)
COLUMNS: Final = ("lang", "script", "tokens", "share")
OTHERS: Final = "(all others)"


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is wanted of a language or script: tokens, or a share of all tokens from 0 to 1."""

    kind: str
    key: str
    tokens: float | None = None
    share: float | None = None


@dataclass(frozen=True, kw_only=True)
class Balance:
    """A target and what is there.

    Attributes:
        there: text tokens of the first tokenizer.
        wanted: tokens; for a share, the share of all tokens that are there now.
        missing: wanted - there; negative where there is more than enough.
        weight: how many times as often as now documents would have to be drawn; None where there is nothing.
    """

    kind: str
    key: str
    there: int
    wanted: float
    missing: float
    share_there: float | None
    share_wanted: float | None
    weight: float | None


def read_targets(path: str) -> list[Target]:
    """Returns the rows of a table with the columns lang or script, and tokens or share.

    Raises:
        ConfigError: a file or a row that cannot be used, or shares of more than 1.
    """
    targets = []
    for number, row in enumerate(read_rows(path, COLUMNS), start=1):
        if ("lang" in row) == ("script" in row) or ("tokens" in row) == ("share" in row):
            raise ConfigError(f"{path}, row {number}: needs one of lang and script, and one of tokens and share")
        kind = "lang" if "lang" in row else "script"
        wanted = "tokens" if "tokens" in row else "share"
        values = {wanted: number_of(path, number, row, wanted)}
        targets.append(Target(kind=kind, key=text_of(path, number, row, kind) or "", **values))
    for kind in ("lang", "script"):
        own = [one for one in targets if one.kind == kind]
        if len({one.key for one in own}) < len(own):
            raise ConfigError(f"{path}: two targets for the same {kind}")
        if len({one.share is None for one in own}) > 1:
            raise ConfigError(f"{path}: targets by {kind} mix tokens and shares; a share of what would not be defined")
        if sum(one.share or 0 for one in own) > 1 + 1e-9:
            raise ConfigError(f"{path}: the wanted shares by {kind} are more than 1 together")
    return targets


def weigh(targets: Sequence[Target], kind: str, rows: Sequence[Row]) -> list[Balance]:
    """Returns the balance of every target of a kind, in their order; shares are followed by that of all others.

    Args:
        targets: see `read_targets`.
        kind: `lang` or `script`.
        rows: budget rows of that kind.
    """
    there = {row.key: row.n_text_tokens for row in rows}
    total = sum(there.values())
    own = [one for one in targets if one.kind == kind]
    balances = []
    for one in own:
        wanted = one.tokens if one.share is None else one.share * total
        balances.append(_balance(one, there.get(one.key, 0), wanted or 0.0, total))
    if own and own[0].share is not None:
        rest = max(0.0, 1 - sum(one.share or 0 for one in own))
        others = total - sum(there.get(one.key, 0) for one in own)
        balances.append(_balance(Target(kind=kind, key=OTHERS, share=rest), others, rest * total, total))
    return balances


def _balance(target: Target, there: int, wanted: float, total: int) -> Balance:
    return Balance(
        kind=target.kind,
        key=target.key,
        there=there,
        wanted=wanted,
        missing=wanted - there,
        share_there=ratio(there, total),
        share_wanted=target.share,
        weight=ratio(wanted, there),
    )
