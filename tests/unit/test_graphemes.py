"""Cluster boundaries: the Unicode test file, long runs, document ends."""

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
import regex

from byteroute_ops.graphemes import cluster_ends, cluster_starts, grapheme_breaks

ZERO = np.array([0])


def codepoints_of(text: str) -> np.ndarray:
    """uint32 code points of a text."""
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def break_cases(data_dir: Path) -> list[tuple[list[int], list[bool]]]:
    """(code points, where a cluster starts) of GraphemeBreakTest.txt."""
    with gzip.open(data_dir / "unicode" / "GraphemeBreakTest-18.0.0.txt.gz", "rt", encoding="utf-8") as lines:
        fields = [line.partition("#")[0].split() for line in lines]
    return [([int(cp, 16) for cp in f[1::2]], [mark == "÷" for mark in f[:-1:2]]) for f in fields if f]


def test_unicode_test_file(data_dir: Path) -> None:
    """Every case of GraphemeBreakTest-18.0.0.txt, alone."""
    cases = break_cases(data_dir)
    assert len(cases) == 853
    for codepoints, breaks in cases:
        assert grapheme_breaks(np.array(codepoints, np.uint32), ZERO).tolist() == breaks, codepoints


def test_unicode_test_file_as_one_batch(data_dir: Path) -> None:
    """The same cases in random order back to back: documents do not touch one another."""
    cases = break_cases(data_dir) * 3
    random.Random(18).shuffle(cases)
    codepoints = np.array([cp for case, _ in cases for cp in case], np.uint32)
    starts = np.cumsum([0, *(len(case) for case, _ in cases)])[:-1]
    expected = [mark for _, breaks in cases for mark in breaks]
    assert grapheme_breaks(codepoints, starts).tolist() == expected


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("\u0301", [0]),
        ("\n\u0301\u0301", [0, 1]),
        ("\r\n\r\r\n", [0, 2, 3]),
        ("\u0600\n\u0600a", [0, 1, 2]),
        ("\u0600\U0001f1e9\U0001f1ea\U0001f1eb", [0, 3]),
        ("\u094d\u0915", [0]),
        ("a\u094d\u0308\u200d\u0915", [0]),
        ("a\u094d\u200c\u0915", [0, 3]),
        ("\u2764\ufe0f\u200d\U0001f525", [0]),
        ("a\u200d\U0001f525", [0, 2]),
        ("\U0001f525\u0903\u200d\U0001f525", [0, 3]),
        ("\U0001f525\u200d\u200d\U0001f525", [0, 3]),
    ],
)
def test_rules(text: str, starts: list[int]) -> None:
    """Interplay of the rules of UAX #29 that the test file does not show."""
    assert np.flatnonzero(grapheme_breaks(codepoints_of(text), ZERO)).tolist() == starts


@pytest.mark.parametrize("unit", ["\u0301", "\U0001f1e9", "\u200d", "\u0600", "\u1100", "\u094d", "\u0300\u094d"])
def test_long_runs_are_linear(unit: str) -> None:
    """A hundred thousand marks, flags or jamo end in the boundaries that `regex` finds on a short run."""
    n = 100_000
    text = "\U0001f525" + unit * n + "\u200d\U0001f525\u0915"
    short = "\U0001f525" + unit * 10 + "\u200d\U0001f525\u0915"
    found = np.flatnonzero(grapheme_breaks(codepoints_of(text), ZERO))
    want = np.cumsum([0, *map(len, regex.findall(r"\X", short))])[:-1]
    tail = want[want > 5] - len(short) + len(text)
    assert found[len(found) - len(tail) :].tolist() == tail.tolist()
    assert found[0] == 0


def test_cluster_bounds_of_positions() -> None:
    """Start and end of the cluster around any position, also in a cluster of a million marks."""
    text = "ab\u0301\u0301c" + "\u0301" * 1_000_000
    breaks = grapheme_breaks(codepoints_of(text), ZERO)
    at = np.array([0, 1, 2, 3, 4, 5, 500_000, len(text) - 1])
    assert cluster_starts(breaks, at).tolist() == [0, 1, 1, 1, 4, 4, 4, 4]
    assert cluster_ends(breaks, at).tolist() == [1, 4, 4, 4, *[len(text)] * 4]
