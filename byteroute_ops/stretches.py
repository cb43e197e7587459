"""Cutting stretches out of arrays and putting others in, without a step for every element.

Where stretches are long they are copied one by one, where they are short by a mask over all elements:
the second costs the same however many there are.
"""

from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)

SPARSE_ELEMENTS: Final = 600
"""From this mean length on, copying one by one is faster."""


def take_stretches(source: npt.NDArray[Scalar], start: Offsets, end: Offsets) -> npt.NDArray[Scalar]:
    """Returns the elements in [start, end) of each stretch, one stretch after the other.

    Args:
        source: any one-dimensional array.
        start: int64[n], ascending.
        end: int64[n]; the stretches do not overlap.
    """
    if len(start) * SPARSE_ELEMENTS < len(source):
        parts = [source[first:last] for first, last in zip(start.tolist(), end.tolist(), strict=True)]
        return np.concatenate([source[:0], *parts])
    return source[alternating(np.column_stack([start, end]).ravel(), len(source), odd=True)]


def alternating(bounds: Offsets, n_elements: int, *, odd: bool) -> npt.NDArray[np.bool_]:
    """Returns a mask that changes at every bound: bool[n_elements], `not odd` before the first one."""
    lengths = np.diff(bounds, prepend=0, append=n_elements)
    values = np.arange(len(lengths)) % 2 == (1 if odd else 0)
    return np.repeat(values, lengths)


def woven(
    source: npt.NDArray[Scalar], start: Offsets, end: Offsets, insert: npt.NDArray[Scalar], n_insert: Offsets
) -> npt.NDArray[Scalar]:
    """Returns `source` with each stretch [start, end) replaced by the next `n_insert` elements of `insert`.

    Args:
        source: any one-dimensional array; not modified.
        start: int64[k], ascending.
        end: int64[k]; the stretches do not overlap, and may be empty.
        insert: all insertions, one after the other, of the same dtype.
        n_insert: int64[k], elements of each.
    """
    if not len(start):
        return source
    if len(start) * SPARSE_ELEMENTS < len(source):
        parts: list[npt.NDArray[Scalar]] = []
        done = used = 0
        for first, last, size in zip(start.tolist(), end.tolist(), n_insert.tolist(), strict=True):
            parts += (source[done:first], insert[used : used + size])
            done, used = last, used + size
        return np.concatenate([*parts, source[done:]])
    kept = source
    if (end > start).any():
        kept = source[alternating(np.column_stack([start, end]).ravel(), len(source), odd=False)]
    out = np.empty(len(kept) + len(insert), source.dtype)
    # Where each insertion begins in the output: what is kept before it, and the insertions before it.
    begin = start - np.cumsum(end - start) + (end - start) + np.cumsum(n_insert) - n_insert
    inserted = alternating(np.column_stack([begin, begin + n_insert]).ravel(), len(out), odd=True)
    out[inserted] = insert
    np.logical_not(inserted, out=inserted)
    out[inserted] = kept
    return out
