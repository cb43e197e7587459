"""Compiled forms of the loops that a run spends its time in, for callers that have a slower form in NumPy.

`setup.py` builds them where there is a C compiler. Each name below is a module, or None where it was not built.
A caller takes the compiled form if it is there; both give the same arrays, which tests compare.
"""

from importlib import import_module
from types import ModuleType


def _built(name: str) -> ModuleType | None:
    full = f"{__name__}.{name}"
    try:
        return import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        return None


runs = _built("runs")
"""Segmentation: script runs and cluster breaks."""
streams = _built("streams")
"""Routing: payloads, and stretches taken out of bytes and put into others."""
tokens = _built("tokens")
"""Attribution: tokens by script run."""


def is_complete() -> bool:
    """Whether all of them were built."""
    return None not in (runs, streams, tokens)
