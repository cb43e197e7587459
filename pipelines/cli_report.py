"""The command `byteroute report`."""

import sys

import click
from rich.console import Console

from byteroute_ops import layout
from byteroute_ops.errors import ConfigError

from .preprocess import files_for
from .report.costs import read_weights
from .report.load import load_run
from .report.model import build_report
from .report.output import PAGE, write_report
from .report.parallel import REFERENCE, ParallelKey
from .report.scan import SAMPLE_BYTES
from .report.targets import read_targets
from .report.terminal import print_report

_KEY = (
    "Finds documents with the same content in other languages: a pattern on the document id with a group "
    "(?P<unit>...), and (?P<lang>...) where the column lang is not it."
)


@click.command()
@click.argument("directory")
@click.option("-o", "--output", help="Folder or URI of the report.  [default: DIRECTORY-report]")
@click.option("--parallel-key", metavar="REGEX", help=_KEY)
@click.option("--reference", default=REFERENCE, show_default=True, help="Language that premiums are relative to.")
@click.option(
    "--parallel-where", metavar="COLUMN=VALUE", help="Compare only documents whose kept column has this value."
)
@click.option(
    "--weights", type=click.Path(dir_okay=False), help="Table of cost weights: tokenizer, lang, script, weight."
)
@click.option(
    "--targets", type=click.Path(dir_okay=False), help="Table of wanted tokens: lang or script, tokens or share."
)
@click.option(
    "--sample-bytes",
    type=click.IntRange(min=1),
    default=SAMPLE_BYTES,
    show_default=True,
    help="Text to look at for compressed sizes and main scripts.",
)
@click.option("--png", is_flag=True, help="Draw the charts as PNG too (extra: report).")
@click.option("--quiet", is_flag=True, help="Write the files, print nothing.")
def report(
    *,
    directory: str,
    output: str | None,
    parallel_key: str | None,
    reference: str,
    parallel_where: str | None,
    weights: str | None,
    targets: str | None,
    sample_bytes: int,
    png: bool,
    quiet: bool,
) -> None:
    """Say what each language costs and what routing changes.

    DIRECTORY is the output of a finished run. Prints a summary and writes one HTML page that works from disk,
    every table as CSV and JSON, and every chart as SVG.
    """
    folder = output or directory.rstrip("/") + "-report"
    if folder.rstrip("/") == directory.rstrip("/"):
        raise ConfigError(f"--output {folder!r} is the run itself; its manifest lists every file, so write elsewhere")
    if parallel_where is not None and parallel_key is None:
        raise ConfigError("--parallel-where needs --parallel-key")
    key = None
    if parallel_key is not None:
        key = ParallelKey(pattern=parallel_key, reference=reference, where=_condition(parallel_where))
    run = load_run(directory, files_for(directory))
    model = build_report(
        run,
        parallel=key,
        weights=read_weights(weights) if weights else (),
        targets=read_targets(targets) if targets else (),
        sample_bytes=sample_bytes,
    )
    files = files_for(folder)
    names = write_report(model, lambda name: files.create(layout.join(folder, name)), png=png)
    if not quiet:
        print_report(Console(), model)
        click.echo(f"{layout.join(folder, PAGE)} and {len(names) - 1} more files", file=sys.stderr)


def _condition(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ConfigError(f"--parallel-where {text!r:.80}: write COLUMN=VALUE, with a column that the run kept")
    return name, value
