"""docs/cli.md is the help that the commands print."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_reference_is_the_help() -> None:
    """The page equals what tools/write_cli_reference.py writes."""
    spec = importlib.util.spec_from_file_location("write_cli_reference", ROOT / "tools" / "write_cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == module.reference()
