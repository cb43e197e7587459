"""Disparity of a run over parallel data: the same units in many languages, found by a pattern on document ids."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow.compute as pc

from byteroute_ops.budgets.disparity import Disparity, align, disparity
from byteroute_ops.errors import ConfigError

from .load import Run
from .rows import ratio

REFERENCE: Final = "en"

MEASURES: Final = {
    "n_text_tokens": "text tokens",
    "n_routed_tokens": "routed tokens",
    "n_utf8_bytes": "UTF-8 bytes",
    "n_routed_bytes": "routed bytes",
    "n_codepoints": "characters",
}
"""Shard column → what its sum over the units is called. Tokens are the first tokenizer's."""


@dataclass(frozen=True, kw_only=True)
class ParallelKey:
    """How to find out which documents say the same.

    Attributes:
        pattern: regular expression searched for in the document id; its group `unit` names what documents have in
            common, its group `lang`, if any, the language (else the column `lang` does).
        reference: the language that premiums are relative to.
        where: a kept column and the value that it must have; None takes all documents.
    """

    pattern: str
    reference: str = REFERENCE
    where: tuple[str, str] | None = None

    def compiled(self) -> re.Pattern[str]:
        """Returns the pattern.

        Raises:
            ConfigError: no regular expression, or one without the group `unit`.
        """
        try:
            compiled = re.compile(self.pattern)
        except re.error as error:
            raise ConfigError(f"--parallel-key {self.pattern!r:.80}: {error}") from None
        if "unit" not in compiled.groupindex:
            raise ConfigError(f"--parallel-key {self.pattern!r:.80} has no group (?P<unit>...)")
        return compiled


@dataclass(frozen=True, kw_only=True)
class Premium:
    """One language of the premium table: cost of all units, and cost relative to the reference, by measure."""

    lang: str
    costs: dict[str, int]
    premiums: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """Disparity by measure, with what was compared and what had to be left out.

    Attributes:
        n_units: compared.
        n_languages: compared.
        dropped_units: of the reference, in too few languages.
        dropped_languages: language → units it lacks.
        repeated_languages: left out, because a unit comes more than once in them.
        measures: measure → disparity; `n_routed_tokens` only where there are routed ids.
        premiums: dearest first, by the first measure.
    """

    reference: str
    pattern: str
    n_units: int
    n_languages: int
    dropped_units: list[str]
    dropped_languages: dict[str, int]
    repeated_languages: list[str]
    measures: dict[str, Disparity]
    premiums: list[Premium] = field(default_factory=list)


def measure_parallel(run: Run, key: ParallelKey) -> Parallel:
    """Returns the disparity over the documents whose ids the key matches.

    Raises:
        ConfigError: a bad pattern, no document that it matches, or none in the reference language.
    """
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for lang, unit, counts in _documents(run, key):
        found.setdefault(lang, {}).setdefault(unit, []).append(counts)
    if not found:
        raise ConfigError(f"--parallel-key {key.pattern!r:.80} matches no document id of the shards")
    repeated = sorted(lang for lang, units in found.items() if any(len(rows) > 1 for rows in units.values()))
    single = {lang: units for lang, units in found.items() if lang not in set(repeated)}
    if key.reference in repeated:
        raise ConfigError(
            f"the reference {key.reference!r:.80} has units more than once: is it several languages under one tag? "
            "Take the language from the id with a group (?P<lang>...)"
        )
    grid = align({lang: units.keys() for lang, units in single.items()}, key.reference)
    names = [name for name in MEASURES if all(_has(single[lang], grid.units, name) for lang in grid.languages)]
    costs = {
        name: {lang: sum(single[lang][unit][0][name] for unit in grid.units) for lang in grid.languages}
        for name in names
    }
    return Parallel(
        reference=key.reference,
        pattern=key.pattern,
        n_units=len(grid.units),
        n_languages=len(grid.languages),
        dropped_units=list(grid.dropped_units),
        dropped_languages=dict(grid.dropped_languages),
        repeated_languages=repeated,
        measures={name: disparity(costs[name], key.reference) for name in names},
        premiums=_premiums(costs, key.reference),
    )


def _has(units: dict[str, list[dict[str, Any]]], wanted: tuple[str, ...], name: str) -> bool:
    return all(units[unit][0][name] is not None for unit in wanted)


def _premiums(costs: dict[str, dict[str, int]], reference: str) -> list[Premium]:
    first = next(iter(costs.values()))
    return [
        Premium(
            lang=lang,
            costs={name: by_lang[lang] for name, by_lang in costs.items()},
            premiums={name: ratio(by_lang[lang], by_lang[reference]) or 0.0 for name, by_lang in costs.items()},
        )
        for lang in sorted(first, key=lambda lang: (-first[lang], lang))
    ]


def _documents(run: Run, key: ParallelKey) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields (language, unit, counts) of every document that takes part."""
    pattern = key.compiled()
    columns = ["doc_id", "lang", *MEASURES, *([key.where[0]] if key.where else [])]
    for shard in run.shards:
        for whole in run.batches(shard["path"], columns):
            batch = whole if key.where is None else whole.filter(pc.equal(whole.column(key.where[0]), key.where[1]))
            for row in batch.to_pylist():
                match = pattern.search(row["doc_id"])
                if match is not None and match["unit"] is not None:
                    named = match["lang"] if "lang" in pattern.groupindex else None
                    yield named or row["lang"], match["unit"], {name: row[name] for name in MEASURES}
