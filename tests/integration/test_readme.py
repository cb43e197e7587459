"""The README's first screen is what happens."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from byteroute.pipelines.cli import main
from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
in_checkout = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="looks at the sources, not at a wheel")


def blocks(language: str) -> list[str]:
    """Returns the README's fenced blocks of a language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def squeezed(line: str) -> str:
    """Returns a line with single spaces: the width of columns is not a claim."""
    return " ".join(line.split())


@in_checkout
def test_the_python_example_prints_what_it_says() -> None:
    """The example runs as it stands, and prints the block below it."""
    (code,), (expected,) = blocks("python"), blocks("text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own README
    assert printed.getvalue() == expected


@in_checkout
def test_the_demo_prints_what_it_says(tmp_path: Path) -> None:
    """Every line that the README shows of `make run` is a line of the demo's output, in that order."""
    result = CliRunner().invoke(main, ["demo", "-o", str(tmp_path / "demo")])
    assert result.exit_code == 0, result.output
    printed = iter([squeezed(line) for line in result.stdout.splitlines()])
    shown = [squeezed(line) for line in blocks("console")[0].splitlines() if not line.startswith(("$", "…"))]
    assert len(shown) > 5
    missing = [line for line in shown if line not in printed]
    assert missing == []


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_has_help(command: str) -> None:
    """`--help` works for each command and begins with a sentence."""
    result = CliRunner().invoke(main, [command, "--help"])
    assert result.exit_code == 0
    paragraph = result.stdout.split("\n\n")[1]
    assert re.fullmatch(r"[A-Z].*[.?]", squeezed(paragraph))
