"""Pre-tokens end at the same places in text and in routed bytes."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from byteroute_ops.encoders import BYTE_ALPHABET, FramingName, framing_named
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.stream_codec import decode
from byteroute_ops.workshop.pretokens import regex_cuts, routed_cuts, spelled, splitter, stream_places, text_cuts

TEXTS = (
    "Hello, world's 12345 ends.",
    "",
    "Привет мир, это тест и ещё тест",
    "中文句子没有空格 and English 日本語のテキスト",
    "ภาษาไทยไม่มีช่องว่าง นะ\n\nนี่",
    "marker \uf900 and \uf904\uf901 literals 한국어 문장입니다 👍🏽!",
)
BYTE_OF = {char: byte for byte, char in enumerate(BYTE_ALPHABET)}

ROUTERS = [
    Router(load_policy(policy), framing=framing, barrier=barrier)
    for policy in ("utf-8", "script-a", "min-bytes")
    for framing in ("control", "bom")
    for barrier in (False, True)
]


def pieces_of(data: np.ndarray, cuts: np.ndarray) -> list[bytes]:
    """Returns the pre-tokens themselves."""
    raw = data.tobytes()
    edges = [*cuts.tolist(), len(raw)]
    return [raw[a:b] for a, b in pairwise(edges)]


def test_cuts_are_the_library_s() -> None:
    """Offsets are code points, over texts back to back, as the splitter gives them for each."""
    wanted = [piece for text in TEXTS for piece, _ in splitter().pre_tokenize_str(text)]
    seg = segment_batch(pa.array(TEXTS))
    found = pieces_of(seg.utf8, text_cuts(seg, regex_cuts(TEXTS)))
    assert [piece.decode() for piece in found] == wanted


@pytest.mark.parametrize("router", ROUTERS, ids=lambda one: f"{one.policy.name}-{one.framing}-{one.barrier}")
def test_places_hold_every_code_point(router: Router) -> None:
    """The bytes at a code point's place, decoded in the encoding of its row, are that code point."""
    seg = segment_batch(pa.array(TEXTS))
    routed = route_segmentation(seg, router)
    starts, widths = stream_places(routed, seg)
    assert starts.size == widths.size == seg.codepoints.size
    assert (starts[1:] >= starts[:-1] + widths[:-1]).all()
    encoding = np.repeat(routed.row_encoding, routed.row_text_end - routed.row_text_start)
    names = ("utf-8", "utf-16-be", "utf-16-le")
    for place, width, code, number in zip(starts, widths, seg.codepoints, encoding, strict=True):
        text = routed.data[place : place + width].tobytes().decode(names[number])
        assert text[-1] == chr(code)


@pytest.mark.parametrize("router", ROUTERS, ids=lambda one: f"{one.policy.name}-{one.framing}-{one.barrier}")
def test_same_boundaries_for_text_and_routed(router: Router) -> None:
    """Routed pre-tokens, framing left out, decode to the pre-tokens of the text cut at segments, one by one."""
    seg = segment_batch(pa.array(TEXTS))
    routed = route_segmentation(seg, router)
    cuts = regex_cuts(TEXTS)
    text = [piece.decode() for piece in pieces_of(seg.utf8, text_cuts(seg, cuts, routed))]
    starts, _ = stream_places(routed, seg)
    encoding = np.repeat(routed.row_encoding, routed.row_text_end - routed.row_text_start)
    names = ("utf-8", "utf-16-be", "utf-16-le")
    at = {int(place): names[number] for place, number in zip(starts, encoding, strict=True)}
    begins = routed_cuts(seg, cuts, routed)
    found, after_escape = [], False
    for begin, piece in zip(begins.tolist(), pieces_of(routed.data, begins), strict=True):
        is_escape = framing_named(router.framing).escape == piece and begin in at and not after_escape
        if not is_escape and (begin in at or after_escape):
            found.append(piece.decode(at.get(begin, "utf-8")))
        after_escape = is_escape
    assert found == text


@pytest.mark.parametrize("framing", ["control", "bom"])
def test_pieces_are_the_stream(framing: FramingName) -> None:
    """All pre-tokens together are the routed stream, which decodes to the text."""
    seg = segment_batch(pa.array(TEXTS))
    routed = route_segmentation(seg, Router(load_policy("min-bytes"), framing=framing))
    lines = list(spelled(routed.data, routed_cuts(seg, regex_cuts(TEXTS), routed)))
    data = bytes(BYTE_OF[char] for char in "".join(lines).replace(" ", ""))
    bounds = routed.doc_routed.tolist()
    streams = [data[a:b] for a, b in pairwise(bounds)]
    assert [decode(stream, framing=framing, profile="bytes", barrier=False) for stream in streams] == list(TEXTS)


def test_utf8_policy_cuts_nothing_more() -> None:
    """Where nothing is routed, cutting at segments cuts where the expression does, literals of markers aside."""
    texts = [text for text in TEXTS if "\uf900" not in text]
    seg = segment_batch(pa.array(texts))
    routed = route_segmentation(seg, Router(load_policy("utf-8")))
    cuts = regex_cuts(texts)
    assert text_cuts(seg, cuts, routed).tolist() == text_cuts(seg, cuts).tolist()
    assert routed_cuts(seg, cuts, routed).tolist() == text_cuts(seg, cuts).tolist()


def test_spelling_goes_on_over_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pre-tokens come in several strings, and the same ones."""
    data = np.frombuffer(b"one two three four", np.uint8)
    cuts = np.array([0, 3, 7, 13])
    whole = " ".join(spelled(data, cuts))
    monkeypatch.setattr("byteroute_ops.workshop.pretokens._CHUNK", 2)
    parts = list(spelled(data, cuts))
    assert len(parts) == 2
    assert " ".join(parts) == whole == "one Ġtwo Ġthree Ġfour"


def test_nothing_in_nothing_out() -> None:
    """An empty batch has no pre-tokens."""
    seg = segment_batch(pa.array([""]))
    routed = route_segmentation(seg, Router())
    assert regex_cuts([""]).size == 0
    assert routed_cuts(seg, regex_cuts([""]), routed).size == 0
    assert list(spelled(routed.data, np.zeros(0, np.int64))) == []
