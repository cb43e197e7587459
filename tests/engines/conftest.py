"""Tests on engines that no Python package brings. `make test-engines` gets what can be had and runs them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from byteroute.runners.engines import engines_folder
from byteroute.runners.flink import FLINK_VERSION
from services import worker_pool
from worker_site import make_worker_site, worker_environment

ENABLED = "BYTEROUTE_TEST_ENGINES"


@pytest.fixture(autouse=True, scope="session")
def _asked_for() -> None:
    """These tests start servers and take minutes, so they are run only when asked for."""
    if not os.environ.get(ENABLED):
        pytest.skip("run by `make test-engines`")


@pytest.fixture(scope="session")
def prism() -> Path:
    """The Prism binary."""
    found = engines_folder() / "prism"
    if not found.is_file():
        pytest.skip(f"no Prism: {reason('prism')}")
    return found


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
