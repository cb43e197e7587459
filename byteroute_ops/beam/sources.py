"""Where a stream's documents come from: one interface, a class a source.

A source is applied to the pipeline and returns (documents, rejects), timestamped, in the global window.
"""

import time
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import apache_beam as beam
import orjson
from apache_beam.io.watch import PollFn, PollResult, Watch
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from ..formats import FileInfo, FileSlice, Range, read_range
from ..range_worker import read_options
from ..settings import Settings, load_settings
from .counters import count
from .files import open_files
from .stage_dofns import REJECTED, guarded
from .streaming import Documents, ReadDocuments, typed

SETTLING_SECONDS = 2.0


class WatchFolder(beam.PTransform):
    """New files below a folder. Event time of a document: when its file was last modified.

    A file counts as complete when it has not been modified for two seconds: write elsewhere and move it in,
    or write it at once. A file is taken once, by its name; a later change to it is not seen.

    Engines keep the names of all files seen. That state grows with the folder, and on Flink each poll writes it
    into a checkpoint: for folders beyond some ten thousand files use notifications (Pub/Sub, Kafka).
    """

    def __init__(self, root: str, settings: Settings, *, interval: float = 10.0, until: float | None = None) -> None:
        """Stores where to look.

        Args:
            root: the folder, ending with `/`.
            settings: of the run.
            interval: seconds between two looks.
            until: the Unix time at which the source ends; None: never.
        """
        super().__init__()
        self._root, self._settings, self._interval, self._until = root, settings, interval, until

    def expand(self, pipeline: beam.Pipeline) -> Documents:
        """Applies the watch and the readers."""
        return (
            pipeline
            # Create's own label holds a line number of Beam, and a streaming job is updated by labels.
            | "Start" >> beam.Impulse()
            | "Folder" >> beam.ParDo(_FolderDoFn(self._root)).with_output_types(str)
            | "Watch" >> Watch(_ListFiles(self._until), poll_interval=self._interval, output_key_fn=_file_name)
            | "File" >> beam.Values().with_output_types(str)
            | "ReadDocuments" >> ReadDocuments(self._settings, self._root)
        )


class _FolderDoFn(beam.DoFn):
    def __init__(self, root: str) -> None:
        self._root = root

    def process(self, element: bytes) -> Iterator[str]:  # noqa: ARG002 - the impulse
        yield self._root


def _file_name(file: str) -> str:
    return str(orjson.loads(file)[0])


class _ListFiles(PollFn):
    """Lists the folder. The watermark is the time of the look, less the time that files need to settle."""

    def __init__(self, until: float | None) -> None:
        self._until = until

    def __call__(self, root: str) -> PollResult[str]:
        now = time.time()
        found = [
            TimestampedValue(_file_json(root, info), Timestamp.of(changed))
            for info in open_files(root).match(root)
            if (changed := _changed(info)) <= now - SETTLING_SECONDS
        ]
        if self._until is not None and now - SETTLING_SECONDS >= self._until:
            return PollResult.complete(found)
        return PollResult.incomplete(found).with_watermark(Timestamp.of(now - SETTLING_SECONDS))

    def default_output_coder(self) -> beam.coders.Coder:
        return beam.coders.StrUtf8Coder()


def _file_json(root: str, info: FileInfo) -> str:
    return orjson.dumps([info.uri.removeprefix(root), info.size, info.version]).decode()


def _changed(info: FileInfo) -> float:
    # `version` is the modification time: in nanoseconds on local disks, in seconds on object stores.
    stamp = float(info.version)
    return stamp / 1e9 if stamp > 1e12 else stamp


class PubSub(beam.PTransform):
    """Messages of a Pub/Sub subscription; each holds a record, or several lines of them, as files would.

    Event time: the attribute that `timestamp_attribute` names, else the time of publication.
    """

    def __init__(self, subscription: str, settings: Settings, *, timestamp_attribute: str | None = None) -> None:
        super().__init__()
        self._subscription, self._settings, self._timestamp = subscription, settings, timestamp_attribute

    def expand(self, pipeline: beam.Pipeline) -> Documents:
        """Applies the subscription and the readers."""
        messages = pipeline | "Subscription" >> beam.io.ReadFromPubSub(
            subscription=self._subscription, with_attributes=True, timestamp_attribute=self._timestamp
        )
        named = messages | "Name" >> beam.Map(_pubsub_message).with_output_types(tuple[str, bytes])
        return named | "ReadMessages" >> ReadMessages(self._settings)


def _pubsub_message(message: Any) -> tuple[str, bytes]:
    return f"pubsub/{message.message_id}", message.data


class Kafka(beam.PTransform):
    """Records of Kafka topics; each value holds a record, or several lines of them, as files would.

    Beam reads Kafka through its Java SDK: the submitting machine needs Java and the expansion service's jar.
    """

    def __init__(
        self, servers: str, topics: list[str], settings: Settings, *, group: str = "byteroute", expansion: Any = None
    ) -> None:
        """Stores where to read.

        Args:
            servers: `HOST:PORT`, several with commas.
            topics: their names.
            settings: of the run.
            group: the consumer group that offsets are committed for.
            expansion: address of a running expansion service; None: Beam starts one from its jar.
        """
        super().__init__()
        self._servers, self._topics, self._settings = servers, topics, settings
        self._group, self._expansion = group, expansion

    def expand(self, pipeline: beam.Pipeline) -> Documents:
        """Applies the consumer and the readers."""
        from apache_beam.io.kafka import ReadFromKafka

        records = pipeline | "Topics" >> ReadFromKafka(
            consumer_config={"bootstrap.servers": self._servers, "group.id": self._group},
            topics=self._topics,
            with_metadata=True,
            commit_offset_in_finalize=True,
            timestamp_policy=ReadFromKafka.create_time_policy,
            expansion_service=self._expansion,
        )
        named = records | "Name" >> beam.Map(_kafka_record).with_output_types(tuple[str, bytes])
        return named | "ReadMessages" >> ReadMessages(self._settings)


def _kafka_record(record: Any) -> tuple[str, bytes]:
    return f"{record.topic}/{record.partition}/{record.offset}", record.value


class ReadMessages(beam.PTransform):
    """PCollection of (name, bytes) to (documents, rejects): a message is read as a small file of that name."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = orjson.dumps(settings.model_dump()).decode()

    def expand(self, messages: beam.PCollection) -> Documents:
        """Applies the reader."""
        read = messages | "Parse" >> beam.ParDo(_ReadMessageDoFn(self._settings)).with_outputs(
            REJECTED, main="documents"
        )
        return typed(read.documents), typed(read[REJECTED])


class _ReadMessageDoFn(beam.DoFn):
    def __init__(self, settings: str) -> None:
        self._settings_json = settings

    def setup(self) -> None:
        settings = load_settings(orjson.loads(self._settings_json))
        # Nothing in a message's name says what is in it, and JSON is what messages hold.
        known = settings if settings.format != "auto" else settings.model_copy(update={"format": "jsonl"})
        self._options = read_options(known)

    def process(self, element: tuple[str, bytes]) -> Iterator[Any]:
        name, data = element
        return guarded("reading a message", lambda: self._read(name, data))

    def _read(self, name: str, data: bytes) -> Iterator[Any]:
        part = FileSlice(name, len(data), "", 0, len(data))
        for read in read_range(Range(0, (part,)), self._options, lambda _: BytesIO(data)):
            count("read", {"source_bytes": read.source_bytes})
            if read.documents is not None:
                yield read.documents
            if read.rejects is not None:
                yield beam.pvalue.TaggedOutput(REJECTED, read.rejects)
