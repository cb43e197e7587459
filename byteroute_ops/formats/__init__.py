"""Readers: binary streams to batches of documents and rejects, and the planning of ranges.

Nothing here opens a file by itself or knows Beam: the caller hands in an opener.
"""

from byteroute_ops.formats.model import FORMATS, FileInfo, FileSlice, Opener, Range, Read, ReadOptions
from byteroute_ops.formats.ranges import plan_ranges
from byteroute_ops.formats.reading import read_range

__all__ = [
    "FORMATS",
    "FileInfo",
    "FileSlice",
    "Opener",
    "Range",
    "Read",
    "ReadOptions",
    "plan_ranges",
    "read_range",
]
