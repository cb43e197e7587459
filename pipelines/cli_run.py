"""Commands that run or check a batch job: run, demo, verify."""

import difflib
import logging
import os
import sys
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq

from byteroute_ops import layout
from byteroute_ops.errors import ByteRouteError, ConfigError, describe_error
from byteroute_ops.files import is_remote
from byteroute_ops.settings import Settings

from .claim import claim_folder
from .crew import start_server
from .engines import DEFAULT, check_runner, run_ranges
from .estimate import describe_plan
from .local import RunFailedError
from .options import gather_settings, parse_threshold, settings_options
from .preprocess import files_for, make_plan, prepare_output, run_plan
from .progress import RunProgress
from .tables import print_run, wide_console
from .verify import open_manifest, verify_output

TOO_MANY_REJECTS = 3


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("inputs", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-o", "--output", required=True, help="Output folder or URI.")
@settings_options
@click.option("--workers", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="one per CPU")
@click.option(
    "--runner",
    default=DEFAULT,
    show_default=True,
    help="Engine: local-mp, local, portable, prism, flink, dataflow. Its Beam options may follow as --name=value.",
)
@click.option(
    "--max-rejected", default="1%", show_default=True, help="More rejects than this (count or fraction): exit 3."
)
@click.option("--resume", is_flag=True, help="Go on with an unfinished run of the same job.")
@click.option("--overwrite", is_flag=True, help="Replace what an earlier run wrote into the output folder.")
@click.option("--dry-run", is_flag=True, help="Show the plan and stop.")
@click.option("--quiet", is_flag=True, help="No progress and no table.")
def run(
    *,
    inputs: tuple[str, ...],
    output: str,
    config_file: str | None,
    workers: int,
    runner: str,
    max_rejected: str,
    resume: bool,
    overwrite: bool,
    dry_run: bool,
    quiet: bool,
    **flags: Any,
) -> None:
    """Read a corpus, write budgets and routed shards.

    INPUTS are files, folders or quoted globs. What cannot be used goes to rejects/, is counted, and sets
    the exit code; it never ends the run.
    """
    inputs, extra = split_options(inputs)
    if extra and runner == DEFAULT:
        raise no_such_option(extra[0])
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other: go on with the earlier run, or replace it")
    settings = gather_settings(config_file, flags)
    threshold = parse_threshold(max_rejected)
    check_runner(runner, extra, output)
    if any(is_remote(name) for name in (*inputs, output)):
        reach_stores(extra)
    if dry_run:
        click.echo(describe_plan(make_plan(settings, inputs, output)))
        return
    manifest = execute(
        settings, inputs, output,
        workers=workers, resume=resume, overwrite=overwrite, quiet=quiet, runner=runner, extra=extra,
    )  # fmt: skip
    sys.exit(TOO_MANY_REJECTS if exceeds(manifest["totals"], threshold, output) else 0)


def reach_stores(extra: tuple[str, ...]) -> None:
    """Hands Beam options to the filesystems of this process, and keeps their log of retries to --debug."""
    if not click.get_current_context().find_root().params.get("debug"):
        # It goes to standard error with tracebacks. What ends a run is told once, in words of ours.
        logging.getLogger().setLevel(logging.CRITICAL)
    from byteroute_ops.beam.files import connect_stores

    connect_stores(extra)


def execute(
    settings: Settings,
    inputs: tuple[str, ...],
    output: str,
    *,
    workers: int,
    resume: bool,
    overwrite: bool,
    quiet: bool,
    runner: str = DEFAULT,
    extra: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Runs a job, prints its table, returns its manifest."""
    if runner == DEFAULT:
        start_server()  # it imports while the tokenizers are read and checked
    plan = make_plan(settings, inputs, output, on_note=lambda note: click.echo(f"byteroute: {note}", err=True))
    try:
        with claim_folder(plan.job.output) as claim:
            todo = prepare_output(plan, resume=resume, overwrite=overwrite)
            if todo is None:
                click.echo(f"{output} is complete already; nothing to do (--overwrite runs it anew)", err=True)
                return open_manifest(files_for(output), output)
            with RunProgress(n_bytes=sum(one.n_bytes for one in todo), n_ranges=len(todo), quiet=quiet) as progress:
                manifest = run_plan(
                    plan,
                    todo,
                    lambda job, ranges: run_ranges(
                        job,
                        ranges,
                        runner=runner,
                        extra=extra,
                        workers=workers,
                        progress=progress,
                        claim=claim,
                        prepared=plan.prepared,
                    ),
                    facts={"runner": runner, "workers": workers},
                )
    except ConfigError:
        raise
    except (ByteRouteError, OSError) as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = output  # of a write the system says only what, not where
        raise RunFailedError(f"{describe_error(error)}; what is done stays done, and --resume goes on") from error
    if not quiet:
        print_run(wide_console(), manifest, read_budget(output), output)
    return manifest


def split_options(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the inputs among the words, and the options that this command does not know, which go to Beam.

    >>> split_options(("in/", "--flink_master=localhost:8081"))
    (('in/',), ('--flink_master=localhost:8081',))
    """
    extra = tuple(word for word in words if word.startswith("-"))
    return tuple(word for word in words if not word.startswith("-")), extra


def no_such_option(word: str) -> click.NoSuchOption:
    """Returns the error for an option that neither this command nor an engine knows."""
    name = word.partition("=")[0]
    known = [flag for one in click.get_current_context().command.params for flag in (*one.opts, *one.secondary_opts)]
    return click.NoSuchOption(name, possibilities=difflib.get_close_matches(name, known))


def exceeds(totals: dict[str, Any], threshold: float | int, output: str) -> bool:
    """Returns whether a run rejected more than it may, and says so, with the reasons."""
    rejected = sum(totals["rejects"].values())
    records = max(totals["records"], 1)
    allowed = threshold if isinstance(threshold, int) else threshold * records
    if rejected <= allowed:
        return False
    shown = f"{threshold:,}" if isinstance(threshold, int) else f"{100 * threshold:g} %"
    lines = [
        f"byteroute: {rejected:,} of {records:,} records rejected, more than the {shown} that --max-rejected allows"
    ]
    by_count = sorted(totals["rejects"].items(), key=lambda item: (-item[1], item[0]))
    lines += [f"  {reason:<20} {count:>12,} {100 * count / records:>8.3f} %" for reason, count in by_count]
    lines.append(f"the output is complete; the rejected rows are in {output}/{layout.REJECTS}/, see docs/rejects.md")
    click.echo("\n".join(lines), err=True)
    return True


def read_budget(output: str) -> Any:
    """Returns the budget per script of a finished run as a table."""
    with files_for(output).open(layout.join(output, f"{layout.BUDGETS}/scripts.parquet")) as stream:
        return pq.read_table(stream)


DEMO_DATA = Path(__file__).parent / "demo_data"
_DEMO_SUFFIXES = (".jsonl", ".gz", ".zst", ".parquet")


@click.command()
@click.option(
    "-o", "--output", default="out/demo", show_default=True, help="Output folder; an earlier demo run is replaced."
)
@click.option("--quiet", is_flag=True, help="No progress and no table.")
def demo(*, output: str, quiet: bool) -> None:
    """Run everything on a small bundled corpus: articles of human rights in many scripts."""
    inputs = tuple(sorted(str(path) for path in DEMO_DATA.iterdir() if path.suffix in _DEMO_SUFFIXES))
    settings = Settings(keep=("license",))
    execute(settings, inputs, output, workers=1, resume=False, overwrite=True, quiet=quiet)
    if not quiet:
        click.echo(f"\nlook at {output}/summary.json, or try: byteroute verify {output}")


@click.command()
@click.argument("output")
@click.option("--unique", is_flag=True, help="Also check that no document id occurs twice.")
@click.option("--quiet", is_flag=True, help="Say nothing when all is well.")
def verify(*, output: str, unique: bool, quiet: bool) -> None:
    """Check a finished run: hashes, row counts, every document decoded and compared.

    Exit 0: all is as the manifest says. Exit 1: something is not; each problem is a line on stderr.
    """
    report = verify_output(files_for(output), output, unique=unique)
    for problem in report.problems:
        click.echo(f"byteroute: {problem}", err=True)
    if report.problems:
        sys.exit(1)
    if not quiet:
        click.echo(
            f"{output}: {report.files:,} files, {report.documents:,} documents, {report.routed_bytes:,} routed bytes: "
            "hashes, counts and decoded texts as the manifest says"
        )
