"""Routing of single texts and small batches, case by case."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from plain_routing import segmentation_of

from byteroute_ops.errors import ConfigError, InputError, RejectReason
from byteroute_ops.policy import load_policy
from byteroute_ops.records import SHARD
from byteroute_ops.routing import Router, route_batch, route_segmentation, route_text, text_digests
from byteroute_ops.stretches import take_stretches, woven

A = Router(load_policy("script-a"))
B = Router(load_policy("script-b"))
C = Router(load_policy("script-c"))
PLAIN = Router(load_policy("utf-8"))


def rows(text: str, router: Router) -> list[tuple[str, str, int, int, int, int]]:
    """Returns class, encoding, code points and bytes of every row of a text."""
    found = route_segmentation(segmentation_of(text), router).segments().to_pylist()[0]
    keys = ("encoding_script", "encoding", "text_start", "text_end", "start", "end")
    return [tuple(row[key] for key in keys) for row in found]


def test_nothing_routed_is_the_input_itself() -> None:
    """A batch that nothing is routed of comes back as the very bytes that went in."""
    seg = segmentation_of("abc", "Жд", "")
    routed = route_segmentation(seg, Router())
    assert routed.data is seg.utf8
    assert routed.doc_is_plain.all()
    assert routed.doc_routed.tolist() == seg.doc_byte.tolist()


@pytest.mark.parametrize("batch", [[], [""], ["", ""], ["", "a", ""], ["", "你好世界", ""]])
def test_empty_documents_and_batches(batch: list[str]) -> None:
    """Empty documents have empty streams and no rows, alone and between others."""
    routed = route_segmentation(segmentation_of(*batch), A)
    lengths = np.diff(routed.doc_routed).tolist()
    assert [n == 0 for n in lengths] == [text == "" for text in batch]
    assert [len(found) for found in routed.segments().to_pylist()] == [int(text != "") for text in batch]


def test_framing_is_between_rows() -> None:
    """Row bytes are payload only; regions bill opening markers to the row after, closing ones to the row before."""
    routed = route_segmentation(segmentation_of("ab你好cd"), A)
    assert rows("ab你好cd", A) == [
        ("Latn", "utf-8", 0, 2, 0, 2),
        ("Hani", "utf-16-be", 2, 4, 5, 9),
        ("Latn", "utf-8", 4, 6, 12, 14),
    ]
    assert routed.row_region.tolist() == [0, 2, 12, 14]


def test_neighbours_of_one_encoding_share_a_segment() -> None:
    """Runs of different scripts and one encoding are two rows in one segment."""
    assert rows("你好ひら", A) == [("Hani", "utf-16-be", 0, 2, 3, 7), ("Hira", "utf-16-be", 2, 4, 7, 11)]
    assert route_text("你好ひら", A).hex() == "efa4804f60597d30723089efa481"


def test_offsets_are_relative_to_the_document() -> None:
    """Rows of a later document start at 0 again, in code points and in bytes."""
    found = route_segmentation(segmentation_of("é你", "你é"), A).segments().to_pylist()
    assert [(row["text_start"], row["start"]) for row in found[1]] == [(0, 3), (1, 8)]


def test_barrier_precedes_every_opening_marker() -> None:
    """With the barrier on, C0 80 stands before each opening marker, at the start too."""
    router = Router(load_policy("script-a"), barrier=True)
    assert route_text("你a你", router).hex() == "c080efa4804f60efa48161c080efa4804f60efa481"


def test_literals_are_escaped_outside_segments_only() -> None:
    """U+F900 to U+F904 take an escape in UTF-8, none in a segment; U+F905 never."""
    assert route_text("a\uf900", PLAIN).hex() == "61efa484efa480"
    assert route_text("\uf900\uf905", PLAIN).hex() == "efa484efa480efa485"
    assert route_text("\uf900", A).hex() == "efa480f900efa481"
    assert route_text("\uf900", Router(load_policy("utf-8"), "bom")).hex() == "efa480"


def test_escapes_are_in_the_rows_bytes() -> None:
    """The bytes of a UTF-8 row include its escapes."""
    assert rows("a\uf900", PLAIN) == [("Latn", "utf-8", 0, 1, 0, 1), ("Hani", "utf-8", 1, 2, 1, 7)]


def test_unit_that_begins_a_marker_stays_outside() -> None:
    """U+A4EF (Lisu) is not routed in LE, U+EFA4 not in BE, and the segment is cut around it."""
    assert rows("\ua4d0\ua4ef\ua4d1", A) == [
        ("Lisu", "utf-16-le", 0, 1, 3, 5),
        ("Lisu", "utf-8", 1, 2, 8, 11),
        ("Lisu", "utf-16-le", 2, 3, 14, 16),
    ]
    assert rows("\ua4d0\ua4ef\ua4d1", B) == [("Lisu", "utf-16-be", 0, 3, 3, 9)]


def test_cluster_with_such_a_unit_stays_whole() -> None:
    """Marks after U+A4EF stay outside with it: boundaries are cluster boundaries."""
    assert [row[2:4] for row in rows("\ua4d0\ua4ef\u0301\ua4d1", A)] == [(0, 1), (1, 3), (3, 4)]


def test_short_segments_stay_utf8() -> None:
    """script-c routes from 5 code points of a merged segment on, commons of its runs counted."""
    assert route_text("你好世界", C) == "你好世界".encode()
    assert route_text("a你好世界人", C).hex() == "61efa4804f60597d4e16754c4ebaefa481"
    assert [row[1] for row in rows("你好ひらが", C)] == ["utf-16-be", "utf-16-be"]


def test_min_bytes_needs_more_than_the_framing() -> None:
    """A segment of 6 Han characters saves 6 bytes and costs 6: only the seventh pays."""
    assert route_text("你" * 6, Router()) == ("你" * 6).encode()
    assert route_text("你" * 7, Router()).hex() == "efa480" + "4f60" * 7 + "efa481"


def test_min_bytes_spans_a_space_that_costs_less_than_a_second_segment() -> None:
    """One space inside Thai stays in the segment; seven Latin letters end it."""
    thai = "ภาษาไทย"
    assert [row[1] for row in rows(f"{thai} {thai}", Router())] == ["utf-16-be"]
    long = [row[:2] for row in rows(f"{thai * 2} abcdefg{thai * 2}", Router())]
    # The space is of the Thai run and outside of its segment: the run has two rows.
    assert long == [("Thai", "utf-16-be"), ("Thai", "utf-8"), ("Latn", "utf-8"), ("Thai", "utf-16-be")]


def test_min_bytes_takes_le_where_be_is_forbidden() -> None:
    """Around U+EFA4 one LE segment is shorter than two BE ones."""
    text = "გამარჯობა\uefa4გამარჯობა"
    assert {row[1] for row in rows(text, Router())} == {"utf-16-le"}
    assert {row[1] for row in rows(text, Router(framing="bom"))} == {"utf-16-be"}


def test_supplementary_characters_are_surrogate_pairs() -> None:
    """A character beyond U+FFFF takes four payload bytes, in each order."""
    assert route_text("\U00020000", A).hex() == "efa480d840dc00efa481"
    assert route_text("\U0001e900", A).hex() == "efa4823ad800ddefa483"


def test_ranges_decide_by_the_first_code_point_of_a_cluster() -> None:
    """Under the article's dictionary a mark goes with its base, whatever range it is in."""
    policy = load_policy({"a": {"ranges": [[0x61, 0x61]], "encoding": "utf-16-be"}, "default": "utf-8"})
    assert rows("a\u0301b", Router(policy)) == [("Latn", "utf-16-be", 0, 2, 3, 7), ("Latn", "utf-8", 2, 3, 10, 11)]


