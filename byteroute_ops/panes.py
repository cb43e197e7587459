"""One pane of one shard, from its parts to its committed files; and which panes of an output count.

A pane is what a window's trigger fired at one time for one shard. Its names come from window, shard and
pane index, so a retry writes the same names, and no later pane writes them. Its record comes last.

An engine that falls back to a checkpoint may fire panes anew with other contents: pane 0 may now hold what
had come as pane 1 before, and the old pane 1 would count twice. So a record names the parts that its pane
holds. A discarding pane whose parts all lie in panes of lower index is stale and does not count (and a message
that was delivered again, late, counts once); of accumulating panes the one with the most parts counts.

Rejected: a chain of digests from each pane to the one before, because engines write the panes of one key in
any order (seen on Prism); and deleting stale panes when one is written anew, because a worker that an engine
has given up on, but that still runs, would delete what its successor has written.
"""

import hashlib
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from . import layout
from .budgets import Budget, RunTotals
from .files import Files
from .parts import unpack
from .processing import shard_schema
from .records import REJECTS
from .settings import Settings
from .shards import FileReport, RollingWriter

Identity = tuple[str, int, bytes]
"""Source, position, digest of the contents: the order of parts, and what makes one the same as another."""


@dataclass(frozen=True)
class Pane:
    """Which pane of which shard of which window."""

    window: str
    shard: int
    index: int

    @property
    def name(self) -> str:
        """What its files' names have in common."""
        return layout.pane(self.window, self.shard, self.index)


@dataclass(frozen=True)
class Window:
    """What an output holds of one window.

    Attributes:
        label: UTC start and end, `20260101T000000Z-20260101T000100Z`.
        files: of the panes that count, as a manifest lists them.
        totals: of these panes.
        budget: of these panes.
        stale: names of pane records that do not count.
    """

    label: str
    files: list[dict[str, Any]]
    totals: RunTotals
    budget: Budget
    stale: list[str] = field(default_factory=list)


def write_pane(pane: Pane, parts: Iterable[pa.RecordBatch], settings: Settings, output: str, files: Files) -> RunTotals:
    """Writes a pane and returns its totals.

    The parts may come in any order: they are written by source and position. All are held until then, in
    packed form; more shards make a pane smaller.

    Raises:
        OSError: the output cannot be written.
    """
    attempt = _Attempt(pane, settings, output, files)
    # A part that is there twice was delivered twice: its name and all its rows are the same.
    distinct = {_identity(part): part for part in parts}
    try:
        return attempt.write(dict(sorted(distinct.items())))
    finally:
        files.delete(layout.join(output, f"{layout.TEMPORARY}/{attempt.id}"))


class _Attempt:
    """One attempt at a pane: everything under temporary names, then renamed, the record last."""

    def __init__(self, pane: Pane, settings: Settings, output: str, files: Files) -> None:
        self.id = uuid.uuid4().hex
        self._pane, self._settings, self._output, self._files = pane, settings, output, files

    def _temporary(self, name: str) -> str:
        return layout.join(self._output, layout.temporary(self.id, name))

    def _create(self, name: str) -> tuple[str, BinaryIO]:
        return name, self._files.create(self._temporary(name))

    def _shards(self) -> RollingWriter:
        settings = self._settings
        return RollingWriter(
            lambda roll: self._create(layout.pane_shard(self._pane.name, roll, settings.shard_format)),
            settings.shard_format,
            shard_schema(settings),
            compression=settings.compression,
            seed=self._pane.name.encode(),
            max_bytes=settings.shard_bytes,
        )

    def _rejects(self) -> RollingWriter:
        return RollingWriter(
            lambda _: self._create(layout.pane_rejects(self._pane.name)),
            "avro",
            REJECTS,
            seed=self._pane.name.encode(),
            table="rejects",
            max_bytes=1 << 62,
        )

    def write(self, parts: dict[Identity, pa.RecordBatch]) -> RunTotals:
        totals, budgets = RunTotals.zero(), []
        with self._shards() as shards, self._rejects() as rejects:
            for part in map(unpack, parts.values()):
                for batch in part.rows.to_batches():
                    shards.write(batch)
                for batch in part.rejects.to_batches():
                    rejects.write(batch)
                budgets.append(part.budget)
                totals = totals.merge(part.totals)
            written = {"shard": shards.close(), "rejects": rejects.close()}
        size = sum(one.n_bytes for one in written["shard"])
        totals = totals.merge(RunTotals(n_shards=len(written["shard"]), n_shard_bytes=size))
        self._commit(written, Budget.merged(budgets), _record(written, totals, parts))
        return totals

    def _commit(self, written: dict[str, list[FileReport]], budget: Budget, record: bytes) -> None:
        tables = {"scripts": budget.script_table(), "languages": budget.language_table()}
        names = [one.name for reports in written.values() for one in reports]
        for table, rows in tables.items():
            name, stream = self._create(layout.pane_budget(self._pane.name, table))
            with stream:
                pq.write_table(rows, stream)
            names.append(name)
        name, stream = self._create(layout.pane_record(self._pane.name))
        with stream:
            stream.write(record)
        for one in (*names, name):
            self._files.rename(self._temporary(one), layout.join(self._output, one))


