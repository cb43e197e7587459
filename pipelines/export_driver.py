"""Exports of finished runs: planning, workers, resume, manifest."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from byteroute_ops.errors import ByteRouteError, ConfigError
from byteroute_ops.export import ExportSettings, IdSpace, exporter, pick_dtype
from byteroute_ops.export.base import SPLITS, Part, PartSummary, Split
from byteroute_ops.export.shuffle import bucket_count
from byteroute_ops.files import LocalFiles
from byteroute_ops.loading.runs import FinishedRun
from byteroute_ops.tokenization import open_tokenizer

from .export_work import (
    WORK,
    Counts,
    ExportJob,
    UnitFiles,
    UnitRecord,
    done_name,
    run_bucket,
    run_part,
    run_scatter,
    write_atomically,
)

BUCKET_BYTES = 64 << 20
EXPANSION = 4
"""Shards are compressed: so many bytes of memory are reckoned for one on disk."""
FORMAT, FORMAT_VERSION = "byteroute-export", 1
"""What tells an export's manifest from a run's."""
OWNED = ("manifest.json", WORK, *SPLITS)
"""All that an export writes, and so all that `overwrite` deletes."""


class WorkerDiedError(ByteRouteError):
    """A worker process ended without a word; what it had finished is kept."""


def plan_export(
    run: FinishedRun,
    output: str,
    *,
    to: str,
    space: IdSpace,
    name: str = "byteroute",
    entropies: str = "clusters",
    validation_fraction: float = 0.0,
    split_seed: int = 0,
    shuffle_seed: int | None = None,
    parts: int | None = None,
) -> ExportJob:
    """Returns the job of an export, checked.

    Raises:
        ConfigError: the format cannot hold it, or the run has no such ids.
    """
    target = exporter(to)
    stored = run.settings["ids"]
    if not target.carries_text and space.kind in ("text", "routed") and space.kind != stored:
        raise ConfigError(
            f"the shards hold {stored} ids, not {space.kind}: run again with ids={space.kind}, or export ids 'bytes'"
        )
    tokenizer = str(run.tokenizer["name"]) if space.kind in ("text", "routed") else "bytes"
    settings = ExportSettings(
        space=space,
        dtype="uint8" if target.carries_text else pick_dtype(target, space),
        name=name,
        tokenizer=tokenizer,
        entropies="whitespace" if entropies == "whitespace" else "clusters",
    )
    target.validate(settings)
    if not 0 <= validation_fraction < 1:
        raise ConfigError(f"the validation fraction must be at least 0 and below 1, found {validation_fraction!r}")
    total = parts or bucket_count(EXPANSION * sum(shard.n_bytes for shard in run.shards), BUCKET_BYTES)
    stream = {key: run.settings[key] for key in ("framing", "profile", "barrier")}
    return ExportJob(
        run=run.folder,
        run_digest=run.digest,
        shards=tuple(shard.name for shard in run.shards),
        output=output,
        format=to,
        settings=settings,
        stream=None if run.settings["keep_text"] or not target.carries_text else stream,
        validation_fraction=validation_fraction,
        split_seed=split_seed,
        shuffle_seed=shuffle_seed,
        buckets={"train": total, "validation": max(1, round(total * validation_fraction))},
        run_bytes=BUCKET_BYTES,
    )


def write_export(job: ExportJob, run: FinishedRun, *, workers: int = 1, overwrite: bool = False) -> dict[str, Any]:
    """Writes an export, or finishes one, and returns its manifest.

    Raises:
        ConfigError: the output folder holds something else, or the data cannot be exported as asked.
        WorkerDiedError: run again to resume.
    """
    finished = _prepare(job, overwrite=overwrite)
    if finished is not None:
        return finished
    units: list[tuple[Callable[..., UnitRecord], tuple[Any, ...], str]]
    if job.shuffle_seed is None:
        units = [(run_part, (job, i), f"part-{i:05d}") for i in range(len(job.shards))]
    else:
        scatter = [(run_scatter, (job, i), f"scatter-{i:05d}") for i in range(len(job.shards))]
        runs = sorted(entry["path"] for record in _do(job, scatter, workers) for entry in record.files)
        units = [
            (run_bucket, (job, split, bucket, _runs_of(split, runs)), f"{split}-{bucket:05d}")
            for split in SPLITS
            for bucket in range(job.buckets[split])
            if _runs_of(split, runs)
        ]
    records = _do(job, units, workers)
    return _finish(job, run, records)


def _runs_of(split: Split, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name.startswith(f"{WORK}/runs/{split}/"))


def _prepare(job: ExportJob, *, overwrite: bool) -> dict[str, Any] | None:
    """Returns the manifest of an export that is complete already, or makes the folder ready for work."""
    output, facts = Path(job.output), job.facts()
    if overwrite:
        for name in OWNED:
            LocalFiles().delete(str(output / name))
    manifest = output / "manifest.json"
    if manifest.is_file():
        done: dict[str, Any] = orjson.loads(manifest.read_bytes())
        _same(done.get("job"), facts, output)
        LocalFiles().delete(str(output / WORK))
        return done
    plan = output / WORK / "job.json"
    if plan.is_file():
        _same(orjson.loads(plan.read_bytes()), facts, output)
        return None
    strangers = sorted(entry.name for entry in output.iterdir()) if output.is_dir() else []
    if [name for name in strangers if name != WORK]:
        raise ConfigError(f"{output} is not empty and is no export ({len(strangers)} entries); choose another folder")
    write_atomically(str(plan), orjson.dumps(facts))
    return None


def _same(found: Any, wanted: dict[str, Any], output: Path) -> None:
    if found != wanted:
        found = found if isinstance(found, dict) else {}
        names = [key for key in wanted if found.get(key) != wanted[key]]
        raise ConfigError(
            f"{output} holds an export with other {', '.join(names)}; "
            "choose another folder, or replace it with --overwrite"
        )


def _do(
    job: ExportJob, units: Sequence[tuple[Callable[..., UnitRecord], tuple[Any, ...], str]], workers: int
) -> list[UnitRecord]:
    """Returns the records of all units, in order; does those that have none yet."""
    missing = [unit for unit in units if not os.path.exists(done_name(job.output, unit[2]))]
    if workers <= 1 or len(missing) <= 1:
        for function, arguments, _ in missing:
            function(*arguments)
    else:
        in_processes(missing, workers)
    return [UnitRecord.from_json(Path(done_name(job.output, unit[2])).read_bytes()) for unit in units]


def in_processes(units: Sequence[tuple[Callable[..., UnitRecord], tuple[Any, ...], str]], workers: int) -> None:
    """Does units in processes of their own; returns when all are done.

    Raises:
        WorkerDiedError: a process ended without a word.
    """
    # Spawned and not forked: Arrow's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(units)), mp_context=context) as pool:
        pending = [pool.submit(function, *arguments) for function, arguments, _ in units]
        try:
            for future in as_completed(pending):
                future.result()
        except BrokenProcessPool:
            raise WorkerDiedError(
                "a worker process died (killed, or out of memory); run the same command again to resume"
            ) from None
        finally:
            for future in pending:
                future.cancel()


def _finish(job: ExportJob, run: FinishedRun, records: Sequence[UnitRecord]) -> dict[str, Any]:
    """Writes the files that span parts, then the manifest; then the work folder goes."""
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
    unit = UnitFiles(job.output, "finish")
    exporter(job.format).finish(parts, unit.create, lambda name: Path(job.output, name).read_bytes())
    final = unit.commit(UnitRecord("finish"))
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
    write_atomically(f"{job.output}/manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
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
