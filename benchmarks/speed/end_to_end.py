"""Whole runs beside each other, as commands, on the wall clock: byteroute, its floor, datatrove, Megatron-LM's way."""

import importlib.util
import json
import shutil
import statistics
import sys
from pathlib import Path

import zstandard

from byteroute_ops.files import LocalFiles
from byteroute_ops.settings import Settings

from . import corpus
from .measure import Finished, Table, load_average, run_command, table

_HERE = "benchmarks.speed"
Measured = dict[str, list[Finished]]


def plain_tokenizer(path: Path, folder: Path) -> Path:
    """Returns the tokenizer as a plain tokenizer.json, which every contender reads."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(data).read()
    target = folder / path.name.split(".")[0] / "tokenizer.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return target


def byteroute(source: Path, tokenizer: Path, output: Path, workers: int, *options: str) -> list[str]:
    """Returns the command of a run with text ids by the tokenizer and routed budgets by bytes."""
    command = [sys.executable, "-m", "byteroute.pipelines", "run", str(source), "--output", str(output)]
    command += ["--tokenizer", str(tokenizer), "--routed-engine", "bytes", "--workers", str(workers)]
    return [*command, "--overwrite", *options]


def end_to_end(source: Path, tokenizer: Path, scratch: Path, *, workers: int, turns: int) -> Table:
    """Returns one table: the same files, the same tokenizer, the same number of workers."""
    plain, load = plain_tokenizer(tokenizer, scratch), load_average()
    name = plain.parent.name
    ready = scratch / f"ready-{name}"
    run_command(byteroute(source, plain, ready, workers, "--engine", "gigatoken"), scratch / "ready.log")
    _write_ranges(source, scratch)
    arguments = [str(plain), str(scratch / "out"), str(workers)]
    commands = {
        "byteroute, gigatoken": byteroute(source, plain, scratch / "out", workers, "--engine", "gigatoken"),
        "byteroute, tokenizers": byteroute(source, plain, scratch / "out", workers, "--engine", "tokenizers"),
        "floor": [sys.executable, "-m", f"{_HERE}.floor", str(ready), *arguments],
        "Megatron-LM's way": [sys.executable, "-m", f"{_HERE}.megatron_way", str(source), *arguments],
    }
    if importlib.util.find_spec("datatrove") is not None:
        commands["datatrove"] = [sys.executable, "-m", f"{_HERE}.datatrove_way", str(source), *arguments]
    measured: Measured = {one: [] for one in commands}
    for _ in range(turns):
        for one, command in commands.items():
            shutil.rmtree(scratch / "out", ignore_errors=True)
            shutil.rmtree(scratch / "out-logs", ignore_errors=True)
            log = scratch / f"{one.split(',')[0].replace(' ', '-')}.log"
            done = run_command(command, log, {"TOKENIZERS_PARALLELISM": "false"} if "tokenizers" in one else None)
            if one == "floor":
                # What is ready-made has to come from somewhere; that time is not the floor's.
                done = Finished(done.seconds - float(log.read_text().split()[-1]), done.cpu_seconds, done.peak_bytes)
            measured[one].append(done)
    n_bytes = json.loads((ready / "manifest.json").read_bytes())["totals"]["n_utf8_bytes"]
    reference = "datatrove" if "datatrove" in commands else "Megatron-LM's way"
    seconds = {one: statistics.median(turn.seconds for turn in turn_list) for one, turn_list in measured.items()}
    title = f"End to end, {name}, {workers} workers, {n_bytes / 1e6:.0f} MB of text"
    return table(title, seconds, n_bytes, reference, unit="seconds", load=load, notes=_notes(measured))


def _notes(measured: Measured) -> dict[str, str]:
    found = {}
    for name, turns in measured.items():
        cpu = statistics.median(turn.cpu_seconds for turn in turns)
        peak = max(turn.peak_bytes for turn in turns)
        found[name] = f"{cpu:.1f} s of processor time, largest process {peak / 1e6:.0f} MB"
    return found


def _write_ranges(source: Path, scratch: Path) -> None:
    """Writes down the ranges of the input, for the floor."""
    from byteroute.pipelines.plan import find_inputs, make_ranges

    inputs = find_inputs([str(source)], LocalFiles())
    ranges = make_ranges(inputs, Settings(), LocalFiles())
    value = {"root": inputs.root, "ranges": [one.to_json() for one in ranges]}
    (scratch / "floor-ranges.json").write_text(json.dumps(value))


def scaling(files: list[Path], tokenizer: Path, scratch: Path, *, copies: tuple[int, ...], turns: int) -> Table:
    """Returns time and memory of one and two workers as the corpus grows."""
    plain, load = plain_tokenizer(tokenizer, scratch), load_average()
    measured: Measured = {}
    sizes: dict[str, int] = {}
    sources = {n: corpus.copies(files, scratch / f"corpus-x{n}", n) for n in copies}
    for _ in range(turns):
        for n, source in sources.items():
            for workers in (1, 2):
                name = f"x{n}, {workers} workers"
                shutil.rmtree(scratch / "out", ignore_errors=True)
                command = byteroute(source, plain, scratch / "out", workers, "--engine", "gigatoken")
                measured.setdefault(name, []).append(run_command(command, scratch / "scaling.log"))
                totals = json.loads((scratch / "out" / "manifest.json").read_bytes())["totals"]
                sizes[name] = totals["n_utf8_bytes"]
    # Seconds for each MB: what must not grow with the corpus.
    seconds = {
        one: statistics.median(turn.seconds for turn in runs) * 1e6 / sizes[one] for one, runs in measured.items()
    }
    title = f"Scaling, {plain.parent.name}: corpus and workers"
    reference = f"x{copies[0]}, 1 workers"
    return table(title, seconds, 1_000_000, reference, unit="seconds per MB", load=load, notes=_notes(measured))
