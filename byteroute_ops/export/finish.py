"""The end of an export: its records to its manifest, written last."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import orjson

from byteroute_ops.errors import ByteRouteError, ConfigError
from byteroute_ops.export import exporter
from byteroute_ops.export.base import SPLITS, Part, PartSummary
from byteroute_ops.export.job import PLAN, WORK, Counts, ExportJob, UnitRecord
from byteroute_ops.export.unit_files import UnitFiles, read_done, write_atomically
from byteroute_ops.export.work import all_buckets, part_unit, runs_of, scatter_unit
from byteroute_ops.files import LocalFiles
from byteroute_ops.loading.runs import FinishedRun
from byteroute_ops.tokenization import open_tokenizer

MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "byteroute-export", 1
"""What tells an export's manifest from a run's."""


def finished_export(job: ExportJob) -> dict[str, Any] | None:
    """Returns the manifest of the export when it is complete, and removes what it worked with.

    Raises:
        ConfigError: another export is complete in its folder.
    """
    try:
        manifest: dict[str, Any] = orjson.loads(_read(f"{job.output}/{MANIFEST}"))
    except FileNotFoundError:
        return None
    check_same(job, manifest.get("job"))
    LocalFiles().delete(f"{job.output}/{WORK}")
    return manifest


def check_prepared(job: ExportJob) -> None:
    """Looks whether the output folder is ready for units of this export.

    Raises:
        ConfigError: it is not, or is another export's.
    """
    try:
        found = orjson.loads(_read(f"{job.output}/{PLAN}"))
    except FileNotFoundError:
        raise ConfigError(
            f"{job.output} is not prepared for an export, or this worker cannot reach it; call prepare_export first, "
            "and use a folder that all workers share"
        ) from None
    check_same(job, found)


def check_same(job: ExportJob, found: Any) -> None:
    """Compares the facts of an export with those that its folder holds.

    Raises:
        ConfigError: they differ.
    """
    wanted = job.facts()
    if found != wanted:
        found = found if isinstance(found, dict) else {}
        names = [key for key in wanted if found.get(key) != wanted[key]]
        raise ConfigError(
            f"{job.output} holds an export with other {', '.join(names)}; "
            "choose another folder, or replace it with --overwrite"
        )


def finish_export(job: ExportJob, run: FinishedRun) -> dict[str, Any]:
    """Ends an export whose units are all done: files that span parts, then the manifest; then the work folder goes.

    Called again, it changes nothing.

    Returns:
        The manifest.

    Raises:
        ConfigError: the run is not the one that was exported from, or the output folder holds another export.
        ByteRouteError: a unit has not been done.
    """
    done = finished_export(job)
    if done is not None:
        return done
    if run.digest != job.run_digest:
        raise ConfigError(f"{run.folder} is not the run that this export began with; export again with overwrite")
    records = _final_records(job)
    counts = {split: _sum(record.counts[split] for record in records) for split in SPLITS}
    seen = sum(c.documents + c.n_empty + c.n_inner for c in counts.values())
    rows = sum(shard.rows for shard in run.shards)
    if seen != rows:
        raise ByteRouteError(f"{seen} documents were exported or left out, the run has {rows}: this is a bug")
    parts = [
        PartSummary(Part(split, int(record.unit.rsplit("-", 1)[1]), job.shuffle_seed is not None))
        for split in SPLITS
        for record in records
        if record.counts[split].documents
    ]
    with UnitFiles(job.output, "finish") as unit:
        exporter(job.format).finish(parts, unit.create, lambda name: _read(f"{job.output}/{name}"))
        final = unit.commit(UnitRecord(unit.unit))
    files = sorted((entry for record in (*records, final) for entry in record.files), key=lambda e: str(e["path"]))
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "to": job.format,
        "ids": "text-utf8" if exporter(job.format).carries_text else job.settings.space.kind,
        "dtype": None if exporter(job.format).carries_text else job.settings.dtype,
        "vocab_size": job.settings.space.size,
        "bos": job.settings.space.bos,
        "eos": job.settings.space.eos,
        "tokenizer": _tokenizer(job, run),
        "splits": {split: asdict(count) for split, count in counts.items()},
        "files": files,
        "job": job.facts(),
    }
    write_atomically(job.output, MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
    LocalFiles().delete(f"{job.output}/{WORK}")
    return manifest


def _tokenizer(job: ExportJob, run: FinishedRun) -> dict[str, Any]:
    """Returns what identifies the tokenizer of the exported ids, as manifests of runs do."""
    kind = job.settings.space.kind
    if kind == "text" or (kind == "routed" and run.settings["routed_engine"] == "tokenizer"):
        return run.tokenizer
    return open_tokenizer("bytes").fingerprint()


def _sum(counts: Iterable[Counts]) -> Counts:
    total = Counts()
    for one in counts:
        total.documents += one.documents
        total.tokens += one.tokens
        total.n_empty += one.n_empty
        total.n_inner += one.n_inner
    return total


def _final_records(job: ExportJob) -> list[UnitRecord]:
    """Returns the records of the units that wrote the export's files, in order."""
    indices = range(len(job.shards))
    if job.shuffle_seed is None:
        return _records(job, map(part_unit, indices))
    runs = [entry["path"] for record in _records(job, map(scatter_unit, indices)) for entry in record.files]
    return _records(job, (bucket.unit for bucket in all_buckets(job) if runs_of(bucket, runs)))


def _records(job: ExportJob, units: Iterable[str]) -> list[UnitRecord]:
    records = [(unit, read_done(job.output, unit)) for unit in units]
    missing = [unit for unit, record in records if record is None]
    if missing:
        raise ByteRouteError(
            f"{len(missing)} of {len(records)} units of the export are not done (the first is {missing[0]}); "
            "do the shards that are missing, then finish"
        )
    return [record for _, record in records if record is not None]


def _read(path: str) -> bytes:
    with LocalFiles().open(path) as stream:
        return stream.read()
