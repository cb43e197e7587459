"""Runs without worker processes: the same plan, range worker and merge, in this process."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.preprocess import make_plan, prepare_output, run_plan
from integration_support import do_ranges

from byteroute_ops.settings import load_settings

InlineRun = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def run_inline() -> InlineRun:
    """Returns a function that runs a job in this process and returns its manifest."""

    def run(
        inputs: Sequence[str | Path], output: Path, *, resume: bool = False, overwrite: bool = False, **settings: Any
    ) -> dict[str, Any]:
        plan = make_plan(load_settings(settings), [str(one) for one in inputs], str(output))
        todo = prepare_output(plan, resume=resume, overwrite=overwrite)
        assert todo is not None
        return run_plan(plan, todo, do_ranges, facts={"runner": "inline"})

    return run


@pytest.fixture(scope="session")
def long_corpus(tmp_path_factory: pytest.TempPathFactory, data_dir: Path) -> Path:
    """A folder that keeps two workers busy for seconds: 40 files, each several ranges at `range_bytes=128KiB`."""
    folder = tmp_path_factory.mktemp("long")
    records = [json.loads(line) for line in (data_dir / "udhr_small.jsonl").read_text(encoding="utf-8").splitlines()]
    for i in range(40):
        lines = [json.dumps(one | {"id": f"{one['id']}-{i}-{k}"}) for k in range(4) for one in records]
        (folder / f"{i:02d}.jsonl").write_text("\n".join([*lines, "{broken", ""]), encoding="utf-8")
    return folder


@pytest.fixture
def corpus(tmp_path: Path, data_dir: Path) -> Path:
    """A folder with the small corpus cut into three JSONL files, one row of each unusable."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = (data_dir / "udhr_small.jsonl").read_text(encoding="utf-8").splitlines()
    bad = ["{broken", json.dumps({"id": "x"}), json.dumps({"id": "y", "text": 7})]
    for i in range(3):
        part = lines[i::3]
        (folder / f"part {i}.jsonl").write_text("\n".join([*part[:9], bad[i], *part[9:], ""]), encoding="utf-8")
    return folder
