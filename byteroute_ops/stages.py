"""Each stage by itself on a batch of `records.DOCUMENTS`, for use outside the whole: a batch in, a batch out.

Every function keeps the rows and their order, and adds or replaces columns.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from .cleaning import clean_batch
from .records import SHARD
from .segmentation import segment_batch
from .settings import Settings
from .tokenization import Tokenizer
from .unicode_data import SCRIPTS

RUN: Final = pa.struct(
    [
        pa.field("report_script", pa.string(), nullable=False),
        pa.field("encoding_script", pa.string(), nullable=False),
        pa.field("text_start", pa.int32(), nullable=False),
        pa.field("text_end", pa.int32(), nullable=False),
    ]
)
"""One script run; `text_*` are code points of the document's text."""


def clean_documents(documents: pa.RecordBatch, settings: Settings) -> pa.RecordBatch:
    r"""Returns the batch with clean texts, and n_removed: int64, code points that cleaning took out.

    >>> batch = pa.record_batch({"text": ["\ufeffa"]})
    >>> clean_documents(batch, Settings()).to_pylist()
    [{'text': 'a', 'n_removed': 1}]
    """
    texts, removed = clean_batch(documents["text"], zwsp=settings.zwsp)
    index = documents.schema.get_field_index("text")
    replaced = documents.set_column(index, documents.schema.field(index), texts)
    return _with(replaced, {"n_removed": pa.array(removed.sum(axis=1), pa.int64())})


def segment_documents(documents: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the batch with `runs`, a list of `RUN` for each document.

    >>> batch = pa.record_batch({"text": ["ab да"]})
    >>> [(run["report_script"], run["text_end"]) for run in segment_documents(batch)["runs"][0].as_py()]
    [('Latn', 3), ('Cyrl', 5)]
    """
    seg = segment_batch(documents["text"])
    n = documents.num_rows
    starts = seg.run_start
    # A run ends where the next one of its document begins, and the last one where the document ends.
    ends = np.append(starts[1:], seg.n_codepoints)
    base = seg.doc_cp[seg.run_doc]
    names = np.array(SCRIPTS, dtype=object)
    columns = [
        pa.array(names[seg.run_report], pa.string()),
        pa.array(names[seg.run_script], pa.string()),
        pa.array((starts - base).astype(np.int32)),
        pa.array((ends - base).astype(np.int32)),
    ]
    rows = pa.StructArray.from_arrays(columns, fields=list(RUN))
    offsets = np.searchsorted(seg.run_doc, np.arange(n + 1)).astype(np.int32)
    item = pa.field("item", RUN, nullable=False)
    return _with(documents, {"runs": pa.ListArray.from_arrays(pa.array(offsets), rows, type=pa.list_(item))})


def tokenize_documents(documents: pa.RecordBatch, tokenizer: Tokenizer) -> pa.RecordBatch:
    """Returns the batch with n_text_tokens and token_ids of the texts, as in `records.SHARD`.

    A document on which the tokenizer fails has null ids and no tokens.
    """
    tokens = tokenizer.text(documents["text"], spans=False)
    failed = np.isin(np.arange(documents.num_rows + 1), tokens.failed)
    ids = pa.ListArray.from_arrays(
        pa.array(tokens.doc_offsets.astype(np.int32), mask=failed), pa.array(tokens.ids), SHARD.field("token_ids").type
    )
    return _with(documents, {"n_text_tokens": pa.array(tokens.counts), "token_ids": ids})


def _with(batch: pa.RecordBatch, columns: Mapping[str, Any]) -> pa.RecordBatch:
    fields = [pa.field(name, column.type) for name, column in columns.items()]
    schema = pa.schema([*batch.schema, *fields], batch.schema.metadata)
    return pa.RecordBatch.from_arrays([*batch.columns, *columns.values()], schema=schema)
