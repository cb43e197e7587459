"""The streaming graph: documents and rejects of any source, to committed panes.

Window and trigger are set once, right after the source. Nothing downstream sets its own.
"""

from dataclasses import asdict, dataclass
from typing import Any

import apache_beam as beam
import orjson
import pyarrow as pa
from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterProcessingTime, AfterWatermark
from apache_beam.transforms.window import FixedWindows
from apache_beam.utils.shared import Shared

from ..errors import ConfigError
from ..settings import Settings
from .stage_dofns import (
    REJECTED,
    PlanFileDoFn,
    ProcessBatchDoFn,
    ReadRangeDoFn,
    RejectsDoFn,
    ToShardDoFn,
    WritePaneDoFn,
)

Documents = Any
"""(batches of documents, batches of rejects), two PCollections. Beam warns of a hint that is not one."""


@dataclass(frozen=True, kw_only=True)
class Windowing:
    """How a stream is cut into windows and when they are written.

    Attributes:
        seconds: length of a window in event time; whole seconds.
        lateness: seconds after a window's end during which late documents still go into it; later ones are dropped.
        early_seconds: how long, in processing time, after its first element an open window is written; None: not
            before its end.
        late_seconds: how long late documents are gathered before they are written; 0: each at once.
        accumulating: whether each pane repeats what the window's earlier panes held.
        shards: files of each pane, at least.
    """

    seconds: int = 60
    lateness: int = 3600
    early_seconds: int | None = None
    late_seconds: int = 0
    accumulating: bool = False
    shards: int = 1

    def __post_init__(self) -> None:
        for name, least in (("seconds", 1), ("lateness", 0), ("late_seconds", 0), ("shards", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name}: {getattr(self, name)} is too small; the least is {least}")
        if self.early_seconds is not None and self.early_seconds < 1:
            raise ConfigError(f"early_seconds: {self.early_seconds} is too small; the least is 1")

    def to_json(self) -> dict[str, int | bool | None]:
        """Returns the attributes."""
        return asdict(self)

    def transform(self) -> beam.WindowInto:
        """Returns the step that sets windows and triggers."""
        late = AfterProcessingTime(self.late_seconds) if self.late_seconds else AfterCount(1)
        early = AfterProcessingTime(self.early_seconds) if self.early_seconds else None
        mode = AccumulationMode.ACCUMULATING if self.accumulating else AccumulationMode.DISCARDING
        return beam.WindowInto(
            FixedWindows(self.seconds),
            trigger=AfterWatermark(early=early, late=late),
            allowed_lateness=self.lateness,
            accumulation_mode=mode,
        )


class ReadDocuments(beam.PTransform):
    """PCollection of files (JSON of name, size, version) to (documents, rejects), both batches."""

    def __init__(self, settings: Settings, root: str) -> None:
        """Stores what the readers need.

        Args:
            settings: of the run.
            root: stands before every name; ends with `/` or is empty.
        """
        super().__init__()
        self._settings, self._root = _as_json(settings), root

    def expand(self, files: beam.PCollection) -> Documents:
        """Applies planning, a reshuffle and reading."""
        read = (
            files
            | "Plan" >> beam.ParDo(PlanFileDoFn(self._settings, self._root)).with_output_types(str)
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.ParDo(ReadRangeDoFn(self._settings, self._root)).with_outputs(REJECTED, main="documents")
        )
        return typed(read.documents), typed(read[REJECTED])


def typed(batches: beam.PCollection) -> beam.PCollection:
    """Returns the collection typed as batches: a tagged output loses its type, and would be pickled."""
    batches.element_type = pa.RecordBatch
    return batches


class WritePanes(beam.PTransform):
    """(Documents, rejects) of an unbounded source to the names of committed panes."""

    def __init__(self, settings: Settings, windowing: Windowing, output: str) -> None:
        super().__init__()
        if settings.limit is not None:
            raise ConfigError("limit: a stream has no first documents; leave it out")
        self._settings, self._windowing, self._output = _as_json(settings), windowing, output

    def expand(self, source: Documents) -> beam.PCollection:
        """Applies windows, stages, grouping by shard and the writer."""
        documents, rejects = source
        parts = (
            documents
            | "WindowDocuments" >> self._windowing.transform()
            | "Process" >> beam.ParDo(ProcessBatchDoFn(self._settings, Shared())).with_output_types(pa.RecordBatch)
        )
        rejected = (
            rejects
            | "WindowRejects" >> self._windowing.transform()
            | "CountRejects" >> beam.ParDo(RejectsDoFn(self._settings)).with_output_types(pa.RecordBatch)
        )
        return (
            (parts, rejected)
            | "Together" >> beam.Flatten()
            | "ToShard" >> beam.ParDo(ToShardDoFn(self._windowing.shards)).with_output_types(tuple[int, pa.RecordBatch])
            | "ByShard" >> beam.GroupByKey()
            | "WritePane" >> beam.ParDo(WritePaneDoFn(self._settings, self._output)).with_output_types(str)
        )


def _as_json(settings: Settings) -> str:
    return orjson.dumps(settings.model_dump()).decode()
