"""The worker's end of the local driver: a Beam pipeline that asks its parent for work.

The source pulls one range at a time. Fused with the range step (as FnApiRunner does) that balances the
load; were it not fused, all ranges would be taken at once and the result would be the same.
"""

import contextlib
from collections.abc import Iterator
from multiprocessing.connection import Connection

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from ..errors import describe_error
from ..jobs import Job
from .range_dofn import ProcessRange, observe

_channel: Connection | None = None


class _PullRangesDoFn(beam.DoFn):
    """Yields ranges until the parent has none left."""

    def process(self, element: str) -> Iterator[str]:  # noqa: ARG002 - Beam passes it
        while _channel is not None:
            _channel.send(("next",))
            answer = _channel.recv()
            if answer is None:
                return
            yield answer


def serve(channel: Connection, job: Job) -> None:
    """Runs the batch pipeline over the ranges that the parent hands out, then returns.

    Raises:
        SystemExit: the work failed; the parent has been told why.
    """
    global _channel  # noqa: PLW0603 - a DoFn is pickled, a connection cannot be; one process serves one parent
    _channel = channel
    observe(lambda *progress: channel.send(("progress", *progress)))
    try:
        with beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"])) as pipeline:
            _ = (
                pipeline
                | "Start" >> beam.Create(["start"])
                | "PullRanges" >> beam.ParDo(_PullRangesDoFn()).with_output_types(str)
                | "ProcessRange" >> ProcessRange(job)
            )
    except Exception as error:
        with contextlib.suppress(OSError):  # the parent may have given this worker up
            channel.send(("failed", describe_error(error)))
        raise SystemExit(1) from None
