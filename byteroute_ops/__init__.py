"""Script-aware byte routing, token budgets and pretraining shards for multilingual corpora."""

from byteroute_ops._version import __version__

__all__ = ["__version__"]
