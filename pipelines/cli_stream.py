"""Commands for unbounded input: stream, windows."""

import re
import sys
import time
from typing import Any

import click

from byteroute_ops.errors import ConfigError
from byteroute_ops.files import is_remote
from byteroute_ops.settings import Settings

from .cli_run import split_options
from .options import gather_settings, settings_options
from .stream import check_stream_runner, claim_output, make_stream, run_stream, seal, windows_of

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def duration(value: str) -> int:
    """Returns whole seconds: of `90`, `90s`, `10m`, `2h`, `1d`.

    Raises:
        click.BadParameter: none of these.

    >>> duration("10m")
    600
    """
    match = re.fullmatch(r"(\d+)([smhd]?)", value.strip().lower())
    if match is None:
        raise click.BadParameter(f"{value!r} is no duration; write seconds or a unit, such as 90, 90s, 10m, 2h")
    return int(match[1]) * _UNITS[match[2]]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("source", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-o", "--output", required=True, help="Output folder or URI.")
@settings_options
@click.option("--window", type=duration, default="60s", show_default=True, help="Length of a window in event time.")
@click.option("--lateness", type=duration, default="1h", show_default=True, help="How late a document may come.")
@click.option(
    "--early", type=duration, help="Also write a window that is still open, this long after its first document."
)
@click.option(
    "--late-every", type=duration, default="0s", help="Gather late documents this long; 0s writes each at once."
)
@click.option("--accumulate", is_flag=True, help="A later pane of a window repeats the earlier ones.")
@click.option(
    "--shards", type=click.IntRange(min=1), default=1, show_default=True, help="Files of each pane, at least."
)
@click.option("--interval", type=duration, default="10s", show_default=True, help="Time between two looks at a folder.")
@click.option("--stop-after", type=duration, help="End the source (folders only) after this time; otherwise never.")
@click.option("--runner", default="prism", show_default=True, help="Engine: portable, prism, flink, dataflow.")
@click.option("--quiet", is_flag=True, help="No progress.")
def stream(
    *,
    source: tuple[str, ...],
    output: str,
    config_file: str | None,
    window: int,
    lateness: int,
    early: int | None,
    late_every: int,
    accumulate: bool,
    shards: int,
    interval: int,
    stop_after: int | None,
    runner: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Read documents as they come, write budgets and routed shards by window.

    SOURCE is a folder (new files below it), pubsub:projects/P/subscriptions/S, or kafka:HOST:PORT/TOPIC,TOPIC.
    Beam options of the engine may follow as --name=value. See the result with `byteroute windows OUTPUT`.
    """
    sources, extra = split_options(source)
    if len(sources) != 1:
        raise ConfigError(f"stream reads one source, found {len(sources)}: {' '.join(sources)}")
    check_stream_runner(runner, extra, output)
    windowing = {
        "seconds": window, "lateness": lateness, "early_seconds": early, "late_seconds": late_every,
        "accumulating": accumulate, "shards": shards,
    }  # fmt: skip
    job = make_stream(
        gather_settings(config_file, flags), windowing, output, on_note=lambda note: click.echo(note, err=True)
    )
    until = None if stop_after is None else time.time() + stop_after
    reader = open_source(sources[0], job.settings, interval=interval, until=until)
    claim_output(job)
    follow = None if quiet or not sys.stderr.isatty() else _show
    run_stream(job, reader, runner=runner, extra=extra, on_counters=follow)


def open_source(spec: str, settings: Settings, *, interval: float, until: float | None) -> Any:
    """Returns the transform that reads a source.

    Raises:
        ConfigError: a specification that is none of the known ones, or `until` where the source cannot end.
    """
    import os

    from byteroute_ops.beam.sources import Kafka, PubSub, WatchFolder

    kind, _, rest = spec.partition(":")
    if kind in ("pubsub", "kafka") and until is not None:
        raise ConfigError(f"--stop-after: {kind} has no end; stop the job on its engine")
    if kind == "pubsub":
        if not re.fullmatch(r"projects/[^/]+/subscriptions/[^/]+", rest):
            raise ConfigError(f"{spec!r}: write pubsub:projects/PROJECT/subscriptions/SUBSCRIPTION")
        return PubSub(rest, settings)
    if kind == "kafka":
        servers, _, topics = rest.partition("/")
        if not servers or not topics:
            raise ConfigError(f"{spec!r}: write kafka:HOST:PORT/TOPIC, several topics with commas")
        return Kafka(servers, topics.split(","), settings)
    if not is_remote(spec) and not os.path.isdir(spec):
        raise ConfigError(f"{spec!r} is no folder; give one, or pubsub:..., or kafka:...")
    root = spec.rstrip("/") + "/" if is_remote(spec) else os.path.join(os.path.abspath(spec), "")
    return WatchFolder(root, settings, interval=interval, until=until)


def _show(counters: dict[tuple[str, str, str], int]) -> None:
    def total(namespace: str, name: str) -> int:
        return sum(value for (_, where, what), value in counters.items() if (where, what) == (namespace, name))

    documents, panes = total("byteroute.write", "rows"), total("byteroute.pane", "panes")
    click.echo(f"\r{documents:,} documents, {panes:,} panes written", err=True, nl=False)


@click.command()
@click.argument("output")
@click.option("--seal", "sealed", is_flag=True, help="Also write manifest and budgets, as a batch run has them.")
def windows(*, output: str, sealed: bool) -> None:
    """List the windows that a stream has written: documents, bytes, tokens, rejects."""
    header = ("window", "documents", "UTF-8", "routed", "tokens", "rejected", "files", "stale panes")
    rows = [
        (
            one.label, one.totals.documents, one.totals.n_utf8_bytes, one.totals.n_routed_bytes,
            one.totals.n_text_tokens, sum(one.totals.rejects.values()), len(one.files), len(one.stale),
        )
        for one in windows_of(output)
    ]  # fmt: skip
    click.echo("\t".join(header))
    for row in rows:
        click.echo("\t".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in row))
    if sealed:
        seal(output)
        click.echo(f"sealed: byteroute verify {output}", err=True)
