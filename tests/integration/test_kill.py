"""Kill -9 at random moments: the run goes on to the bytes of one that was left alone."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from byteroute.pipelines.preprocess import files_for
from byteroute.pipelines.verify import verify_output
from integration_support import digests, run_command, servers_of, workers_of

MOMENTS = 25
KINDS = ("group", "server", "worker", "parent", "group")
IN_EVERY_RUN = (1, 2, 3, 4)
"""One of each kind; the other moments take minutes and are marked slow."""


@dataclass(frozen=True)
class Whole:
    """An uninterrupted run: what it wrote, and in how many ranges."""

    corpus: Path
    digests: dict[str, str]
    n_ranges: int


def command(corpus: Path, output: Path, *more: str) -> list[str]:
    """Returns the command line of the run that is killed."""
    options = ("--range-bytes", "128KiB", "--workers", "2", "--quiet", "--max-rejected", "5%")
    return run_command(corpus, output, *options, *more)


@pytest.fixture(scope="module")
def whole(long_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The run that nobody kills."""
    output = tmp_path_factory.mktemp("whole") / "out"
    subprocess.run(command(long_corpus, output), check=True)
    facts = json.loads((output / "run.json").read_bytes())
    return Whole(long_corpus, digests(output), facts["ranges"])


def wait_for_a_moment(process: subprocess.Popen[bytes], output: Path, n_ranges: int, rng: random.Random) -> None:
    """Waits until so many ranges are done, and a little longer; counted, as a busy machine makes times meaningless."""
    target = rng.randint(0, n_ranges) if rng.random() < 0.8 else 0
    while process.poll() is None and len(list(output.glob("_ranges/*.json"))) < target:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, 0.1) if target else rng.uniform(0, 4))


def kill_group(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    """Kills the command and its workers at once."""
    os.killpg(process.pid, signal.SIGKILL)


def kill_parent(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    """Kills the command alone."""
    process.kill()


def kill_worker(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    """Kills one of the workers, if there are any by now."""
    workers = workers_of(process.pid)
    if workers:
        rng.choice(workers).kill()


def kill_server(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    """Kills the process that workers are forked from."""
    for one in servers_of(process.pid):
        one.kill()


KILL: dict[str, Callable[[subprocess.Popen[bytes], random.Random], None]] = {
    "group": kill_group,
    "parent": kill_parent,
    "server": kill_server,
    "worker": kill_worker,
}


@pytest.mark.parametrize(
    "moment", [pytest.param(i, marks=() if i in IN_EVERY_RUN else pytest.mark.slow) for i in range(MOMENTS)]
)
def test_a_run_killed_at_any_moment_ends_with_the_same_bytes(whole: Whole, tmp_path: Path, moment: int) -> None:
    """Every file, budgets included, is the same; killing a worker or its server costs nothing; no process stays."""
    rng = random.Random(moment)
    output, kind = tmp_path / "out", KINDS[moment % len(KINDS)]
    process = subprocess.Popen(command(whole.corpus, output), stderr=subprocess.PIPE, start_new_session=True)
    wait_for_a_moment(process, output, whole.n_ranges, rng)
    n_done, is_running = len(list(output.glob("_ranges/*.json"))), process.poll() is None
    print(f"{kind}: {n_done} ranges done" if is_running else "ended before it was killed")  # for pytest -rP
    children = psutil.Process(process.pid).children(recursive=True) if is_running else []
    if is_running:
        KILL[kind](process, rng)
    _, errors = process.communicate(timeout=300)
    if kind in ("server", "worker"):
        assert (process.returncode, errors.decode()) == (0, "")
    else:
        done = subprocess.run(command(whole.corpus, output, "--resume"), capture_output=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr.decode()
    assert psutil.wait_procs(children, timeout=30)[1] == []
    assert digests(output) == whole.digests
    assert verify_output(files_for(str(output)), str(output)).problems == []
