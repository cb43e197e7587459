"""Engines: the same bytes as the local runner in batch; windows equal to batch runs of their files in streaming."""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest
from byteroute.pipelines.cli import main
from byteroute.pipelines.stream import windows_of
from byteroute.pipelines.verify import verify_output
from click.testing import CliRunner
from integration_support import digests

from byteroute_ops.budgets import Budget, RunTotals
from byteroute_ops.files import LocalFiles
from byteroute_ops.panes import Window

COMMON = ("--quiet", "--tokenizer", "bytes")
BATCH = (*COMMON, "--range-bytes", "20kB", "--max-rejected", "50%")


def command(*words: str | Path) -> Any:
    """Runs the command line in this process and requires that it succeeds."""
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done


def batch(output: Path, inputs: Iterable[Path], *more: str) -> dict[str, str]:
    """Runs a batch job; returns the digests of its output."""
    command("run", *inputs, "-o", output, *BATCH, *more)
    return digests(output)


def external(pool: str) -> list[str]:
    """Returns the options for workers of a pool."""
    return ["--environment_type=EXTERNAL", f"--environment_config={pool}"]


def test_batch_gives_the_bytes_of_the_local_runner(engine: list[str], corpus: Path, tmp_path: Path) -> None:
    """Every file of the output is the same on the engine as on one thread here."""
    here = batch(tmp_path / "local", [corpus], "--runner", "local")
    assert batch(tmp_path / "engine", [corpus], *engine) == here
    assert len(here) > 10


def test_batch_on_workers_with_the_wheel_alone(
    engine: list[str], corpus: Path, tmp_path: Path, external_pool: str
) -> None:
    """Workers that cannot see the checkout give the same bytes."""
    here = batch(tmp_path / "local", [corpus], "--runner", "local")
    assert batch(tmp_path / "engine", [corpus], *engine, *external(external_pool)) == here


def drop_files(corpus: Path, watched: Path, pause: float) -> None:
    """Moves copies of the files in, one after the other; the last one is late: it is dated to the first one's time."""
    files = sorted(corpus.iterdir())
    first = time.time()
    for number, path in enumerate(files):
        staged = watched.parent / f"staged-{path.name}"
        shutil.copyfile(path, staged)
        if number == len(files) - 1:
            os.utime(staged, (first, first))
        staged.rename(watched / path.name)
        time.sleep(pause)


