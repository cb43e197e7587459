"""The compiled modules give, array by array, what the NumPy passes give."""

import dataclasses
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing_cases import ROUTERS

from byteroute_ops import compiled
from byteroute_ops.errors import InputError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.stretches import take_stretches, woven

pytestmark = pytest.mark.skipif(
    not compiled.is_complete(), reason="byteroute was installed without its compiled modules"
)

# One of each kind that a rule speaks of: controls, jamo, flags, joiners, linkers, prepended, tags, extensions …
RULES = [
    0x0A, 0x0D, 0x7F, 0x85, 0xAD, 0x0600, 0x110BD, 0x0D4E, 0x1100, 0x1161, 0x11A8, 0xAC00, 0xAC01, 0x1F1E6, 0x1F1E7,
    0x200D, 0x0308, 0x0903, 0x0915, 0x094D, 0x0930, 0x1CD0, 0x0342, 0xFE0E, 0xFE0F, 0x20E3, 0x23, 0x31, 0x2764, 0xA9,
    0x1F600, 0x1F44D, 0x1F3FB, 0x1F3F4, 0xE0067, 0xE007F, 0x1F200, 0x3297, 0x3001, 0x30FC, 0x3042, 0x30A2, 0x4E00,
    0xB7, 0x0660, 0x060C, 0x0627, 0x0964, 0x0378, 0x10FFFF, 0xEFA4, 0xA4EF, 0xF900, 0xF904, 0xFFFF, 0x41, 0x44F, 0x20,
]  # fmt: skip
CHARACTERS = st.one_of(st.sampled_from([chr(one) for one in RULES]), st.characters(exclude_categories=["Cs"]))
BATCHES = st.lists(st.text(CHARACTERS, max_size=24), max_size=12)


def by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the compiled modules out until the test's end."""
    monkeypatch.setattr(compiled, "runs", None)
    monkeypatch.setattr(compiled, "streams", None)


def assert_same(one: Any, other: Any) -> None:
    """Compares the arrays of two records, with their types."""
    for field in dataclasses.fields(one):
        ours, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype, field.name
            np.testing.assert_array_equal(ours, theirs, err_msg=field.name)


@given(BATCHES)
@settings(max_examples=600)
def test_segmentations_are_equal(texts: list[str]) -> None:
    """All arrays of a segmentation, for texts in which most characters begin some rule."""
    batch = pa.array(texts, pa.string())
    found = segment_batch(batch)
    with pytest.MonkeyPatch.context() as patch:
        by_numpy(patch)
        assert_same(found, segment_batch(batch))


@pytest.mark.parametrize(
    "router", ROUTERS, ids=lambda router: f"{router.policy.name}-{router.framing}-{router.profile}-{router.barrier}"
)
@given(texts=BATCHES)
@settings(max_examples=40)
def test_streams_are_equal(router: Router, texts: list[str]) -> None:
    """All arrays of routed streams, under every policy, framing, profile and barrier setting."""
    batch = pa.array(texts, pa.string())
    found = route_segmentation(segment_batch(batch), router)
    with pytest.MonkeyPatch.context() as patch:
        by_numpy(patch)
        assert_same(found, route_segmentation(segment_batch(batch), router))


@given(st.lists(st.text(st.sampled_from("aя漢नั \u00b7"), max_size=400), max_size=6), st.booleans())
@settings(max_examples=200)
def test_shortest_streams_are_equal(texts: list[str], barrier: bool) -> None:
    """Long texts in which segments of min-bytes begin and end: the price of a segment decides at every word."""
    router = Router(load_policy("min-bytes"), barrier=barrier)
    batch = pa.array(texts, pa.string())
    found = route_segmentation(segment_batch(batch), router)
    with pytest.MonkeyPatch.context() as patch:
        by_numpy(patch)
        assert_same(found, route_segmentation(segment_batch(batch), router))


@given(st.data())
def test_stretches_are_equal(data: st.DataObject) -> None:
    """Bytes taken out of an array, and put in the place of others."""
    source = np.frombuffer(data.draw(st.binary(max_size=60)), np.uint8)
    bounds = sorted(data.draw(st.lists(st.integers(0, len(source)), max_size=12)))
    bounds = bounds[: len(bounds) // 2 * 2]
    start, end = np.array(bounds[::2], np.int64), np.array(bounds[1::2], np.int64)
    sizes = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(start), max_size=len(start))), np.int64)
    insert = np.arange(int(sizes.sum()), dtype=np.uint8)
    found = take_stretches(source, start, end), woven(source, start, end, insert, sizes)
    with pytest.MonkeyPatch.context() as patch:
        by_numpy(patch)
        np.testing.assert_array_equal(found[0], take_stretches(source, start, end))
        np.testing.assert_array_equal(found[1], woven(source, start, end, insert, sizes))


@given(st.lists(st.one_of(st.binary(max_size=8), st.text(max_size=4).map(str.encode)), max_size=6))
@settings(max_examples=400)
def test_the_same_bytes_are_no_utf8(documents: list[bytes]) -> None:
    """What is not well-formed is refused with the offset of its first byte; Python's decoder says what that is."""
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(documents))]
    batch = pa.Array.from_buffers(pa.string(), len(documents), buffers)
    expected = None
    for start, document in zip(offsets.tolist(), documents, strict=False):
        try:
            document.decode()
        except UnicodeDecodeError as error:
            expected = start + error.start
            break
    if expected is None:
        segment_batch(batch)
        return
    with pytest.raises(InputError) as raised:
        segment_batch(batch)
    assert raised.value.offset == expected


def test_breaks_are_those_of_unicode(data_dir: Path) -> None:
    """GraphemeBreakTest.txt of Unicode, every line, as one document and all together."""
    lines = (
        gzip.decompress((data_dir / "unicode" / "GraphemeBreakTest-18.0.0.txt.gz").read_bytes()).decode().splitlines()
    )
    texts, breaks = [], []
    for line in filter(None, (line.split("#")[0].strip() for line in lines)):
        marks = line.split()
        texts.append("".join(chr(int(mark, 16)) for mark in marks[1::2]))
        breaks += [mark == "÷" for mark in marks[:-1:2]]
    assert segment_batch(pa.array(texts)).cluster_breaks.tolist() == breaks