def test_text_profile_is_printable() -> None:
    """Payload bytes are written in the byte alphabet, one character each."""
    assert route_text("你\n", Router(load_policy("script-a"), profile="text")).decode() == "\uf900O`ĀĊ\uf901"


@pytest.mark.parametrize(("framing", "profile", "barrier"), [("bom", "text", False), ("control", "text", True)])
def test_settings_that_do_not_go_together(framing: str, profile: str, barrier: bool) -> None:
    """A router of impossible settings cannot be made."""
    with pytest.raises(ConfigError):
        Router(load_policy("utf-8"), framing, profile, barrier)


def test_defaults_of_a_router() -> None:
    """The default is min-bytes, control, bytes, no barrier; the fingerprint says so."""
    assert Router().fingerprint() == {
        "format": 1,
        "policy": {"name": "min-bytes", "kind": "optimal"},
        "framing": "control",
        "profile": "bytes",
        "barrier": False,
    }


def test_lone_surrogate_is_an_input_error() -> None:
    """A lone surrogate is refused, with its place in code points."""
    with pytest.raises(InputError) as caught:
        route_text("ab\ud800", A)
    assert (caught.value.reason, caught.value.offset) == (RejectReason.LONE_SURROGATE, 2)


def test_batch_gets_the_columns_of_shards() -> None:
    """`route_batch` adds the columns of `records.SHARD`, of those types, to the columns that were there."""
    batch = pa.record_batch({"text": pa.array(["ab你", "", "Ж"]), "doc_id": pa.array(["1", "2", "3"])})
    found = route_batch(batch, A)
    added = ["routed", "segments", "n_codepoints", "n_utf8_bytes", "n_routed_bytes", "text_digest"]
    assert found.schema.names == ["text", "doc_id", *added]
    assert [found.schema.field(name) for name in added] == [SHARD.field(name) for name in added]
    found.validate(full=True)
    assert found["n_codepoints"].to_pylist() == [3, 0, 1]
    assert found["n_utf8_bytes"].to_pylist() == [5, 0, 2]
    assert found["n_routed_bytes"].to_pylist() == [len(stream) for stream in found["routed"].to_pylist()]


def test_batch_may_be_a_slice() -> None:
    """A sliced column is routed as a copy of it would be."""
    whole = pa.record_batch({"text": pa.array(["xyz", "ab你", "Ж"])})
    copy = pa.record_batch({"text": pa.array(["ab你", "Ж"])})
    assert route_batch(whole.slice(1), A).equals(route_batch(copy, A))


def test_digests_are_of_the_utf8() -> None:
    """A digest is the first 16 bytes of SHA-256 of the text, however it was routed."""
    expected = [hashlib.sha256(text.encode()).digest()[:16] for text in ("你好", "")]
    assert text_digests(segmentation_of("你好", "")).to_pylist() == expected


@pytest.mark.parametrize("n", [9, 9000])
def test_stretches_are_cut_and_put_in(n: int) -> None:
    """Both ways of copying, for few and for many elements, take and replace the same."""
    source = (np.arange(n) % 251).astype(np.uint8)
    start, end = np.array([0, 4, 6]), np.array([2, 4, 7])
    assert take_stretches(source, start, end).tolist() == source[[0, 1, 6]].tolist()
    insert, sizes = np.array([255, 254, 253], np.uint8), np.array([1, 2, 0])
    expected = [255, *source[2:4], 254, 253, *source[4:6], *source[7:]]
    assert woven(source, start, end, insert, sizes).tolist() == expected
