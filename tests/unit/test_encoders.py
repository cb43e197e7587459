"""Tables of encodings, framings and the byte alphabet."""

import json
from importlib import resources

import numpy as np
import pytest

from byteroute_ops.encoders import (
    BYTE_ALPHABET,
    ENCODING_NAMES,
    ENCODINGS,
    FRAMINGS,
    SEGMENT_ENCODINGS,
    Framing,
    check_options,
    encoding_named,
    framing_named,
    from_alphabet,
    payload_widths,
    to_alphabet,
    utf16_units,
)
from byteroute_ops.errors import ConfigError

EDGES = [0x00, 0x41, 0x7F, 0x80, 0xAD, 0xFF, 0x100, 0x7FF, 0x800, 0xA4EF, 0xD7FF, 0xE000, 0xEFA4, 0xFFFF]
WIDE = [0x10000, 0x103FF, 0x10400, 0x1F600, 0x20000, 0x10FFFF]


def array(codepoints: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    """Returns code points as the kernels take them."""
    return np.array(codepoints, np.uint32)


def test_ids_are_indices() -> None:
    """An encoding's id is its place in the table."""
    assert [encoding.id for encoding in ENCODINGS] == list(range(len(ENCODINGS)))


def test_policy_schema_lists_the_encodings() -> None:
    """schemas/policy.schema.json allows the encodings of the registry and no other."""
    schema = json.loads(resources.files("byteroute.schemas").joinpath("policy.schema.json").read_text("utf-8"))
    assert schema["$defs"]["encoding"]["enum"] == list(ENCODING_NAMES)


def test_control_markers_are_the_articles_code_points() -> None:
    """Framing control marks segments with U+F900 to U+F903 and escapes with U+F904."""
    control = FRAMINGS["control"]
    marks = [control.opening[1], control.closing[1], control.opening[2], control.closing[2], control.escape]
    assert [mark.decode() for mark in marks] == ["\uf900", "\uf901", "\uf902", "\uf903", "\uf904"]


def test_bom_markers_are_in_no_utf8() -> None:
    """No byte of framing bom occurs in UTF-8: FE and FF are always invalid."""
    bom = FRAMINGS["bom"]
    assert set(b"".join(bom.opening + bom.closing)) == {0xFE, 0xFF}


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
def test_markers_have_one_length(framing: Framing) -> None:
    """All opening markers of a framing have one length, and all closing ones: the router relies on it."""
    assert len({len(framing.opening[e.id]) for e in SEGMENT_ENCODINGS}) == 1
    assert len({len(framing.closing[e.id]) for e in SEGMENT_ENCODINGS}) == 1


@pytest.mark.parametrize(
    ("framing", "expected"), [("control", [None, 0xEFA4, 0xA4EF]), ("bom", [None, 0xFFFF, 0xFFFF])]
)
def test_unroutable_units(framing: str, expected: list[int | None]) -> None:
    """The unit that no segment holds is the one whose bytes begin the closing marker."""
    assert [FRAMINGS[framing].unroutable_unit(encoding) for encoding in ENCODINGS] == expected


def test_utf16_units_are_those_of_python() -> None:
    """Units equal Python's UTF-16, for narrow, wide and mixed text."""
    for codepoints in ([], EDGES, WIDE, [c for pair in zip(EDGES, WIDE, strict=False) for c in pair]):
        expected = "".join(map(chr, codepoints)).encode("utf-16-le")
        assert utf16_units(array(codepoints)).astype("<u2").tobytes() == expected


def test_utf16_units_of_long_text_with_few_wide_characters() -> None:
    """The path that copies long stretches gives the same units."""
    text = ("漢" * 5000 + "\U00020000") * 3
    codepoints = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    assert utf16_units(codepoints).astype("<u2").tobytes() == text.encode("utf-16-le")


@pytest.mark.parametrize("codec", ["utf-16-be", "utf-16-le"])
def test_payload_widths_are_true(codec: str) -> None:
    """Widths are the bytes that each character takes in a payload, in both profiles and byte orders."""
    codepoints = EDGES + WIDE
    raw = [chr(codepoint).encode(codec) for codepoint in codepoints]
    assert payload_widths(array(codepoints), "bytes").tolist() == [len(payload) for payload in raw]
    mapped = [len("".join(BYTE_ALPHABET[byte] for byte in payload).encode()) for payload in raw]
    assert payload_widths(array(codepoints), "text").tolist() == mapped


def test_alphabet_is_that_of_byte_level_bpe() -> None:
    """The alphabet is GPT-2's: printing Latin-1 as it is, the rest from U+0100 on."""
    assert len(set(BYTE_ALPHABET)) == 256
    assert "".join(BYTE_ALPHABET[byte] for byte in b"\x00\n !~\x7f\xa0\xa1\xad\xff") == "ĀĊĠ!~ġł¡Ńÿ"


def test_alphabet_equals_that_of_tokenizers() -> None:
    """The reference tokenizer library has the same characters."""
    from tokenizers.pre_tokenizers import ByteLevel

    assert sorted(BYTE_ALPHABET) == sorted(ByteLevel.alphabet())


@pytest.mark.parametrize("n", [0, 1, 3])
def test_alphabet_there_and_back(n: int) -> None:
    """Every byte survives the alphabet, in short and in long payloads."""
    payload = bytes(range(256)) * n
    text = to_alphabet(np.frombuffer(payload, np.uint8)).tobytes().decode()
    assert text == "".join(BYTE_ALPHABET[byte] for byte in payload)
    assert from_alphabet(text) == (payload, len(text))
    assert from_alphabet(text[:150]) == (payload[:150], len(text[:150]))


@pytest.mark.parametrize("n_before", [0, 2, 1000], ids=["empty", "few", "many"])
@pytest.mark.parametrize("stranger", [" ", "\n", "\xad", "\u0144", "\u0145", "漢", "😀", "\U0010ffff"])
def test_alphabet_stops_at_strangers(stranger: str, n_before: int) -> None:
    """A character outside the alphabet ends what can be read, by the way for few and for many characters."""
    assert from_alphabet("Ċ" * n_before + stranger + "x" * n_before) == (b"\n" * n_before, n_before)


def test_unknown_names_list_the_known() -> None:
    """An unknown encoding or framing is an error that names the known ones."""
    assert encoding_named("utf-16-be").id == 1
    with pytest.raises(ConfigError, match="unknown encoding 'utf-16': use one of utf-8, utf-16-be, utf-16-le"):
        encoding_named("utf-16")
    with pytest.raises(ConfigError, match="unknown framing 'marks': use one of control, bom"):
        framing_named("marks")


@pytest.mark.parametrize(
    ("framing", "profile", "barrier", "message"),
    [
        ("bom", "text", False, "framing 'bom' is not valid UTF-8"),
        ("control", "text", True, "barrier C0 80 is not valid UTF-8"),
        ("control", "utf-8", False, "unknown profile 'utf-8': use bytes or text"),
        ("BOM", "bytes", False, "unknown framing 'BOM'"),
    ],
)
def test_settings_that_do_not_go_together(framing: str, profile: str, barrier: bool, message: str) -> None:
    """Combinations that cannot be are the caller's error, with what to do."""
    with pytest.raises(ConfigError, match=message):
        check_options(framing, profile, barrier=barrier)
