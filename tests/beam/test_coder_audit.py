"""No collection of any pipeline of ours is pickled, and every grouping key is deterministic."""

from collections.abc import Callable
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from byteroute.pipelines.build import batch_pipeline
from byteroute.pipelines.stream import Stream, stream_pipeline
from coder_audit import pickled_collections

from byteroute_ops.beam.sources import ReadMessages, WatchFolder
from byteroute_ops.beam.streaming import Windowing
from byteroute_ops.formats import FileSlice, Range
from byteroute_ops.jobs import Job
from byteroute_ops.settings import Settings

SETTINGS = Settings(tokenizers=("bytes",))


def batch(pipeline: beam.Pipeline) -> None:
    """Adds the batch job."""
    job = Job(settings=SETTINGS, input_root="in/", output="out")
    batch_pipeline(job, [Range(0, (FileSlice("a.jsonl", 9, "v", 0, 9),))])(pipeline)


def watch(pipeline: beam.Pipeline) -> None:
    """Adds the stream of a folder."""
    stream = Stream(settings=SETTINGS, windowing=Windowing().to_json(), output="out", identity={})
    stream_pipeline(stream, WatchFolder("in/", SETTINGS))(pipeline)


def messages(pipeline: beam.Pipeline) -> None:
    """Adds the reader of messages."""
    named = pipeline | beam.Create([("m", b"{}")]).with_output_types(tuple[str, bytes])
    _ = named | ReadMessages(SETTINGS)


@pytest.mark.parametrize("build", [batch, watch, messages])
def test_nothing_is_pickled(build: Callable[[Any], None]) -> None:
    """Every element has a coder that says what it is.

    Aside from a reshuffle's inside, where Beam 2.77 types an element's timestamp loosely; the element keeps its coder.
    """
    pipeline = beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"]))
    build(pipeline)
    assert [name for name in pickled_collections(pipeline) if "/ReshufflePerKey/" not in name] == []


def test_the_audit_finds_a_pickled_collection() -> None:
    """The audit itself notices a batch whose type was lost."""
    pipeline = beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"]))
    _ = pipeline | beam.Create(["x"]) | "Lose" >> beam.Map(lambda _: ("Latn", pa.record_batch({"a": [1]})))
    assert any("Lose" in name for name in pickled_collections(pipeline))


def test_steps_have_stable_labels() -> None:
    """No step's name holds a line number or a lambda: a streaming job is updated by names."""
    pipeline = beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"]))
    watch(pipeline)
    names = [one.unique_name for one in pipeline.to_runner_api().components.transforms.values()]
    ours = [name for name in names if name.startswith(("Source", "Panes"))]
    assert len(ours) > 10
    assert [name for name in ours if "lambda" in name or ".py:" in name] == []
