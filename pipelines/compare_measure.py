"""Measures batches under several policies and tokenizers at once: one segmentation, one tokenization of the text."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from byteroute_ops.routing import Routed, route_segmentation
from byteroute_ops.segmentation import Segmentation, segment_batch
from byteroute_ops.tokenization import Tokenizer, Tokens, text_tokens_per_run
from byteroute_ops.trial import Variant, try_bytes, try_tokens
from byteroute_ops.unicode_data import SCRIPTS

from .compare_documents import Batch

Int64 = npt.NDArray[np.int64]
Measure = tuple[str, ...]
"""What is counted: `("utf8",)`, `("bytes", variant)`, `("text", tokenizer)`, `("tokens", tokenizer, variant)`;
and, without intervals, `("codepoints",)` and `("edges", tokenizer, variant)`."""

BYTES: Final = "bytes"
"""The tokenizer of byte models: its tokens are the measures `utf8` and `bytes`."""


@dataclass(frozen=True)
class Measured:
    """What a batch costs, by cell: a document's runs of one encoding and report class.

    Attributes:
        batch: the documents that were measured.
        seg: their segmentation.
        doc: int64[n_cells], the document of each cell.
        script: int64[n_cells], its encoding class.
        report: int64[n_cells], its report class.
        values: int64[n_measures, n_cells], in the order of `Bench.measures`.
        added: int64[n_measures, n_docs], tokens that belong to no script.
        n_failed: documents on which a tokenizer failed; they are not in `batch`.
    """

    batch: Batch
    seg: Segmentation
    doc: Int64
    script: Int64
    report: Int64
    values: Int64
    added: Int64
    n_failed: int


class Bench:
    """Tokenizers and variants to try them with.

    Args:
        tokenizers: by name.
        variants: ways of routing.
    """

    def __init__(self, tokenizers: dict[str, Tokenizer], variants: Sequence[Variant]) -> None:
        self.tokenizers = {name: one for name, one in tokenizers.items() if name != BYTES}
        self.variants = {one.name: one for one in variants}
        self._routers = {name: one.router() for name, one in self.variants.items()}
        routable = [name for name, one in self.tokenizers.items() if one.routed_reason is None]
        drawn: list[Measure] = [("utf8",), *(("bytes", name) for name in self.variants)]
        drawn += [("text", name) for name in self.tokenizers]
        drawn += [("tokens", name, variant) for name in routable for variant in self.variants]
        self.n_drawn = len(drawn)
        exact = [("codepoints",), *(("edges", name, variant) for name in routable for variant in self.variants)]
        self.measures: dict[Measure, int] = {measure: i for i, measure in enumerate([*drawn, *exact])}
        self.seconds: dict[Measure, float] = defaultdict(float)

    def measure(self, batch: Batch) -> Measured:
        """Returns what a batch costs; documents on which a tokenizer fails are left out."""
        seg = segment_batch(batch.texts)
        text = {name: self._timed(("text", name), one.text, batch.texts) for name, one in self.tokenizers.items()}
        failed = np.unique(np.concatenate([np.zeros(0, np.int64), *(one.failed for one in text.values())]))
        if failed.size:
            return self._without(batch, failed)
        cells = _Cells(seg)
        values = np.zeros((len(self.measures), len(cells.codes)), np.int64)
        added = np.zeros((len(self.measures), len(batch.texts)), np.int64)
        values[self.measures["utf8",]] = cells.sums(np.diff(seg.run_byte))
        values[self.measures["codepoints",]] = cells.sums(np.diff(seg.run_start, append=len(seg.codepoints)))
        by_run = {}
        for name, tokens in text.items():
            row = self.measures["text", name]
            by_run[name], added[row] = text_tokens_per_run(tokens, seg)
            values[row] = cells.sums(by_run[name])
        for name in self.variants:
            failed = self._try(name, cells, text, by_run, values)
            if failed.size:
                return self._without(batch, failed)
            for tokenizer in text:
                if ("tokens", tokenizer, name) in self.measures:
                    added[self.measures["tokens", tokenizer, name]] = added[self.measures["text", tokenizer]]
        return Measured(batch, seg, *cells.columns(), values, added, 0)

    def _without(self, batch: Batch, failed: Int64) -> Measured:
        keep = np.setdiff1d(np.arange(len(batch.texts)), failed)
        rest = self.measure(batch.take(keep))
        return replace(rest, n_failed=rest.n_failed + failed.size)

    def _try(
        self, name: str, cells: "_Cells", text: dict[str, Tokens], by_run: dict[str, Int64], values: Int64
    ) -> Int64:
        """Fills in the rows of a variant; returns the documents on which a tokenizer failed."""
        framed, seg = self.variants[name].framed, cells.seg
        routed: Routed = self._timed(("bytes", name), route_segmentation, seg, self._routers[name])
        values[self.measures["bytes", name]] = cells.sums(try_bytes(seg, routed, framed=framed))
        for tokenizer, tokens in text.items():
            if (row := self.measures.get(("tokens", tokenizer, name))) is None:
                continue
            stream = self._timed(("tokens", tokenizer, name), self.tokenizers[tokenizer].routed, routed, tokens)
            if stream.failed.size:
                failed: Int64 = stream.failed
                return failed
            trial = try_tokens(seg, routed, stream, by_run[tokenizer], framed=framed)
            values[row] = cells.sums(trial.cost)
            values[self.measures["edges", tokenizer, name]] = cells.sums(trial.edges)
        return np.zeros(0, np.int64)

    def _timed(self, what: Measure, function: Callable[..., Any], *arguments: Any) -> Any:
        started = time.perf_counter()
        result = function(*arguments)
        self.seconds[what] += time.perf_counter() - started
        return result


class _Cells:
    """The cells of a batch. Runs are summed at once: text may have as many runs as characters."""

    def __init__(self, seg: Segmentation) -> None:
        n = len(SCRIPTS)
        self.seg = seg
        code = (seg.run_doc.astype(np.int64) * n + seg.run_script) * n + seg.run_report
        self.codes, self._cell = np.unique(code, return_inverse=True)

    def sums(self, by_run: Int64) -> Int64:
        """Returns a measure of runs by cell. As float64 on the way: exact below 2**53."""
        return np.bincount(self._cell, by_run, len(self.codes)).astype(np.int64)

    def columns(self) -> tuple[Int64, Int64, Int64]:
        """Returns document, encoding class and report class of every cell."""
        n = len(SCRIPTS)
        return self.codes // (n * n), self.codes // n % n, self.codes % n


def script_cells(measured: Measured, key: Int64) -> tuple[Int64, Int64, Int64]:
    """Returns (key, document, values) of every pair that occurs: int64[n], int64[n], int64[n_measures, n].

    Args:
        measured: a batch.
        key: int64[n_cells], what cells are put together by; below 2**32.
    """
    codes, place = np.unique(measured.doc << 32 | key, return_inverse=True)
    sums = [np.bincount(place, row, len(codes)) for row in measured.values]
    return codes & 0xFFFFFFFF, codes >> 32, np.array(sums).astype(np.int64)


def document_values(measured: Measured) -> Int64:
    """Returns what every document costs, added tokens included: int64[n_measures, n_docs]."""
    n_docs = len(measured.batch.texts)
    sums = [np.bincount(measured.doc, row, n_docs) for row in measured.values]
    return np.array(sums).astype(np.int64) + measured.added
