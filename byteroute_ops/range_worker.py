"""One range from its input slices to its committed files.

The commit: everything is written under temporary names, renamed when complete, and the range's record is
renamed last. A range without a record is done again and writes the same names with the same bytes, so
neither a kill nor a retry (two attempts at once included) can leave half a shard or a stale one.
"""

import contextlib
import hashlib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from . import layout
from .budgets import Budget, RunTotals
from .duplicates import SeenIds
from .files import Files
from .formats import Range, Read, ReadOptions, read_range
from .jobs import Job
from .processing import Processor, shard_schema
from .records import DUPLICATES, REJECTS
from .settings import Settings
from .shards import FileReport, RollingWriter

OnProgress = Callable[[int, int, int], None]
"""Called with (range index, source bytes, documents), both since the last call."""


@dataclass(frozen=True)
class RangeRecord:
    """What a finished range says of itself; final budgets and the manifest are made of these alone.

    Attributes:
        files: as the manifest lists them: path, kind, rows, bytes, sha256.
        totals: of the range.
        warnings: about files that were read all the same.
        budget: of the range.
    """

    files: list[dict[str, Any]]
    totals: RunTotals
    warnings: list[str]
    budget: Budget


def read_options(settings: Settings) -> ReadOptions:
    """Returns what the readers need of the settings."""
    names = ("format", "text_field", "id_field", "lang_field", "keep", "max_document_bytes", "split_long", "keep_raw")
    values = {name: getattr(settings, name) for name in names}
    if settings.separator is not None:
        values["separator"] = settings.separator
    return ReadOptions(**values)


def process_range(
    one: Range, job: Job, processor: Processor, *, inputs: Files, outputs: Files, on_progress: OnProgress
) -> str:
    """Does a range and returns the name of its record.

    Raises:
        OSError: the output cannot be written. Faults of the input become rejects.
    """
    attempt = _Attempt(one, job, outputs)
    try:
        for read in read_range(one, read_options(job.settings), lambda name: inputs.open(job.input_root + name)):
            with _telling_where(job.output):
                attempt.add(read, processor)
            on_progress(one.index, read.source_bytes, read.n_records)
            if attempt.is_full:
                break
        with _telling_where(job.output):
            return attempt.commit()
    except BaseException:
        # An error of the clean-up must not stand in for the one that made it necessary.
        with contextlib.suppress(OSError):
            attempt.abort()
        raise


