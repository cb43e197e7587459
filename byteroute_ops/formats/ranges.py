"""Plans ranges: even pieces of work, the same for the same listing, without reading the files.

A file that is larger than a range is looked at (one small read) to see whether it can be split; nothing else is opened.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from byteroute_ops.errors import ConfigError, InputError
from byteroute_ops.formats.detect import compression_of_name, format_of_name
from byteroute_ops.formats.model import FileInfo, FileSlice, Opener, Range
from byteroute_ops.formats.reading import is_splittable
from byteroute_ops.formats.source import Source, open_stream

RANGE_BYTES: Final = 64 << 20
"""How much text, estimated, one range should hold."""

OPENING_BYTES: Final = 64 << 10
"""What opening a file costs, in bytes of text that could be processed meanwhile."""

_EXPANSION: Final = {"gzip": 3.5, "bzip2": 4.5, "xz": 5.0, "zstd": 4.0}
"""Bytes of text that a compressed byte of a typical corpus gives."""

_CONTAINER_EXPANSION: Final = {"parquet": 2.5, "avro": 2.5}
"""The same for formats with compression of their own."""


def plan_ranges(
    files: Iterable[FileInfo],
    *,
    format: str,  # noqa: A002 - the setting's name
    range_bytes: int = RANGE_BYTES,
    opener: Opener,
) -> list[Range]:
    """Returns ranges of about even cost that together cover every file once, in order of URI.

    Large plain files of splittable formats are cut; every other file is one slice; small files are put together.

    Args:
        files: the listing; its order does not matter.
        format: the `format` setting of the readers.
        range_bytes: text that a range should hold. The stored bytes of compressed files are weighed.
        opener: for a look at files that are larger than a range. A file that cannot be opened is planned as a whole,
            so that its reader reports it.

    Raises:
        ConfigError: two files have the same URI, or `range_bytes` is not positive.
    """
    if range_bytes <= 0:
        raise ConfigError(f"range_bytes: {range_bytes} is not positive")
    listing = sorted(files, key=lambda f: f.uri)
    for before, after in itertools.pairwise(listing):
        if before.uri == after.uri:
            raise ConfigError(f"input: {after.uri!r} is listed twice; give each file once")
    slices = ((s, _cost(s, format)) for f in listing for s in _slices(f, format, range_bytes, opener))
    return [Range(i, tuple(group)) for i, group in enumerate(_groups(slices, range_bytes))]


def _cost(part: FileSlice, wanted: str) -> int:
    """Returns the estimated bytes of text, with the cost of opening the file."""
    packed = compression_of_name(part.uri)
    name = format_of_name(part.uri) if wanted == "auto" else wanted
    factor = _EXPANSION[packed] if packed else _CONTAINER_EXPANSION.get(name or "", 1.0)
    return OPENING_BYTES + int((part.end - part.start) * factor)


def _slices(file: FileInfo, wanted: str, range_bytes: int, opener: Opener) -> Sequence[FileSlice]:
    whole = FileSlice(file.uri, file.size, file.version, 0, file.size)
    n_parts = min(-(-_cost(whole, wanted) // range_bytes), file.size)
    if n_parts < 2 or compression_of_name(file.uri) is not None or not _can_split(whole, wanted, opener):
        return [whole]
    cuts = [file.size * i // n_parts for i in range(n_parts + 1)]
    return [FileSlice(file.uri, file.size, file.version, a, b) for a, b in itertools.pairwise(cuts)]


def _can_split(whole: FileSlice, wanted: str, opener: Opener) -> bool:
    try:
        with open_stream(whole.uri, opener) as stream:
            return is_splittable(Source(whole, stream, wanted))
    except (InputError, OSError):
        return False


def _groups(slices: Iterable[tuple[FileSlice, int]], range_bytes: int) -> Iterator[list[FileSlice]]:
    group: list[FileSlice] = []
    cost = 0
    for part, part_cost in slices:
        if group and cost + part_cost > range_bytes:
            yield group
            group, cost = [], 0
        group.append(part)
        cost += part_cost
    if group:
        yield group
