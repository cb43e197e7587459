"""How many tokens are the unknown token: what they stand for is lost, and cheap where it should be dear."""

from dataclasses import dataclass

from .load import Run
from .rows import ratio


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Tokens of a tokenizer that stand for what its vocabulary lacks.

    Attributes:
        tokenizer: its name.
        n_unknown: of the text tokens.
        rate: n_unknown / text tokens; None where there are no tokens.
        reason: how it is known.
    """

    tokenizer: str
    n_unknown: int
    rate: float | None
    reason: str


def count_unknown(run: Run, n_tokens: dict[str, int]) -> list[Unknown]:
    """Returns what the run counted for every tokenizer, in its order.

    Args:
        run: a finished run. It counts for the tokenizers that have an unknown token.
        n_tokens: text tokens by tokenizer.
    """
    counted = run.manifest["totals"]["unknown_tokens"]
    return [
        Unknown(
            tokenizer=name,
            n_unknown=counted.get(name, 0),
            rate=ratio(counted.get(name, 0), n_tokens[name]),
            reason="counted by the run" if name in counted else "every text has ids of its own",
        )
        for name in run.tokenizers
    ]
