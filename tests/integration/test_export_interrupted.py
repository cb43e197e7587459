"""Exports whose processes are killed, from outside and one worker at a time."""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from byteroute.pipelines.export_driver import WorkerDiedError, in_processes
from export_fixtures import make_documents, write_run

COMMAND = "from byteroute.pipelines.export import export_command; export_command()"
OPTIONS = ["--to", "megatron", "--ids", "bytes", "--eos", "<eos>", "--shuffle", "3", "--parts", "6", "--workers", "2"]


def tree(output: Path) -> dict[str, str]:
    """SHA-256 of every file of an export, by name."""
    files = sorted(path for path in output.rglob("*") if path.is_file())
    return {str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def start(run_dir: Path, output: Path) -> subprocess.Popen[bytes]:
    """Starts an export in a process group of its own."""
    arguments = [sys.executable, "-c", COMMAND, str(run_dir), "--output", str(output), *OPTIONS]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, start_new_session=True)


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Killed with all its workers after some units, an export run again ends with the bytes of an uninterrupted one."""
    write_run(tmp_path / "run", make_documents(600), n_shards=8)
    assert start(tmp_path / "run", tmp_path / "whole").wait() == 0
    output = tmp_path / "killed"
    for n_done in (1, 4, 9):
        process = start(tmp_path / "run", output)
        while process.poll() is None and len(list((output / "_work/done").glob("*.json"))) < n_done:
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert start(tmp_path / "run", output).wait() == 0
    assert tree(output) == tree(tmp_path / "whole")


def test_a_worker_that_dies_ends_the_export() -> None:
    """A worker that is gone without a word is noticed, and the message says how to go on."""
    with pytest.raises(WorkerDiedError, match="run the same command again to resume"):
        in_processes([(os._exit, (9,), "a"), (os._exit, (9,), "b")], 2)
