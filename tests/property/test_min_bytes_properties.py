"""min-bytes against brute force and against a plain dynamic program, ties included."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plain_routing import (
    Cluster,
    brute_force,
    clusters_of,
    n_segments,
    segmentation_of,
    shortest_encodings,
    table_encodings,
    write,
)
from routing_cases import MIN_BYTES, pieces, texts

from byteroute_ops.encoders import framing_named
from byteroute_ops.min_bytes import min_bytes_spans
from byteroute_ops.min_bytes_blocks import costs_of
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation, route_text
from byteroute_ops.stream_assembly import literal_places

pytestmark = pytest.mark.usefixtures("kernel_form")

routers = st.sampled_from(MIN_BYTES)
short_texts = st.lists(pieces, max_size=7).map("".join)
# Few widths only, so that ties abound: gains of one byte, losses of one, and the unit that forces LE.
tie_texts = st.text("กa\nЖ\uefa4\ua4ef\uf900", max_size=60)


def encodings_of(text: str, router: Router) -> list[int]:
    """Returns the encoding of every cluster, as the fast path chose it."""
    seg = segmentation_of(text)
    framing = framing_named(router.framing)
    costs = costs_of(framing, router.profile, barrier=router.barrier)
    spans = min_bytes_spans(seg, costs, literal_places(seg, framing))
    found, position = [], 0
    for cluster in clusters_of(text):
        index = spans.holding(seg.doc_cp[:1] + position)[0]
        found.append(int(spans.encoding[index]) if index >= 0 else 0)
        position += len(cluster.text)
    return found


@settings(deadline=None, max_examples=300)
@given(short_texts, routers)
def test_brute_force_finds_nothing_better(text: str, router: Router) -> None:
    """On short texts the choice is that of trying every encoding of every cluster, ties included."""
    clusters = clusters_of(text)
    assume(len(clusters) <= 7)
    assert encodings_of(text, router) == brute_force(clusters, router)


@settings(deadline=None, max_examples=300)
@given(st.one_of(tie_texts, texts), routers)
def test_plain_dynamic_program_agrees(text: str, router: Router) -> None:
    """On longer texts the choice is that of a dynamic program that carries whole paths."""
    assert encodings_of(text, router) == shortest_encodings(clusters_of(text), router)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text("กa\n", min_size=1, max_size=40), min_size=1, max_size=40), routers)
def test_documents_do_not_touch_each_other(batch: list[str], router: Router) -> None:
    """A document's stream does not depend on its neighbours in the batch."""
    routed = route_segmentation(segmentation_of(*batch), router)
    assert routed.data.tobytes() == b"".join(route_text(text, router) for text in batch)


@settings(deadline=None)
@given(texts, routers)
def test_never_longer_than_utf8_with_escapes(text: str, router: Router) -> None:
    """The stream is at most the UTF-8 of the text, plus three bytes for every literal marker character."""
    plain = Router(load_policy("utf-8"), router.framing, router.profile, router.barrier)
    assert len(route_text(text, router)) <= len(route_text(text, plain))


@given(st.lists(st.sampled_from("ab"), max_size=6).map("".join), routers)
def test_the_oracles_agree_on_what_a_table_cannot_gain(text: str, router: Router) -> None:
    """ASCII is never routed, which all three oracles say."""
    clusters = [Cluster(char, "Latn") for char in text]
    table = table_encodings(clusters, Router(load_policy("script-a"), router.framing, router.profile, router.barrier))
    assert table == shortest_encodings(clusters, router)
    assert n_segments(table) == 0
    assert write(clusters, table, router) == text.encode()
