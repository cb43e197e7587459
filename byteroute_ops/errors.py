"""Errors, split by whose fault it is, and the reason codes of rejected rows.

A message says where (file, key or offset), what was found, what is allowed and what to do. It never
holds corpus text: counts, offsets and digests only.
"""

from enum import StrEnum


class ByteRouteError(Exception):
    """Base of every error that byteroute raises on purpose."""


class ConfigError(ByteRouteError, ValueError):
    """The caller's fault: a flag, a setting, a policy or a tokenizer file that cannot be used."""


class RejectReason(StrEnum):
    """Why a row or a file went to the dead-letter output. The value is what the `reason` column holds."""

    UNREADABLE_FILE = "unreadable_file"
    """No reader understands the file, or it cannot be opened."""
    TRUNCATED = "truncated"
    """A compressed or container file ends before its end marker; what came before was kept."""
    CORRUPT = "corrupt"
    """A compressed or container file fails its own checks; what came before was kept."""
    DECOMPRESSION_BOMB = "decompression_bomb"
    """A file expands beyond the allowed ratio and size; what came before was kept."""
    INVALID_UTF8 = "invalid_utf8"
    """The text is not well-formed in its encoding; `detail` has the byte offset in the record."""
    INVALID_JSON = "invalid_json"
    """A line is not a JSON object."""
    MISSING_FIELD = "missing_field"
    """The text field is absent or null."""
    WRONG_TYPE = "wrong_type"
    """A field is there, but not a string."""
    LONE_SURROGATE = "lone_surrogate"
    """The text holds an unpaired surrogate (as a JSON escape), which no encoding form can carry."""
    DOCUMENT_TOO_LARGE = "document_too_large"
    """The text is longer than `max_document_bytes`."""
    TOKENIZER_FAILURE = "tokenizer_failure"
    """The tokenizer raised on this one document."""


class InputError(ByteRouteError):
    """The data's fault. Becomes a reject; it ends no job.

    Attributes:
        reason: the code that the reject carries.
        offset: where, in the unit that the message names; None when the place is unknown.
    """

    def __init__(self, reason: RejectReason, detail: str, *, offset: int | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.offset = offset


class StreamError(InputError):
    """Routed bytes that do not fit the grammar: `offset` is the first unit that does not fit, in bytes."""

    def __init__(self, detail: str, *, offset: int) -> None:
        super().__init__(RejectReason.CORRUPT, f"{detail} at byte {offset}", offset=offset)


class WorkError(ByteRouteError):
    """Work on a range failed for a reason that is neither the caller's nor the data's, told without the data."""


def describe_error(error: BaseException) -> str:
    """Returns what may be said of an error: our own words, the system's words, else only its type and place.

    A library's message may quote the data, so it is not repeated.
    """
    chain: list[BaseException] = []
    seen: BaseException | None = error
    while seen is not None and seen not in chain:
        chain.append(seen)
        seen = seen.__cause__ or seen.__context__
    for cause in chain:
        if isinstance(cause, ByteRouteError):
            return str(cause)
        if isinstance(cause, OSError) and cause.strerror:
            return f"{cause.strerror}" + (f": {cause.filename}" if cause.filename else "")
    root = chain[-1]
    place = root.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place is not None else ""
    return f"{type(root).__name__}{where}"
