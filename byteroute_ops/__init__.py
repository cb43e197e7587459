"""Script-aware byte routing, token budgets and pretraining shards for multilingual corpora.

The names below are the public kernel: pure functions on text, bytes and Arrow batches. Each is imported when it
is first used, so `import byteroute_ops` costs nothing. Beam transforms are in `byteroute_ops.beam`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from byteroute_ops._version import __version__

if TYPE_CHECKING:
    from byteroute_ops.cleaning import clean_batch as clean_batch
    from byteroute_ops.cleaning import clean_text as clean_text
    from byteroute_ops.errors import ByteRouteError as ByteRouteError
    from byteroute_ops.errors import ConfigError as ConfigError
    from byteroute_ops.errors import InputError as InputError
    from byteroute_ops.errors import StreamError as StreamError
    from byteroute_ops.policy import load_policy as load_policy
    from byteroute_ops.routing import Router as Router
    from byteroute_ops.routing import route_batch as route_batch
    from byteroute_ops.routing import route_text as route_text
    from byteroute_ops.segmentation import segment_batch as segment_batch
    from byteroute_ops.segmentation import segment_text as segment_text
    from byteroute_ops.stream_codec import StreamDecoder as StreamDecoder
    from byteroute_ops.stream_codec import decode as decode
    from byteroute_ops.tokenization import open_tokenizer as open_tokenizer

_HOMES = {
    "clean_batch": "cleaning",
    "clean_text": "cleaning",
    "ByteRouteError": "errors",
    "ConfigError": "errors",
    "InputError": "errors",
    "StreamError": "errors",
    "load_policy": "policy",
    "Router": "routing",
    "route_batch": "routing",
    "route_text": "routing",
    "segment_batch": "segmentation",
    "segment_text": "segmentation",
    "StreamDecoder": "stream_codec",
    "decode": "stream_codec",
    "open_tokenizer": "tokenization",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names are strings


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
