"""Which documents a worker reads, in which order, and how to go on from any of them. No torch."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.ids import Ids, IdSpace, delimit, flat_ids
from byteroute_ops.loading.runs import FinishedRun, Unit


@dataclass(frozen=True)
class Share:
    """One worker's share of the units: every `count`-th, beginning with number `index`.

    Attributes:
        index: rank * workers a rank + worker.
        count: ranks * workers a rank.
    """

    index: int = 0
    count: int = 1


def epoch_units(units: Sequence[Unit], share: Share, *, seed: int | None, epoch: int) -> list[Unit]:
    """Returns a share's units for an epoch, in order.

    The order is that of a hash of seed, epoch and the unit's name: the same on every machine and with every
    version of every library. Shares of one count cover all units without overlap.

    Raises:
        ConfigError: fewer units than shares: some worker would never have a row.
    """
    if len(units) < share.count:
        raise ConfigError(
            f"{len(units)} row groups for {share.count} workers: use fewer, or run again with a smaller shard_bytes"
        )
    ordered = list(units) if seed is None else sorted(units, key=lambda unit: _key(f"{seed} {epoch} {unit}"))
    return ordered[share.index :: share.count]


def _key(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


def documents(run: FinishedRun, unit: Unit, space: IdSpace) -> list[Ids]:
    """Returns the ids of every row of a unit with their delimiters; documents that export leaves out are empty.

    Raises:
        ConfigError: as `flat_ids` and `delimit`.
    """
    column = "token_ids" if space.kind in ("text", "routed") else "routed"
    found = delimit(*flat_ids(run.read_unit(unit, (column,)), space), space)
    result: list[Ids] = [np.zeros(0, np.int32)] * unit.rows
    for row, start, end in zip(found.kept.tolist(), found.offsets[:-1], found.offsets[1:], strict=True):
        result[row] = found.ids[start:end]
    return result


def stream(
    run: FinishedRun, units: Sequence[Unit], space: IdSpace, *, seed: int | None, epoch: int, skip: int = 0
) -> Iterator[Ids]:
    """Yields the documents of a share's epoch from number `skip` on; units before it are not read.

    With a seed, the documents of each unit come in an order of their own, another one in each epoch.
    """
    for unit in units:
        if skip >= unit.rows:
            skip -= unit.rows
            continue
        ids = documents(run, unit, space)
        order = range(len(ids))
        if seed is not None:
            order = sorted(order, key=lambda row: _key(f"{seed} {epoch} {unit} {row}"))  # type: ignore[assignment]
        for row in order[skip:]:
            yield ids[row]
        skip = 0
