"""A job service in one process, workers that have only the built wheel in another: the same bytes as here."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.cli import main
from byteroute.pipelines.engines import run_ranges
from byteroute.pipelines.preprocess import make_plan
from click.testing import CliRunner
from integration_support import digests
from services import job_service, worker_pool
from worker_site import ROOT, make_worker_site, worker_environment

from byteroute_ops.errors import ByteRouteError
from byteroute_ops.settings import Settings

COMMON = ("--quiet", "--tokenizer", "bytes", "--range-bytes", "20kB", "--max-rejected", "50%")


@dataclass(frozen=True)
class Engine:
    """Where to submit to, and what its workers see."""

    endpoint: str
    pool: str
    environment: dict[str, str]
    folder: Path


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A job service and a pool of workers, both outside this process and out of the checkout's reach."""
    folder = tmp_path_factory.mktemp("workers")
    environment = worker_environment(folder, make_worker_site(folder))
    with worker_pool(environment, folder) as pool, job_service(environment, folder) as endpoint:
        yield Engine(endpoint, pool, environment, folder)


class Unwatched:
    """Nobody looks on."""

    def read(self, range_index: int, source_bytes: int, documents: int) -> None:
        """Hears of progress."""

    def range_done(self, range_index: int) -> None:
        """Hears of an end."""


def run(*words: str | Path) -> Any:
    """Runs the command line in this process; returns its result."""
    return CliRunner().invoke(main, ["run", *map(str, words)])


def options(engine: Engine) -> list[str]:
    """Returns the options that submit to the engine."""
    external = [f"--job_endpoint={engine.endpoint}", "--environment_type=EXTERNAL"]
    return ["--runner", "portable", *external, f"--environment_config={engine.pool}"]


def test_workers_cannot_reach_the_checkout(engine: Engine) -> None:
    """The workers' byteroute is the wheel's: nothing on their path leads to the sources here."""
    code = "import byteroute_ops, sys; print(byteroute_ops.__file__); print(*sys.path, sep='\\n')"
    shown = subprocess.run(
        ["python", "-c", code], env=engine.environment, cwd=engine.folder, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown[0].startswith(str(engine.folder))
    assert not any(str(ROOT) == path or path.startswith(f"{ROOT}/byteroute") for path in shown[1:])


def test_the_same_bytes_as_in_this_process(
    engine: Engine, corpus: Path, tmp_path: Path, run_inline: Callable[..., Any]
) -> None:
    """Shards, budgets, rejects and manifest of remote workers equal those of this process, byte for byte."""
    run_inline([corpus], tmp_path / "here", tokenizers=("bytes",), range_bytes=20_000)
    done = run(corpus, "-o", tmp_path / "there", *COMMON, *options(engine))
    assert done.exit_code == 0, done.output
    assert digests(tmp_path / "there") == digests(tmp_path / "here")
    assert len(list((tmp_path / "there" / "shards").iterdir())) > 1


def test_an_error_on_a_worker_is_told_here(engine: Engine, corpus: Path, tmp_path: Path) -> None:
    """A worker's error ends the job with its own words: what was wrong, and at which range."""
    (tmp_path / "file").write_bytes(b"")
    plan = make_plan(Settings(tokenizers=("bytes",)), [str(corpus)], str(tmp_path / "file" / "output"))
    with pytest.raises(ByteRouteError, match=r"^range 0: Not a directory"):
        run_ranges(plan.job, plan.ranges, runner="portable", extra=options(engine)[2:], workers=1, progress=Unwatched())


def test_the_job_service_is_not_there(corpus: Path, tmp_path: Path) -> None:
    """A service that does not answer is wrong use, said at once and with its address."""
    done = run(corpus, "-o", tmp_path / "out", *COMMON, "--runner", "portable", "--job_endpoint=localhost:9")
    assert done.exit_code == 2
    assert "--job_endpoint=localhost:9: nothing answers there" in done.output


def test_an_unknown_option_is_refused_before_anything_is_written(corpus: Path, tmp_path: Path) -> None:
    """The default runner takes no Beam options, and says which of its own was meant."""
    done = run(corpus, "-o", tmp_path / "out", "--framming=bom")
    assert done.exit_code == 2
    assert "--framing" in done.output
    assert not (tmp_path / "out").exists()
