"""The encodings a segment can have, the two framings around it and the byte alphabet of the text profile.

Everything that the router, the decoder and the schemas must agree on is a row of a table here; the
grammar that the rows make up is `schemas/routed_bytes.md`. A further encoding is one more row of
`ENCODINGS`, its name in the policy schema, and vectors.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from .errors import ConfigError
from .stretches import woven

FramingName = Literal["control", "bom"]
Profile = Literal["bytes", "text"]

UTF8_ID: Final = 0
"""Encoding id of text that is not routed."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """One way to write a stretch of text.

    Attributes:
        id: index in `ENCODINGS`, and the value of the routers' `row_encoding` columns.
        name: as in policies and in the `segments` column.
        byteorder: of its UTF-16 code units; None for UTF-8, which needs no segment.
    """

    id: int
    name: str
    byteorder: Literal["big", "little"] | None


ENCODINGS: Final = (
    Encoding(UTF8_ID, "utf-8", None),
    Encoding(1, "utf-16-be", "big"),
    Encoding(2, "utf-16-le", "little"),
)
ENCODING_NAMES: Final = tuple(encoding.name for encoding in ENCODINGS)
SEGMENT_ENCODINGS: Final = tuple(encoding for encoding in ENCODINGS if encoding.byteorder)


@dataclass(frozen=True, slots=True)
class Framing:
    """How segments are marked off.

    Attributes:
        name: "control" or "bom".
        opening: bytes of the opening marker by encoding id; empty for UTF-8.
        closing: bytes of the closing marker by encoding id.
        escape: what precedes a literal of `literals` in UTF-8 state; empty where nothing is escaped.
        literals: the code points that read as markers in UTF-8 state, as a range.
    """

    name: FramingName
    opening: tuple[bytes, ...]
    closing: tuple[bytes, ...]
    escape: bytes
    literals: range

    @property
    def n_framing_bytes(self) -> int:
        """Bytes of an opening and a closing marker together (every encoding's have the same length)."""
        return len(self.opening[1]) + len(self.closing[1])

    def unroutable_unit(self, encoding: Encoding) -> int | None:
        """Returns the code unit that no segment of `encoding` may hold: it begins the closing marker.

        >>> hex(FRAMINGS["control"].unroutable_unit(ENCODINGS[2]))
        '0xa4ef'
        """
        if encoding.byteorder is None:
            return None
        return int.from_bytes(self.closing[encoding.id][:2], encoding.byteorder)


FRAMINGS: Final[dict[str, Framing]] = {
    "control": Framing(
        name="control",
        opening=(b"", b"\xef\xa4\x80", b"\xef\xa4\x82"),  # U+F900, U+F902
        closing=(b"", b"\xef\xa4\x81", b"\xef\xa4\x83"),  # U+F901, U+F903
        escape=b"\xef\xa4\x84",  # U+F904
        literals=range(0xF900, 0xF905),
    ),
    "bom": Framing(
        name="bom",
        opening=(b"", b"\xfe\xff", b"\xff\xfe"),
        closing=(b"", b"\xff\xff", b"\xff\xff"),  # U+FFFF in either order
        escape=b"",
        literals=range(0),
    ),
}

BARRIER: Final = b"\xc0\x80"
"""Stands before every opening marker where the barrier is on. Overlong, so it occurs in no UTF-8."""


def _byte_alphabet() -> str:
    """Returns the character of each byte in the alphabet of byte-level BPE (GPT-2's `bytes_to_unicode`).

    Bytes that print in Latin-1 stand for themselves; the others take U+0100, U+0101 … in order.
    """
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in printing]
    return "".join(chr(byte if byte in printing else 0x100 + rest.index(byte)) for byte in range(256))


BYTE_ALPHABET: Final = _byte_alphabet()
"""`BYTE_ALPHABET[byte]` is how the text profile writes a payload byte; each is one or two bytes of UTF-8."""

_ALPHABET_CODEPOINT: Final = np.array([ord(char) for char in BYTE_ALPHABET], np.uint16)
_ALPHABET_WIDTH: Final = np.where(_ALPHABET_CODEPOINT < 0x80, 1, 2).astype(np.uint8)
# Width in UTF-8 of both bytes of a code unit: the same in either byte order.
_UNIT_WIDTH: Final = (_ALPHABET_WIDTH[:, None] + _ALPHABET_WIDTH[None, :]).ravel()
_ALPHABET_BYTE: Final = np.full(int(_ALPHABET_CODEPOINT.max()) + 2, -1, np.int16)
_ALPHABET_BYTE[_ALPHABET_CODEPOINT] = np.arange(256)
_BYTE_OF: Final = {char: byte for byte, char in enumerate(BYTE_ALPHABET)}
_FEW_CHARACTERS: Final = 200
"""Below this a dictionary is faster than arrays."""


