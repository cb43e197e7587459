"""Arrow strings as bytes, and the bookkeeping between pieces and documents."""

from collections.abc import Callable, Sequence

import numpy as np

from .protocol import Bools, Bytes, Encoded, Int32, Int64, Spans

MAX_CALL_BYTES = 1 << 20
"""An engine is handed at most this much text at once (one longer piece goes alone), so that a library's own
result objects, tens of bytes a token, never pile up."""
MAX_CALL_PIECES = 1024
_NOTHING = Encoded(np.zeros(0, np.int32), np.zeros(1, np.int64))


def call_slices(sizes: Sequence[int]) -> list[slice]:
    """Returns consecutive slices of pieces, each within the limits of one engine call.

    >>> call_slices([1 << 19, 1 << 19, 9 << 20, 1])
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    slices, first, held = [], 0, 0
    for index, size in enumerate(sizes):
        if index > first and (held + size > MAX_CALL_BYTES or index - first >= MAX_CALL_PIECES):
            slices.append(slice(first, index))
            first, held = index, 0
        held += size
    if first < len(sizes):
        slices.append(slice(first, len(sizes)))
    return slices


Encode = Callable[[Sequence[bytes]], Encoded]


def encode_pieces(encode: Encode, pieces: Sequence[bytes], rescue: Encode | None = None) -> tuple[Encoded, Bools]:
    """Returns the tokens of all pieces, calling the engine for a bounded amount of text at a time.

    A call that raises is repeated piece by piece, so that only the piece at fault is lost.

    Args:
        encode: of the engine.
        pieces: UTF-8.
        rescue: of the reference, asked for a piece on which the engine raises, so that what fails does not depend on
            the engine in use.

    Returns:
        The tokens (none for a failed piece), and bool[n_pieces]: which pieces failed.
    """
    parts: list[Encoded] = []
    failed = np.zeros(len(pieces), np.bool_)
    base = 0
    for part in call_slices([len(piece) for piece in pieces]):
        group = pieces[part]
        result = _attempt(encode, group)
        if result is not None:
            parts.append(_shifted(result, base))
            base += sum(map(len, group))
            continue
        for index, piece in enumerate(group, part.start):
            result = _attempt(rescue or encode, [piece])
            failed[index] = result is None
            parts.append(_shifted(_NOTHING if result is None else result, base))
            base += len(piece)
    return _joined(parts), failed


def _attempt(encode: Encode, group: Sequence[bytes]) -> Encoded | None:
    try:
        return encode(group)
    except MemoryError:
        raise
    except Exception:
        return None
    except BaseException as error:
        # A Rust panic arrives as pyo3's PanicException, which is deliberately no Exception and cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return None


def _shifted(part: Encoded, base: int) -> Encoded:
    if part.starts is None or part.ends is None:
        return part
    return part._replace(starts=part.starts + base, ends=part.ends + base)


def _joined(parts: list[Encoded]) -> Encoded:
    if not parts:
        return Encoded(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    ids = np.concatenate([part.ids for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    spans = [(part.starts, part.ends) for part in parts if part.starts is not None and part.ends is not None]
    if not spans:
        return Encoded(ids, counts)
    return Encoded(ids, counts, np.concatenate([s for s, _ in spans]), np.concatenate([e for _, e in spans]))


def with_affixes(ids: Int32, counts: Int64, prefix: Int32, suffix: Int32) -> tuple[Int32, Int64, Bools]:
    """Returns the ids with a prefix and a suffix round the tokens of every document.

    Args:
        ids: int32[n], documents back to back.
        counts: int64[n_docs]; -1 marks a document that failed: it has no tokens and gets no affixes.
        prefix: int32[p].
        suffix: int32[s].

    Returns:
        int32[m], doc_offsets int64[n_docs + 1], added bool[m].

    >>> bos, eos = np.array([1], np.int32), np.array([2], np.int32)
    >>> with_affixes(np.array([5, 6], np.int32), np.array([2, 0, -1]), bos, eos)[0].tolist()
    [1, 5, 6, 2, 1, 2]
    """
    good = counts >= 0
    body = np.maximum(counts, 0)
    offsets = np.zeros(counts.size + 1, np.int64)
    np.cumsum(body + good * (prefix.size + suffix.size), out=offsets[1:])
    if prefix.size + suffix.size == 0:
        return ids, offsets, np.zeros(ids.size, np.bool_)
    out = np.empty(int(offsets[-1]), np.int32)
    added = np.zeros(out.size, np.bool_)
    for affix, first in ((prefix, offsets[:-1][good]), (suffix, offsets[1:][good] - suffix.size)):
        for index, token in enumerate(affix):
            out[first + index] = token
            added[first + index] = True
    out[~added] = ids
    return out, offsets, added


def spread_spans(spans: Spans, added: Bools, doc_offsets: Int64, bounds: Int64, n_prefix: int) -> Spans:
    """Returns the spans of all tokens, given those of the tokens that were not added.

    Args:
        spans: int64[n] each.
        added: bool[m], of `with_affixes`.
        doc_offsets: int64[n_docs + 1], likewise.
        bounds: int64[n_docs + 1], where documents begin and end in bytes.
        n_prefix: how many of a document's added tokens come first.
    """
    if not added.any():
        return spans
    place = np.flatnonzero(added)
    doc = np.searchsorted(doc_offsets, place, "right") - 1
    edge = bounds[doc + (place - doc_offsets[doc] >= n_prefix)]
    starts, ends = np.empty(added.size, np.int64), np.empty(added.size, np.int64)
    starts[place] = ends[place] = edge
    starts[~added], ends[~added] = spans
    return starts, ends


def stretches(data: Bytes, starts: Int64, ends: Int64) -> list[bytes]:
    """Returns the bytes of stretches of `data`."""
    return [data[start:end].tobytes() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
