"""The decoder on streams, damaged streams and noise: it accepts or raises StreamError, however it is fed."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing_cases import ROUTERS, SETTINGS, options, routers, texts

from byteroute_ops.errors import StreamError
from byteroute_ops.routing import Router, route_text
from byteroute_ops.stream_codec import StreamDecoder, decode, parse

FRAGMENTS = [
    *(bytes([byte]) for byte in (0x00, 0x41, 0x80, 0x81, 0x82, 0x83, 0x84, 0xA4, 0xC0, 0xD8, 0xEF, 0xFE, 0xFF)),
    *(f"{char}".encode() for char in "\uf900\uf901\uf902\uf903\uf904\uf905é你😀ŃØ"),
    *map(bytes.fromhex, ("c080", "efa4", "feff", "fffe", "ffff", "4f60", "d83dde00", "3dd800de", "d83d", "eda080")),
]
settings_of_streams = st.sampled_from([dict(zip(("framing", "profile", "barrier"), s, strict=True)) for s in SETTINGS])
noise = st.one_of(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map(b"".join), st.binary(max_size=30))


@st.composite
def damaged_streams(draw: st.DrawFn) -> tuple[bytes, dict[str, object]]:
    """Returns a routed stream with a few bytes lost, put in or changed, and its settings."""
    router: Router = draw(st.sampled_from(ROUTERS))
    stream = route_text(draw(texts), router)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(stream)))
        end = min(len(stream), at + draw(st.integers(0, 4)))
        stream = stream[:at] + draw(st.one_of(st.just(b""), st.sampled_from(FRAGMENTS))) + stream[end:]
    return stream, options(router)


def outcome(chunks: list[bytes], kind: dict[str, object]) -> str | tuple[int | None, str]:
    """Returns the text, or the error's offset and detail, of a stream fed in chunks."""
    decoder = StreamDecoder(**kind)
    try:
        return "".join([decoder.feed(chunk) for chunk in chunks]) + decoder.finish()
    except StreamError as error:
        return error.offset, error.detail


def whole(stream: bytes, kind: dict[str, object]) -> str | tuple[int | None, str]:
    """Returns what `decode` says, in the same form."""
    try:
        return decode(stream, **kind)
    except StreamError as error:
        return error.offset, error.detail


def check_all_ways(stream: bytes, kind: dict[str, object], rng: random.Random) -> None:
    """Checks that every chunking says what `decode` says, and that `parse` agrees."""
    expected = whole(stream, kind)
    assert outcome([stream], kind) == expected
    assert outcome([stream[i : i + 1] for i in range(len(stream))], kind) == expected
    cuts = sorted(rng.randrange(len(stream) + 1) for _ in range(4))
    assert outcome([stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)], kind) == expected
    if isinstance(expected, str):
        assert expected.encode().decode() == expected
        found = list(parse(stream, **kind))
        assert "".join(piece.text for piece in found) == expected
        assert b"".join(stream[piece.start : piece.end] for piece in found) == stream
    else:
        assert expected[0] is not None
        assert 0 <= expected[0] <= len(stream)


@settings(deadline=None, max_examples=300)
@given(texts, routers, st.randoms())
def test_any_chunking_gives_the_text(text: str, router: Router, rng: random.Random) -> None:
    """A routed stream decodes to its text in any chunking."""
    stream = route_text(text, router)
    assert whole(stream, options(router)) == text
    check_all_ways(stream, options(router), rng)


@settings(deadline=None, max_examples=600)
@given(damaged_streams(), st.randoms())
def test_damaged_streams_decode_or_raise(damaged: tuple[bytes, dict[str, object]], rng: random.Random) -> None:
    """A damaged stream is accepted or raises StreamError, the same in any chunking."""
    check_all_ways(*damaged, rng)


@settings(deadline=None, max_examples=1000)
@given(noise, settings_of_streams, st.randoms())
def test_noise_decodes_or_raises(stream: bytes, kind: dict[str, object], rng: random.Random) -> None:
    """Noise made of markers and fragments is accepted or raises StreamError, the same in any chunking."""
    check_all_ways(stream, kind, rng)


@settings(deadline=None, max_examples=300)
@given(noise, settings_of_streams)
def test_what_is_before_the_offset_fits(stream: bytes, kind: dict[str, object]) -> None:
    """The bytes before the offset of an error raise no error until the stream ends there."""
    result = whole(stream, kind)
    if isinstance(result, tuple):
        StreamDecoder(**kind).feed(stream[: result[0]])


BLOCKS = {
    "opening markers": "efa480",
    "an open segment": "4f60",
    "closing markers at odd offsets": "41efa48141efa481",
    "surrogates": "d83dde00",
    "escapes": "efa484efa480",
    "empty segments of the other framing": "feffffff",
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS.keys())
@pytest.mark.parametrize(("framing", "profile", "barrier"), SETTINGS)
def test_long_hostile_streams_take_linear_time(block: str, framing: str, profile: str, barrier: bool) -> None:
    """A megabyte of what makes a careless decoder search again and again is answered (else the test times out)."""
    kind = {"framing": framing, "profile": profile, "barrier": barrier}
    stream = bytes.fromhex("61" + "efa480") + bytes.fromhex(block) * (1 << 17)
    chunks = [stream[i : i + 64] for i in range(0, len(stream), 64)]
    assert outcome(chunks, kind) == whole(stream, kind)
