"""The stages as transforms, for pipelines of one's own: batches of `records.DOCUMENTS` in, batches out.

Each is the function of the same word over a whole batch (`stages`, `routing`), in any window, batch or
streaming. `ReadDocuments` and `WritePanes` are in `streaming`, the sources in `sources`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
import orjson
import pyarrow as pa
from apache_beam.utils.shared import Shared

from ..budgets import Budget
from ..policy import load_policy
from ..processing import Processor
from ..routing import Router, route_batch
from ..settings import Settings, load_settings
from ..stages import clean_documents, segment_documents, tokenize_documents
from ..tokenization import open_tokenizer
from .counters import count
from .stage_dofns import guarded

Stage = Callable[[pa.RecordBatch], pa.RecordBatch]


class _StageDoFn(beam.DoFn):
    """Makes its stage in `setup`, once a process, and applies it to each batch."""

    def __init__(self, name: str, make: Callable[[Settings], Stage], settings: str, shared: Shared) -> None:
        self._name, self._make, self._settings, self._shared = name, make, settings, shared

    def setup(self) -> None:
        settings = load_settings(orjson.loads(self._settings))
        made = self._shared.acquire(lambda: _Kept(self._make(settings)), tag=self._settings)
        self._stage = made.stage

    def process(self, element: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        count(self._name, {"rows": element.num_rows, "bytes_in": element.nbytes})
        return guarded(self._name, lambda: [self._stage(element)])


class _Kept:
    """Holds a stage: `Shared` keeps weak references, which a function need not survive."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage


class _Stage(beam.PTransform):
    """One stage over batches."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self._settings = orjson.dumps((settings or Settings()).model_dump()).decode()

    @staticmethod
    def make(settings: Settings) -> Stage:
        """Returns the function of the stage."""
        raise NotImplementedError

    def expand(self, batches: beam.PCollection) -> beam.PCollection:
        """Applies the stage."""
        name = type(self).__name__
        dofn = _StageDoFn(name.lower(), self.make, self._settings, Shared())
        return batches | name >> beam.ParDo(dofn).with_output_types(pa.RecordBatch)


class Clean(_Stage):
    """Takes out BOMs and stray zero-width spaces; adds n_removed."""

    @staticmethod
    def make(settings: Settings) -> Stage:
        """Returns `clean_documents`."""
        return lambda documents: clean_documents(documents, settings)


class Segment(_Stage):
    """Adds `runs`, the script runs of each text."""

    @staticmethod
    def make(settings: Settings) -> Stage:  # noqa: ARG004 - no setting changes segmentation
        """Returns `segment_documents`."""
        return segment_documents


class Route(_Stage):
    """Adds routed bytes, segments and their counts."""

    @staticmethod
    def make(settings: Settings) -> Stage:
        """Returns `route_batch`."""
        router = Router(
            load_policy(settings.policy),
            framing=settings.framing,
            profile=settings.profile,
            barrier=settings.barrier,
        )
        return lambda documents: route_batch(documents, router)


class Tokenize(_Stage):
    """Adds n_text_tokens and token_ids under the first tokenizer."""

    @staticmethod
    def make(settings: Settings) -> Stage:
        """Returns `tokenize_documents`."""
        tokenizer = open_tokenizer(
            settings.tokenizers[0], engine=settings.engine, add_special_tokens=settings.add_special_tokens
        )
        return lambda documents: tokenize_documents(documents, tokenizer)


class CountTokens(beam.PTransform):
    """Batches of documents to one batch of `records.SCRIPT_BUDGET` for each window and pane."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self._settings = orjson.dumps((settings or Settings()).model_dump()).decode()

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        """Applies counting and merging."""
        counted = documents | "Count" >> beam.ParDo(_CountDoFn(self._settings, Shared())).with_output_types(
            pa.RecordBatch
        )
        return counted | "Merge" >> beam.CombineGlobally(BudgetFn()).without_defaults().with_output_types(
            pa.RecordBatch
        )


class _CountDoFn(beam.DoFn):
    def __init__(self, settings: str, shared: Shared) -> None:
        self._settings, self._shared = settings, shared

    def setup(self) -> None:
        settings = load_settings(orjson.loads(self._settings))
        self._processor = self._shared.acquire(lambda: Processor(settings), tag=self._settings)

    def process(self, element: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        return guarded("counting", lambda: [packed(self._processor.process(element).budget)])


BUDGET = pa.schema([pa.field("scripts", pa.large_binary()), pa.field("languages", pa.large_binary())])
"""One row: a whole budget, its two tables as Arrow IPC streams."""


def packed(budget: Budget) -> pa.RecordBatch:
    """Returns a budget as one row of `BUDGET`."""
    tables = {"scripts": budget.script_table(), "languages": budget.language_table()}
    return pa.RecordBatch.from_pylist([{name: _stream(table) for name, table in tables.items()}], schema=BUDGET)


def unpacked(row: pa.RecordBatch) -> Budget:
    """Returns the budget in a row of `BUDGET`."""
    tables = [pa.ipc.open_stream(row[name][0].as_buffer()).read_all() for name in BUDGET.names]
    return Budget.from_tables(*tables)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


class BudgetCoder(beam.coders.Coder):
    """Encodes a budget on its way between workers."""

    def encode(self, value: Budget) -> bytes:
        """Returns the row as an IPC stream."""
        return _stream(pa.Table.from_batches([packed(value)]))

    def decode(self, encoded: bytes) -> Budget:
        """Returns the budget."""
        return unpacked(pa.ipc.open_stream(encoded).read_next_batch())

    def is_deterministic(self) -> bool:
        """Returns False: it is no key."""
        return False


class BudgetFn(beam.CombineFn):
    """Merges budgets; what comes out is the script table."""

    def create_accumulator(self) -> Budget:
        """Returns the budget of nothing."""
        return Budget.zero()

    def add_input(self, accumulator: Budget, element: pa.RecordBatch) -> Budget:
        """Returns the sum with one row of `BUDGET`."""
        return accumulator.merge(unpacked(element))

    def merge_accumulators(self, accumulators: Iterable[Budget]) -> Budget:
        """Returns the sum of all."""
        return Budget.merged(accumulators)

    def extract_output(self, accumulator: Budget) -> pa.RecordBatch:
        """Returns the table of `records.SCRIPT_BUDGET` as one batch."""
        return accumulator.script_table().combine_chunks().to_batches()[0]

    def get_accumulator_coder(self) -> Any:
        """Returns our coder: Beam would pickle the budget."""
        return BudgetCoder()
