"""The plain twin of segmentation: one text, one cluster after the other, from the standards.

Clusters and emoji come from the `regex` package, scripts from tests/data/unicode (another source than
the product's tables). Slow on purpose: nothing here is shared with the code under test.
"""

import gzip
from functools import cache
from pathlib import Path
from typing import NamedTuple

import regex

UNICODE_DIR = Path(__file__).resolve().parent / "data" / "unicode"
NEUTRAL = frozenset({"Zyyy", "Zinh"})

# UTS #51 section 1.4, as the beginning of a cluster.
EMOJI = regex.compile(
    r"""
      \p{Regional_Indicator}{2}
    | [0-9\#*] \uFE0F? \u20E3
    | \p{Emoji} \uFE0F
    | \p{Emoji_Modifier_Base} \p{Emoji_Modifier}
    | \p{Emoji} [\U000E0020-\U000E007E]+ \U000E007F
    | \p{Emoji} \u200D \p{Emoji}
    | (?!\p{Regional_Indicator}) \p{Emoji_Presentation} (?!\uFE0E)
    """,
    regex.VERBOSE,
)
AUGMENTED = {
    "Hani": {"Jpan", "Kore", "Hanb"},
    "Hira": {"Jpan"},
    "Kana": {"Jpan"},
    "Hang": {"Kore"},
    "Bopo": {"Hanb"},
}


class PlainRun(NamedTuple):
    """A run: classes, code points [start, end), and [strong_start, strong_end) of its strong characters."""

    report: str
    script: str
    start: int
    end: int
    strong_start: int
    strong_end: int


@cache
def property_ranges() -> dict[tuple[str, str], list[tuple[int, int]]]:
    """(property, value) -> inclusive ranges, from the independent source."""
    found = {}
    with gzip.open(UNICODE_DIR / "properties-18.0.txt.gz", "rt", encoding="ascii") as lines:
        for line in lines:
            name, value, ranges = line.rstrip("\n").split(";")
            pairs = [part.partition("-") for part in ranges.split()]
            found[name, value] = [(int(a, 16), int(b or a, 16)) for a, _, b in pairs]
    return found


@cache
def script_of(char: str) -> str:
    """Script value of a character; Zzzz where none is stated."""
    return next(iter(_values("Script", ord(char))), "Zzzz")


@cache
def extensions_of(char: str) -> frozenset[str]:
    """Explicit Script_Extensions of a character, empty where they only repeat its Script."""
    values = frozenset(_values("Script_Extensions", ord(char)))
    return frozenset() if values <= {script_of(char)} else values


def _values(name: str, codepoint: int) -> list[str]:
    return [
        value
        for (prop, value), ranges in property_ranges().items()
        if prop == name and any(a <= codepoint <= b for a, b in ranges)
    ]


def plain_clusters(text: str) -> list[str]:
    """Extended grapheme clusters."""
    return regex.findall(r"\X", text)


def cluster_class(cluster: str) -> str | None:
    """Emoji, the script of the first strong character, or None for a neutral cluster."""
    if EMOJI.match(cluster):
        return "Emoji"
    return next((script for script in map(script_of, cluster) if script not in NEUTRAL), None)


def resolved(clusters: list[str]) -> list[str]:
    """The class of every cluster, Common and Inherited resolved."""
    classes = [cluster_class(cluster) for cluster in clusters]
    upcoming: str | None = None
    following = []
    for cls in reversed(classes):
        if cls not in (None, "Emoji"):
            upcoming = cls
        following.append(upcoming)
    following.reverse()
    current = None
    out = []
    for cluster, cls, after in zip(clusters, classes, following, strict=True):
        if cls == "Emoji":
            out.append(cls)
            continue
        if cls is not None:
            current = cls
        else:
            extensions = next((found for found in map(extensions_of, cluster) if found), frozenset())
            if current is None or (current not in extensions and after in extensions):
                current = after
        out.append(current or "Zyyy")
    return out


def plain_segments(text: str) -> list[PlainRun]:
    """The runs of a text."""
    runs: list[list] = []
    at = 0
    clusters = plain_clusters(text)
    for cluster, script in zip(clusters, resolved(clusters), strict=True):
        if not runs or runs[-1][0] != script:
            runs.append([script, at, at])
        at += len(cluster)
        runs[-1][2] = at
    reports = _reports([script for script, _, _ in runs])
    return [
        PlainRun(report, script, start, end, *_strong(text, script, start, end))
        for report, (script, start, end) in zip(reports, runs, strict=True)
    ]


def _strong(text: str, script: str, start: int, end: int) -> tuple[int, int]:
    strong = [i for i in range(start, end) if script == "Emoji" or script_of(text[i]) not in NEUTRAL]
    return (strong[0], strong[-1] + 1) if strong else (start, start)


def _reports(scripts: list[str]) -> list[str]:
    out: list[str] = []
    while len(out) < len(scripts):
        stretch = []
        for script in scripts[len(out) :]:
            if script not in AUGMENTED:
                break
            stretch.append(script)
        common = set.intersection(*(AUGMENTED[script] for script in stretch)) if stretch else set()
        out += [common.pop()] * len(stretch) if len(common) == 1 else stretch or [scripts[len(out)]]
    return out
