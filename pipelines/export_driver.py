"""Exports of finished runs: planning, worker processes, resume."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import orjson

from byteroute_ops.errors import ByteRouteError, ConfigError
from byteroute_ops.export import ExportSettings, IdSpace, exporter, pick_dtype
from byteroute_ops.export.base import SPLITS
from byteroute_ops.export.finish import MANIFEST, check_same, finish_export, finished_export
from byteroute_ops.export.job import PLAN, TEMPORARY, WORK, ExportJob, UnitRecord
from byteroute_ops.export.shuffle import bucket_count
from byteroute_ops.export.unit_files import read_done, write_atomically
from byteroute_ops.export.work import all_buckets, part_unit, run_bucket, run_part, run_scatter, runs_of, scatter_unit
from byteroute_ops.files import LocalFiles
from byteroute_ops.loading.runs import FinishedRun

BUCKET_BYTES = 64 << 20
EXPANSION = 4
"""Shards are compressed: so many bytes of memory are reckoned for one on disk."""
OWNED = (MANIFEST, WORK, *SPLITS)
"""All that an export writes, and so all that `overwrite` deletes."""
Unit = tuple[Callable[..., UnitRecord], tuple[Any, ...], str]
"""A function, its arguments, and the name of the unit of work that it does."""


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
    finished = prepare_export(job, overwrite=overwrite)
    if finished is not None:
        return finished
    indices = range(len(job.shards))
    if job.shuffle_seed is None:
        _do(job, [(run_part, (job, i), part_unit(i)) for i in indices], workers)
    else:
        scattered = _do(job, [(run_scatter, (job, i), scatter_unit(i)) for i in indices], workers)
        runs = [entry["path"] for record in scattered for entry in record.files]
        buckets = [(bucket, runs_of(bucket, runs)) for bucket in all_buckets(job)]
        _do(job, [(run_bucket, (job, bucket, names), bucket.unit) for bucket, names in buckets if names], workers)
    return finish_export(job, run)


def prepare_export(job: ExportJob, *, overwrite: bool = False) -> dict[str, Any] | None:
    """Makes the output folder ready for the units of an export; returns the manifest of one that is complete already.

    Raises:
        ConfigError: the folder holds something else.
    """
    output = Path(job.output)
    if overwrite:
        for name in OWNED:
            LocalFiles().delete(str(output / name))
    finished = finished_export(job)
    if finished is not None:
        return finished
    plan = output / PLAN
    if plan.is_file():
        check_same(job, orjson.loads(plan.read_bytes()))
        LocalFiles().delete(str(output / TEMPORARY))
        return None
    strangers = sorted(entry.name for entry in output.iterdir()) if output.is_dir() else []
    if [name for name in strangers if name != WORK]:
        raise ConfigError(f"{output} is not empty and is no export ({len(strangers)} entries); choose another folder")
    write_atomically(job.output, PLAN, orjson.dumps(job.facts()))
    return None


def _do(job: ExportJob, units: Sequence[Unit], workers: int) -> list[UnitRecord]:
    """Returns the records of all units, in order; does those that have none yet."""
    found = [read_done(job.output, name) for _, _, name in units]
    missing = [unit for unit, record in zip(units, found, strict=True) if record is None]
    if workers <= 1 or len(missing) <= 1:
        done = [function(*arguments) for function, arguments, _ in missing]
    else:
        done = in_processes(missing, workers)
    rest = iter(done)
    return [record or next(rest) for record in found]


def in_processes(units: Sequence[Unit], workers: int) -> list[UnitRecord]:
    """Does units in processes of their own and returns their records, in order.

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
            return [future.result() for future in pending]
        except BrokenProcessPool:
            raise WorkerDiedError(
                "a worker process died (killed, or out of memory); run the same command again to resume"
            ) from None
        finally:
            for future in pending:
                future.cancel()
