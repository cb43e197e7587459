"""Which ids an export writes, what delimits documents, which split they go to."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byteroute_ops.errors import ConfigError
from byteroute_ops.export import EXPORTERS, IdSpace, exporter, pick_dtype
from byteroute_ops.export.ids import InnerDelimiterError, delimit, flat_ids
from byteroute_ops.export.split import shuffle_keys, validation_mask

DOCUMENTS = st.lists(st.lists(st.integers(0, 5), max_size=5), max_size=8)


def flatten(documents: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Documents as flat ids and offsets."""
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return np.array([i for d in documents for i in d], np.int64), offsets


def unflatten(ids: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    """Flat ids and offsets as documents."""
    return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def plain_delimit(documents: list[list[int]], bos: int | None, eos: int | None) -> tuple[list[list[int]], int, int]:
    """The same, one document at a time."""
    kept, n_empty, n_inner = [], 0, 0
    for ids in documents:
        body = list(ids)
        if eos is not None and body and body[-1] == eos:
            body.pop()
        if bos is not None and body and body[0] == bos:
            body.pop(0)
        if not body:
            n_empty += 1
        elif (eos is not None and eos in body) or (bos is not None and bos in body):
            n_inner += 1
        else:
            kept.append([bos] * (bos is not None) + body + [eos] * (eos is not None))
    return kept, n_empty, n_inner


@given(DOCUMENTS, st.none() | st.integers(0, 5), st.none() | st.integers(0, 5))
def test_delimiters_equal_the_plain_form(documents: list[list[int]], bos: int | None, eos: int | None) -> None:
    """Vectorised delimiting does to every document what the one-by-one form does."""
    space = IdSpace(kind="text", size=6, bos=bos, eos=eos, drop_inner=True)
    result = delimit(*flatten(documents), space)
    assert (unflatten(result.ids, result.offsets), result.n_empty, result.n_inner) == plain_delimit(documents, bos, eos)
    assert len(result.kept) == len(result.offsets) - 1


def test_inner_eos_is_refused_with_the_remedy() -> None:
    """An EOS inside a document is an error that says how many, where, and what to do."""
    with pytest.raises(InnerDelimiterError, match=r"inside 1 document.*--inner-eos drop") as caught:
        delimit(*flatten([[1, 2], [1, 5, 2]]), IdSpace(kind="text", size=6, eos=5))
    assert caught.value.row == 1


def test_raw_bytes_have_no_room_for_delimiters() -> None:
    """Raw bytes with an EOS are refused; the message names ids that have one."""
    with pytest.raises(ConfigError, match=r"ids 'bytes' \(byte \+ 4, EOS 2\)"):
        IdSpace(kind="raw-bytes", size=256, eos=0)


@pytest.mark.parametrize("value", [-1, 10])
def test_delimiter_outside_the_vocabulary(value: int) -> None:
    """A delimiter must be one of the vocabulary's ids."""
    with pytest.raises(ConfigError, match="outside the vocabulary of 10 ids"):
        IdSpace(kind="text", size=10, eos=value)


def batch(routed: list[bytes], ids: list[list[int] | None]) -> pa.RecordBatch:
    """Rows with the two columns that ids come from."""
    columns = {"routed": pa.array(routed, pa.binary()), "token_ids": pa.array(ids, pa.list_(pa.int32()))}
    return pa.RecordBatch.from_pydict(columns)


@pytest.mark.parametrize(("kind", "expected"), [("bytes", [259, 4, 101]), ("raw-bytes", [255, 0, 97])])
def test_bytes_are_numbered_as_blt_does(kind: str, expected: list[int]) -> None:
    """Byte b is b + 4 (vocabulary 260), or itself (256); slices of a batch keep their own rows."""
    rows = batch([b"zz", b"\xff\x00", b"a", b""], [[], [], [], []])
    space = IdSpace(kind=kind, size=260 if kind == "bytes" else 256)
    ids, offsets = flat_ids(rows.slice(1), space)
    assert (ids.tolist(), offsets.tolist()) == (expected, [0, 2, 3, 3])


def test_token_ids_of_a_slice() -> None:
    """Slices of a list column give their own ids."""
    ids, offsets = flat_ids(batch([b""] * 3, [[9], [1, 2], [3]]).slice(1), IdSpace(kind="text", size=10))
    assert (ids.tolist(), offsets.tolist()) == ([1, 2, 3], [0, 2, 3])


def test_ids_beyond_the_vocabulary_are_refused() -> None:
    """An id that the vocabulary lacks shows that the shards are another tokenizer's."""
    with pytest.raises(ConfigError, match="ids from 3 to 10 found, the vocabulary has 10"):
        flat_ids(batch([b""], [[10, 3]]), IdSpace(kind="text", size=10))


def test_rows_without_ids_are_refused() -> None:
    """Shards written without ids have nothing to export but bytes."""
    with pytest.raises(ConfigError, match="1 of 2 rows have no token ids; export 'bytes'"):
        flat_ids(batch([b"", b""], [[1], None]), IdSpace(kind="text", size=10))


@pytest.mark.parametrize(
    ("name", "size", "dtype"),
    [
        ("megatron", 256, "uint8"),
        ("megatron", 260, "uint16"),
        ("megatron", 65536, "uint16"),
        ("megatron", 65537, "int32"),
        ("datatrove", 100, "uint16"),
        ("datatrove", 65537, "uint32"),
        ("olmo", 256, "uint8"),
        ("olmo", 65537, "uint32"),
    ],
)
def test_dtype_goes_by_the_largest_id(name: str, size: int, dtype: str) -> None:
    """The type is the smallest of the format that holds size - 1."""
    assert pick_dtype(exporter(name), IdSpace(kind="text", size=size)) == dtype


def test_no_type_is_wide_enough() -> None:
    """A vocabulary beyond int32 is refused for Megatron, which knows no uint32."""
    with pytest.raises(ConfigError, match="megatron holds ids up to 2147483647"):
        pick_dtype(exporter("megatron"), IdSpace(kind="text", size=2**31 + 1))


def test_unknown_format_lists_the_known() -> None:
    """A wrong --to is answered with all formats."""
    with pytest.raises(ConfigError, match=", ".join(EXPORTERS)):
        exporter("tfrecord")


def test_split_is_stable_and_monotone() -> None:
    """A document's split depends on its id alone, the fraction is met, and a larger one only adds documents."""
    ids = pa.array([f"document {i}" for i in range(20_000)])
    small, large = validation_mask(ids, 0.05), validation_mask(ids, 0.1)
    assert abs(small.mean() - 0.05) < 0.005
    assert (small <= large).all()
    assert (validation_mask(ids.slice(7), 0.05) == small[7:]).all()
    assert (validation_mask(ids, 0.05, seed=1) != small).any()


def test_split_golden() -> None:
    """The split of these ids never changes: an export of next year must agree with one of today."""
    mask = validation_mask(pa.array(["a", "b", "c", "d", "é", "", "文", "x" * 1000]), 0.5)
    assert mask.tolist() == GOLDEN_SPLIT


GOLDEN_SPLIT = [False, True, False, False, False, True, False, True]


@pytest.mark.parametrize("fraction", [-0.1, 1.0, 2])
def test_bad_fraction(fraction: float) -> None:
    """The validation fraction is at least 0 and below 1."""
    with pytest.raises(ConfigError, match="at least 0 and below 1"):
        validation_mask(pa.array(["a"]), fraction)


def test_shuffle_keys_tell_rows_apart() -> None:
    """Rows that share an id but not a place get different keys; another seed gives another order."""
    rows = pa.RecordBatch.from_pydict({"doc_id": ["a", "a"], "source": ["s", "s"], "position": [1, 2]})
    keys = shuffle_keys(rows, 0)
    assert keys[0] != keys[1]
    assert (shuffle_keys(rows, 1) != keys).all()
