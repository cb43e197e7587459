"""The formats by name. A new one is a module here and a line in `READERS`."""

from collections.abc import Callable, Iterator
from typing import Final

from byteroute_ops.formats.avro import read_avro
from byteroute_ops.formats.batching import Collector
from byteroute_ops.formats.jsonl import read_jsonl
from byteroute_ops.formats.model import Read
from byteroute_ops.formats.parquet import read_parquet
from byteroute_ops.formats.source import Source
from byteroute_ops.formats.text import read_text_file, read_text_lines, read_text_pieces
from byteroute_ops.formats.wet import read_wet

Reader = Callable[[Source, Collector], Iterator[Read]]
"""Reads one slice into the collector and yields what is complete. Raises `InputError` for a fault of the file that
ends the reading; bad records and faults it can step over it rejects itself."""

READERS: Final[dict[str, Reader]] = {
    "jsonl": read_jsonl,
    "text": read_text_lines,
    "text-file": read_text_file,
    "text-separator": read_text_pieces,
    "parquet": read_parquet,
    "avro": read_avro,
    "wet": read_wet,
}

SPLITTABLE: Final = frozenset({"jsonl", "text", "parquet", "avro"})
"""Formats whose plain files can be read from any byte on."""
