"""What stands inside a segment: where it ends, and its code units as text.

Parts of `stream_codec`, each on a buffer of which later bytes may not have arrived yet.
"""

import codecs
from typing import Final

from .encoders import Encoding, from_alphabet

UNPAIRED: Final = "an unpaired surrogate or half a code unit"
_NO_ALPHABET: Final = "a character outside the byte alphabet"
_UTF16: Final = {"big": codecs.utf_16_be_decode, "little": codecs.utf_16_le_decode}


def find_aligned(data: bytes, closing: bytes, start: int) -> int:
    """Returns the first place of `closing` at an even distance from `start`, or -1."""
    place = data.find(closing, start)
    while place >= 0 and (place - start) % 2:
        place = data.find(closing, place + 1)
    return place


def without_begun(data: bytes, closing: bytes, start: int) -> int:
    """Returns the end of the whole code units of `data`, less one that may begin `closing` in the next chunk."""
    end = len(data) - (len(data) - start) % 2
    begun = end == len(data) and end > start and data.endswith(closing[:2])
    return end - 2 if begun else end


def read_alphabet(data: memoryview, *, final: bool) -> tuple[str, bytes, str]:
    """Returns the characters of the byte alphabet at the beginning of `data`, their bytes, what stops them."""
    complaint = ""
    try:
        chars, _ = codecs.utf_8_decode(data, "strict", final)
    except UnicodeDecodeError as error:
        chars, complaint = str(data[: error.start], "utf-8"), _NO_ALPHABET
    payload, n_good = from_alphabet(chars)
    return chars, payload, complaint if n_good == len(chars) else _NO_ALPHABET


def decode_units(payload: bytes, segment: Encoding, forbidden: str) -> tuple[str, int, str]:
    """Returns the text of whole characters at the beginning of `payload`, their bytes, what stops them.

    An unfinished character at the end is left over without complaint.
    """
    read = _UTF16[segment.byteorder or "big"]
    misfit = ""
    try:
        text, used = read(payload, "strict", False)
    except UnicodeDecodeError as error:
        misfit, used = UNPAIRED, error.start
        text = read(payload[:used], "strict", True)[0]
    if forbidden in text:
        text = text[: text.index(forbidden)]
        misfit, used = "a code unit that begins a closing marker", len(text.encode("utf-16-le"))
    return text, used, misfit
