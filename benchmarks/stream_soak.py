"""A stream under a steady trickle of files: is memory flat, is nothing lost, how long until a window is written.

    python benchmarks/stream_soak.py --minutes 30 --every 2 CORPUS.jsonl WORK_FOLDER [-- --runner prism ...]

Prints one JSON object. Latency is from the end of a window to the time of its record, over all windows.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
from byteroute.pipelines.stream import windows_of

WINDOW_SECONDS = 10
SAMPLE_SECONDS = 5


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="a JSON Lines file to take documents from, again and again")
    parser.add_argument("work", type=Path, help="an empty folder")
    parser.add_argument("options", nargs="*", help="for byteroute stream, after --")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=float, default=2, help="seconds between two files")
    parser.add_argument("--documents", type=int, default=20, help="in each file")
    return parser.parse_args()


def trickle(args: argparse.Namespace, watched: Path, until: float, sent: list[int]) -> None:
    """Moves a new file into the watched folder every few seconds."""
    lines = args.corpus.read_text(encoding="utf-8").splitlines()
    supply = itertools.cycle(lines)
    for number in itertools.count():
        if time.time() > until:
            return
        rows = []
        for i in range(args.documents):
            rows.append(json.dumps(json.loads(next(supply)) | {"id": f"{number}-{i}"}, ensure_ascii=False))
        staged = args.work / "staged.jsonl"
        staged.write_text("\n".join(rows), encoding="utf-8")
        staged.rename(watched / f"{number:06d}.jsonl")
        sent.append(len(rows))
        time.sleep(args.every)


def memory(process: subprocess.Popen[bytes]) -> Iterator[dict[str, float]]:
    """Yields, until the process ends, the resident megabytes of it and its children by program name."""
    parent = psutil.Process(process.pid)
    while process.poll() is None:
        sizes: dict[str, float] = {}
        for one in [parent, *parent.children(recursive=True)]:
            try:
                name = one.name()
                sizes[name] = sizes.get(name, 0) + one.memory_info().rss / 1e6
            except psutil.NoSuchProcess:
                continue
        yield sizes
        time.sleep(SAMPLE_SECONDS)


def quarters(samples: list[dict[str, float]]) -> dict[str, list[float]]:
    """Returns the median megabytes of each program in each quarter of the run."""
    cut = max(1, len(samples) // 4)
    parts = [samples[i * cut : (i + 1) * cut] for i in range(4)]
    names = sorted({name for one in samples for name in one})
    return {
        name: [round(statistics.median([one.get(name, 0) for one in part]), 1) for part in parts if part]
        for name in names
    }


def latencies(output: Path) -> list[float]:
    """Returns, for each window, the seconds from its end to its first record."""
    found = []
    for folder in sorted((output / "panes").iterdir()):
        end = datetime.strptime(folder.name.split("-")[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        found.append(min(path.stat().st_mtime for path in folder.glob("*.json")) - end)
    return sorted(found)


def main() -> None:
    args = arguments()
    watched, output = args.work / "in", args.work / "out"
    watched.mkdir(parents=True)
    seconds = args.minutes * 60
    command = [
        sys.executable, "-m", "byteroute.pipelines", "stream", str(watched), "-o", str(output), "--quiet",
        "--window", f"{WINDOW_SECONDS}s", "--interval", "2s", "--stop-after", f"{int(seconds + 20)}s",
        *(args.options or ["--runner", "prism"]),
    ]  # fmt: skip
    sent: list[int] = []
    with (args.work / "stream.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        thread = threading.Thread(target=trickle, args=(args, watched, time.time() + seconds, sent))
        thread.start()
        samples = list(memory(process))
        thread.join()
    windows = windows_of(str(output))
    waits = latencies(output)
    result = {
        "exit": process.returncode,
        "minutes": args.minutes,
        "files": len(sent),
        "documents_sent": sum(sent),
        "documents_written": sum(one.totals.documents for one in windows),
        "rejected": sum(sum(one.totals.rejects.values()) for one in windows),
        "windows": len(windows),
        "stale_panes": sum(len(one.stale) for one in windows),
        "latency_seconds": {
            "p50": round(waits[len(waits) // 2], 2),
            "p95": round(waits[int(len(waits) * 0.95)], 2),
            "max": round(waits[-1], 2),
        },
        "resident_megabytes_by_quarter": quarters(samples),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
