"""What integration tests share."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
from byteroute.pipelines.preprocess import files_for

from byteroute_ops.formats import Range
from byteroute_ops.jobs import Job
from byteroute_ops.processing import Processor
from byteroute_ops.range_worker import process_range


def do_ranges(job: Job, ranges: Sequence[Range]) -> None:
    """Does ranges one after the other, as a worker would."""
    processor = Processor(job.settings)
    inputs, outputs = files_for(job.input_root), files_for(job.output)
    for one in ranges:
        process_range(one, job, processor, inputs=inputs, outputs=outputs, on_progress=lambda *_: None)


def run_command(corpus: Path | str, output: Path | str, *more: str) -> list[str]:
    """Returns the command line of a run."""
    return [sys.executable, "-m", "byteroute.pipelines", "run", str(corpus), "-o", str(output), *more]


def servers_of(pid: int) -> list[psutil.Process]:
    """Returns the process that a run's workers are forked from, if it has one by now."""
    return [one for one in psutil.Process(pid).children() if "forkserver" in " ".join(one.cmdline())]


def workers_of(pid: int) -> list[psutil.Process]:
    """Returns the worker processes of a run."""
    return [worker for server in servers_of(pid) for worker in server.children()]


def digests(output: Path, *, but: tuple[str, ...] = ("run.json",)) -> dict[str, str]:
    """Returns the SHA-256 of every file of an output."""
    return {
        str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(output.rglob("*"))
        if path.is_file() and path.name not in but
    }
