"""The steps of a streaming job: thin DoFns over the kernel, one set of heavy objects a process."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import apache_beam as beam
import orjson
import pyarrow as pa
from apache_beam.utils.shared import Shared

from ..errors import WorkError, describe_error
from ..formats import FileInfo, Range, plan_ranges, read_range
from ..panes import Pane, write_pane
from ..parts import document_part, reject_part, skipped_part, totals_of
from ..processing import Processor, shard_schema
from ..range_worker import in_sample, read_options
from ..records import REJECTS
from ..settings import Settings, load_settings
from .counters import count, count_totals
from .files import open_files

REJECTED = "rejected"
"""Tag of the output with batches of `records.REJECTS`."""


def guarded(what: str, call: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Yields what a call gives; an error is told without the data, as engines log what they catch.

    Raises:
        WorkError: the call raised.
    """
    try:
        yield from call()
    except Exception as error:
        raise WorkError(f"{what}: {describe_error(error)}") from None


def _settings(text: str) -> Settings:
    return load_settings(orjson.loads(text))


class PlanFileDoFn(beam.DoFn):
    """A file (JSON of name, size, version) to its ranges (JSON), so that big files are shared out."""

    def __init__(self, settings: str, root: str) -> None:
        self._settings_json, self._root = settings, root

    def setup(self) -> None:
        """Makes what `process` needs."""
        self._settings, self._files = _settings(self._settings_json), open_files(self._root)

    def process(self, element: str) -> Iterator[str]:
        """Yields a JSON text for each range."""
        return guarded("planning a file", lambda: self._ranges(FileInfo(*orjson.loads(element))))

    def _ranges(self, info: FileInfo) -> Iterator[str]:
        for one in plan_ranges(
            [info],
            format=self._settings.format,
            range_bytes=self._settings.range_bytes,
            opener=lambda name: self._files.open(self._root + name),
        ):
            yield orjson.dumps(one.to_json()).decode()


class ReadRangeDoFn(beam.DoFn):
    """A range (JSON) to batches of documents; tagged output: batches of rejects."""

    def __init__(self, settings: str, root: str) -> None:
        self._settings_json, self._root = settings, root

    def setup(self) -> None:
        """Makes what `process` needs."""
        self._options, self._files = read_options(_settings(self._settings_json)), open_files(self._root)

    def process(self, element: str) -> Iterator[Any]:
        """Yields what the readers find."""
        return guarded("reading a file", lambda: self._read(Range.from_json(orjson.loads(element))))

    def _read(self, one: Range) -> Iterator[Any]:
        for read in read_range(one, self._options, lambda name: self._files.open(self._root + name)):
            count("read", {"source_bytes": read.source_bytes})
            if read.documents is not None:
                yield read.documents
            if read.rejects is not None:
                yield beam.pvalue.TaggedOutput(REJECTED, read.rejects)


class ProcessBatchDoFn(beam.DoFn):
    """A batch of documents through all stages, to a part (see `parts`)."""

    def __init__(self, settings: str, shared: Shared) -> None:
        self._settings_json, self._shared = settings, shared

    def setup(self) -> None:
        """Makes what `process` needs."""
        settings = self._settings = _settings(self._settings_json)
        self._processor = self._shared.acquire(lambda: Processor(settings), tag=self._settings_json)

    def process(self, element: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yields one part."""
        return guarded("processing a batch", lambda: self._parts(element))

    def _parts(self, documents: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        wanted = documents
        if self._settings.sample is not None:
            wanted = documents.filter(pa.array(in_sample(documents["doc_id"], self._settings.sample)))
        if wanted.num_rows:
            part = document_part(wanted, self._processor.process(wanted), documents.num_rows)
        else:
            part = skipped_part(documents, shard_schema(self._settings), REJECTS)
        count_totals(totals_of(part))
        yield part


class RejectsDoFn(beam.DoFn):
    """A batch of rejects to a part, so that it is committed together with the documents of its pane."""

    def __init__(self, settings: str) -> None:
        self._settings_json = settings

    def setup(self) -> None:
        """Makes what `process` needs."""
        self._schema = shard_schema(_settings(self._settings_json))

    def process(self, element: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yields one part."""
        part = reject_part(element, self._schema)
        count_totals(totals_of(part))
        yield part


class ToShardDoFn(beam.DoFn):
    """A part to (shard, part), by its source and position: a retry sends it to the same shard."""

    def __init__(self, n_shards: int) -> None:
        self._n_shards = n_shards

    def process(self, element: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yields the part with its shard."""
        place = orjson.dumps([element["source"][0].as_py(), element["position"][0].as_py()])
        yield int.from_bytes(hashlib.blake2b(place, digest_size=8).digest(), "big") % self._n_shards, element


class WritePaneDoFn(beam.DoFn):
    """All parts of one pane of one shard to its files; yields the name of the pane."""

    def __init__(self, settings: str, output: str) -> None:
        self._settings_json, self._output = settings, output

    def setup(self) -> None:
        """Makes what `process` needs."""
        self._settings, self._files = _settings(self._settings_json), open_files(self._output)

    def process(
        self,
        element: tuple[int, Iterable[pa.RecordBatch]],
        window: Any = beam.DoFn.WindowParam,
        pane_info: Any = beam.DoFn.PaneInfoParam,
    ) -> Iterator[str]:
        """Commits one pane."""
        shard, parts = element
        # A trigger that fires once numbers nothing on some engines, and then the index is -1.
        pane = Pane(window_label(window), shard, max(0, pane_info.index))
        return guarded("writing a pane", lambda: self._write(pane, parts))

    def _write(self, pane: Pane, parts: Iterable[pa.RecordBatch]) -> Iterator[str]:
        totals = write_pane(pane, parts, self._settings, self._output, self._files)
        count("pane", {"panes": 1, "documents": totals.documents, "files": totals.n_shards})
        yield pane.name


def window_label(window: Any) -> str:
    """Returns the start and end of an interval window in UTC, without a colon, which some filesystems refuse.

    >>> from apache_beam.transforms.window import IntervalWindow
    >>> window_label(IntervalWindow(0, 60))
    '19700101T000000Z-19700101T000100Z'
    """
    return f"{_utc(window.start)}-{_utc(window.end)}"


def _utc(time: Any) -> str:
    return datetime.fromtimestamp(time.seconds(), UTC).strftime("%Y%m%dT%H%M%SZ")
