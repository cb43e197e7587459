"""Reads ranges: opens each slice, finds its reader, and turns what goes wrong into rejects."""

from collections.abc import Iterator
from dataclasses import replace

from byteroute_ops.errors import InputError
from byteroute_ops.formats.batching import Collector
from byteroute_ops.formats.model import FileSlice, Opener, Range, Read, ReadOptions
from byteroute_ops.formats.registry import READERS, SPLITTABLE
from byteroute_ops.formats.source import Source, Stream, open_stream


def read_range(range_: Range, options: ReadOptions, opener: Opener) -> Iterator[Read]:
    """Yields all documents and rejects of a range, in the order of its slices and of the records in them.

    The result depends on the range, the options and the content of the files alone. Small files share batches. A file
    that cannot be opened, read or recognised is one reject, whatever else is in the range.

    Args:
        range_: what to read.
        options: how records become documents.
        opener: opens a URI; the stream is closed when the slice is read.

    Raises:
        OSError: a file that was opened fails while it is read, or a connection fails; that is a matter for a retry,
            never a reject.
    """
    collector = Collector(options)
    for part in range_.slices:
        yield from _read_slice(part, collector, opener)
    yield from collector.finish()


def _read_slice(part: FileSlice, collector: Collector, opener: Opener) -> Iterator[Read]:
    collector.begin(part.uri, int)
    try:
        stream = open_stream(part.uri, opener)
    except InputError as fault:
        # By each slice for itself: a file may vanish between two of them.
        collector.reject(fault.offset, fault.reason, fault.detail, is_record=False)
        return
    collector.begin(part.uri, lambda: stream.n_taken)
    with stream:
        try:
            yield from _read_stream(part, stream, collector)
        except InputError as fault:
            collector.reject(fault.offset, fault.reason, fault.detail, is_record=False)
        yield from collector.drain()


def _read_stream(part: FileSlice, stream: Stream, collector: Collector) -> Iterator[Read]:
    source = Source(part, stream, collector.options.format)
    if not is_splittable(source) and not part.is_whole:
        # Planned when the file was another one: its first slice reads all of it.
        if part.start > 0:
            return
        source.slice = replace(part, end=part.size)
    if part.start == 0:
        for warning in source.warnings:
            collector.warn(warning)
    yield from READERS[source.format](source, collector)


def is_splittable(source: Source) -> bool:
    """Returns whether a file can be read from any byte on."""
    return source.compression is None and source.encoding.width == 1 and source.format in SPLITTABLE
