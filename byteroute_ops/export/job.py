"""An export as its workers see it, and what a unit of its work leaves on record."""

from dataclasses import asdict, dataclass, field
from typing import Any, cast

import orjson

from byteroute_ops.export.base import SPLITS, ExportSettings, Split

WORK = "_work"
"""Folder of an unfinished export, below its output folder."""
TEMPORARY = f"{WORK}/temporary"
PLAN = f"{WORK}/job.json"
"""The facts of the export that the folder is for; written first."""


@dataclass(frozen=True, kw_only=True)
class ExportJob:
    """All that decides an export's bytes; the workers get it as it is.

    Attributes:
        run: folder of the finished run; it and `output` lie on disks that all workers reach.
        run_digest: of its manifest.
        shards: names of its shards, sorted.
        output: folder of the export.
        format: name of the exporter.
        settings: of the exporter.
        stream: how routed bytes decode (framing, profile, barrier), for exports of text; None: the shards
            have a text column.
        validation_fraction: of the documents, by stable hash.
        split_seed: another seed, another split.
        shuffle_seed: None keeps the order of the run.
        buckets: parts of a shuffled export, by split.
        run_bytes: how much pass one of the shuffle sorts at a time, in bytes of Arrow memory.
    """

    run: str
    run_digest: str
    shards: tuple[str, ...]
    output: str
    format: str
    settings: ExportSettings
    stream: dict[str, Any] | None
    validation_fraction: float
    split_seed: int
    shuffle_seed: int | None
    buckets: dict[Split, int]
    run_bytes: int

    def facts(self) -> dict[str, Any]:
        """Returns what a resumed export must agree on, as JSON has it; folders may have moved."""
        values = {key: value for key, value in asdict(self).items() if key not in ("run", "output")}
        return cast(dict[str, Any], orjson.loads(orjson.dumps(values)))


@dataclass
class Counts:
    """Documents of one split."""

    documents: int = 0
    tokens: int = 0
    n_empty: int = 0
    n_inner: int = 0


@dataclass
class UnitRecord:
    """What a unit has written: files, and counts per split."""

    unit: str
    files: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, Counts] = field(default_factory=lambda: {split: Counts() for split in SPLITS})

    @staticmethod
    def from_json(data: bytes) -> "UnitRecord":
        """Returns the record that `commit` wrote."""
        values = orjson.loads(data)
        counts = {split: Counts(**numbers) for split, numbers in values["counts"].items()}
        return UnitRecord(values["unit"], values["files"], counts)
