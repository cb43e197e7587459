"""docs/cli.md is the help that the commands print."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_reference_is_the_help() -> None:
    """The page equals what tools/write_cli_reference.py writes, in a process where no command has run before."""
    command = [sys.executable, str(ROOT / "tools" / "write_cli_reference.py"), "-"]
    page = subprocess.run(command, capture_output=True, check=True).stdout
    assert (ROOT / "docs" / "cli.md").read_bytes() == page
