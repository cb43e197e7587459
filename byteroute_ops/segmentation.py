"""Segmentation of a batch of texts into script runs, on grapheme cluster boundaries.

The rules are described in `segmentation_classes`, `graphemes` and `emoji`. `compiled.runs` applies them in one pass;
where it was not built, passes of NumPy do, which are in `segmentation_chunks`. Text must be clean UTF-8 (strict: no
surrogates).
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops import compiled
from byteroute_ops import unicode_data as data
from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.graphemes import Indices
from byteroute_ops.segmentation_chunks import Chunk, chunk_bounds, decode_utf8, segment_chunk
from byteroute_ops.segmentation_classes import report_scripts
from byteroute_ops.unicode_tables import U8, U32, Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class Segmentation:
    """Script runs of a batch; documents stand back to back, offsets are half-open.

    Attributes:
        utf8: uint8[n_bytes], UTF-8 of all documents (a view of the Arrow buffer).
        doc_byte: int64[n_docs + 1], byte offsets of the documents in `utf8`.
        doc_cp: int64[n_docs + 1], code point offsets of the documents.
        run_doc: int32[n_runs], the document of each run.
        run_start: int64[n_runs], first code point of each run (over the batch); runs tile every document
            that is not empty, so a run ends where the next one begins.
        run_script: uint8[n_runs], encoding class, an index into `unicode_data.SCRIPTS`.
        run_report: uint8[n_runs], report class, likewise.
        run_byte: int64[n_runs + 1], byte offset of every run in `utf8`, and its length.
        run_strong_start: int64[n_runs], byte offset of the run's first strong character; of the run, where
            it has none. Strong is what is neither Common nor Inherited, and all of an emoji cluster.
        run_strong_end: int64[n_runs], byte offset after the run's last strong character; of the run's
            start, where it has none.
        cluster_breaks: bool[n_cp], where extended grapheme clusters start.
    """

    utf8: U8
    doc_byte: Indices
    doc_cp: Indices
    run_doc: npt.NDArray[np.int32]
    run_start: Indices
    run_script: U8
    run_report: U8
    run_byte: Indices
    run_strong_start: Indices
    run_strong_end: Indices
    cluster_breaks: Bools

    @property
    def n_codepoints(self) -> int:
        """Code points of all documents."""
        return int(self.doc_cp[-1])

    @cached_property
    def codepoints(self) -> U32:
        """uint32[n_cp]: all code points, decoded on first use. Most of what follows needs a few of them, or none."""
        return np.frombuffer(decode_utf8(self.utf8).encode("utf-32-le"), np.uint32)

    @cached_property
    def cp_byte(self) -> Indices:
        """int64[n_cp + 1]: byte offset of every code point in `utf8`, and its length.

        Eight bytes a code point, made on first use: `run_byte` has those of the runs for nothing.
        """
        if len(self.utf8) == self.n_codepoints:
            return np.arange(len(self.utf8) + 1)
        return np.append(np.flatnonzero(self.utf8.view(np.int8) >= -64), len(self.utf8))


class Run(NamedTuple):
    """One script run of one text; offsets in code points, half-open."""

    report_script: str
    encoding_script: str
    text_start: int
    text_end: int


def segment_batch(texts: pa.StringArray) -> Segmentation:
    """Script runs of every text of an Arrow array; a null counts as an empty text.

    Raises:
        InputError: the bytes are not well-formed UTF-8 (`offset` in bytes of the batch). Arrow arrays
            that were made from `str` are always well-formed.
    """
    utf8, doc_byte = utf8_of(texts)
    if compiled.runs is None or not len(utf8):
        return _Parts(utf8, doc_byte).joined()
    try:
        doc_cp, breaks, *runs = compiled.runs.segment(utf8, doc_byte)
    except UnicodeError:
        for first, last in pairwise(doc_byte.tolist()):
            decode_utf8(utf8[first:last], offset=first)
        raise
    return _whole(utf8, doc_byte, doc_cp, breaks, runs)


def _whole(utf8: U8, doc_byte: Indices, doc_cp: Indices, breaks: Bools, runs: list[npt.NDArray[Any]]) -> Segmentation:
    """The batch; `runs`: document, first code point, script, first byte and strong bounds of each, in that order."""
    doc, start, script, byte, strong_start, strong_end = runs
    return Segmentation(
        utf8=utf8,
        doc_byte=doc_byte,
        doc_cp=doc_cp,
        run_doc=doc.astype(np.int32, copy=False),
        run_start=start,
        run_script=script,
        run_report=report_scripts(script, doc),
        run_byte=np.append(byte, len(utf8)),
        run_strong_start=strong_start,
        run_strong_end=strong_end,
        cluster_breaks=breaks,
    )


def segment_text(text: str) -> list[Run]:
    """Script runs of one text.

    >>> for run in segment_text("Ελλάδα, 日本の話 👍🏽!"):
    ...     print(*run)
    Grek Grek 0 8
    Jpan Hani 8 10
    Jpan Hira 10 11
    Jpan Hani 11 13
    Emoji Emoji 13 15
    Hani Hani 15 16

    Raises:
        InputError: the text holds a lone surrogate.
    """
    try:
        texts = pa.array([text.encode()], pa.binary()).cast(pa.string())
    except UnicodeEncodeError as error:
        detail = f"lone surrogate at code point {error.start}; replace or drop it first"
        raise InputError(RejectReason.LONE_SURROGATE, detail, offset=error.start) from None
    found = segment_batch(texts)
    ends = np.append(found.run_start, found.n_codepoints)[1:].tolist()
    rows = zip(found.run_report.tolist(), found.run_script.tolist(), found.run_start.tolist(), ends, strict=True)
    return [Run(data.SCRIPTS[report], data.SCRIPTS[script], start, end) for report, script, start, end in rows]


def utf8_of(texts: pa.StringArray) -> tuple[U8, Indices]:
    """Bytes uint8[n_bytes] of all texts and offsets int64[n + 1] into them, without a copy where there is no null."""
    if texts.null_count:
        texts = texts.fill_null("")
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    if not len(texts):
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    _, offsets, values = texts.buffers()
    bounds = np.frombuffer(offsets, width)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    utf8 = np.zeros(0, np.uint8) if values is None else np.frombuffer(values, np.uint8)
    return utf8[bounds[0] : bounds[-1]], bounds - bounds[0]


class _Parts:
    """Chunks on their way to a `Segmentation`."""

    def __init__(self, utf8: U8, doc_byte: Indices) -> None:
        self.utf8, self.doc_byte = utf8, doc_byte
        self.n_codepoints = 0
        self.doc_cp = np.zeros(len(doc_byte), np.int64)
        self.breaks: list[Bools] = [np.zeros(0, np.bool_)]
        self.runs: list[tuple[Indices, Indices, U8, Indices, Indices, Indices]] = []
        bounds = chunk_bounds(doc_byte)
        for first, last in pairwise(bounds):
            self._add(first, last)
        # What is empty begins where the next document does.
        self.doc_cp[bounds[-1] :] = self.n_codepoints

    def _add(self, first: int, last: int) -> None:
        """Segments the documents [first, last)."""
        byte, cp = int(self.doc_byte[first]), self.n_codepoints
        utf8 = self.utf8[byte : self.doc_byte[last]]
        if not len(utf8):
            self.doc_cp[first:last] = cp
            return
        bounds = self.doc_byte[first : last + 1] - byte
        is_filled = bounds[1:] > bounds[:-1]
        filled = np.flatnonzero(is_filled)
        chunk: Chunk = segment_chunk(utf8, decode_utf8(utf8, offset=byte), bounds[filled])
        self.breaks.append(chunk.breaks)
        self.n_codepoints += len(chunk.breaks)
        starts = np.append(chunk.doc_start, len(chunk.breaks)) + cp
        self.doc_cp[first:last] = starts[np.cumsum(is_filled) - is_filled]
        n_runs = np.diff(np.append(np.searchsorted(chunk.run_start, chunk.doc_start), len(chunk.run_start)))
        doc = np.repeat(filled + first, n_runs)
        bytes_ = (chunk.run_byte + byte, chunk.strong_start + byte, chunk.strong_end + byte)
        self.runs.append((doc, chunk.run_start + cp, chunk.run_script, *bytes_))

    def joined(self) -> Segmentation:
        """The whole batch."""
        none = np.zeros(0, np.int64)
        runs = self.runs or [(none, none, none.astype(np.uint8), none, none, none)]
        columns = [np.concatenate(column) for column in zip(*runs, strict=True)]
        return _whole(self.utf8, self.doc_byte, self.doc_cp, np.concatenate(self.breaks), columns)
