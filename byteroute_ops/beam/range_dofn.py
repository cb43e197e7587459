"""The batch job's one step: a range in, its files and its record out."""

from collections.abc import Callable, Iterator

import apache_beam as beam
import orjson
from apache_beam.metrics import Metrics
from apache_beam.utils.shared import Shared

from .. import layout
from ..errors import WorkError, describe_error
from ..formats import Range
from ..jobs import Job
from ..processing import Processor
from ..range_worker import process_range, read_range_totals
from .counters import count_totals
from .files import open_files

_observer: Callable[[int, int, int], None] | None = None


def observe(observer: Callable[[int, int, int], None] | None) -> None:
    """Sets who is told, in this process, of (range index, source bytes, documents) as they are read."""
    global _observer  # noqa: PLW0603 - see serving.serve
    _observer = observer


class _ProcessRangeDoFn(beam.DoFn):
    """Reads a range, runs all stages on it, commits its files, yields the name of its record."""

    def __init__(self, job: str, shared: Shared) -> None:
        self._job_json = job
        self._shared = shared
        self._documents = Metrics.counter("byteroute.range", "documents")
        self._bytes = Metrics.counter("byteroute.range", "source_bytes")
        self._ranges = Metrics.counter("byteroute.range", "ranges")

    def setup(self) -> None:
        self._job = Job.from_json(self._job_json)
        self._inputs = open_files(self._job.input_root)
        self._outputs = open_files(self._job.output)
        settings = self._job.settings
        self._processor = self._shared.acquire(lambda: Processor(settings), tag=self._job_json)

    def process(self, element: str) -> Iterator[str]:
        one = Range.from_json(orjson.loads(element))
        try:
            yield self._do(one)
        except Exception as error:
            # Runners log what they catch, and a library's message may quote the data.
            raise WorkError(f"range {one.index}: {describe_error(error)}") from None

    def _do(self, one: Range) -> str:
        # An engine does a whole bundle again when one of its ranges fails, and on Flink a bundle is a partition.
        # The plan of the output folder says that a record there is this run's.
        if read_range_totals(self._outputs, self._job.output, one.index) is None:
            process_range(
                one, self._job, self._processor, inputs=self._inputs, outputs=self._outputs, on_progress=self._progress
            )
            done = read_range_totals(self._outputs, self._job.output, one.index)
            if done is not None:
                count_totals(done)
        self._ranges.inc()
        return layout.range_record(one.index)

    def _progress(self, index: int, source_bytes: int, documents: int) -> None:
        self._documents.inc(documents)
        self._bytes.inc(source_bytes)
        if _observer is not None:
            _observer(index, source_bytes, documents)


class ProcessRange(beam.PTransform):
    """PCollection of ranges (JSON) to PCollection of the names of their records."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job.to_json()

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        """Applies the step."""
        return ranges | "Process" >> beam.ParDo(_ProcessRangeDoFn(self._job, Shared())).with_output_types(str)
