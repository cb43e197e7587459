"""Documents into rows of fixed length, with all that a model needs to keep them apart. NumPy only.

A row holds pieces of documents. What a piece cannot see is never predicted and never attended to:

* `labels` are -100 where there is nothing to predict: padding, and the last token of a document (its
  successor belongs to another document). Padding is known by its place, so the pad id may be any id, EOS too.
* `position_ids` begin at 0 with every piece.
* `document_ids` count the pieces of a row from 0; padding has -1. The attention mask follows from them.

A document that does not fit into a row goes on in the next one. The label of its last token in a row is
its first token in the next row, so every token of a document but the first is predicted exactly once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from byteroute_ops.errors import ConfigError

IGNORE = -100
"""The label that PyTorch's cross entropy leaves out (`ignore_index`)."""
PADDING = -1
Fill = Literal["cut", "whole"]
Labels = Literal["next", "same"]
Int64 = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Place:
    """Where in the documents a row begins: enough to go on from there.

    Attributes:
        document: index of the document in the stream that is packed.
        token: index of the token in it.
    """

    document: int = 0
    token: int = 0


@dataclass(frozen=True, eq=False)
class Row:
    """One row; all arrays int64[length].

    Attributes:
        input_ids: padding has the pad id.
        labels: as the module says.
        position_ids: from 0 in each piece; 0 in padding.
        document_ids: from 0 in each row; -1 in padding.
        after: where the next row begins.
    """

    input_ids: Int64
    labels: Int64
    position_ids: Int64
    document_ids: Int64
    after: Place

    def arrays(self) -> dict[str, Int64]:
        """Returns the arrays by name."""
        return {name: getattr(self, name) for name in ("input_ids", "labels", "position_ids", "document_ids")}


@dataclass(frozen=True, kw_only=True)
class Packing:
    """How rows are made.

    Attributes:
        length: tokens a row.
        pad_id: what stands in padding.
        fill: `cut` fills every row and cuts documents where a row ends; `whole` begins a new row where a
            document does not fit, and cuts only documents longer than a row.
        labels: `next`: `labels[i]` is the token after `input_ids[i]`. `same`: `labels[i]` is `input_ids[i]`,
            -100 at the first token of each piece, for models that shift by themselves (Hugging Face).
    """

    length: int
    pad_id: int = 0
    fill: Fill = "cut"
    labels: Labels = "next"

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ConfigError(f"rows need at least one token, found length {self.length}")


def pack(documents: Iterable[Integers], packing: Packing, *, start: Place = Place()) -> Iterator[Row]:
    """Yields rows of consecutive documents; the last one is padded.

    Args:
        documents: ids of each document, from the document of `start` on; empty ones take no place.
        packing: how.
        start: `after` of an earlier row, to go on behind it.

    >>> rows = list(pack([np.array([1, 2, 3]), np.array([4, 5])], Packing(length=4)))
    >>> rows[0].input_ids.tolist(), rows[0].labels.tolist()
    ([1, 2, 3, 4], [2, 3, -100, 5])
    >>> rows[1].input_ids.tolist(), rows[1].document_ids.tolist()
    ([5, 0, 0, 0], [0, -1, -1, -1])
    """
    row = _Open(packing)
    for number, ids in enumerate(documents, start.document):
        token = start.token if number == start.document else 0
        if packing.fill == "whole" and row.used and len(ids) - token > row.room:
            yield row.close(Place(number, token))
            row = _Open(packing)
        while token < len(ids):
            taken = min(row.room, len(ids) - token)
            row.add(ids, token, taken)
            token += taken
            if not row.room:
                # The next row begins in this document, or with the next one.
                yield row.close(Place(number, token) if token < len(ids) else Place(number + 1))
                row = _Open(packing)
    if row.used:
        yield row.close(Place(number + 1))


