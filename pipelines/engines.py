"""Runs a job on the engine that `--runner` names.

Profiles are found by name and handed what they run: they know nothing of jobs, and nothing here knows
what an engine needs.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from byteroute_ops.errors import ConfigError
from byteroute_ops.files import is_remote
from byteroute_ops.fingerprints import json_digest
from byteroute_ops.formats import Range
from byteroute_ops.jobs import Job
from byteroute_ops.tokenization import Prepared

from .build import batch_pipeline
from .claim import Claim
from .local import Watcher, run_local

DEFAULT = "local-mp"
NAMESPACE = "byteroute.range"


def runner_names() -> list[str]:
    """Returns the names that `--runner` takes."""
    return list(_runners().PROFILES)


def _runners() -> Any:
    return import_module("byteroute.runners")


def check_runner(name: str, extra: Sequence[str], output: str) -> None:
    """Refuses, before anything is read or written, what the runner cannot do.

    Raises:
        ConfigError: an unknown runner, a missing prerequisite, or an output that its workers cannot reach.
    """
    profile = _runners().find_profile(name)
    profile.options("byteroute", extra)
    if not profile.shares_disk and not is_remote(output):
        raise ConfigError(f"--output {output}: workers of runner {name} cannot reach this disk; give a URI (gs://...)")


def run_ranges(
    job: Job,
    ranges: Sequence[Range],
    *,
    runner: str,
    extra: Sequence[str],
    workers: int,
    progress: Watcher,
    claim: Claim | None = None,
    prepared: Sequence[Prepared | None] = (),
) -> None:
    """Does all ranges on the named engine.

    Workers on other machines read and check the tokenizers themselves; those of this one take what was `prepared`.

    Raises:
        ConfigError: an option that the engine does not take.
        ByteRouteError: the job ended before its time.
    """
    profile = _runners().find_profile(runner)
    if not profile.beam:
        run_local(job, ranges, workers=workers, progress=progress, claim=claim, prepared=prepared)
        return
    build = batch_pipeline(job, ranges)
    if profile.polled:
        _runners().launch(profile, build, extra, job_name=job_name(job), on_counters=_follower(progress))
        return
    from byteroute_ops.beam.range_dofn import observe

    observe(progress.read)
    try:
        _runners().launch(profile, build, extra, job_name=job_name(job))
    finally:
        observe(None)


def job_name(job: Job) -> str:
    """Returns a name that is the same for the same job: engines show it, and some refuse two of one name at once."""
    return f"byteroute-{json_digest(job.to_json())[:12]}"


def _follower(progress: Watcher) -> Callable[[dict[tuple[str, str, str], int]], None]:
    """Returns what turns counters, which only grow, into steps of progress."""
    seen = {"source_bytes": 0, "documents": 0, "ranges": 0}

    def follow(counters: dict[tuple[str, str, str], int]) -> None:
        now = dict.fromkeys(seen, 0)
        for (_, namespace, name), value in counters.items():
            if namespace == NAMESPACE and name in now:
                now[name] += value
        steps = {name: max(0, now[name] - seen[name]) for name in seen}
        progress.read(-1, steps["source_bytes"], steps["documents"])
        for _ in range(steps["ranges"]):
            progress.range_done(-1)
        seen.update({name: max(now[name], seen[name]) for name in seen})

    return follow
