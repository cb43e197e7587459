"""docs/cli.md is the help that the commands print."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "write_cli_reference.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="looks at the sources, not at a wheel")


def test_reference_is_the_help() -> None:
    """The page equals what tools/write_cli_reference.py writes, in a process where no command has run before."""
    command = [sys.executable, str(TOOL), "-"]
    page = subprocess.run(command, capture_output=True, check=True).stdout
    assert (ROOT / "docs" / "cli.md").read_bytes() == page
