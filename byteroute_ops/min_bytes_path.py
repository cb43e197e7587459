"""Best paths through rows of blocks, each UTF-8 or in a segment: the recurrence of `min_bytes`, solved."""

from typing import Final

import numpy as np
import numpy.typing as npt

from .spans import Ids
from .stretches import Offsets

Bools = npt.NDArray[np.bool_]

NEVER: Final = 1 << 40
"""A cost above any sum of real ones."""


def two_states(cost: npt.NDArray[np.signedinteger], first: Bools, penalty: int) -> Ids:
    """Returns the state of every block, UTF-8 or BE: uint8[n]; see `min_bytes` for the recurrence."""
    last = np.append(first[1:], True)
    # Beyond twice the penalty a cost decides by itself; cut there, all sums below stay far inside int16.
    cost = np.clip(cost, -2 * penalty, 2 * penalty).astype(np.int16)
    # The map of block i takes clip(D(i+1)) to clip(D(i)); beyond the document's end D is 0.
    shift, low, high = cost.copy(), np.clip(cost - penalty, -penalty, 0), np.clip(cost, -penalty, 0)
    low[last] = high[last]
    open_, reach = np.flatnonzero(low < high), 1
    while open_.size:
        # Each open map covers `reach` blocks and none of them is its document's last, so the next is there.
        after = open_ + reach
        floor, ceiling, step = low[open_], high[open_], shift[open_]
        low[open_] = np.clip(low[after] + step, floor, ceiling)
        high[open_] = np.clip(high[after] + step, floor, ceiling)
        shift[open_] = step + shift[after]
        open_, reach = open_[low[open_] < high[open_]], 2 * reach
    to_go = cost.copy()
    to_go[:-1] += np.where(last[:-1], 0, low[1:])
    # Where neither inequality holds, the state before holds on; a document starts in UTF-8.
    decided = first | (to_go < -penalty) | (to_go >= 0)
    source = np.maximum.accumulate(np.where(decided, np.arange(len(cost)), 0))
    state: Ids = (to_go < -penalty).astype(np.uint8)[source]
    return state


def three_states(cost: Offsets, not_be: Bools, not_le: Bools, penalty: int) -> Ids:
    """Returns the state of every block of one document, UTF-8, BE or LE, by the plain recurrence: uint8[n]."""
    prices = [
        (0, NEVER if no_be else price, NEVER if no_le else price)
        for price, no_be, no_le in zip(cost.tolist(), not_be.tolist(), not_le.tolist(), strict=True)
    ]
    # to_go[i][state]: cost of blocks i.. with block i in that state, its opening not counted.
    to_go = [(0, 0, 0)]
    for utf8, big, little in reversed(prices):
        after = to_go[-1]
        opened = min(after[1], after[2]) + penalty
        to_go.append(
            (
                utf8 + min(after[0], opened),
                big + min(after[0], after[1], after[2] + penalty),
                little + min(after[0], after[2], after[1] + penalty),
            )
        )
    states, state = [], 0
    for options in reversed(to_go[1:]):
        total = [options[s] + (penalty if s and s != state else 0) for s in range(3)]
        state = total.index(min(total))
        states.append(state)
    return np.array(states, np.uint8)
