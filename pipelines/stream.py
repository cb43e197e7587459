"""A streaming run: from a source to panes, and from panes to budgets per window and a manifest."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import orjson

from byteroute_ops import layout
from byteroute_ops.budgets import Budget, RunTotals
from byteroute_ops.errors import ConfigError
from byteroute_ops.files import is_remote
from byteroute_ops.fingerprints import json_digest
from byteroute_ops.panes import Window, read_windows
from byteroute_ops.processing import Processor
from byteroute_ops.settings import Settings

from .engines import check_runner
from .finalize import write_results
from .preprocess import files_for, identify, portable_settings


@dataclass(frozen=True)
class Stream:
    """A streaming run that has been checked.

    Attributes:
        settings: with the engine that was chosen.
        windowing: as in `byteroute_ops.beam.streaming.Windowing`.
        output: the output folder.
        identity: what `stream.json` holds; another one on the same folder is refused.
    """

    settings: Settings
    windowing: dict[str, Any]
    output: str
    identity: dict[str, Any]


def make_stream(
    settings: Settings, windowing: dict[str, Any], output: str, *, on_note: Callable[[str], None]
) -> Stream:
    """Returns a checked streaming run.

    Raises:
        ConfigError: settings that a stream cannot have, or that do not work.
    """
    from byteroute_ops.beam.streaming import Windowing

    if settings.limit is not None:
        raise ConfigError("--limit: a stream has no first documents; leave it out")
    windowing = Windowing(**windowing).to_json()
    output = output if is_remote(output) else os.path.abspath(output)
    identity = identify(Processor(settings), on_note=on_note) | {"windowing": windowing}
    return Stream(settings=portable_settings(settings), windowing=windowing, output=output, identity=identity)


def claim_output(stream: Stream) -> None:
    """Makes the output folder this stream's, or finds that it is.

    Raises:
        ConfigError: the folder holds something else, or the output of another configuration.
    """
    files = files_for(stream.output)
    found = read_identity(stream.output)
    if found is None:
        if files.walk(stream.output):
            raise ConfigError(f"{stream.output} is not empty and holds no byteroute stream; choose another folder")
        with files.create(layout.join(stream.output, layout.STREAM)) as file:
            file.write(orjson.dumps(stream.identity, option=orjson.OPT_INDENT_2))
        return
    ours = orjson.loads(orjson.dumps(stream.identity))
    different = [part for part in ours if ours[part] != found.get(part)]
    if different:
        raise ConfigError(
            f"{stream.output} holds a stream of another configuration (different: {', '.join(different)}); "
            "choose another folder"
        )


def read_identity(output: str) -> dict[str, Any] | None:
    """Returns what `stream.json` of an output says; None: there is none."""
    try:
        with files_for(output).open(layout.join(output, layout.STREAM)) as file:
            return dict(orjson.loads(file.read()))
    except FileNotFoundError:
        return None


def check_stream_runner(runner: str, extra: Sequence[str], output: str) -> None:
    """Refuses, before anything is written, what the runner cannot do.

    Raises:
        ConfigError: a runner that reads no unbounded input, or what `check_runner` refuses.
    """
    runners = import_module("byteroute.runners")
    if not runners.find_profile(runner).streams:
        able = ", ".join(name for name, one in runners.PROFILES.items() if one.streams)
        raise ConfigError(f"runner {runner} reads no unbounded input; these do: {able}")
    check_runner(runner, extra, output)


def run_stream(
    stream: Stream,
    source: Any,
    *,
    runner: str,
    extra: Sequence[str],
    on_counters: Callable[[dict[tuple[str, str, str], int]], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Runs the stream until its source ends, it is stopped, or it fails.

    Args:
        stream: what to do.
        source: a transform of `byteroute_ops.beam.sources`.
        runner: a name for `--runner`.
        extra: Beam options.
        on_counters: hears the job's counters about once a second.
        stop: asked as often; True cancels the job.

    Raises:
        ConfigError: something that the runner needs is missing.
        ByteRouteError: the engine ended the job.
    """
    runners = import_module("byteroute.runners")
    runners.launch(
        runners.find_profile(runner),
        stream_pipeline(stream, source),
        extra,
        job_name=f"byteroute-stream-{json_digest(stream.output)[:12]}",
        streaming=True,
        on_counters=on_counters,
        stop=stop,
    )


def stream_pipeline(stream: Stream, source: Any) -> Callable[[Any], None]:
    """Returns a function that adds the steps of a stream to a `beam.Pipeline`."""

    def build(pipeline: Any) -> None:
        from byteroute_ops.beam.streaming import Windowing, WritePanes

        found = pipeline | "Source" >> source
        _ = found | "Panes" >> WritePanes(stream.settings, Windowing(**stream.windowing), stream.output)

    return build


def windows_of(output: str) -> list[Window]:
    """Returns the windows of a streaming output, with the panes that count.

    Raises:
        ConfigError: the folder is no streaming output.
    """
    identity = read_identity(output)
    if identity is None:
        raise ConfigError(f"{output} has no {layout.STREAM}; give the output folder of `byteroute stream`")
    return read_windows(files_for(output), output, accumulating=identity["windowing"]["accumulating"])


def seal(output: str) -> dict[str, Any]:
    """Writes budgets, summary and manifest of all windows so far, and returns the manifest.

    After that the folder can be read, verified and exported like that of a batch run. Sealing again later
    replaces them.
    """
    windows = windows_of(output)
    identity = read_identity(output) or {}
    totals = RunTotals.zero()
    for window in windows:
        totals = totals.merge(window.totals)
    budget = Budget.merged(window.budget for window in windows)
    files = [one for window in windows for one in window.files]
    labels = [{"window": one.label, "documents": one.totals.documents} for one in windows]
    return write_results(
        output, files_for(output), budget, totals, files,
        identity=identity | {"windows": labels}, inputs=[], warnings=[],
    )  # fmt: skip
