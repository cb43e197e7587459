"""What tests of streams share: messages, a graph under a test stream, and what is found in its output."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow.parquet as pq
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_stream import TestStream
from apache_beam.transforms.window import TimestampedValue

from byteroute_ops.beam.sources import ReadMessages
from byteroute_ops.beam.streaming import Windowing, WritePanes
from byteroute_ops.files import LocalFiles
from byteroute_ops.panes import Window, read_windows
from byteroute_ops.settings import Settings

SETTINGS = Settings(tokenizers=("bytes",))
MESSAGE_CODER = beam.coders.TupleCoder([beam.coders.StrUtf8Coder(), beam.coders.BytesCoder()])


def message(name: str, *ids: str, text: str = "слово and more") -> tuple[str, bytes]:
    """Returns a message that holds a document for each id."""
    lines = [json.dumps({"id": one, "text": text, "lang": "ru"}, ensure_ascii=False) for one in ids]
    return name, "\n".join(lines).encode()


def at(second: float, *messages: tuple[str, bytes]) -> list[TimestampedValue]:
    """Returns messages with their event time."""
    return [TimestampedValue(one, second) for one in messages]


def events(*steps: Any) -> TestStream:
    """Returns a test stream: lists add elements, numbers advance the watermark; it ends the input."""
    stream = TestStream(coder=MESSAGE_CODER).advance_watermark_to(0)
    for step in steps:
        stream = stream.add_elements(step) if isinstance(step, list) else stream.advance_watermark_to(step)
    return stream.advance_watermark_to_infinity()


def run_events(
    stream: TestStream, output: Path, windowing: Windowing, settings: Settings = SETTINGS, *extra: str
) -> None:
    """Runs the streaming graph over a test stream, on the one runner that has them without a download."""
    options = PipelineOptions(["--runner=BundleBasedDirectRunner", "--streaming", "--allow_unsafe_triggers", *extra])
    with beam.Pipeline(options=options) as pipeline:
        # The identity restores the type: a test stream has none.
        typed = pipeline | stream | "Typed" >> beam.Map(lambda one: one).with_output_types(tuple[str, bytes])
        _ = typed | ReadMessages(settings) | WritePanes(settings, windowing, str(output))


def windows(output: Path, *, accumulating: bool = False) -> dict[str, Window]:
    """Returns the windows of an output by their start, `HH:MM:SS` of the first day of Unix time."""
    found = read_windows(LocalFiles(), str(output), accumulating=accumulating)
    return {f"{one.label[9:11]}:{one.label[11:13]}:{one.label[13:15]}": one for one in found}


def ids(output: Path, window: Window) -> list[str]:
    """Returns the document ids in the shards that count for a window, sorted."""
    return sorted(one for path in shards(window) for one in pq.read_table(output / path)["doc_id"].to_pylist())


def shards(window: Window) -> Iterable[str]:
    """Returns the paths of a window's shards."""
    return [one["path"] for one in window.files if one["kind"] == "shard"]
