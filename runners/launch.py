"""Submits a pipeline, follows its metrics and waits for its end. Beam is imported when a job starts."""

import re
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from byteroute_ops.errors import ByteRouteError, ConfigError, describe_error

from .protocol import Profile, check_known, value_of

Build = Callable[[Any], None]
"""Adds the job's steps to a `beam.Pipeline`."""

Counters = dict[tuple[str, str, str], int]
"""(step, namespace, name) to the value so far. A retried bundle may count twice: for progress only."""

CONNECT_SECONDS = 10.0
POLL_SECONDS = 1.0
REMOTE_POLL_SECONDS = 15.0
OWN_ERRORS = ("ConfigError: ", "WorkError: ", "ByteRouteError: ", "InputError: ", "StreamError: ")


class JobFailedError(ByteRouteError):
    """An engine ended a job before its time."""


def launch(
    profile: Profile,
    build: Build,
    extra: Sequence[str],
    *,
    job_name: str,
    streaming: bool = False,
    on_counters: Callable[[Counters], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Counters:
    """Runs a pipeline to its end and returns its counters.

    Args:
        profile: the engine.
        build: adds the steps.
        extra: Beam options of the user.
        job_name: shown by the engine; lower case, digits, hyphens.
        streaming: whether the input is unbounded.
        on_counters: hears the counters about once a second.
        stop: asked as often; True cancels the job.

    Raises:
        ConfigError: an option or a missing prerequisite.
        JobFailedError: the engine ended the job.
    """
    options = profile.options(job_name, extra)
    _check_endpoint(value_of(options, "job_endpoint"))
    if streaming:
        options.append("--streaming")
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    if profile.own_options is not None:
        check_known(options, _known_options() | profile.own_options)
    pipeline = beam.Pipeline(options=PipelineOptions(options))
    build(pipeline)
    try:
        result = pipeline.run()
        return _follow(result, profile, on_counters, stop)
    except ByteRouteError:
        raise
    except Exception as error:
        raise JobFailedError(explain(error)) from error


def _check_endpoint(endpoint: str | None) -> None:
    """Refuses an address at which nothing answers.

    Raises:
        ConfigError: nothing does.
    """
    if endpoint is None:
        return
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--job_endpoint={endpoint}: nothing answers there ({describe_error(error)}); "
            "start the job service, or write HOST:PORT of one that is running"
        ) from None


def _follow(
    result: Any, profile: Profile, on_counters: Callable[[Counters], None] | None, stop: Callable[[], bool] | None
) -> Counters:
    from apache_beam.runners.runner import PipelineState

    pause = REMOTE_POLL_SECONDS if profile.name == "dataflow" else POLL_SECONDS
    cancelled = False
    while result is not None and not PipelineState.is_terminal(result.state):
        time.sleep(pause)
        if on_counters is not None:
            on_counters(counters(result))
        if stop is not None and not cancelled and stop():
            result.cancel()
            cancelled = True
    if result is None or not hasattr(result, "wait_until_finish"):
        return {}  # a template was written, nothing runs
    if not cancelled:
        # Raises with the engine's messages when the job failed.
        state = result.wait_until_finish()
        if state not in (None, PipelineState.DONE):
            raise JobFailedError(f"runner {profile.name} ended the job in state {state}; its own log says more")
    seen = counters(result)
    if on_counters is not None:
        on_counters(seen)
    return seen


def counters(result: Any) -> Counters:
    """Returns the counters of a job so far: what is committed where the engine says that, else what was attempted."""
    found: Counters = {}
    try:
        metrics: Iterable[Any] = result.metrics().query()["counters"]
    except (NotImplementedError, AttributeError):
        return found
    for one in metrics:
        value = one.committed if one.committed is not None else one.attempted
        found[one.key.step, one.key.metric.namespace, one.key.metric.name] = int(value or 0)
    return found


def _known_options() -> set[str]:
    """Returns the names of all options that Beam has registered."""
    from apache_beam.options import pipeline_options

    parser = pipeline_options._BeamArgumentParser(allow_abbrev=False)
    for part in _subclasses(pipeline_options.PipelineOptions):
        part._add_argparse_args(parser)
    return {flag.removeprefix("--") for action in parser._actions for flag in action.option_strings}


def _subclasses(kind: type) -> list[Any]:
    direct: list[Any] = sorted(kind.__subclasses__(), key=lambda one: one.__name__)
    return [one for one in direct if "_add_argparse_args" in vars(one)]


def explain(error: BaseException) -> str:
    """Returns what may be said of a failed job.

    An engine's message ends in the worker's traceback, whose text may quote the data: only lines that are
    errors of ours are repeated, else the type of the last error.
    """
    lines = [line.strip() for line in str(error).splitlines()]
    for line in reversed(lines):
        for name in OWN_ERRORS:
            if name in line:
                return line.partition(name)[2].split("\\n")[0].split(" [while running")[0]
    for line in reversed(lines):
        head = line.partition(":")[0]
        if head.replace(".", "").replace("_", "").isalnum() and head.endswith(("Error", "Exception")):
            return f"the job failed with {head}; the engine's log has the traceback"
    state = re.search(r"failed in state (\w+)", str(error))
    if state is not None:
        return f"the engine ended the job in state {state[1]}, as when a worker is lost; its log says why"
    return describe_error(error)
