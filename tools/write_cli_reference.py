"""Writes docs/cli.md from the commands' own help: `python tools/write_cli_reference.py`; with `-`, prints it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from byteroute.pipelines.cli import main as byteroute

TARGET = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
WIDTH = 100

HEAD = """# Command line

This page is made from the commands' own help by `python tools/write_cli_reference.py`; a test keeps the two equal.

Exit codes: 0 done; 1 the run failed, or `verify` or `check` found something; 2 wrong use; 3 the run finished, with more
rejects than `--max-rejected` allows; 130 interrupted. Data goes to standard output, everything else to standard error.
"""


def sections(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """Yields the help of a command, then those of its subcommands by name."""
    settings = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(command, info_name=name, parent=parent, **settings)
    path = context.command_path
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"## {path}\n\n```text\n{text}\n```\n"
    if isinstance(command, click.Group):
        for one in sorted(command.commands):
            yield from sections(command.commands[one], one, context)


def reference() -> str:
    """Returns the page."""
    return "\n".join([HEAD, *sections(byteroute, "byteroute")])


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.buffer.write(reference().encode())
    else:
        TARGET.write_text(reference(), encoding="utf-8")
