"""Where worker processes come from.

On Linux they are forks of a server that has nothing but imports behind it (`preload`): those happen once, while the
parent checks tokenizers, and a worker starts in milliseconds. The parent itself cannot be forked, as a fork would copy
its threads' locks in whatever state they are. Elsewhere every worker is a Python of its own, since there the libraries
of the system do not survive a fork.
"""

import atexit
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from byteroute_ops.errors import ByteRouteError

from . import preload

MAX_STARTS = 3
_PAUSE_SECONDS = 0.1


def start_server() -> str:
    """Starts the server where there is none, and does not wait for it; returns the start method for workers."""
    if sys.platform != "linux":
        return "spawn"
    multiprocessing.set_forkserver_preload([preload.__name__])
    resource_tracker.ensure_running()  # or else the server would start it, and that lets interrupts in again
    # Safe path: the server's `-c` would let it import what lies in the current folder.
    with _without_interrupts(), _environment({preload.MARK: str(os.getpid()), "PYTHONSAFEPATH": "1"}):
        try:
            forkserver.ensure_running()
        except OSError:  # no place for its socket: a temporary folder with too long a name, or a full disk
            return "spawn"
    atexit.unregister(_end_server)
    atexit.register(_end_server)
    return "forkserver"


def _end_server() -> None:
    """Ends the server and waits for it.

    It would end by itself, but nobody would wait for it: `time` would not know of the workers' time, and whoever reads
    what a failed command printed would have to wait until the server's imports are done.
    """
    server = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)
    with contextlib.suppress(OSError):
        if server is not None and os.waitpid(server, os.WNOHANG)[0] == 0:
            os.kill(server, signal.SIGKILL)
            os.waitpid(server, 0)


def start_worker(target: Callable[..., None], *arguments: Any) -> tuple[Any, Connection]:
    """Starts a process that ends with this one; returns it and the channel to it.

    Args:
        target: called there with its end of the channel and the arguments.
        arguments: picklable.

    Raises:
        ByteRouteError: the server ended several times before it had forked the worker.
    """
    for _ in range(MAX_STARTS):
        context: Any = multiprocessing.get_context(start_server())
        ours, theirs = context.Pipe()
        process = context.Process(target=_begin, args=(dict(os.environ), target, theirs, *arguments), daemon=True)
        try:
            process.start()
        except (EOFError, ConnectionError):
            ours.close()
            time.sleep(_PAUSE_SECONDS)  # a process that has just been killed still counts as running for a moment
        else:
            return process, ours
        finally:
            theirs.close()
    raise ByteRouteError(
        f"the process that workers are forked from ended {MAX_STARTS} times; run with --runner local to see why"
    )


def _begin(environment: dict[str, str], target: Callable[..., None], *arguments: Any) -> None:
    """What a worker does first. The environment is its parent's: a server has that of its own start."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent, which ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    target(*arguments)


def _end_with_parent() -> None:
    """Ends this process when its parent has died; a half-done range is done again by the run that goes on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Holds Ctrl-C back; processes that are started meanwhile never hear it, so that they need not say so either."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Sets environment variables for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
