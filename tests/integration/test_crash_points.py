"""A process that ends at any one of its writes leaves an output that the next command can use."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.preprocess import make_plan, prepare_output, run_plan
from integration_support import digests, do_ranges

from byteroute_ops.files import LocalFiles
from byteroute_ops.settings import load_settings

SETTINGS: dict[str, Any] = {"tokenizers": ["bytes"], "range_bytes": 1 << 17}


class Killed(BaseException):
    """Stands for the end of the process: nothing that cleans up afterwards reaches the disk."""


class Disk:
    """Counts what is done to the disk and fails from a given step on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps, self.last = 0, 1 << 30
        for name in ("create", "rename", "delete"):
            monkeypatch.setattr(LocalFiles, name, self._watched(getattr(LocalFiles, name)))

    def _watched(self, act: Any) -> Any:
        def watched(files: LocalFiles, *names: str) -> Any:
            self.steps += 1
            if self.steps > self.last:
                raise Killed
            return act(files, *names)

        return watched

    def fail_after(self, steps: int) -> None:
        """Lets so many steps happen."""
        self.steps, self.last = 0, steps


def run(corpus: Path, output: Path, *, resume: bool, overwrite: bool, **settings: Any) -> None:
    """One command."""
    plan = make_plan(load_settings(SETTINGS | settings), [str(corpus)], str(output))
    todo = prepare_output(plan, resume=resume, overwrite=overwrite)
    if todo is not None:
        run_plan(plan, todo, do_ranges, facts={})


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """The disk under watch."""
    return Disk(monkeypatch)


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    """Two ranges with rejects and repeated ids."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in ("a", "b"):
        row = json.dumps({"id": name, "text": "some words"}) + "\n"
        (folder / f"{name}.jsonl").write_text(row + row + "{broken\n", encoding="utf-8")
    return folder


def crashes(disk: Disk, act: Any) -> Iterator[None]:
    """Yields after `act` was broken off after 0, 1, 2 ... steps, until it comes to its end."""
    for steps in range(1000):
        disk.fail_after(steps)
        try:
            act(steps)
        except Killed:
            disk.fail_after(1 << 30)
            yield
        else:
            disk.fail_after(1 << 30)
            assert steps > 10
            return


def test_resume_goes_on_from_every_step(disk: Disk, two_files: Path, tmp_path: Path) -> None:
    """Whatever write was the last one, --resume ends with the files of an uninterrupted run."""
    run(two_files, tmp_path / "whole", resume=False, overwrite=False)
    expected = digests(tmp_path / "whole")
    outputs = (tmp_path / f"out{i}" for i in range(1000))
    current: list[Path] = []

    def act(steps: int) -> None:
        current.append(next(outputs))
        run(two_files, current[-1], resume=False, overwrite=False)

    for _ in crashes(disk, act):
        run(two_files, current[-1], resume=True, overwrite=False)
        assert digests(current[-1]) == expected


def test_overwrite_can_be_broken_off_at_every_step(disk: Disk, two_files: Path, tmp_path: Path) -> None:
    """What an interrupted --overwrite leaves is never taken for a run of either kind, and --overwrite goes on."""
    run(two_files, tmp_path / "whole", resume=False, overwrite=False)
    expected = digests(tmp_path / "whole")
    output = tmp_path / "out"

    def act(steps: int) -> None:
        disk.last = 1 << 30
        run(two_files, output, resume=False, overwrite=True, profile="text", shard_format="avro")
        disk.fail_after(steps)
        run(two_files, output, resume=False, overwrite=True)

    for _ in crashes(disk, act):
        run(two_files, output, resume=False, overwrite=True)
        assert digests(output) == expected