def encoding_named(name: str) -> Encoding:
    """Returns the encoding of a name.

    Raises:
        ConfigError: there is none.

    >>> encoding_named("utf-16-le").id
    2
    """
    for encoding in ENCODINGS:
        if encoding.name == name:
            return encoding
    raise ConfigError(f"unknown encoding {name!r:.80}: use one of {', '.join(ENCODING_NAMES)}")


def framing_named(name: str) -> Framing:
    """Returns the framing of a name.

    Raises:
        ConfigError: there is none.
    """
    if name not in FRAMINGS:
        raise ConfigError(f"unknown framing {name!r:.80}: use one of {', '.join(FRAMINGS)}")
    return FRAMINGS[name]


def check_options(framing: str, profile: str, *, barrier: bool) -> Framing:
    """Returns the framing, once the three settings of a stream are known to go together.

    Raises:
        ConfigError: an unknown name, or the text profile with framing `bom` or with the barrier: neither
            is valid UTF-8.
    """
    chosen = framing_named(framing)
    if profile not in ("bytes", "text"):
        raise ConfigError(f"unknown profile {profile!r:.80}: use bytes or text")
    if profile == "text" and framing != "control":
        raise ConfigError(f"framing {framing!r} is not valid UTF-8: use profile bytes, or framing control")
    if profile == "text" and barrier:
        raise ConfigError("the barrier C0 80 is not valid UTF-8: use profile bytes, or no barrier")
    return chosen


def utf16_units(codepoints: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint16]:
    """Returns the UTF-16 code units of scalar values, in native order (The Unicode Standard, 3.9, D91).

    Args:
        codepoints: uint32[n]; no surrogates (the caller's texts are valid UTF-8).

    Returns:
        uint16[n_units], n <= n_units <= 2 n.

    >>> [hex(u) for u in utf16_units(np.array([0x41, 0x1F600], np.uint32))]
    ['0x41', '0xd83d', '0xde00']
    """
    units = codepoints.astype(np.uint16)
    wide = np.flatnonzero(codepoints > 0xFFFF)
    if not wide.size:
        return units
    rest = codepoints[wide] - np.uint32(0x10000)
    units[wide] = 0xD800 + (rest >> 10)
    low = (0xDC00 + (rest & 0x3FF)).astype(np.uint16)
    return woven(units, wide + 1, wide + 1, low, np.ones(len(wide), np.int64))


def payload_widths(codepoints: npt.NDArray[np.uint32], profile: Profile) -> npt.NDArray[np.uint8]:
    """Returns how many bytes each code point takes inside a segment, the same in either byte order.

    Args:
        codepoints: uint32[n], scalar values.
        profile: "bytes": 2 or 4; "text": 2 to 8.

    Returns:
        uint8[n].
    """
    wide = codepoints > 0xFFFF
    if profile == "bytes":
        return np.where(wide, np.uint8(4), np.uint8(2))
    high = _UNIT_WIDTH[np.where(wide, 0xD800 + ((codepoints - 0x10000) >> 10 & 0x3FF), codepoints)]
    low = _UNIT_WIDTH[0xDC00 + (codepoints & 0x3FF)]
    return np.where(wide, high + low, high).astype(np.uint8)


def to_alphabet(payload: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    r"""Returns the UTF-8 of payload bytes written in the byte alphabet.

    >>> to_alphabet(np.frombuffer(b"O`\n", np.uint8)).tobytes().decode()
    'O`Ċ'
    """
    codepoints = _ALPHABET_CODEPOINT[payload]
    double = codepoints >= 0x80
    out = np.repeat(codepoints, 1 + double)
    lead = np.flatnonzero(double)
    lead += np.arange(lead.size)
    out[lead + 1] = 0x80 | (out[lead] & 0x3F)
    out[lead] = 0xC0 | (out[lead] >> 6)
    return out.astype(np.uint8)


def from_alphabet(text: str) -> tuple[bytes, int]:
    r"""Returns the bytes that a string in the byte alphabet stands for, and how many characters fit.

    The second is `len(text)`, or the index of the first character that is not of the alphabet.

    >>> from_alphabet("O`Ċ ")
    (b'O`\n', 3)
    """
    if len(text) < _FEW_CHARACTERS:
        few = [_BYTE_OF.get(char, -1) for char in text]
        n_good = few.index(-1) if -1 in few else len(few)
        return bytes(few[:n_good]), n_good
    codepoints = np.frombuffer(text.encode("utf-32-le"), np.dtype("<u4"))
    values = _ALPHABET_BYTE[np.minimum(codepoints, _ALPHABET_BYTE.size - 1)]
    n_good = int(np.argmax(values < 0)) if values.min() < 0 else len(text)
    return values[:n_good].astype(np.uint8).tobytes(), n_good
