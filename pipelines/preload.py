"""What the process that workers are forked from imports when it starts: all that a worker needs.

No tokenizer is loaded there: the libraries that do have threads of their own, and threads do not survive a fork.
"""

import contextlib
import gc
import logging
import os
from importlib import import_module

from byteroute_ops.collecting import uncollected

MARK = "BYTEROUTE_FORKS_FOR"
"""Environment variable: the process for which workers will be forked. Whoever else imports this module has none."""

MODULES = (
    "numpy",
    "pyarrow.compute",
    "byteroute.pipelines.cli",
    "byteroute.pipelines.local",
    "apache_beam",
    "byteroute_ops.beam.serving",
    "apache_beam.runners.portability.fn_api_runner.fn_runner",
    "gigatoken",
    "awkward",  # gigatoken's results
)


def preload(parent: int) -> None:
    """Imports the modules; what cannot be imported is left to the worker that needs it, and to its error.

    Args:
        parent: process id; this process ends when that one has ended, which may have been an error at once.
    """
    logging.getLogger().setLevel(logging.CRITICAL)  # Beam warns of extras that a local run does not need
    for name in MODULES:
        if os.getppid() != parent:
            os._exit(0)
        with contextlib.suppress(Exception), uncollected():
            import_module(name)
    gc.freeze()  # or else a collection in a worker would copy every page that the workers share


if MARK in os.environ:
    preload(int(os.environ.pop(MARK)))
