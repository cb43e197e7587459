"""Packing: no token is lost, none is predicted twice, nothing crosses a document, padding counts for nothing."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byteroute_ops.errors import ConfigError
from byteroute_ops.loading import IGNORE, Packing, Place, Row, attention_mask, one_per_row, pack, picture, stack

# Every token of the test documents has a number of its own, so that rows can be read back without ambiguity.
LENGTHS = st.lists(st.integers(0, 9), max_size=8)
PACKINGS = st.builds(
    Packing,
    length=st.integers(1, 6),
    pad_id=st.sampled_from([0, 1, 3, 500]),
    fill=st.sampled_from(["cut", "whole"]),
    labels=st.sampled_from(["next", "same"]),
)


def documents(lengths: list[int]) -> list[np.ndarray]:
    """Documents of these lengths with consecutive ids."""
    ends = list(itertools.accumulate(lengths))
    return [np.arange(end - length, end, dtype=np.int64) for length, end in zip(lengths, ends, strict=True)]


def pieces(row: Row) -> list[np.ndarray]:
    """Column numbers of each piece of a row."""
    n = row.document_ids.max() + 1 if len(row.document_ids) else 0
    return [np.flatnonzero(row.document_ids == i) for i in range(n)]


@given(LENGTHS, PACKINGS)
def test_every_token_once_in_order(lengths: list[int], packing: Packing) -> None:
    """The rows without their padding are the documents, back to back."""
    rows = list(pack(documents(lengths), packing))
    found = [row.input_ids[row.document_ids >= 0].tolist() for row in rows]
    assert list(itertools.chain(*found)) == list(range(sum(lengths)))
    assert all(len(array) == packing.length for row in rows for array in row.arrays().values())


@given(LENGTHS, PACKINGS)
def test_every_token_but_the_first_is_predicted_once(lengths: list[int], packing: Packing) -> None:
    """With labels `next`, each token that has a predecessor in its document is the label of that one and no other."""
    predicted = []
    for row in pack(documents(lengths), packing):
        if packing.labels == "same":
            return
        counted = row.labels != IGNORE
        assert (row.labels[counted] == row.input_ids[counted] + 1).all()
        predicted += row.labels[counted].tolist()
    firsts = {int(ids[0]) for ids in documents(lengths) if len(ids)}
    assert sorted(predicted) == sorted(set(range(sum(lengths))) - firsts)


@given(LENGTHS, st.integers(1, 6), st.sampled_from(["cut", "whole"]))
def test_labels_for_models_that_shift(lengths: list[int], length: int, fill: str) -> None:
    """With labels `same`, shifting them by one inside a row gives what `next` says, where the row can know it."""
    same = pack(documents(lengths), Packing(length=length, fill=fill, labels="same"))
    following = pack(documents(lengths), Packing(length=length, fill=fill, labels="next"))
    for a, b in zip(same, following, strict=True):
        shifted = np.append(a.labels[1:], IGNORE)
        assert (shifted[:-1] == b.labels[:-1]).all()
        assert ((a.labels == IGNORE) | (a.labels == a.input_ids)).all()


@given(LENGTHS, PACKINGS)
def test_places_and_padding(lengths: list[int], packing: Packing) -> None:
    """Positions count from 0 in every piece; padding has the pad id, no label, no document, and stands last."""
    for row in pack(documents(lengths), packing):
        columns = pieces(row)
        assert np.concatenate(columns).tolist() == list(range(sum(map(len, columns))))
        for piece in columns:
            assert row.position_ids[piece].tolist() == list(range(len(piece)))
        padding = row.document_ids == -1
        assert (row.input_ids[padding] == packing.pad_id).all()
        assert (row.labels[padding] == IGNORE).all()


@given(LENGTHS, PACKINGS)
def test_masks_equal_the_plain_rule(lengths: list[int], packing: Packing) -> None:
    """A token sees itself and its predecessors of its piece; a padding place sees and is seen by itself alone."""
    for row in pack(documents(lengths), packing):
        mask, ids = attention_mask(row.document_ids), row.document_ids
        for i, j in itertools.product(range(len(ids)), repeat=2):
            assert mask[i, j] == (i == j or (ids[i] == ids[j] != -1 and j < i))


@given(LENGTHS, PACKINGS, st.integers(0, 30))
def test_going_on_from_any_row(lengths: list[int], packing: Packing, n: int) -> None:
    """Packing from the place after row n gives the rows from n + 1 on, arrays and places alike."""
    docs = documents(lengths)
    rows = list(pack(docs, packing))
    if not rows:
        return
    place = rows[n % len(rows)].after
    resumed = list(pack(docs[place.document :], packing, start=place))
    expected = rows[n % len(rows) + 1 :]
    assert [row.after for row in resumed] == [row.after for row in expected]
    for a, b in zip(resumed, expected, strict=True):
        assert {k: v.tolist() for k, v in a.arrays().items()} == {k: v.tolist() for k, v in b.arrays().items()}


@given(LENGTHS, st.integers(1, 6))
def test_whole_keeps_documents_together(lengths: list[int], length: int) -> None:
    """With fill `whole` a document that fits into a row lies in one row."""
    rows = list(pack(documents(lengths), Packing(length=length, fill="whole")))
    for ids in documents(lengths):
        holding = [row for row in rows if np.isin(ids, row.input_ids[row.document_ids >= 0]).any()]
        assert len(holding) == -(-len(ids) // length)


def test_a_pad_id_that_is_the_eos_hides_nothing() -> None:
    """Padding is known by its place: with EOS as pad id, the real EOS keeps its label and padding has none."""
    row = next(pack([np.array([7, 2])], Packing(length=4, pad_id=2)))
    assert row.input_ids.tolist() == [7, 2, 2, 2]
    assert row.labels.tolist() == [2, IGNORE, IGNORE, IGNORE]
    assert row.document_ids.tolist() == [0, 0, -1, -1]


def test_one_document_a_row() -> None:
    """Unpacked rows are as long as the longest document and hold one each, an empty one too."""
    rows = one_per_row([np.array([1, 2, 3]), np.array([], np.int64), np.array([4])], pad_id=9)
    assert [row.input_ids.tolist() for row in rows] == [[1, 2, 3], [9, 9, 9], [4, 9, 9]]
    assert [row.labels.tolist() for row in rows] == [[2, 3, IGNORE], [IGNORE] * 3, [IGNORE] * 3]


def test_stacked_rows() -> None:
    """A batch has each array stacked and the mask of every row."""
    rows = list(pack(documents([3, 2, 4]), Packing(length=4)))
    batch = stack(rows)
    assert {name: array.shape for name, array in batch.items()} == {
        "input_ids": (3, 4),
        "labels": (3, 4),
        "position_ids": (3, 4),
        "document_ids": (3, 4),
        "attention_mask": (3, 4, 4),
    }
    assert (batch["attention_mask"][1] == attention_mask(rows[1].document_ids)).all()


def test_picture() -> None:
    """The picture shows documents, positions, who sees whom, what is predicted, and padding."""
    row = next(pack([np.arange(3), np.arange(2)], Packing(length=7)))
    assert picture(row).split("\n") == [
        "doc pos  attends  predicts",
        "  0   0  #......  yes",
        "  0   1  o#.....  yes",
        "  0   2  oo#....  no",
        "  1   0  ...#...  yes",
        "  1   1  ...o#..  no",
        "  -   -  -------  no",
        "  -   -  -------  no",
    ]


def test_rows_have_a_length() -> None:
    """A row of no tokens is refused."""
    with pytest.raises(ConfigError, match="at least one token, found length 0"):
        Packing(length=0)


def test_nothing_to_pack() -> None:
    """No documents, or only empty ones, make no row."""
    assert list(pack([], Packing(length=3))) == []
    assert list(pack([np.zeros(0, np.int64)] * 2, Packing(length=3), start=Place())) == []
