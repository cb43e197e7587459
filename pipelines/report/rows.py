"""One row of a budget with everything that the report derives from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from byteroute_ops.budgets import Histogram
from byteroute_ops.budgets.histogram import bounds

WINDOWS: Final = (2048, 4096, 8192, 32768, 131072)
"""Context lengths in tokens. A histogram bucket begins at each of them, so the counts are exact."""

QUANTILES: Final = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}

Bins = list[tuple[int, int]]
"""(smallest value of the bin, documents), ascending, bins without documents left out."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """Counts and ratios of a script, a language, or all documents, under one tokenizer.

    Ratios are None where they are not defined: no characters, or no routed ids. `*_change` is (routed - text) /
    text: negative where routing saves.

    Attributes:
        key: script, language or `total`.
        script: of a language: the script of most of its characters in the sample; None if not sampled.
        token_share: its part of all tokens of the tokenizer.
        character_share: its part of all characters.
        quantiles: of tokens per document; within 1/128 of the true value.
        above: context length → documents with at least so many tokens; exact.
        bins: documents by tokens, for the chart.
    """

    key: str
    script: str | None = None
    documents: int
    n_codepoints: int
    n_utf8_bytes: int
    n_routed_bytes: int
    n_text_tokens: int
    n_routed_tokens: int | None
    token_share: float | None = None
    character_share: float | None = None
    bytes_per_character: float | None = None
    tokens_per_character: float | None = None
    routed_tokens_per_character: float | None = None
    bytes_change: float | None = None
    tokens_change: float | None = None
    quantiles: dict[str, float] = field(default_factory=dict)
    routed_quantiles: dict[str, float] = field(default_factory=dict)
    above: dict[int, int] = field(default_factory=dict)
    routed_above: dict[int, int] = field(default_factory=dict)
    bins: Bins = field(default_factory=list)
    routed_bins: Bins = field(default_factory=list)


def ratio(part: float | None, whole: float | None) -> float | None:
    """Returns part / whole; None where one is missing or the whole is 0."""
    return None if part is None or not whole else part / whole


def change(before: int | None, after: int | None) -> float | None:
    """Returns (after - before) / before; None where one is missing or before is 0."""
    return None if before is None or after is None or not before else (after - before) / before


def make_row(raw: dict[str, Any], key: str, *, tokens: int, characters: int, script: str | None = None) -> Row:
    """Returns a row with what follows from a row of a budget table.

    Args:
        raw: a row of a budget table.
        key: what the row is called.
        tokens: of all rows of the tokenizer.
        characters: of all rows of the tokenizer.
        script: see `Row`.
    """
    text, routed = (Histogram.from_pairs(_pairs(raw[f"{kind}_token_histogram"])) for kind in ("text", "routed"))
    n_codepoints, n_text, n_routed = raw["n_codepoints"], raw["n_text_tokens"], raw["n_routed_tokens"]
    return Row(
        key=key,
        script=script,
        documents=raw["documents"],
        n_codepoints=n_codepoints,
        n_utf8_bytes=raw["n_utf8_bytes"],
        n_routed_bytes=raw["n_routed_bytes"],
        n_text_tokens=n_text,
        n_routed_tokens=n_routed,
        token_share=ratio(n_text, tokens),
        character_share=ratio(n_codepoints, characters),
        bytes_per_character=ratio(raw["n_utf8_bytes"], n_codepoints),
        tokens_per_character=ratio(n_text, n_codepoints),
        routed_tokens_per_character=ratio(n_routed, n_codepoints),
        bytes_change=change(raw["n_utf8_bytes"], raw["n_routed_bytes"]),
        tokens_change=change(n_text, n_routed),
        quantiles=_quantiles(text),
        routed_quantiles=_quantiles(routed),
        above=_above(text),
        routed_above=_above(routed),
        bins=coarse_bins(text),
        routed_bins=coarse_bins(routed),
    )


def total_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the sum of the language rows of one tokenizer, histograms included, as a row of a budget table."""
    total: dict[str, Any] = {
        name: sum(row[name] for row in rows)
        for name in ("documents", "n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens")
    }
    routed = [row["n_routed_tokens"] for row in rows]
    total["n_routed_tokens"] = None if None in routed else sum(routed)
    for name in ("text_token_histogram", "routed_token_histogram"):
        merged = Histogram.zero()
        for row in rows:
            merged = merged.merge(Histogram.from_pairs(_pairs(row[name])))
        total[name] = [{"bucket": bucket, "documents": count} for bucket, count in merged.to_pairs()]
    return total


def _pairs(histogram: list[dict[str, int]]) -> list[tuple[int, int]]:
    return [(one["bucket"], one["documents"]) for one in histogram]


def _quantiles(histogram: Histogram) -> dict[str, float]:
    return {name: histogram.quantile(q) for name, q in QUANTILES.items()} if histogram.n_documents else {}


def _above(histogram: Histogram) -> dict[int, int]:
    return {window: histogram.documents_from(window) for window in WINDOWS} if histogram.n_documents else {}


def bin_start(value: int) -> int:
    """Returns where the chart's bin of a value begins: 0, 1, 2, 3, 4, 6, 8, 12, 16 … two bins an octave.

    >>> [bin_start(value) for value in (0, 3, 5, 6, 100, 2048)]
    [0, 3, 4, 6, 96, 2048]
    """
    if value < 2:
        return value
    octave = 1 << (value.bit_length() - 1)
    half = octave + octave // 2
    return half if value >= half else octave


def bin_end(start: int) -> int:
    """Returns where the bin that begins at `start` ends.

    >>> [bin_end(start) for start in (0, 2, 3, 4, 6, 96)]
    [1, 3, 4, 6, 8, 128]
    """
    if start < 2:
        return start + 1
    octave = 1 << (start.bit_length() - 1)
    return octave + octave // 2 if start == octave else 2 * octave


def coarse_bins(histogram: Histogram) -> Bins:
    """Returns the documents in bins of half an octave; exact, as every bin's start is a bucket's start."""
    bins: dict[int, int] = {}
    for bucket, count in histogram.to_pairs():
        start = bin_start(bounds(bucket)[0])
        bins[start] = bins.get(start, 0) + count
    return sorted(bins.items())
