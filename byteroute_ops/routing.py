"""Routing: the routed streams of a batch, and where every script run went.

The steps of `schemas/routed_bytes.md`: `segmentation` finds the script runs, the policy says which
stretches become segments (`spans`, `min_bytes`), `stream_assembly` writes them.
"""

import hashlib
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import compiled
from .encoders import BARRIER, ENCODING_NAMES, UTF8_ID, FramingName, Profile, check_options, framing_named
from .errors import InputError, RejectReason
from .min_bytes import min_bytes_spans
from .min_bytes_blocks import costs_of
from .policy import Policy, load_policy
from .records import SEGMENT, SHARD
from .segmentation import Segmentation, segment_batch
from .spans import Ids, Spans, table_spans, without_unroutable
from .stream_assembly import SpanText, assembled, literal_places
from .stretches import Offsets
from .unicode_data import SCRIPTS

Index32 = npt.NDArray[np.int32]

_MAX_BYTES: Final = 2**31 - 1


@dataclass(frozen=True)
class Router:
    """The settings of routed streams; checked together when made.

    Attributes:
        policy: which stretches get which encoding.
        framing: "control" (markers U+F900..U+F903) or "bom" (FE FF, FF FE, FF FF).
        profile: "bytes" (raw payload) or "text" (valid UTF-8; framing control, no barrier).
        barrier: whether C0 80 stands before every opening marker.

    Raises:
        ConfigError: an unknown name, or settings that do not go together.

    >>> Router(load_policy("script-a"), profile="text").barrier
    False
    """

    policy: Policy = field(default_factory=lambda: load_policy("min-bytes"))
    framing: FramingName = "control"
    profile: Profile = "bytes"
    barrier: bool = False

    def __post_init__(self) -> None:
        check_options(self.framing, self.profile, barrier=self.barrier)

    def fingerprint(self) -> dict[str, Any]:
        """Returns what the routed bytes depend on besides the text and the Unicode version, JSON-able."""
        return {
            "format": 1,
            "policy": self.policy.fingerprint(),
            "framing": self.framing,
            "profile": self.profile,
            "barrier": self.barrier,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Routed:
    """The routed streams of a batch, back to back, with a row for every script run (or part of one).

    Attributes:
        data: uint8[n_bytes], all streams; the batch's own UTF-8 array where no document is changed.
        doc_routed: int64[n_docs + 1], byte offsets of the streams in `data`.
        doc_is_plain: bool[n_docs], where the stream equals the UTF-8 (no segment, no escape).
        row_doc: int32[n_rows].
        row_report: uint8[n_rows], report class, an index into `unicode_data.SCRIPTS`.
        row_script: uint8[n_rows], encoding class, likewise.
        row_encoding: uint8[n_rows], an index into `encoders.ENCODINGS`.
        row_text_start, row_text_end: int32[n_rows], code points from the start of the document.
        row_start, row_end: int32[n_rows], payload bytes from the start of the document's stream; for
            UTF-8 rows they include the row's escapes.
        row_run: int64[n_rows], the run of the segmentation that the row is (part of).
        row_region: int64[n_rows + 1], offsets in `data` of each row with the framing billed to it: an
            opening marker and barrier to the row after them, a closing marker to the row before it.
        router: the settings that the streams were made with.
    """

    data: npt.NDArray[np.uint8]
    doc_routed: Offsets
    doc_is_plain: npt.NDArray[np.bool_]
    row_doc: Index32
    row_report: Ids
    row_script: Ids
    row_encoding: Ids
    row_text_start: Index32
    row_text_end: Index32
    row_start: Index32
    row_end: Index32
    row_run: Offsets
    row_region: Offsets
    router: Router

    def streams(self) -> pa.BinaryArray:
        """Returns the streams as an Arrow column, without a copy."""
        offsets = pa.py_buffer(self.doc_routed.astype(np.int32))
        return pa.Array.from_buffers(pa.binary(), len(self.doc_routed) - 1, [None, offsets, pa.py_buffer(self.data)])

    def segments(self) -> pa.ListArray:
        """Returns the rows as an Arrow column: a list of `records.SEGMENT` for every document."""
        scripts, encodings = pa.array(SCRIPTS), pa.array(ENCODING_NAMES)
        columns = [
            scripts.take(pa.array(self.row_report)),
            scripts.take(pa.array(self.row_script)),
            encodings.take(pa.array(self.row_encoding)),
            *map(pa.array, (self.row_text_start, self.row_text_end, self.row_start, self.row_end)),
        ]
        rows = pa.StructArray.from_arrays(columns, fields=list(SEGMENT))
        first = np.searchsorted(self.row_doc, np.arange(len(self.doc_routed))).astype(np.int32)
        kind = pa.list_(pa.field("item", SEGMENT, nullable=False))
        return pa.ListArray.from_arrays(pa.array(first), rows, type=kind)


def route_segmentation(seg: Segmentation, router: Router, *, only: npt.NDArray[np.bool_] | None = None) -> Routed:
    """Returns the routed streams of a segmented batch.

    Args:
        seg: the batch.
        router: the settings.
        only: bool[n_docs], the documents that may have segments; the others stay UTF-8, with escapes. None: all.

    Raises:
        InputError: the streams together would take 2 GiB or more, which Arrow's binary columns cannot hold.
    """
    framing = framing_named(router.framing)
    literals = literal_places(seg, framing)
    if router.policy.kind == "optimal":
        spans = min_bytes_spans(seg, costs_of(framing, router.profile, barrier=router.barrier), literals)
    else:
        spans = table_spans(seg, router.policy, framing)
    if only is not None:
        spans = spans.where(only[np.searchsorted(seg.doc_cp, spans.start, "right") - 1])
    text = SpanText.of(seg, spans, framing)
    if router.policy.kind != "optimal" and text.has_unroutable:
        spans = without_unroutable(seg, spans, framing)
        text = SpanText.of(seg, spans, framing)
    escapes = literals[spans.holding(literals) < 0]
    payload = text.payload(router.profile)
    data = assembled(seg, spans, payload, escapes, framing, barrier=router.barrier)
    if len(data) > _MAX_BYTES:
        detail = f"routed streams of {len(data)} bytes in one batch, at most {_MAX_BYTES} fit: use smaller documents"
        raise InputError(RejectReason.DOCUMENT_TOO_LARGE, detail)
    plain = np.ones(len(seg.doc_cp) - 1, np.bool_)
    plain[np.searchsorted(seg.doc_cp, np.concatenate([spans.start, escapes]), "right") - 1] = False
    return Routed(data=data, doc_is_plain=plain, router=router, **_row_columns(seg, spans, escapes, text, router))


def route_text(text: str, router: Router) -> bytes:
    """Returns the routed stream of one clean text.

    Raises:
        InputError: the text holds a lone surrogate (`offset` in code points), or is too long.

    >>> route_text("abc \u4f60\u597d\u4e16\u754c", Router(load_policy("script-a"))).hex(" ", 2)
    '6162 6320 efa4 804f 6059 7d4e 1675 4cef a481'
    """
    try:
        texts = pa.array([text.encode()]).cast(pa.string())
    except UnicodeEncodeError as error:
        detail = f"lone surrogate at code point {error.start}; replace or drop it first"
        raise InputError(RejectReason.LONE_SURROGATE, detail, offset=error.start) from None
    return route_segmentation(segment_batch(texts), router).data.tobytes()


def route_batch(batch: pa.RecordBatch, router: Router) -> pa.RecordBatch:
    """Returns the batch with the columns that routing adds, as in `records.SHARD`.

    They are routed, segments, n_codepoints, n_utf8_bytes, n_routed_bytes and text_digest.

    Args:
        batch: has the clean texts in column `text`.
        router: the settings.

    Raises:
        InputError: a text is not well-formed UTF-8, or the streams together are too long.
    """
    seg = segment_batch(batch.column("text"))
    routed = route_segmentation(seg, router)
    columns = {
        "routed": routed.streams(),
        "segments": routed.segments(),
        "n_codepoints": pa.array(np.diff(seg.doc_cp)),
        "n_utf8_bytes": pa.array(np.diff(seg.doc_byte)),
        "n_routed_bytes": pa.array(np.diff(routed.doc_routed)),
        "text_digest": text_digests(seg),
    }
    schema = pa.schema([*batch.schema, *map(SHARD.field, columns)], batch.schema.metadata)
    return pa.RecordBatch.from_arrays([*batch.columns, *columns.values()], schema=schema)


def text_digests(seg: Segmentation) -> pa.FixedSizeBinaryArray:
    """Returns the first 16 bytes of SHA-256 of every document's UTF-8, as an Arrow column."""
    utf8 = seg.utf8.data
    digests = [hashlib.sha256(utf8[start:end]).digest()[:16] for start, end in pairwise(seg.doc_byte.tolist())]
    return pa.array(digests, pa.binary(16))


def _row_columns(seg: Segmentation, spans: Spans, escapes: Offsets, text: SpanText, router: Router) -> dict[str, Any]:
    """Returns the row columns of `Routed`, and `doc_routed`; `text` is that of the spans."""
    framing = framing_named(router.framing)
    start, byte, run, index = _rows(seg, spans)
    end, end_byte = np.append(start[1:], seg.n_codepoints), np.append(byte[1:], len(seg.utf8))
    doc = seg.run_doc[run]
    routed = np.flatnonzero(index >= 0)
    index = index[routed]
    encoding = np.full(len(start), UTF8_ID, np.uint8)
    encoding[routed] = spans.encoding[index]
    n_bytes = end_byte - byte
    # Rows of segments tile them, so their places in `text` are running sums.
    bytes_, cps = (np.concatenate([[0], np.cumsum(size)]) for size in (n_bytes[routed], (end - start)[routed]))
    n_bytes[routed] = np.diff(text.payload_before(bytes_, cps, router.profile))
    if len(escapes):
        n_bytes += len(framing.escape) * (np.searchsorted(escapes, end) - np.searchsorted(escapes, start))
    before, after = np.zeros(len(start), np.int64), np.zeros(len(start), np.int64)
    n_opening = len(framing.opening[1]) + (len(BARRIER) if router.barrier else 0)
    before[routed[start[routed] == spans.start[index]]] = n_opening
    after[routed[end[routed] == spans.end[index]]] = len(framing.closing[1])
    region = np.concatenate([[0], np.cumsum(before + n_bytes + after)])
    doc_routed = region[np.searchsorted(doc, np.arange(len(seg.doc_byte)))]
    return {
        "doc_routed": doc_routed,
        "row_doc": doc,
        "row_report": seg.run_report[run],
        "row_script": seg.run_script[run],
        "row_encoding": encoding,
        "row_text_start": (start - seg.doc_cp[doc]).astype(np.int32),
        "row_text_end": (end - seg.doc_cp[doc]).astype(np.int32),
        "row_start": (region[:-1] + before - doc_routed[doc]).astype(np.int32),
        "row_end": (region[1:] - after - doc_routed[doc]).astype(np.int32),
        "row_run": run,
        "row_region": region,
    }


def _rows(seg: Segmentation, spans: Spans) -> tuple[Offsets, Offsets, Offsets, Offsets]:
    """Returns where rows start, in code points and bytes, the run of each, and its segment or -1: int64[n_rows] each.

    They start at script runs, and where a segment starts or ends within one.
    """
    if compiled.streams is not None:
        places = (np.ascontiguousarray(one) for one in (spans.start, spans.end, spans.start_byte, spans.end_byte))
        found: tuple[Offsets, Offsets, Offsets, Offsets] = compiled.streams.rows(seg.run_start, seg.run_byte, *places)
        return found
    bounds, bytes_ = np.concatenate([spans.start, spans.end]), np.concatenate([spans.start_byte, spans.end_byte])
    inside = bounds < seg.n_codepoints
    inside[inside] = seg.run_start[np.searchsorted(seg.run_start, bounds[inside], "right") - 1] != bounds[inside]
    if not inside.any():
        return seg.run_start, seg.run_byte[:-1], np.arange(len(seg.run_start)), spans.holding(seg.run_start)
    # Both arrays rise together, so sorting each keeps the pairs.
    start = np.sort(np.concatenate([seg.run_start, bounds[inside]]), kind="stable")
    byte = np.sort(np.concatenate([seg.run_byte[:-1], bytes_[inside]]), kind="stable")
    # Where one segment ends and another starts within a run, the place is there twice.
    distinct = np.append(start[1:] > start[:-1], True)
    start, byte = start[distinct], byte[distinct]
    return start, byte, np.searchsorted(seg.run_start, start, "right") - 1, spans.holding(start)
