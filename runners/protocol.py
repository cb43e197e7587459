"""What a runner profile is, and the checks that all of them share.

A profile turns a job's name and the options that the user added into Beam options, and refuses what is
known to lose or corrupt data. It knows nothing of the pipeline: that is handed to `launch` as a function.
"""

import difflib
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from byteroute_ops.errors import ConfigError


class Profile(Protocol):
    """One engine that runs jobs.

    Attributes:
        name: what `--runner` takes.
        summary: one line for the list of runners.
        streams: whether unbounded input works on it.
        beam: whether it is a Beam runner; the other kind is driven by the command line itself.
        shares_disk: whether its workers may have this machine's disk, so that local paths can be used.
        polled: whether a running job can be asked for its counters; else it runs in this process.
        own_options: names of options that the engine knows and Beam's Python SDK does not; None: any name may be one.
    """

    name: str
    summary: str
    streams: bool
    beam: bool
    shares_disk: bool
    polled: bool
    own_options: frozenset[str] | None

    def options(self, job_name: str, extra: Sequence[str]) -> list[str]:
        """Returns the Beam options of a job; options that the user gave win.

        Raises:
            ConfigError: something that the engine needs is missing, or an option that must not be given.
        """
        ...


REFUSED_MODE = "multi_threading"
REFUSED_EXPERIMENT = "data_buffer_time_limit_ms"


def check_extra(extra: Sequence[str]) -> None:
    """Refuses options that are known to corrupt data on any runner, and ones that are not options.

    Both start a thread that empties a worker's output buffer once a while without a lock, so that an
    element can be cut in two (Beam 2.77, worker/data_plane.py, `TimeBasedBufferingClosableOutputStream`).

    Raises:
        ConfigError: one of them was given.

    >>> check_extra(["--direct_running_mode=multi_threading"])
    Traceback (most recent call last):
    byteroute_ops.errors.ConfigError: --direct_running_mode=multi_threading corrupts data: ...
    """
    for option in extra:
        if not option.startswith("--"):
            raise ConfigError(f"{option!r} is no Beam option; write options as --name=value")
        if option.partition("=")[0] == "--direct_running_mode" and REFUSED_MODE in option:
            raise ConfigError(
                f"{option} corrupts data: a timer cuts elements that are being written. "
                "Use --runner=local-mp for several processes on this machine"
            )
        if REFUSED_EXPERIMENT in option:
            raise ConfigError(f"{option} corrupts data: a timer cuts elements that are being written. Leave it out")


def value_of(extra: Sequence[str], name: str) -> str | None:
    """Returns the value of the last `--name=value`; an option without a value has the empty one; None: not given.

    >>> value_of(["--a=1", "--b", "--a=2"], "a"), value_of(["--b"], "b"), value_of([], "a")
    ('2', '', None)
    """
    found = None
    for option in extra:
        key, _, value = option.partition("=")
        if key == f"--{name}":
            found = value
    return found


def with_defaults(defaults: dict[str, str], extra: Sequence[str]) -> list[str]:
    """Returns the options with defaults for those that were not given.

    >>> with_defaults({"region": "x", "job_name": "j"}, ["--region=y"])
    ['--job_name=j', '--region=y']
    """
    added = [f"--{name}={value}" for name, value in defaults.items() if value_of(extra, name) is None]
    return [*added, *extra]


def require(extra: Sequence[str], names: Sequence[str], runner: str) -> None:
    """Raises a ConfigError that lists the options a runner needs and did not get."""
    missing = [f"--{name}=..." for name in names if not value_of(extra, name)]
    if missing:
        raise ConfigError(f"runner {runner} needs {' '.join(missing)}; see docs/runners.md")


def require_module(module: str, extra_name: str, runner: str) -> None:
    """Raises a ConfigError with the line to type when a Python package that a runner needs is not installed."""
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise ConfigError(
            f"runner {runner} needs a package that is not installed; type: pip install 'byteroute[{extra_name}]'"
        )


def find_program(name: str, places: Sequence[Path]) -> str | None:
    """Returns the path of a program, from the places in order, then from PATH; None when there is none."""
    for place in places:
        if (place / name).is_file():
            return str(place / name)
    return shutil.which(name)


def check_known(options: Sequence[str], known: set[str]) -> None:
    """Refuses options whose names are unknown; Beam itself would only log them.

    Raises:
        ConfigError: the first unknown one, with the nearest known name.

    >>> check_known(["--regoin=x"], {"region"})
    Traceback (most recent call last):
    byteroute_ops.errors.ConfigError: --regoin: no such option; did you mean --region?
    """
    for option in options:
        name = option.partition("=")[0].removeprefix("--")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean --{near[0]}?" if near else "see docs/runners.md for what the runner takes"
            raise ConfigError(f"--{name}: no such option; {hint}")
