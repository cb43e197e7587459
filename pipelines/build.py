"""The batch graph, built once for every runner: ranges, spread over the workers, each done in one step."""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from byteroute_ops.formats import Range
from byteroute_ops.jobs import Job


def batch_pipeline(job: Job, ranges: Sequence[Range]) -> Callable[[Any], None]:
    """Returns a function that adds the steps of a batch job to a `beam.Pipeline`."""
    elements = [orjson.dumps(one.to_json()).decode() for one in ranges]

    def build(pipeline: Any) -> None:
        import apache_beam as beam

        from byteroute_ops.beam.range_dofn import ProcessRange

        _ = (
            pipeline
            # Create's own reshuffle would come before ours and move the same elements twice.
            | "Ranges" >> beam.Create(elements, reshuffle=False).with_output_types(str)
            | "Spread" >> beam.Reshuffle()
            | "ProcessRange" >> ProcessRange(job)
        )

    return build
