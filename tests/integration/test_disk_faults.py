"""A full disk and a folder that cannot be written: exit 1, one line that says where, and --resume goes on."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.claim import claim_folder
from integration_support import digests, run_command

from byteroute_ops.errors import ConfigError

OPTIONS = ("--range-bytes", "128KiB", "--workers", "1", "--quiet", "--max-rejected", "5%", "--tokenizer", "bytes")
HINT = "; what is done stays done, and --resume goes on"
Mount = Callable[[str], None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Mount]]:
    """A small disk in memory, and what changes its options."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    done = subprocess.run([mount, "-t", "tmpfs", "-o", "size=400k", "tmpfs", place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("mounting a small disk is not permitted here")

    def remount(options: str) -> None:
        subprocess.run([mount, "-o", f"remount,{options}", place], check=True)

    yield place, remount
    subprocess.run(["umount", place], check=True)


def run(corpus: Path, output: Path, *more: str) -> tuple[int, str]:
    """Runs the command; returns its exit code and what it said."""
    done = subprocess.run(
        run_command(corpus, output, *OPTIONS, *more), capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stderr


def test_a_full_disk_ends_the_run_and_can_be_resumed(
    disk: tuple[Path, Mount], run_inline: Any, corpus: Path, tmp_path: Path
) -> None:
    """No half file under a final name, nothing temporary left to fill the disk, and the same bytes in the end."""
    place, remount = disk
    settings = {"range_bytes": 1 << 17, "tokenizers": ("bytes",)}
    run_inline([corpus], tmp_path / "whole", **settings)
    filler = place / "filler"
    filler.write_bytes(bytes(330_000))
    output = place / "out"
    code, said = run(corpus, output)
    assert (code, said.count("\n")) == (1, 1)
    assert "No space left on device: " + str(place) in said
    assert said.endswith(HINT + "\n")
    assert [path for path in (output / "_temporary").rglob("*") if path.is_file()] == []
    assert not (output / "manifest.json").exists()
    remount("size=20m")
    assert run(corpus, output, "--resume") == (0, "")
    assert digests(output) == digests(tmp_path / "whole")


def test_a_disk_that_cannot_be_written_ends_the_run_and_can_be_resumed(disk: tuple[Path, Mount], corpus: Path) -> None:
    """The system's words and the folder, no traceback; afterwards the same command works."""
    place, remount = disk
    remount("size=20m,ro")
    code, said = run(corpus, place / "out")
    assert code == 1
    assert said == f"byteroute: Read-only file system: {place / 'out'}{HINT}\n"
    remount("rw")
    assert run(corpus, place / "out", "--resume") == (0, "")


def test_a_folder_without_permission_ends_the_run(corpus: Path, tmp_path: Path) -> None:
    """Permission denied is exit 1 with the folder's name."""
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    code, said = run(corpus, closed / "out")
    assert (code, said) == (1, f"byteroute: Permission denied: {closed / 'out'}{HINT}\n")


def test_two_runs_in_one_folder_are_refused(corpus: Path, tmp_path: Path) -> None:
    """The second one says so and touches nothing; a worker that holds the lock counts as the run."""
    with claim_folder(str(tmp_path / "out")):
        with pytest.raises(ConfigError, match="in use"), claim_folder(str(tmp_path / "out"), patience=0.1):
            pytest.fail("claimed twice")
        assert list((tmp_path / "out").iterdir()) == []
    with claim_folder(str(tmp_path / "out")):
        pass
