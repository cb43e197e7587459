"""The `byteroute` command: exit 0 done, 1 run failed, 2 wrong use, 3 finished with too many rejects."""

import sys
from collections import UserDict
from importlib import import_module
from typing import Any

import click

from byteroute_ops import __version__
from byteroute_ops.collecting import uncollected
from byteroute_ops.errors import ByteRouteError, ConfigError

PLACES = {
    "calibrate": "cli_compare.calibrate_command",
    "check": "check.check_command",
    "compare": "cli_compare.compare_command",
    "decode": "cli_look.decode",
    "demo": "cli_run.demo",
    "export": "export.export_command",
    "inspect": "cli_look.inspect",
    "policies": "cli_look.policies",
    "report": "cli_report.report",
    "run": "cli_run.run",
    "stream": "cli_stream.stream",
    "tokenizer": "cli_tokenizer.tokenizer",
    "verify": "cli_run.verify",
    "windows": "cli_stream.windows",
}
"""Where the commands are, by name."""


class Commands(UserDict[str, Any]):
    """The commands by name, each imported when it is asked for: none waits for the imports of the others."""

    def __getitem__(self, name: str) -> click.Command:
        """Returns a command."""
        module, _, function = str(self.data[name]).partition(".")
        with uncollected():
            command: click.Command = getattr(import_module(f"{__package__}.{module}"), function)
        return command


class Group(click.Group):
    """A command group that turns our errors into a message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; a traceback is shown with --debug only."""
        try:
            return super().invoke(ctx)
        except ByteRouteError as error:
            if ctx.params.get("debug"):
                raise
            click.echo(f"byteroute: {error}", err=True)
            sys.exit(2 if isinstance(error, ConfigError) else 1)
        except OSError as error:
            if ctx.params.get("debug"):
                raise
            click.echo(f"byteroute: {error.strerror or type(error).__name__}: {error.filename or ''}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("byteroute: interrupted; what is done stays done, and --resume goes on", err=True)
            sys.exit(130)


@click.group(
    cls=Group,
    commands=Commands(PLACES),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="byteroute")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def main(debug: bool) -> None:
    """What does each language cost, and what would routing change?

    byteroute reads sharded corpora and, in one pass, cleans them, segments them by Unicode script, routes
    script runs to UTF-8 or UTF-16 in one lossless stream, tokenizes, and writes token budgets and shards.
    """
