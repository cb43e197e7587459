"""The same job on several runners: wall and CPU seconds, megabytes of clean text a second, and whether the bytes agree.

    python benchmarks/runner_throughput.py WORK_FOLDER INPUT... -- local-mp local prism "prism --environment_type=..."

Each runner is one argument: its name, and its options after it. Start-up and planning are in the times.
"""

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path


def digest(output: Path) -> str:
    """Returns one digest of all that a run wrote, but `run.json`."""
    total = hashlib.sha256()
    for path in sorted(output.rglob("*")):
        if path.is_file() and path.name != "run.json":
            total.update(str(path.relative_to(output)).encode() + path.read_bytes())
    return total.hexdigest()[:16]


def measure(work: Path, inputs: list[str], runner: str, number: int) -> dict[str, object]:
    """Runs the job once; returns its figures."""
    output = work / f"run-{number}"
    name, *options = runner.split()
    command = [sys.executable, "-m", "byteroute.pipelines", "run", *inputs, "-o", str(output), "--quiet"]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, "--runner", name, *options], check=True, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    totals = json.loads((output / "manifest.json").read_bytes())["totals"]
    megabytes = totals["n_utf8_bytes"] / 1e6
    return {
        "runner": runner,
        "wall_s": round(wall, 1),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "text_mb": round(megabytes, 1),
        "mb_per_s": round(megabytes / wall, 2),
        "digest": digest(output),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="an empty folder")
    parser.add_argument("inputs", nargs="+")
    cut = sys.argv.index("--")
    args = parser.parse_args(sys.argv[1:cut])
    for number, runner in enumerate(sys.argv[cut + 1 :]):
        print(json.dumps(measure(args.work, args.inputs, runner, number)), flush=True)


if __name__ == "__main__":
    main()
