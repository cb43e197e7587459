"""Measuring: alternating turns, medians, commands with their processor time and memory, tables."""

import contextlib
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import psutil


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        name: of the contender.
        seconds: median of its turns, wall clock or processor time as the table says.
        mb_per_second: of UTF-8 text.
        ratio: how many times as fast as the table's reference.
        note: what else is to say.
    """

    name: str
    seconds: float
    mb_per_second: float
    ratio: float
    note: str = ""


@dataclass(frozen=True)
class Table:
    """One result: what was measured, under which conditions.

    Attributes:
        title: in a few words.
        unit: what `seconds` are.
        reference: the name of the row that ratios refer to.
        rows: of the contenders.
        load: load average over the last minute when it began and when it ended.
    """

    title: str
    unit: str
    reference: str
    rows: list[Row]
    load: tuple[float, float]


@dataclass(frozen=True)
class Finished:
    """What a command took: wall clock and processor seconds (children included), and the largest worker's memory."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def in_turns(contenders: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Returns the median processor time of each, in seconds; all take a turn before any takes its next."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(turns):
        for name, run in contenders.items():
            start = time.process_time()
            run()
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def run_command(command: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> Finished:
    """Runs a command to its end.

    Raises:
        RuntimeError: it failed; its output is in `log`.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
        peak, used = 0, dict[int, float]()
        while process.poll() is None:
            peak = max(peak, _look(process.pid, used))
            time.sleep(0.05)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise RuntimeError(f"{command[0]} … ended with {process.returncode}; see {log}")
    # The kernel's account lacks processes that were not waited for, the samples what came after the last of them.
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    cpu = max(cpu, sum(used.values()))
    return Finished(seconds, cpu, peak)


def _look(pid: int, used: dict[int, float]) -> int:
    """Returns the resident memory of the largest process of a tree; notes each one's processor time in `used`."""
    largest = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            largest = max(largest, one.memory_info().rss)
            times = one.cpu_times()
            used[one.pid] = times.user + times.system
    return largest


def table(
    title: str, seconds: Mapping[str, float], n_bytes: int, reference: str, *, unit: str, load: float,
    notes: Mapping[str, str] | None = None,
) -> Table:  # fmt: skip
    """Returns a table of contenders that did the same work; `load`: the load average before they began."""
    rows = [
        Row(name, one, n_bytes / one / 1e6, seconds[reference] / one, (notes or {}).get(name, ""))
        for name, one in seconds.items()
    ]
    return Table(title, unit, reference, rows, (load, load_average()))


def load_average() -> float:
    """Returns how many processes wanted a core over the last minute."""
    return os.getloadavg()[0]


def write_report(tables: Sequence[Table], folder: Path) -> Path:
    """Writes all tables as `speed.md` and `speed.json` and returns the first."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"python": sys.version.split()[0], "machine": platform.machine(), "cpus": os.cpu_count()}
    value = {"facts": facts, "tables": [asdict(one) for one in tables]}
    (folder / "speed.json").write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    lines = ["# Speed", "", ", ".join(f"{name} {value}" for name, value in facts.items()), ""]
    for one in tables:
        lines += [f"## {one.title}", "", f"Load average {one.load[0]:.1f} before, {one.load[1]:.1f} after.", ""]
        lines += [f"| | {one.unit} | MB/s | times as fast as {one.reference} | |", "|---|---|---|---|---|"]
        lines += [
            f"| {r.name} | {r.seconds:.3f} | {r.mb_per_second:.1f} | {r.ratio:.2f} | {r.note} |" for r in one.rows
        ]
        lines.append("")
    target = folder / "speed.md"
    target.write_text("\n".join(lines), encoding="utf-8")
    return target
