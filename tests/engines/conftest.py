"""Tests on engines that no Python package brings. `make test-engines` gets what can be had and runs them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from byteroute.runners.engines import engines_folder
from byteroute.runners.flink import FLINK_VERSION
from services import free_port, worker_pool
from worker_site import ROOT, make_worker_site, worker_environment

ENABLED = "BYTEROUTE_TEST_ENGINES"


@pytest.fixture(autouse=True, scope="session")
def _asked_for() -> None:
    """These tests start servers and take minutes, so they are run only when asked for."""
    if not os.environ.get(ENABLED):
        pytest.skip("run by `make test-engines`")


@pytest.fixture(params=["prism", "flink"])
def engine(request: pytest.FixtureRequest) -> list[str]:
    """The options that select an engine, each in turn; skipped with the reason where it cannot be had."""
    options: list[str] = request.getfixturevalue(f"{request.param}_options")
    return options


@pytest.fixture(scope="session")
def prism_options() -> list[str]:
    """The options for Prism."""
    if not (engines_folder() / "prism").is_file():
        pytest.skip(f"no Prism: {reason('prism')}")
    return ["--runner", "prism"]


@dataclass(frozen=True)
class Cluster:
    """A Flink cluster that is running."""

    folder: Path
    port: int


@pytest.fixture
def flink_cluster(flink_libraries: Path, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of a JobManager and two TaskManagers with two slots each: one is a spare."""
    folder, port = tmp_path / "flink", free_port()
    tool = [sys.executable, str(ROOT / "tools" / "flink_cluster.py")]
    subprocess.run([*tool, "start", str(folder), "--port", str(port), "--task-managers", "2"], check=True)
    try:
        yield Cluster(folder, port)
    finally:
        subprocess.run([*tool, "stop", str(folder)], check=True)


@pytest.fixture
def flink_options(flink_jar: Path, flink_cluster: Cluster) -> list[str]:
    """The options for a Flink cluster."""
    jar = f"--flink_job_server_jar={flink_jar}"
    return ["--runner", "flink", f"--flink_master=localhost:{flink_cluster.port}", jar, "--checkpointing_interval=1000"]


@pytest.fixture(scope="session")
def flink_jar() -> Path:
    """Beam's job server for Flink."""
    found = sorted(engines_folder().glob(f"beam-runners-flink-{FLINK_VERSION}-job-server-*.jar"))
    if not found or shutil.which("java") is None:
        pytest.skip(f"no Flink job server: {reason('flink-job-server')}")
    return found[-1]


@pytest.fixture(scope="session")
def flink_libraries() -> Path:
    """The jars of Flink itself."""
    found = engines_folder() / "flink" / "pyflink"
    if not found.is_dir() or shutil.which("java") is None:
        pytest.skip(f"no Flink: {reason('flink')}")
    return found


def reason(artifact: str) -> str:
    """Returns why `tools/get_engines.sh` could not get an artifact."""
    note = engines_folder() / f"{artifact}.missing"
    return note.read_text(encoding="utf-8").strip() if note.is_file() else "run `make test-engines` to get it"


@pytest.fixture(scope="session")
def external_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A pool of workers that have only the wheel; its address."""
    folder = tmp_path_factory.mktemp("pool")
    environment = worker_environment(folder, make_worker_site(folder))
    with worker_pool(environment, folder) as pool:
        yield pool


@pytest.fixture
def corpus(tmp_path: Path, data_dir: Path) -> Path:
    """A folder with the small corpus in eight files."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = (data_dir / "udhr_small.jsonl").read_text(encoding="utf-8").splitlines()
    for i in range(8):
        (folder / f"part-{i}.jsonl").write_text("\n".join([*lines[i::8], "{broken", ""]), encoding="utf-8")
    return folder
