"""Ids of documents for training: which ones, and what delimits a document.

Everything works on a whole batch: ids flat, documents given by offsets (int64[n_docs + 1], half-open).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.errors import ConfigError

IdKind = Literal["text", "routed", "bytes", "raw-bytes"]
ID_KINDS: tuple[IdKind, ...] = ("text", "routed", "bytes", "raw-bytes")
BYTE_OFFSET = 4
"""BLT numbers byte b as b + 4; 0..3 are its beginning of example, BOS, EOS and patch delimiter."""
BYTE_VOCABULARY = {"<boe>": 0, "<bos>": 1, "<eos>": 2, "<bpe>": 3}
Ids = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


class InnerDelimiterError(ConfigError):
    """A delimiter inside documents.

    Attributes:
        row: the first such document, by its number in the batch.
    """

    def __init__(self, n_documents: int, row: int) -> None:
        super().__init__(
            f"an EOS or BOS id occurs inside {n_documents} document(s): a trainer would cut them there; choose "
            "delimiters that no text can produce, or leave such documents out with --inner-eos drop"
        )
        self.row = row


@dataclass(frozen=True, kw_only=True)
class IdSpace:
    """The ids of an export.

    Attributes:
        kind: `text` and `routed` are the shards' token ids; `bytes` is the routed stream as byte + 4;
            `raw-bytes` is the routed stream itself, with no room for delimiters.
        size: number of ids: every id is below it.
        bos: id put before each document, or None.
        eos: id put behind each document, or None.
        drop_inner: drop documents that hold a delimiter inside, instead of refusing them.
    """

    kind: IdKind
    size: int
    bos: int | None = None
    eos: int | None = None
    drop_inner: bool = False

    def __post_init__(self) -> None:
        if self.kind == "raw-bytes" and (self.bos, self.eos) != (None, None):
            raise ConfigError(
                "raw-bytes uses all 256 values for bytes and has none left for BOS or EOS; "
                "use ids 'bytes' (byte + 4, EOS 2), or say that there is no BOS and no EOS"
            )
        for name, value in (("BOS", self.bos), ("EOS", self.eos)):
            if value is not None and not 0 <= value < self.size:
                raise ConfigError(f"{name} id {value} is outside the vocabulary of {self.size} ids")


@dataclass(frozen=True)
class Delimited:
    """Documents with their delimiters.

    Attributes:
        ids: int32, flat.
        offsets: int64[n_kept + 1].
        kept: int64[n_kept], index of each document in the batch that came in.
        n_empty: documents that had no ids and were left out.
        n_inner: documents left out because a delimiter occurs inside them.
    """

    ids: Ids
    offsets: Int64
    kept: Int64
    n_empty: int
    n_inner: int


def flat_ids(batch: pa.RecordBatch, space: IdSpace) -> tuple[Ids, Int64]:
    """Returns (ids int32, offsets int64) of the rows of a shard, without delimiters.

    Raises:
        ConfigError: the rows have no ids of this kind, or an id is outside the vocabulary.
    """
    if space.kind in ("text", "routed"):
        column = batch.column("token_ids")
        if column.null_count:
            raise ConfigError(
                f"{column.null_count} of {len(column)} rows have no token ids; export 'bytes', or run again with ids"
            )
        offsets = column.offsets.to_numpy().astype(np.int64)
        ids = column.values.to_numpy()[offsets[0] : offsets[-1]]
    else:
        column = batch.column("routed")
        offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
        offsets = offsets.astype(np.int64)
        data = column.buffers()[2]
        raw = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
        ids = raw[offsets[0] : offsets[-1]].astype(np.int32)
        if space.kind == "bytes":
            ids += BYTE_OFFSET
    if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < space.size:
        raise ConfigError(
            f"ids from {ids.min()} to {ids.max()} found, the vocabulary has {space.size}: "
            "these shards were made with another tokenizer; compare with `byteroute check`"
        )
    return ids, offsets - offsets[0]


def delimit(ids: Ids, offsets: Int64, space: IdSpace) -> Delimited:
    """Returns the non-empty documents, each with BOS before and EOS behind it.

    A delimiter that is in its place already (a tokenizer's post-processor put it there) is not doubled.

    Raises:
        InnerDelimiterError: a delimiter occurs inside a document: readers that find documents by EOS (OLMo-core,
            datatrove) would cut there.

    >>> space = IdSpace(kind="text", size=10, eos=9)
    >>> out = delimit(np.array([1, 2, 9, 3]), np.array([0, 3, 3, 4]), space)
    >>> out.ids.tolist(), out.offsets.tolist(), out.n_empty
    ([1, 2, 9, 3, 9], [0, 3, 5], 1)
    """
    start, end = offsets[:-1].copy(), offsets[1:].copy()
    if space.eos is not None:
        end -= _at(ids, end - 1, end > start, space.eos)
    if space.bos is not None:
        start += _at(ids, start, end > start, space.bos)
    empty = end <= start
    inner = _holds_delimiter(ids, start, end, space)
    if inner.any() and not space.drop_inner:
        raise InnerDelimiterError(int(inner.sum()), int(np.argmax(inner)))
    kept = np.flatnonzero(~empty & ~inner)
    return Delimited(
        *_with_delimiters(ids, start[kept], end[kept], space), kept, int(empty.sum()), int((inner & ~empty).sum())
    )


def _at(ids: Ids, where: Int64, valid: npt.NDArray[np.bool_], wanted: int) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(where), bool)
    found[valid] = ids[where[valid]] == wanted
    return found


def _holds_delimiter(ids: Ids, start: Int64, end: Int64, space: IdSpace) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(ids), bool)
    for value in {space.bos, space.eos} - {None}:
        found |= ids == value
    # Delimiters are few: their places are searched for, where a running count would need eight bytes an id.
    places = np.flatnonzero(found)
    return np.asarray((end > start) & (np.searchsorted(places, end) > np.searchsorted(places, start)))


def _with_delimiters(ids: Ids, start: Int64, end: Int64, space: IdSpace) -> tuple[Ids, Int64]:
    before, behind = int(space.bos is not None), int(space.eos is not None)
    offsets = np.concatenate([[0], np.cumsum(end - start + before + behind)]).astype(np.int64)
    result = np.empty(offsets[-1], np.int32)
    # A copy a document: an index for a gather would take four times the memory of the ids, and more time.
    for target, first, last in zip(offsets[:-1].tolist(), start.tolist(), end.tolist(), strict=True):
        result[target + before : target + before + last - first] = ids[first:last]
    if before:
        result[offsets[:-1]] = space.bos
    if behind:
        result[offsets[1:] - 1] = space.eos
    return result, offsets