@contextlib.contextmanager
def _telling_where(output: str) -> Iterator[None]:
    """Adds the output folder to errors of writing, which say what is wrong but not where."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = output
        raise


class _Attempt:
    """What one attempt at a range has written so far, all under temporary names."""

    def __init__(self, one: Range, job: Job, outputs: Files) -> None:
        settings = job.settings
        self._range, self._settings, self._output, self._files = one, settings, job.output, outputs
        self._id = uuid.uuid4().hex
        # Names and cuts alone: the same input on another machine or disk gives the same bytes.
        seed = repr([(part.uri, part.start, part.end) for part in one.slices]).encode()
        self._shards = RollingWriter(
            lambda roll: self._create(layout.shard(one.index, roll, settings.shard_format)),
            settings.shard_format,
            shard_schema(settings),
            compression=settings.compression,
            seed=seed,
            max_bytes=settings.shard_bytes,
        )
        self._rejects = self._rows_writer(layout.rejects(one.index), "rejects", REJECTS, seed)
        self._duplicates = self._rows_writer(layout.duplicates(one.index), "duplicates", DUPLICATES, seed)
        self._seen = SeenIds()
        self._budgets: list[Budget] = []
        self._totals = RunTotals.zero()
        self._warnings: list[str] = []

    def _rows_writer(self, name: str, table: str, schema: pa.Schema, seed: bytes) -> RollingWriter:
        return RollingWriter(
            lambda _: self._create(name), "avro", schema, seed=seed, table=table, max_bytes=_NEVER_ROLLS
        )

    def _create(self, name: str) -> tuple[str, BinaryIO]:
        return name, self._files.create(self._temporary(name))

    def _temporary(self, name: str) -> str:
        return layout.join(self._output, layout.temporary(self._id, name))

    @property
    def is_full(self) -> bool:
        """Whether `limit` documents have been written."""
        return self._settings.limit is not None and self._totals.documents >= self._settings.limit

    def add(self, read: Read, processor: Processor) -> None:
        """Processes and writes one step of the readers."""
        self._warnings += read.warnings
        n_documents = 0 if read.documents is None else read.documents.num_rows
        documents = self._wanted(read.documents)
        done = None if documents is None else processor.process(documents)
        reasons: dict[str, int] = {}
        if read.rejects is not None:
            self._rejects.write(read.rejects)
            reasons = {one["values"]: one["counts"] for one in pc.value_counts(read.rejects["reason"]).to_pylist()}
        n_duplicates = 0
        if done is not None:
            self._rejects.write(done.rejects)
            self._shards.write(done.rows)
            repeated = done.rows.filter(pa.array(self._seen.repeats(done.rows["doc_id"])))
            self._duplicates.write(repeated.select(DUPLICATES.names))
            n_duplicates = repeated.num_rows
            self._budgets.append(done.budget)
            if len(self._budgets) >= _MERGE_EVERY:
                self._budgets = [Budget.merged(self._budgets)]
        totals = RunTotals(
            # A fault of a file is a record too: the place where there should have been some.
            records=n_documents + sum(reasons.values()),
            not_sampled=n_documents - (0 if documents is None else documents.num_rows),
            rejects=reasons,
            duplicates=n_duplicates,
        )
        self._totals = self._totals.merge(totals if done is None else totals.merge(done.totals))

    def _wanted(self, documents: pa.RecordBatch | None) -> pa.RecordBatch | None:
        """Returns the documents that `sample` and `limit` leave."""
        if documents is None:
            return None
        if self._settings.sample is not None:
            documents = documents.filter(pa.array(in_sample(documents["doc_id"], self._settings.sample)))
        if self._settings.limit is not None:
            documents = documents.slice(0, self._settings.limit - self._totals.documents)
        return documents if documents.num_rows else None

    def commit(self) -> str:
        """Renames all files, the record last; returns its name."""
        shards, rejects, duplicates = self._shards.close(), self._rejects.close(), self._duplicates.close()
        budget = Budget.merged(self._budgets)
        tables = {"scripts": budget.script_table(), "languages": budget.language_table()}
        for name, table in tables.items():
            with self._files.create(self._temporary(layout.range_budget(self._range.index, name))) as stream:
                pq.write_table(table, stream)
        size = sum(report.n_bytes for report in shards)
        totals = self._totals.merge(RunTotals(n_shards=len(shards), n_shard_bytes=size))
        record = {
            "files": [
                *_listed(shards, "shard"),
                *_listed(rejects, "rejects"),
                *_listed(duplicates, "duplicates"),
            ],
            "totals": totals.to_json(),
            "warnings": self._warnings,
        }
        record_name = layout.range_record(self._range.index)
        with self._files.create(self._temporary(record_name)) as stream:
            stream.write(orjson.dumps(record))
        budgets = [layout.range_budget(self._range.index, name) for name in tables]
        for name in [*(report.name for report in (*shards, *rejects, *duplicates)), *budgets, record_name]:
            self._files.rename(self._temporary(name), layout.join(self._output, name))
        return record_name

    def abort(self) -> None:
        """Closes and removes what the attempt has written."""
        for writer in (self._shards, self._rejects, self._duplicates):
            writer.abort()
        self._files.delete(layout.join(self._output, f"{layout.TEMPORARY}/{self._id}"))


_MERGE_EVERY = 64
_NEVER_ROLLS = 1 << 62


def in_sample(ids: pa.StringArray, fraction: float) -> npt.NDArray[np.bool_]:
    """Returns which documents a sample takes: bool[n_docs].

    By the first 8 bytes of the BLAKE2b digest of the id, so that it depends on nothing else and a larger
    fraction takes all that a smaller one takes.

    >>> in_sample(pa.array(["a", "b", "c"]), 1.0).tolist()
    [True, True, True]
    """
    limit = int(fraction * 2**64)
    digests = (hashlib.blake2b(one.encode(), digest_size=8).digest() for one in ids.to_pylist())
    return np.array([int.from_bytes(digest, "big") < limit for digest in digests], np.bool_)


def _listed(reports: list[FileReport], kind: str) -> list[dict[str, Any]]:
    return [
        {"path": one.name, "kind": kind, "rows": one.rows, "bytes": one.n_bytes, "sha256": one.sha256}
        for one in reports
    ]


def read_range_totals(files: Files, output: str, index: int) -> RunTotals | None:
    """Returns the totals of a range; None when the range has not been finished."""
    try:
        with files.open(layout.join(output, layout.range_record(index))) as stream:
            return RunTotals.from_json(orjson.loads(stream.read())["totals"])
    except FileNotFoundError:
        return None


def read_range_record(files: Files, output: str, index: int) -> RangeRecord | None:
    """Returns the record of a range; None when the range has not been finished."""
    try:
        with files.open(layout.join(output, layout.range_record(index))) as stream:
            record = orjson.loads(stream.read())
    except FileNotFoundError:
        return None
    tables = []
    for name in ("scripts", "languages"):
        with files.open(layout.join(output, layout.range_budget(index, name))) as stream:
            tables.append(pq.read_table(stream))
    return RangeRecord(
        files=record["files"],
        totals=RunTotals.from_json(record["totals"]),
        warnings=record["warnings"],
        budget=Budget.from_tables(*tables),
    )
