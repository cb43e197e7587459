"""The Kafka source can be constructed where Beam's Java expansion service can be had."""

import shutil

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from byteroute_ops.beam.sources import Kafka
from byteroute_ops.settings import Settings


def test_construction() -> None:
    """Topics expand to a Java read and our reader of messages."""
    if shutil.which("java") is None:
        pytest.skip("no Java, and Beam reads Kafka through its Java SDK")
    pipeline = beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"]))
    try:
        _ = pipeline | Kafka("localhost:9092", ["documents"], Settings(tokenizers=("bytes",)))
    except RuntimeError as error:
        pytest.skip(f"Beam's expansion service for Kafka cannot be had: {str(error).splitlines()[0][:120]}")
    urns = {one.spec.urn for one in pipeline.to_runner_api().components.transforms.values()}
    assert any("kafka" in urn for urn in urns)
