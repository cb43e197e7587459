"""Local worker processes, driven by their parent.

Beam's own `multi_processing` mode deals elements out by count before it starts and waits for ever on a
worker that died. Here the parent hands out one range at a time, sees a death at once (the process's
sentinel), gives the range to another worker, and gives up on a range that has ended several workers.
Each worker runs the same Beam pipeline as any other runner, in memory, over the ranges it is handed.
"""

import logging
import signal
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

import orjson

from byteroute_ops.errors import ByteRouteError
from byteroute_ops.formats import Range
from byteroute_ops.jobs import Job
from byteroute_ops.processing import adopt_tokenizers
from byteroute_ops.tokenization import Prepared

from .claim import Claim
from .crew import start_worker

MAX_ATTEMPTS = 3
"""A range that has ended this many workers ends the run, and so do as many workers that ended without one."""

_NO_RANGE = -1


class Watcher(Protocol):
    """Who is told how far the workers are."""

    def read(self, range_index: int, source_bytes: int, documents: int) -> None:
        """Hears what has been read of a range since the last call for it."""

    def range_done(self, range_index: int) -> None:
        """Hears that a range has its record."""


class RunFailedError(ByteRouteError):
    """The run stopped before its end. What is done stays done, and the same command with --resume goes on."""


@dataclass
class _Worker:
    process: Any
    channel: Connection
    range: Range | None = None
    finished: bool = False


def run_local(
    job: Job,
    ranges: Sequence[Range],
    *,
    workers: int,
    progress: Watcher,
    claim: Claim | None = None,
    prepared: Sequence[Prepared | None] = (),
) -> None:
    """Does all ranges on this machine.

    Args:
        job: the run.
        ranges: what is to do.
        workers: processes at once.
        progress: told how far they are.
        claim: the lock on the output folder, which the workers hold too.
        prepared: of the job's tokenizers, in order; empty: the workers read and check them.

    Raises:
        RunFailedError: a worker reported an error that no retry mends, or a range ended its worker repeatedly.
    """
    pending = deque(ranges)
    attempts: dict[int, int] = {}
    team = [_start(job, claim, prepared) for _ in range(min(workers, len(ranges)))]
    try:
        while any(not one.finished for one in team):
            active = [one for one in team if not one.finished]
            ready = wait([*(one.channel for one in active), *(one.process.sentinel for one in active)])
            for one in active:
                if one.channel in ready or one.process.sentinel in ready:
                    alive = _drain(one, pending, progress)
                    # A channel that has ended stays ready for ever: its worker is dead or dying.
                    if not one.finished and not alive:
                        _bury(one, pending, attempts)
                        if pending:
                            team.append(_start(job, claim, prepared))
    finally:
        for one in team:
            if one.finished:
                one.process.join(timeout=5)
            if one.process.is_alive():
                one.process.terminate()
                one.process.join()
            one.channel.close()


def _start(job: Job, claim: Claim | None, prepared: Sequence[Prepared | None]) -> _Worker:
    process, channel = start_worker(_serve, job.to_json(), claim, tuple(prepared))
    return _Worker(process=process, channel=channel)


def _drain(worker: _Worker, pending: deque[Range], progress: Watcher) -> bool:
    """Answers all that a worker has said so far; returns whether it may say more."""
    try:
        while worker.channel.poll():
            kind, *values = worker.channel.recv()
            if kind == "next":
                if worker.range is not None:
                    progress.range_done(worker.range.index)
                worker.range = pending.popleft() if pending else None
                worker.channel.send(orjson.dumps(worker.range.to_json()).decode() if worker.range else None)
                worker.finished = worker.range is None
            elif kind == "progress":
                progress.read(*values)
            elif kind == "failed":
                raise RunFailedError(values[0])
    except (EOFError, ConnectionResetError, BrokenPipeError):
        return False
    return worker.process.exitcode is None


def _bury(worker: _Worker, pending: deque[Range], attempts: dict[int, int]) -> None:
    """Takes back the range of a worker that died, or that nobody can tell of any more, as its server has died."""
    worker.finished = True
    worker.process.join()
    worker.channel.close()
    how = _cause(worker.process.exitcode)
    index = _NO_RANGE if worker.range is None else worker.range.index
    attempts[index] = attempts.get(index, 0) + 1
    if worker.range is None:
        if attempts[index] >= MAX_ATTEMPTS:
            raise RunFailedError(
                f"{MAX_ATTEMPTS} workers ended before they took any work, the last {how}; "
                "run with --runner local to see why"
            )
        return
    if attempts[index] >= MAX_ATTEMPTS:
        raise RunFailedError(
            f"range {index} ({', '.join(part.uri for part in worker.range.slices[:3])}) ended its worker "
            f"{MAX_ATTEMPTS} times, last {how}; give workers more memory or fewer --workers"
        )
    pending.appendleft(worker.range)


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        name = signal.Signals(-exitcode).name
        return f"by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"with exit code {exitcode}"


def _serve(
    channel: Connection,
    job_json: str,
    claim: Claim | None,  # noqa: ARG001 - held, not used
    prepared: tuple[Prepared | None, ...],
) -> None:
    """A worker process: asks for ranges until there are none."""
    # Beam logs what it raises anyway, and warns of extras that a local run does not need.
    logging.getLogger().setLevel(logging.CRITICAL)
    from byteroute_ops.beam.serving import serve

    job = Job.from_json(job_json)
    adopt_tokenizers(job.settings, prepared or [None] * len(job.settings.tokenizers))
    serve(channel, job)