def _identity(part: pa.RecordBatch) -> Identity:
    # The digest tells apart parts of sources that number nothing, such as messages.
    digest = hashlib.blake2b(part["rows"][0].as_py() + part["rejects"][0].as_py(), digest_size=16).digest()
    return part["source"][0].as_py(), part["position"][0].as_py(), digest


def _record(written: dict[str, list[FileReport]], totals: RunTotals, parts: Iterable[Identity]) -> bytes:
    listed = [
        {"path": one.name, "kind": kind, "rows": one.rows, "bytes": one.n_bytes, "sha256": one.sha256}
        for kind, reports in written.items()
        for one in reports
    ]
    names = [hashlib.blake2b(repr(one).encode(), digest_size=16).hexdigest() for one in parts]
    return orjson.dumps({"parts": names, "files": listed, "totals": totals.to_json()})


_NAME = re.compile(rf"{layout.PANES}/([^/]+)/part-(\d+)-p(\d+)\.json$")


def read_windows(files: Files, output: str, *, accumulating: bool) -> list[Window]:
    """Returns the windows of an output in order of time, each with the panes that count.

    Args:
        files: serves the output.
        output: the folder.
        accumulating: whether each pane repeats what came before it, so that the last one alone counts.
    """
    found: dict[str, dict[int, list[int]]] = {}
    for info in files.walk(layout.join(output, layout.PANES)):
        match = _NAME.search(info.uri)
        if match is not None:
            found.setdefault(match[1], {}).setdefault(int(match[2]), []).append(int(match[3]))
    return [_window(label, shards, files, output, accumulating) for label, shards in sorted(found.items())]


def _window(label: str, shards: dict[int, list[int]], files: Files, output: str, accumulating: bool) -> Window:
    listed: list[dict[str, Any]] = []
    totals, budgets, stale = RunTotals.zero(), list[Budget](), list[str]()
    for shard, indices in sorted(shards.items()):
        panes = {
            Pane(label, shard, index): _read(Pane(label, shard, index), files, output) for index in sorted(indices)
        }
        counting = _largest(panes) if accumulating else _disjoint(panes)
        stale += [pane.name for pane in panes if not accumulating and pane not in counting]
        for pane in counting:
            listed += panes[pane]["files"]
            totals = totals.merge(RunTotals.from_json(panes[pane]["totals"]))
            budgets.append(_budget(pane, files, output))
    return Window(label, listed, totals, Budget.merged(budgets), stale)


def _disjoint(panes: dict[Pane, dict[str, Any]]) -> list[Pane]:
    """Returns the panes, by index, that hold a part which no pane of a lower index holds."""
    counting, seen = [], set[str]()
    for pane, record in panes.items():
        if not seen.issuperset(record["parts"]):
            counting.append(pane)
            seen.update(record["parts"])
    return counting


def _largest(panes: dict[Pane, dict[str, Any]]) -> list[Pane]:
    """Returns the pane with the most parts, of several the last."""
    return [max(panes, key=lambda pane: (len(panes[pane]["parts"]), pane.index))]


def _read(pane: Pane, files: Files, output: str) -> dict[str, Any]:
    with files.open(layout.join(output, layout.pane_record(pane.name))) as stream:
        return dict(orjson.loads(stream.read()))


def _budget(pane: Pane, files: Files, output: str) -> Budget:
    tables = []
    for name in ("scripts", "languages"):
        with files.open(layout.join(output, layout.pane_budget(pane.name, name))) as stream:
            tables.append(pq.read_table(stream))
    return Budget.from_tables(*tables)
