"""Worker processes: the same bytes whatever their number, and an end to every failure."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import plain_tokenization as plain
import psutil
import pytest
from byteroute.pipelines import local
from byteroute.pipelines.local import RunFailedError, run_local
from byteroute.pipelines.preprocess import files_for, make_plan, prepare_output, run_plan
from byteroute.pipelines.verify import verify_output
from integration_support import digests, run_command, workers_of

from byteroute_ops.settings import load_settings

SETTINGS = {"range_bytes": 4096}


LISTENING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
# A shell makes what it starts in the background ignore SIGINT, and the tests may run there.


class Watcher:
    """Hears what a progress line would."""

    def __init__(self) -> None:
        self.documents = 0
        self.done: list[int] = []
        self.on_done: Any = None

    def read(self, range_index: int, source_bytes: int, documents: int) -> None:
        """Adds up."""
        self.documents += documents

    def range_done(self, range_index: int) -> None:
        """Notes the range."""
        self.done.append(range_index)
        if self.on_done is not None:
            self.on_done()


def run_workers(corpus: Path, output: Path, *, workers: int, watcher: Watcher | None = None) -> dict[str, Any]:
    """Runs the job with worker processes and returns its manifest."""
    plan = make_plan(load_settings(SETTINGS), [str(corpus)], str(output))
    todo = prepare_output(plan, resume=True, overwrite=False)
    assert todo is not None
    seen = watcher or Watcher()
    return run_plan(plan, todo, lambda job, ranges: run_local(job, ranges, workers=workers, progress=seen), facts={})


def test_one_and_two_workers_write_the_same_bytes(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """Every file but run.json is identical to what one process writes."""
    run_inline([corpus], tmp_path / "inline", **SETTINGS)
    for workers in (1, 2):
        watcher = Watcher()
        manifest = run_workers(corpus, tmp_path / str(workers), workers=workers, watcher=watcher)
        assert digests(tmp_path / str(workers)) == digests(tmp_path / "inline")
        assert watcher.documents == manifest["totals"]["records"]
        assert sorted(watcher.done) == list(range(len(watcher.done)))


def test_a_killed_worker_is_replaced_and_nothing_is_lost(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """Kill -9 of a worker in the middle: its range is done by another one, the bytes are the same."""
    run_inline([corpus], tmp_path / "inline", **SETTINGS)
    killed: list[int] = []
    watcher = Watcher()

    def kill_one() -> None:
        if not killed:
            victim = workers_of(os.getpid())[0]
            victim.kill()
            killed.append(victim.pid)

    watcher.on_done = kill_one
    run_workers(corpus, tmp_path / "out", workers=2, watcher=watcher)
    assert killed
    assert digests(tmp_path / "out") == digests(tmp_path / "inline")


def test_a_tokenizer_file_that_changes_after_planning_changes_nothing(
    run_inline: Any, corpus: Path, tmp_path: Path
) -> None:
    """Workers have the tokenizer as the run was planned with it: its digest stands in the manifest."""
    path = plain.write(plain.byte_level(), tmp_path)
    settings = {**SETTINGS, "tokenizers": [str(path)], "ids": "text"}
    run_inline([corpus], tmp_path / "inline", **settings)
    plan = make_plan(load_settings(settings), [str(corpus)], str(tmp_path / "out"))
    plain.write(plain.wordpiece(), tmp_path)
    todo = prepare_output(plan, resume=False, overwrite=False)
    assert todo
    run_plan(
        plan,
        todo,
        lambda job, ranges: run_local(job, ranges, workers=2, progress=Watcher(), prepared=plan.prepared),
        facts={},
    )
    assert digests(tmp_path / "out") == digests(tmp_path / "inline")


def test_an_unwritable_output_ends_the_run_and_can_be_resumed(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """An output that cannot be written is one clear error; once mended the run goes on to the same bytes."""
    run_inline([corpus], tmp_path / "inline", **SETTINGS)
    output = tmp_path / "out"
    plan = make_plan(load_settings(SETTINGS), [str(corpus)], str(output))
    assert prepare_output(plan, resume=False, overwrite=False)
    # A file where a folder must be made: also what root cannot write.
    (output / "_temporary").write_bytes(b"")
    with pytest.raises(RunFailedError, match="_temporary"):
        run_local(plan.job, plan.ranges, workers=1, progress=Watcher())
    run_workers(corpus, output, workers=1)
    assert digests(output) == digests(tmp_path / "inline")


def test_ctrl_c_ends_with_a_message_and_the_run_can_be_resumed(
    run_inline: Any, long_corpus: Path, tmp_path: Path
) -> None:
    """SIGINT to the whole group: exit 130, one line, no worker left behind; --resume finishes."""
    run_inline([long_corpus], tmp_path / "inline", range_bytes=1 << 17)
    output = tmp_path / "out"
    command = run_command(long_corpus, output, "--range-bytes", "128KiB")
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, *command[1:], "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not list(output.glob("_ranges/*.json")) and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode().strip() == "byteroute: interrupted; what is done stays done, and --resume goes on"
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(output) in " ".join(p.info["cmdline"] or [])]
    again = [*command, "--resume", "--quiet", "--max-rejected", "5%"]
    finished = subprocess.run(again, capture_output=True, check=False)
    assert (finished.returncode, finished.stderr.decode()) == (0, "")
    assert digests(output) == digests(tmp_path / "inline")
    assert verify_output(files_for(str(output)), str(output)).problems == []


def test_a_worker_killed_before_its_first_range_is_replaced(
    run_inline: Any, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One death while a worker starts costs nothing; workers that all die at once end the run."""
    run_inline([corpus], tmp_path / "inline", **SETTINGS)
    start, victims = local._start, itertools.chain([True])

    def start_and_kill(*arguments: Any) -> Any:
        worker = start(*arguments)
        if next(victims, False):
            worker.process.kill()
        return worker

    monkeypatch.setattr(local, "_start", start_and_kill)
    run_workers(corpus, tmp_path / "out", workers=1)
    assert digests(tmp_path / "out") == digests(tmp_path / "inline")
    victims = itertools.repeat(True)
    with pytest.raises(RunFailedError, match="3 workers ended before they took any work, the last by SIGKILL"):
        run_workers(corpus, tmp_path / "none", workers=1)
