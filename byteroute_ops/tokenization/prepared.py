"""What is known of a tokenizer once it has been read and checked, in a form that another process can take over."""

from dataclasses import dataclass
from typing import Any

from .source import Source


@dataclass(frozen=True)
class Prepared:
    """A tokenizer that one process has read and checked, for others with the same packages: it can be pickled.

    Attributes:
        source: the tokenizer file as it was read.
        is_fast: whether the fast engine has proved equal to the reference on the sample.
        note: why it is not in use.
        fingerprint: of the tokenizer, which takes both engines to find out.
    """

    source: Source
    is_fast: bool
    note: str | None
    fingerprint: dict[str, Any]
