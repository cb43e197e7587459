"""One run at a time in an output folder: an advisory lock that dies with the processes that hold it.

The lock is on the folder itself (flock), so it leaves no file behind, whatever kills the run. Workers inherit it: a
folder whose run was killed is free only when its last worker has gone too, and none can write into the next run's.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from multiprocessing.reduction import DupFd
from typing import Any

from byteroute_ops.errors import ConfigError
from byteroute_ops.files import is_remote

try:
    import fcntl
except ImportError:  # no POSIX system
    fcntl = None  # type: ignore[assignment]

PATIENCE_SECONDS = 10.0
"""Workers of a run that was killed end within this time, so a run that is started at once just waits for them."""


class Claim:
    """A folder that is this run's. Pickled for a spawned worker it holds the lock there too."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle

    def release(self) -> None:
        """Gives the folder up; it stays locked while a worker holds it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __reduce__(self) -> Any:
        return _inherited, (None if self._handle is None else DupFd(self._handle),)


def _inherited(handle: Any) -> Claim:
    return Claim(None if handle is None else handle.detach())


@contextlib.contextmanager
def claim_folder(output: str, *, patience: float = PATIENCE_SECONDS) -> Iterator[Claim]:
    """Holds the lock on an output folder, which is made when there is none.

    Object stores have no locks, and some network disks have none either: there it is up to the caller to run one
    job at a time.

    Raises:
        ConfigError: another run holds the folder.
        OSError: the folder cannot be made.
    """
    claim = Claim(None if is_remote(output) or fcntl is None else _lock(output, patience))
    try:
        yield claim
    finally:
        claim.release()


def _lock(output: str, patience: float) -> int | None:
    os.makedirs(output, exist_ok=True)
    handle = os.open(output, os.O_RDONLY)
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except BlockingIOError:
            if time.monotonic() < end:
                time.sleep(0.05)
                continue
            os.close(handle)
            raise ConfigError(
                f"{output} is in use: another byteroute run is at work there; wait for it, or choose another folder"
            ) from None
        except OSError:
            os.close(handle)
            return None  # a disk without locks
