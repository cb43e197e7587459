"""Segmentation of a batch of texts into script runs, on grapheme cluster boundaries.

One pass decodes the whole batch; the property word of every code point tells whether anything but the
plain rule can apply there; the rest works on the positions where it can. The rules are described in
`segmentation_classes`, `graphemes` and `emoji`. Text must be clean UTF-8 (strict: no surrogates).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables
from byteroute_ops.emoji import emoji_clusters
from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.graphemes import Indices, breaks_from_words
from byteroute_ops.segmentation_classes import Runs, Text, report_scripts, resolve_scripts
from byteroute_ops.unicode_tables import U8, U32, Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class Segmentation:
    """Script runs of a batch; documents stand back to back, offsets are half-open.

    Attributes:
        utf8: uint8[n_bytes], UTF-8 of all documents (a view of the Arrow buffer).
        doc_byte: int64[n_docs + 1], byte offsets of the documents in `utf8`.
        codepoints: uint32[n_cp], all code points.
        doc_cp: int64[n_docs + 1], code point offsets of the documents.
        run_doc: int32[n_runs], the document of each run.
        run_start: int64[n_runs], first code point of each run (over the batch); runs tile every document
            that is not empty, so a run ends where the next one begins.
        run_script: uint8[n_runs], encoding class, an index into `unicode_data.SCRIPTS`.
        run_report: uint8[n_runs], report class, likewise.
    """

    utf8: U8
    doc_byte: Indices
    codepoints: U32
    doc_cp: Indices
    run_doc: npt.NDArray[np.int32]
    run_start: Indices
    run_script: U8
    run_report: U8
    _breaks: Bools = field(repr=False)
    _strong: Indices = field(repr=False)

    @property
    def cluster_breaks(self) -> Bools:
        """bool[n_cp]: where extended grapheme clusters start."""
        return self._breaks

    @cached_property
    def cp_byte(self) -> Indices:
        """int64[n_cp + 1]: byte offset of every code point in `utf8`, and its length."""
        if len(self.utf8) == len(self.codepoints):
            return np.arange(len(self.utf8) + 1)
        # As int8 the bytes that continue a character, 80..BF, are those below -64.
        return np.append(np.flatnonzero(self.utf8.view(np.int8) >= -64), len(self.utf8))

    @cached_property
    def run_byte(self) -> Indices:
        """int64[n_runs + 1]: byte offset of every run in `utf8`, and its length."""
        offsets: Indices = self.cp_byte[np.append(self.run_start, len(self.codepoints))]
        return offsets

    @cached_property
    def run_strong_start(self) -> Indices:
        """int64[n_runs]: byte offset of the run's first strong character; of the run, where it has none.

        Strong is what is neither Common nor Inherited, and every character of an emoji cluster.
        """
        return self._strong_bytes[0]

    @cached_property
    def run_strong_end(self) -> Indices:
        """int64[n_runs]: byte offset after the run's last strong character; the run's start, where it has none."""
        return self._strong_bytes[1]

    @cached_property
    def _strong_bytes(self) -> tuple[Indices, Indices]:
        start, end = self.run_start, np.append(self.run_start, len(self.codepoints))[1:]
        low, high = np.searchsorted(self._strong, start), np.searchsorted(self._strong, end)
        some = np.flatnonzero(high > low)
        first, last = start.copy(), start.copy()
        first[some], last[some] = self._strong[low[some]], self._strong[high[some] - 1] + 1
        emoji = self.run_script == data.EMOJI
        first[emoji], last[emoji] = start[emoji], end[emoji]
        return self.cp_byte[first], self.cp_byte[last]


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
    codepoints = decode_batch(utf8)
    doc_cp = doc_byte
    if len(codepoints) != len(utf8):
        lengths = pc.utf8_length(texts.fill_null("")).to_numpy(zero_copy_only=False)
        doc_cp = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return _segment(utf8, doc_byte, codepoints, doc_cp)


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
    ends = np.append(found.run_start, len(found.codepoints))[1:].tolist()
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


def decode_batch(utf8: U8) -> U32:
    """Code points uint32[n] of UTF-8 bytes uint8[n_bytes].

    Raises:
        InputError: the bytes are not well-formed UTF-8.
    """
    try:
        decoded = utf8.tobytes().decode()
    except UnicodeDecodeError as error:
        detail = f"not well-formed UTF-8 at byte {error.start} of the batch; decode with the right encoding first"
        raise InputError(RejectReason.INVALID_UTF8, detail, offset=error.start) from None
    return np.frombuffer(decoded.encode("utf-32-le"), np.uint32)


def _segment(utf8: U8, doc_byte: Indices, codepoints: U32, doc_cp: Indices) -> Segmentation:
    words = tables.property_words(codepoints)
    rare = np.flatnonzero(words & tables.RARE)
    kinds = words[rare]
    filled = np.flatnonzero(doc_cp[1:] > doc_cp[:-1])
    docs = doc_cp[filled]
    breaks = breaks_from_words(codepoints, words, rare[kinds & tables.SPECIAL != 0], docs)
    emoji = emoji_clusters(codepoints, rare[kinds & tables.EMOJI_TRIGGER != 0], breaks)
    strong = np.flatnonzero(words & tables.STRONG)
    runs = Runs(docs, np.zeros(0, np.uint8))
    if docs.size:
        text = Text(codepoints, words, breaks, docs, strong, rare[kinds & tables.EXPLICIT_SCX != 0])
        runs = resolve_scripts(text, emoji)
    run_doc = filled[np.searchsorted(docs, runs.start, "right") - 1]
    return Segmentation(
        utf8=utf8,
        doc_byte=doc_byte,
        codepoints=codepoints,
        doc_cp=doc_cp,
        run_doc=run_doc.astype(np.int32),
        run_start=runs.start,
        run_script=runs.script,
        run_report=report_scripts(runs.script, run_doc),
        _breaks=breaks,
        _strong=strong,
    )