class _Open:
    """A row that is being filled."""

    def __init__(self, packing: Packing) -> None:
        n = packing.length
        self._shifts_itself = packing.labels == "same"
        self._input = np.full(n, packing.pad_id, np.int64)
        self._labels = np.full(n, IGNORE, np.int64)
        self._positions = np.zeros(n, np.int64)
        self._documents = np.full(n, PADDING, np.int64)
        self._pieces = 0
        self.used = 0

    @property
    def room(self) -> int:
        return len(self._input) - self.used

    def add(self, ids: Integers, token: int, count: int) -> None:
        """Appends `count` tokens of a document, from `token` on."""
        start, end = self.used, self.used + count
        self._input[start:end] = ids[token : token + count]
        if self._shifts_itself:
            self._labels[start + 1 : end] = ids[token + 1 : token + count]
        else:
            following = ids[token + 1 : token + 1 + count]
            self._labels[start : start + len(following)] = following
        self._positions[start:end] = np.arange(count)
        self._documents[start:end] = self._pieces
        self._pieces += 1
        self.used = end

    def close(self, after: Place) -> Row:
        return Row(self._input, self._labels, self._positions, self._documents, after)


def attention_mask(document_ids: Int64) -> npt.NDArray[np.bool_]:
    """Returns bool[..., length, length], True where the token of a row may attend to that of a column.

    Causal within a piece, never across pieces. No token attends to padding and padding attends to no token:
    a padding position sees itself alone, because a softmax over nothing is NaN and would spread.

    >>> attention_mask(np.array([0, 0, 1, -1])).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    """
    length = document_ids.shape[-1]
    same = document_ids[..., :, None] == document_ids[..., None, :]
    token = (document_ids != PADDING)[..., :, None]
    mask: npt.NDArray[np.bool_] = same & token & np.tri(length, dtype=bool) | np.eye(length, dtype=bool)
    return mask


def picture(row: Row) -> str:
    """Returns a row's mask for the eye: a line a token, what it sees, and whether it counts in the loss.

    `#` the token itself, `o` what else it attends to, `.` what it does not, `-` padding.

    >>> print(picture(next(pack([np.array([1, 2]), np.array([3])], Packing(length=4)))))
    doc pos  attends  predicts
      0   0  #...     yes
      0   1  o#..     no
      1   0  ..#.     no
      -   -  ----     no
    """
    mask = attention_mask(row.document_ids)
    lines = [f"doc pos  attends{' ' * max(2, len(mask) - 5)}predicts"]
    for i, seen in enumerate(mask):
        padding = row.document_ids[i] == PADDING
        marks = "".join("-" if padding else "#" if i == j else "o" if seen[j] else "." for j in range(len(mask)))
        names = ("-", "-") if padding else (str(row.document_ids[i]), str(row.position_ids[i]))
        predicts = "no" if row.labels[i] == IGNORE else "yes"
        lines.append(f"{names[0]:>3} {names[1]:>3}  {marks:<7}  {predicts}")
    return "\n".join(lines)


def stack(rows: Iterable[Row]) -> dict[str, Any]:
    """Returns rows as one batch: int64[n_rows, length] each, and `attention_mask` bool[n_rows, length, length]."""
    listed = [row.arrays() for row in rows]
    batch: dict[str, Any] = {name: np.stack([arrays[name] for arrays in listed]) for name in listed[0]}
    return batch | {"attention_mask": attention_mask(batch["document_ids"])}


def one_per_row(documents: Sequence[Integers], *, pad_id: int = 0, labels: Labels = "next") -> list[Row]:
    """Returns a row a document, all as long as the longest: the batch without packing.

    >>> [row.input_ids.tolist() for row in one_per_row([np.array([1]), np.array([2, 3])], pad_id=9)]
    [[1, 9], [2, 3]]
    """
    packing = Packing(length=max(1, *map(len, documents)), pad_id=pad_id, labels=labels)
    empty = _Open(packing).close(Place())
    return [next(pack([ids], packing), empty) for ids in documents]
