"""The quick way through streams of the default settings: framing control, profile bytes, no barrier.

Whole corpora are verified through it, so it does the least that strictness allows for each segment and
leaves it to `StreamDecoder` to say what is wrong with a stream.
"""

import re
from typing import Final

from .encoders import FRAMINGS, SEGMENT_ENCODINGS
from .stream_payload import find_aligned

CONTROL_MARK: Final = re.compile(b"\xef\xa4[\x80-\x84]")
"""A marker or the escape of framing control, where the bytes are UTF-8."""

_OPENINGS: Final = {
    FRAMINGS["control"].opening[e.id][2]: (
        e.name,
        FRAMINGS["control"].closing[e.id],
        chr(FRAMINGS["control"].unroutable_unit(e) or 0),
    )
    for e in SEGMENT_ENCODINGS
}
"""By the third byte of the opening marker: codec, closing marker, and the character that no segment holds."""


def decode_default(data: bytes) -> str | None:
    """Returns the text of a stream of the default settings, or None where it is none.

    >>> decode_default(bytes.fromhex("61 EFA480 4F60 EFA481 62"))
    'a你b'
    """
    parts: list[str] = []
    position = 0
    try:
        while found := CONTROL_MARK.search(data, position):
            mark = found.start()
            parts.append(data[position:mark].decode())
            start = mark + 3
            segment = _OPENINGS.get(data[mark + 2])
            if segment is None:
                position = start + 3
                literal = data[start:position]
                if data[mark + 2] != 0x84 or not CONTROL_MARK.fullmatch(literal):
                    return None
                parts.append(literal.decode())
                continue
            codec, closing, forbidden = segment
            end = find_aligned(data, closing, start)
            text = data[start : max(start, end)].decode(codec)
            if not text or forbidden in text:
                return None
            parts.append(text)
            position = end + 3
        parts.append(data[position:].decode())
    except UnicodeDecodeError:
        return None
    return "".join(parts)
