"""What routing must hold for every text, policy, framing, profile and barrier setting."""

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_routing import plain_route, segmentation_of
from routing_cases import MIN_BYTES, ROUTERS, options, routers, texts

from byteroute_ops import stretches
from byteroute_ops.routing import Routed, Router, route_segmentation, route_text
from byteroute_ops.stream_codec import decode

pytestmark = pytest.mark.usefixtures("kernel_form")

batches = st.lists(texts, max_size=6)


def streams_of(routed: Routed) -> list[bytes]:
    """Returns the stream of every document."""
    return [routed.data[start:end].tobytes() for start, end in pairwise(routed.doc_routed.tolist())]


@settings(deadline=None, max_examples=300)
@given(batches, routers)
def test_batch_router_equals_the_plain_one(batch: list[str], router: Router) -> None:
    """The vectorised router writes what the plain per-document twin writes, byte for byte."""
    assert streams_of(route_segmentation(segmentation_of(*batch), router)) == [plain_route(t, router) for t in batch]


@settings(deadline=None, max_examples=60)
@given(batches, routers)
def test_both_ways_of_copying_give_the_same_bytes(batch: list[str], router: Router) -> None:
    """Whether stretches are copied one by one or by a mask changes nothing."""
    seg, threshold = segmentation_of(*batch), stretches.SPARSE_ELEMENTS
    try:
        outcomes = []
        for stretches.SPARSE_ELEMENTS in (0, 1 << 40):
            outcomes.append(route_segmentation(seg, router).data.tobytes())
    finally:
        stretches.SPARSE_ELEMENTS = threshold
    assert outcomes[0] == outcomes[1]


@settings(deadline=None, max_examples=100)
@given(texts)
def test_decoding_gives_the_text_back(text: str) -> None:
    """`decode(route(t)) == t` for every policy and setting."""
    for router in ROUTERS:
        assert decode(route_text(text, router), **options(router)) == text


@settings(deadline=None)
@given(texts)
def test_text_profile_is_text(text: str) -> None:
    """The text profile is valid UTF-8 and has no C0 control that the text has not."""
    for router in ROUTERS:
        if router.profile == "text":
            stream = route_text(text, router).decode()
            assert {char for char in stream if char < " "} <= set(text)


@settings(deadline=None)
@given(texts)
def test_no_policy_beats_min_bytes(text: str) -> None:
    """Of all policies with the same settings, min-bytes writes the shortest stream."""
    for best in MIN_BYTES:
        others = [router for router in ROUTERS if options(router) == options(best)]
        assert len(route_text(text, best)) == min(len(route_text(text, router)) for router in others)


@settings(deadline=None, max_examples=200)
@given(batches, routers)
def test_rows_tile_texts_and_streams(batch: list[str], router: Router) -> None:
    """Rows cover every text and, with the framing billed to them, every stream, in order, on cluster boundaries."""
    seg = segmentation_of(*batch)
    routed = route_segmentation(seg, router)
    assert routed.row_region[0] == 0
    assert routed.row_region[-1] == len(routed.data)
    assert (routed.row_region[1:] >= routed.row_region[:-1]).all()
    position = dict.fromkeys(range(len(batch)), 0)
    for row, doc in enumerate(routed.row_doc.tolist()):
        assert routed.row_text_start[row] == position[doc] < routed.row_text_end[row]
        position[doc] = routed.row_text_end[row]
        assert seg.cluster_breaks[seg.doc_cp[doc] + routed.row_text_start[row]]
        base = routed.doc_routed[doc]
        assert routed.row_region[row] <= base + routed.row_start[row]
        assert base + routed.row_end[row] <= routed.row_region[row + 1]
    assert list(position.values()) == [len(text) for text in batch]


@settings(deadline=None, max_examples=200)
@given(texts, routers)
def test_each_row_decodes_alone(text: str, router: Router) -> None:
    """The payload bytes of a row, framed again, decode to the row's text."""
    routed = route_segmentation(segmentation_of(text), router)
    alone = Router(router.policy, router.framing, router.profile)
    head, tail = {"control": ("\uf900\uf902", "\uf901\uf903"), "bom": ("", "")}[router.framing]
    for row, encoding in enumerate(routed.row_encoding.tolist()):
        payload = routed.data[routed.row_start[row] : routed.row_end[row]].tobytes()
        if encoding and router.framing == "control":
            payload = head[encoding - 1].encode() + payload + tail[encoding - 1].encode()
        elif encoding:
            payload = (b"\xfe\xff", b"\xff\xfe")[encoding - 1] + payload + b"\xff\xff"
        assert decode(payload, **options(alone)) == text[routed.row_text_start[row] : routed.row_text_end[row]]


@settings(deadline=None, max_examples=100)
@given(batches, routers)
def test_plain_documents_are_those_that_are_unchanged(batch: list[str], router: Router) -> None:
    """`doc_is_plain` is true exactly where the stream is the UTF-8 of the text."""
    routed = route_segmentation(segmentation_of(*batch), router)
    unchanged = [stream == text.encode() for stream, text in zip(streams_of(routed), batch, strict=True)]
    assert routed.doc_is_plain.tolist() == unchanged


@settings(deadline=None, max_examples=60)
@given(batches, routers)
def test_arrow_columns_are_well_formed(batch: list[str], router: Router) -> None:
    """The Arrow columns pass full validation and hold the streams and rows."""
    routed = route_segmentation(segmentation_of(*batch), router)
    assert routed.streams().to_pylist() == streams_of(routed)
    segments = routed.segments()
    segments.validate(full=True)
    assert pa.compute.list_value_length(segments).to_pylist() == [
        routed.row_doc.tolist().count(doc) for doc in range(len(batch))
    ]
