"""What a stream carries from its stages to its writer: one processed batch as one row of one schema.

Rows, rejects and counts of a batch stay together, so that a pane is committed with all of them or not at
all, and one coder serves the whole graph.
"""

from dataclasses import dataclass
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from .budgets import Budget, RunTotals
from .processing import Processed

PART: Final = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        *(
            pa.field(name, pa.large_binary(), nullable=False)
            for name in ("rows", "rejects", "scripts", "languages", "totals")
        ),
    ]
)
"""`source`, `position`: of the first record, for a stable order. The others: Arrow IPC streams, the totals as JSON."""


@dataclass(frozen=True)
class Part:
    """A processed batch, taken out of its row."""

    rows: pa.Table
    rejects: pa.Table
    budget: Budget
    totals: RunTotals


def document_part(documents: pa.RecordBatch, done: Processed, n_read: int) -> pa.RecordBatch:
    """Returns the part of a batch of documents.

    Args:
        documents: that were processed; at least one.
        done: what became of them.
        n_read: documents before sampling.
    """
    totals = RunTotals(records=n_read, not_sampled=n_read - documents.num_rows).merge(done.totals)
    return _part(documents, done.rows, done.rejects, done.budget, totals)


def reject_part(rejects: pa.RecordBatch, rows_schema: pa.Schema) -> pa.RecordBatch:
    """Returns the part of records that became no documents; at least one."""
    totals = RunTotals(records=rejects.num_rows, rejects=_by_reason(rejects))
    rows = pa.RecordBatch.from_pylist([], schema=rows_schema)
    return _part(rejects, rows, rejects, Budget.zero(), totals)


def skipped_part(documents: pa.RecordBatch, rows_schema: pa.Schema, rejects_schema: pa.Schema) -> pa.RecordBatch:
    """Returns the part of documents of which the sample takes none; at least one."""
    n = documents.num_rows
    rows = pa.RecordBatch.from_pylist([], schema=rows_schema)
    rejects = pa.RecordBatch.from_pylist([], schema=rejects_schema)
    return _part(documents, rows, rejects, Budget.zero(), RunTotals(records=n, not_sampled=n))


def _part(
    first: pa.RecordBatch, rows: pa.RecordBatch, rejects: pa.RecordBatch, budget: Budget, totals: RunTotals
) -> pa.RecordBatch:
    values: dict[str, Any] = {
        "source": first["source"][0].as_py(),
        "position": first["position"][0].as_py() or 0,
        "rows": _packed(pa.Table.from_batches([rows])),
        "rejects": _packed(pa.Table.from_batches([rejects])),
        "scripts": _packed(budget.script_table()),
        "languages": _packed(budget.language_table()),
        "totals": orjson.dumps(totals.to_json()),
    }
    return pa.RecordBatch.from_pylist([values], schema=PART)


def _by_reason(rejects: pa.RecordBatch) -> dict[str, int]:
    return {one["values"]: one["counts"] for one in pc.value_counts(rejects["reason"]).to_pylist()}


def totals_of(part: pa.RecordBatch) -> RunTotals:
    """Returns the totals of a part, without unpacking its rows."""
    return RunTotals.from_json(orjson.loads(part["totals"][0].as_py()))


def unpack(part: pa.RecordBatch) -> Part:
    """Returns the contents of a part."""
    return Part(
        rows=_unpacked(part["rows"][0]),
        rejects=_unpacked(part["rejects"][0]),
        budget=Budget.from_tables(_unpacked(part["scripts"][0]), _unpacked(part["languages"][0])),
        totals=totals_of(part),
    )


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(value: pa.Scalar) -> pa.Table:
    with pa.ipc.open_stream(value.as_buffer()) as reader:
        return reader.read_all()