def files_by_window(folder: Path, seconds: int) -> dict[int, list[Path]]:
    """Returns the files by the start of the window that their time of change is in."""
    found: dict[int, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        found.setdefault(int(path.stat().st_mtime // seconds) * seconds, []).append(path)
    return found


def budget_of(output: Path) -> tuple[RunTotals, list[dict[str, Any]]]:
    """Returns the totals and the script budget of a batch output."""
    import pyarrow.parquet as pq

    manifest = json.loads((output / "manifest.json").read_bytes())
    return RunTotals.from_json(manifest["totals"]), pq.read_table(output / "budgets" / "scripts.parquet").to_pylist()


def comparable(totals: RunTotals) -> dict[str, Any]:
    """Returns the totals without what depends on the number of files written."""
    return {name: value for name, value in totals.to_json().items() if name not in ("n_shards", "n_shard_bytes")}


def check_windows(found: list[Window], watched: Path, seconds: int, tmp_path: Path) -> None:
    """Each window holds what a batch run over its files gives: totals and budgets."""
    expected = files_by_window(watched, seconds)
    assert len(found) == len(expected) > 1
    for window, (start, paths) in zip(found, sorted(expected.items()), strict=True):
        batch(tmp_path / f"batch-{start}", paths, "--runner", "local")
        totals, scripts = budget_of(tmp_path / f"batch-{start}")
        assert comparable(window.totals) == comparable(totals)
        assert window.budget.script_table().to_pylist() == scripts
    assert Budget.merged(one.budget for one in found).tokenizers == ("bytes",)


@pytest.mark.parametrize("environment", ["loopback", "external"])
def test_files_that_come_while_a_stream_runs(
    engine: list[str], corpus: Path, tmp_path: Path, request: pytest.FixtureRequest, environment: str
) -> None:
    """Budgets per window equal the batch job's over the same files, a late one included; the sealed output verifies."""
    options = external(request.getfixturevalue("external_pool")) if environment == "external" else []
    watched, output, seconds = tmp_path / "in", tmp_path / "out", 5
    watched.mkdir()
    dropper = threading.Thread(target=drop_files, args=(corpus, watched, 2.0))
    dropper.start()
    command(
        "stream", watched, "-o", output, *COMMON, "--window", f"{seconds}s", "--interval", "1s",
        "--stop-after", "26s", "--shards", "2", *engine, *options,
    )  # fmt: skip
    dropper.join()
    found = windows_of(str(output))
    check_windows(found, watched, seconds, tmp_path)
    late = [one for window in found for one in window.files if "-p00001" in one["path"]]
    assert late, "the late file made no pane of its own"
    command("windows", output, "--seal")
    assert verify_output(LocalFiles(), str(output), unique=True).problems == []


def many_documents(folder: Path) -> Path:
    """Fills a folder with enough documents that a job can be disturbed in the middle."""
    folder.mkdir()
    for i in range(8):
        rows = [{"id": f"{i}-{n}", "text": f"слово {n} and words 言葉 " * 40, "lang": "ru"} for n in range(3000)]
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"part-{i}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def kill_worker(output: Path, pool: str) -> None:
    """Kills the pool's worker process as soon as one range has been committed."""
    port = pool.rpartition(":")[2]
    wait_for_record(output)
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "--service_port" in words and port in words:
            for child in process.children():
                child.kill()


def test_a_worker_that_is_killed_on_prism(prism_options: list[str], tmp_path: Path, external_pool: str) -> None:
    """The run ends with exit 1 and says how to go on; --resume does the rest, and the bytes are those of any run."""
    corpus, output = many_documents(tmp_path / "many"), tmp_path / "engine"
    here = batch(tmp_path / "local", [corpus], "--runner", "local", "--range-bytes", "1MB")
    words = ["run", corpus, "-o", output, *BATCH, "--range-bytes", "1MB", *prism_options]
    killer = threading.Thread(target=kill_worker, args=(output, external_pool))
    killer.start()
    done = CliRunner().invoke(main, [*map(str, words), *external(external_pool)])
    killer.join()
    assert done.exit_code == 1, done.output
    assert "--resume" in done.output
    assert not (output / "manifest.json").exists()
    command(*words, "--resume")
    assert digests(output) == here


@pytest.mark.parametrize("victim", ["taskmanager0"])
def test_a_task_manager_that_is_killed(
    request: pytest.FixtureRequest, corpus: Path, tmp_path: Path, external_pool: str, victim: str
) -> None:
    """A batch job whose TaskManager is killed in the middle ends with the bytes of an undisturbed run."""
    options = request.getfixturevalue("flink_options")
    cluster = request.getfixturevalue("flink_cluster")
    here = batch(tmp_path / "local", [corpus], "--runner", "local")
    output = tmp_path / "engine"
    killer = threading.Thread(target=kill_after_first_record, args=(output, cluster.folder / f"{victim}.pid"))
    killer.start()
    assert batch(output, [corpus], *options, *external(external_pool), "--parallelism=1") == here
    killer.join()
    assert not (cluster.folder / f"{victim}.pid").exists()


def kill_after_first_record(output: Path, pid: Path) -> None:
    """Kills a process as soon as one range has been committed."""
    wait_for_record(output)
    os.kill(int(pid.read_text(encoding="utf-8")), signal.SIGKILL)
    pid.unlink()


def wait_for_record(output: Path) -> None:
    """Returns when a range has been committed, or after two minutes."""
    end = time.monotonic() + 120
    while time.monotonic() < end and not list(output.glob("_ranges/*.json")):
        time.sleep(0.05)
