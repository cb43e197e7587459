"""The `byteroute` command: exit 0 done, 1 run failed, 2 wrong use, 3 finished with too many rejects."""

import sys
from typing import Any

import click

from byteroute_ops import __version__
from byteroute_ops.errors import ByteRouteError, ConfigError

from . import cli_compare, cli_look, cli_report, cli_run, cli_stream, cli_tokenizer
from .check import check_command
from .export import export_command


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


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="byteroute")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def main(debug: bool) -> None:
    """What does each language cost, and what would routing change?

    byteroute reads sharded corpora and, in one pass, cleans them, segments them by Unicode script, routes
    script runs to UTF-8 or UTF-16 in one lossless stream, tokenizes, and writes token budgets and shards.
    """


for command in (
    *cli_run.COMMANDS,
    *cli_compare.COMMANDS,
    *cli_stream.COMMANDS,
    *cli_look.COMMANDS,
    *cli_report.COMMANDS,
    *cli_tokenizer.COMMANDS,
    export_command,
    check_command,
):
    main.add_command(command)
