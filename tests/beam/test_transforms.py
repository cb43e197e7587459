"""The stages as transforms: each does what its function does, and tables merge."""

from collections.abc import Callable
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that
from coder_audit import pickled_collections

from byteroute_ops.beam.coders import RecordBatchCoder
from byteroute_ops.beam.transforms import Clean, CountTokens, Route, Segment, Tokenize
from byteroute_ops.errors import WorkError
from byteroute_ops.policy import load_policy
from byteroute_ops.processing import Processor
from byteroute_ops.records import DOCUMENTS, SCRIPT_BUDGET
from byteroute_ops.routing import Router, route_batch
from byteroute_ops.segmentation import segment_text
from byteroute_ops.settings import Settings
from byteroute_ops.stages import clean_documents, segment_documents, tokenize_documents
from byteroute_ops.tokenization import open_tokenizer

SETTINGS = Settings(tokenizers=("bytes",))
TEXTS = ["\ufeffmixed слова and 日本語", "", "emoji 👩‍👩‍👧 ok", "ไทย\u200bไทย a\u200bb"]


def documents(texts: list[str]) -> pa.RecordBatch:
    """Returns a batch of documents with these texts."""
    rows = [{"doc_id": str(i), "source": "s", "position": i, "lang": "und", "text": t} for i, t in enumerate(texts)]
    return pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)


def apply(transform: beam.PTransform, *batches: pa.RecordBatch, then: Callable[[list[Any]], None]) -> beam.Pipeline:
    """Runs a transform over batches that have gone through a shuffle, checks its output, returns the pipeline."""
    with beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"])) as pipeline:
        source = pipeline | beam.Create(batches).with_output_types(pa.RecordBatch)
        assert_that(source | beam.Reshuffle() | transform, then)
    return pipeline


@pytest.mark.parametrize(
    ("transform", "function"),
    [
        (Clean(SETTINGS), lambda batch: clean_documents(batch, SETTINGS)),
        (Segment(), segment_documents),
        (Route(SETTINGS), lambda batch: route_batch(batch, Router(load_policy("min-bytes")))),
        (Tokenize(SETTINGS), lambda batch: tokenize_documents(batch, open_tokenizer("bytes"))),
    ],
    ids=["clean", "segment", "route", "tokenize"],
)
def test_a_stage_does_what_its_function_does(transform: beam.PTransform, function: Callable[[Any], Any]) -> None:
    """Transform and function give the same batch, after a shuffle too."""
    batch = documents(TEXTS)
    expected = function(batch)
    apply(transform, batch, then=lambda found: None if found == [expected] else pytest.fail(f"{found} differs"))


def test_runs_are_those_of_single_texts() -> None:
    """The column of runs agrees, document by document, with the function on one text."""
    column = segment_documents(documents(TEXTS))["runs"].to_pylist()
    assert column == [[run._asdict() for run in segment_text(text)] for text in TEXTS]


def test_counts_merge_over_batches() -> None:
    """However documents are cut into batches, the budget is that of all together."""
    whole = Processor(SETTINGS).process(documents(TEXTS)).budget.script_table()

    def check(found: list[pa.RecordBatch]) -> None:
        assert [batch.to_pylist() for batch in found] == [whole.to_pylist()]
        assert found[0].schema == SCRIPT_BUDGET

    first, second = documents(TEXTS[:1]), documents(TEXTS).slice(1)
    apply(CountTokens(SETTINGS), first, second, then=check)


def test_accumulators_are_not_pickled() -> None:
    """Counting keeps to our coders, also where Beam moves half-merged budgets."""
    pipeline = beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"]))
    _ = pipeline | beam.Create([documents(TEXTS)]).with_output_types(pa.RecordBatch) | CountTokens(SETTINGS)
    ours = [one for one in pickled_collections(pipeline) if "Create" not in one and "CountTokens" in one]
    assert [one for one in ours if "KeyWithVoid" not in one and "CombinePerKey" not in one] == []


def test_a_failing_stage_does_not_tell_the_text() -> None:
    """An error names the stage and its kind, never what was in the batch."""
    batch = pa.record_batch({"wrong": ["secret words"]})
    with pytest.raises(Exception, match="clean: KeyError") as caught:
        apply(Clean(SETTINGS), batch, then=lambda _: None)
    assert "secret" not in str(caught.value)
    assert WorkError.__name__ in str(caught.value) or isinstance(caught.value, WorkError)


def test_the_coder_writes_a_slice_without_its_parent() -> None:
    """A slice of a large batch takes the bytes of its rows, not of the batch it was cut from."""
    large = documents(["x" * 1000] * 1000)
    coder = RecordBatchCoder()
    encoded = coder.encode(large.slice(0, 1))
    assert len(encoded) < 5000
    assert coder.decode(encoded) == large.slice(0, 1)
