"""The decoder on single streams; noise and chunkings are in the property tests, refusals in the vectors."""

import pytest

from byteroute_ops.encoders import ENCODING_NAMES
from byteroute_ops.errors import ConfigError, InputError, StreamError
from byteroute_ops.stream_codec import StreamDecoder, decode, parse

MIXED = bytes.fromhex("61 efa480 4f60597d efa481 efa484efa482 efa482 604f efa483")


def test_empty_stream_is_the_empty_text() -> None:
    """No bytes are a valid stream, in every setting."""
    for framing, profile, barrier in [("control", "bytes", True), ("bom", "bytes", False), ("control", "text", False)]:
        assert decode(b"", framing=framing, profile=profile, barrier=barrier) == ""


def test_both_byte_orders_and_an_escape() -> None:
    """Segments of both orders and an escaped literal, side by side."""
    assert decode(MIXED) == "a你好\uf902你"


def test_marker_bytes_at_an_odd_offset_are_payload() -> None:
    """A closing marker is found at even distances only."""
    assert decode(bytes.fromhex("efa480 30ef a481 3042 efa481")) == "\u30ef\ua481\u3042"


def test_neighbouring_segments_of_one_encoding_are_read() -> None:
    """A router joins them, a reader need not insist."""
    assert decode(bytes.fromhex("efa480 4f60 efa481 efa480 597d efa481")) == "你好"


def test_compatibility_ideographs_beyond_the_markers_are_text() -> None:
    """U+F905 shares its first two bytes with the markers and is a character."""
    assert decode("\uf905\uf93f".encode()) == "\uf905\uf93f"


def test_framing_bom_takes_control_markers_as_text() -> None:
    """U+F900 to U+F904 are characters in framing bom."""
    assert decode("\uf900\uf901\uf904".encode(), framing="bom") == "\uf900\uf901\uf904"


def test_parse_names_every_byte() -> None:
    """Pieces tell text, escape, markers and payload apart, with the encoding of segments."""
    found = [(piece.kind, piece.start, piece.end, ENCODING_NAMES[piece.encoding], piece.text) for piece in parse(MIXED)]
    assert found == [
        ("text", 0, 1, "utf-8", "a"),
        ("opening", 1, 4, "utf-16-be", ""),
        ("payload", 4, 8, "utf-16-be", "你好"),
        ("closing", 8, 11, "utf-16-be", ""),
        ("escape", 11, 14, "utf-8", ""),
        ("text", 14, 17, "utf-8", "\uf902"),
        ("opening", 17, 20, "utf-16-le", ""),
        ("payload", 20, 22, "utf-16-le", "你"),
        ("closing", 22, 25, "utf-16-le", ""),
    ]


def test_parse_tells_barriers() -> None:
    """A barrier is a piece of its own."""
    pieces = parse(bytes.fromhex("c080 feff 4f60 ffff"), framing="bom", barrier=True)
    assert [(p.kind, p.start, p.end) for p in pieces] == [
        ("barrier", 0, 2),
        ("opening", 2, 4),
        ("payload", 4, 6),
        ("closing", 6, 8),
    ]


def test_parse_yields_what_comes_before_an_error() -> None:
    """Pieces before the offset are yielded, then the error is raised."""
    pieces = parse(bytes.fromhex("6162 efa480 4f60 d83d efa481"))
    assert [next(pieces).text for _ in range(3)] == ["ab", "", "你"]
    with pytest.raises(StreamError) as caught:
        next(pieces)
    assert caught.value.offset == 7


def test_error_is_an_input_error_without_text() -> None:
    """A StreamError is the data's fault and says reason and offset, never what the stream held."""
    with pytest.raises(InputError) as caught:
        decode(b"secret\xff")
    assert str(caught.value) == "invalid UTF-8 at byte 6"


def test_error_stays() -> None:
    """After an error the decoder raises it again, whatever comes."""
    decoder = StreamDecoder()
    with pytest.raises(StreamError) as first:
        decoder.feed(b"a\xff")
    for call in (lambda: decoder.feed(b"b"), decoder.finish, lambda: list(decoder.pieces(b"b"))):
        with pytest.raises(StreamError) as again:
            call()
        assert again.value is first.value


def test_text_comes_as_soon_as_it_is_complete() -> None:
    """The incremental decoder does not wait for the end of a segment."""
    decoder = StreamDecoder()
    assert [decoder.feed(bytes([byte])) for byte in MIXED[:8]] == ["a", "", "", "", "", "你", "", "好"]


def test_settings_that_do_not_go_together() -> None:
    """The decoder refuses what no stream can be."""
    with pytest.raises(ConfigError, match="not valid UTF-8"):
        decode(b"", framing="bom", profile="text")


WRONG = [
    ("efa480 0020 efa481", {"profile": "text"}),
    ("efa480 4f60 efa481", {"barrier": True}),
    ("efa480 d83dde00 efa481", {"framing": "bom"}),
    ("feff 4f60 ffff", {"framing": "control"}),
    ("c080 efa480 4f60 efa481", {"barrier": False}),
]


@pytest.mark.parametrize(("stream", "kind"), WRONG)
def test_wrong_settings_are_not_guessed(stream: str, kind: dict[str, object]) -> None:
    """The decoder does not try other settings than it was told."""
    with pytest.raises(StreamError):
        decode(bytes.fromhex(stream), **kind)
