"""A text's routed stream as an annotated hex dump, a line a piece of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from rich.text import Text

from byteroute_ops.encoders import ENCODING_NAMES
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.stream_codec import decode, parse
from byteroute_ops.unicode_data import SCRIPTS

BYTES_PER_LINE = 16
_COLORS = ("green", "cyan", "magenta", "yellow", "blue", "red", "bright_green", "bright_cyan", "bright_magenta")
_MARKS = {"opening": "open", "closing": "close", "escape": "escape", "barrier": "barrier"}


@dataclass(frozen=True)
class Line:
    """One line of the dump.

    Attributes:
        offset: of the first byte in the stream.
        data: at most `BYTES_PER_LINE` bytes.
        what: `utf-8`, `utf-16-be`, `utf-16-le`, or the kind of a marker.
        script: report class; empty for markers.
        encoding_script: encoding class.
        text: what the bytes stand for; set on the first line of a piece.
    """

    offset: int
    data: bytes
    what: str
    script: str = ""
    encoding_script: str = ""
    text: str = ""


@dataclass(frozen=True)
class Dump:
    """The stream of one text."""

    lines: tuple[Line, ...]
    n_codepoints: int
    n_utf8_bytes: int
    n_routed_bytes: int


def dump_text(text: str, router: Router) -> Dump:
    """Returns the annotated stream of a clean text.

    Raises:
        InputError: the text holds a lone surrogate.
    """
    seg = segment_batch(pa.array([text], pa.string()))
    routed = route_segmentation(seg, router)
    data = routed.data.tobytes()
    if decode(data, framing=router.framing, profile=router.profile, barrier=router.barrier) != text:
        raise AssertionError("routed stream does not decode to its text")
    rows = [
        (int(start), int(end), SCRIPTS[report], SCRIPTS[script])
        for start, end, report, script in zip(
            routed.row_start, routed.row_end, routed.row_report, routed.row_script, strict=True
        )
    ]
    lines: list[Line] = []
    for piece in parse(data, framing=router.framing, profile=router.profile, barrier=router.barrier):
        if piece.kind in _MARKS:
            what = f"{_MARKS[piece.kind]} {ENCODING_NAMES[piece.encoding]}" if piece.encoding else _MARKS[piece.kind]
            lines.append(Line(piece.start, data[piece.start : piece.end], what))
            continue
        for start, end, report, script in rows:
            low, high = max(start, piece.start), min(end, piece.end)
            if low < high:
                line = Line(low, data[low:high], ENCODING_NAMES[piece.encoding], report, script)
                lines += _wrapped(line, router.profile)
    return Dump(tuple(lines), len(seg.codepoints), len(seg.utf8), len(data))


def _wrapped(line: Line, profile: str) -> Iterator[Line]:
    """Yields a line in as many pieces as it needs; what it stands for goes with the first."""
    if line.what == "utf-8":
        text = line.data.decode()
    elif profile == "bytes":
        text = line.data.decode(line.what)
    else:
        text = f"({len(line.data.decode()) // 2} code units as printable characters)"
    for at in range(0, len(line.data), BYTES_PER_LINE):
        part = line.data[at : at + BYTES_PER_LINE]
        yield replace(line, offset=line.offset + at, data=part, text="" if at else text)


def render(dump: Dump) -> Text:
    """Returns the dump for a terminal: a colour for each script, markers in bold."""
    colors: dict[str, str] = {}
    out = Text()
    for line in dump.lines:
        style = (
            "bold reverse" if not line.script else colors.setdefault(line.script, _COLORS[len(colors) % len(_COLORS)])
        )
        out.append(f"{line.offset:08x}  ", style="dim")
        out.append(f"{line.data.hex(' ').upper():<{BYTES_PER_LINE * 3}} ", style=style)
        script = line.script if line.script == line.encoding_script else f"{line.script} ({line.encoding_script})"
        out.append(f"{line.what:<16} {script:<12} ")
        out.append(line.text.translate(_VISIBLE) + "\n")
    return out


_VISIBLE = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
# Control characters as the pictures that Unicode has for them: a dump must not move the cursor.
