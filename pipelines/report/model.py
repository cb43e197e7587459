"""Everything that a report shows, as plain values: computed once, rendered as text, HTML, charts and files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from byteroute_ops.records import ADDED

from .costs import Cost, Weight, price
from .load import Run
from .parallel import Parallel, ParallelKey, measure_parallel
from .rows import Row, make_row, total_of
from .scan import SAMPLE_BYTES, Sample, scan_shards
from .targets import Balance, Target, weigh
from .unknown import Unknown, count_unknown

N_DEAREST: Final = 20
N_MOVERS: Final = 10

MIN_CHARACTERS: Final = 1000
"""Languages with fewer characters are in every table, but are not called dear: one name decides their ratio."""

NOT_PARALLEL: Final = (
    "No parallel key was given (--parallel-key), so nothing says that the languages hold the same content. Tokens of "
    "languages that say different things cannot be compared, and premiums and Gini are not defined. What can be "
    "compared is tokens per character; mind that a character carries more content in some scripts (Han) than in others."
)


@dataclass(frozen=True, kw_only=True)
class TokenizerReport:
    """The budgets of one tokenizer.

    Attributes:
        scripts: most tokens first; tokens that the post-processor adds last.
        languages: most tokens first.
        dearest: languages by tokens per character, highest first, those with enough text.
        savers: languages by tokens that routing saves, most first.
        losers: languages by tokens that routing adds, most first.
        costs: by the weights, if any.
        routed_reason: why there are no routed tokens; None where there are.
    """

    name: str
    routed_reason: str | None
    total: Row
    scripts: list[Row]
    languages: list[Row]
    dearest: list[Row]
    savers: list[Row]
    losers: list[Row]
    costs: list[Cost] = field(default_factory=list)

    @property
    def has_routed(self) -> bool:
        """Whether the tokenizer has ids for routed streams."""
        return self.total.n_routed_tokens is not None


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that is shown. Attributes as their classes say; `parallel` is None on data not known to be parallel."""

    title: str
    version: str
    settings: dict[str, Any]
    identity: dict[str, Any]
    facts: dict[str, Any]
    totals: dict[str, Any]
    warnings: list[str]
    n_shards: int
    n_shard_bytes: int
    n_inputs: int
    n_input_bytes: int
    tokenizers: list[TokenizerReport]
    sample: Sample
    unknown: list[Unknown]
    parallel: Parallel | None
    targets: list[Balance]


def build_report(
    run: Run,
    *,
    parallel: ParallelKey | None = None,
    weights: Sequence[Weight] = (),
    targets: Sequence[Target] = (),
    sample_bytes: int = SAMPLE_BYTES,
) -> Report:
    """Returns the report on a run.

    Args:
        run: a finished run.
        parallel: how documents with the same content are found; None: none are.
        weights: cost per token.
        targets: wanted tokens or shares.
        sample_bytes: how much clean text to look at for main scripts and compressed sizes.

    Raises:
        ConfigError: a shard that cannot be read, or a parallel key that does not fit.
    """
    manifest = run.manifest
    sample = scan_shards(run, sample_bytes=sample_bytes)
    tokenizers = [_tokenizer(run, name, sample.main_script, weights) for name in run.tokenizers]
    known = {"format", "format_version", "version", "settings", "inputs", "totals", "warnings", "files"}
    return Report(
        title=run.output.rstrip("/").rsplit("/", 1)[-1] or run.output,
        version=manifest["version"],
        settings=manifest["settings"],
        identity={name: value for name, value in manifest.items() if name not in known},
        facts=run.facts,
        totals=manifest["totals"],
        warnings=list(manifest["warnings"]),
        n_shards=len(run.shards),
        n_shard_bytes=sum(one["bytes"] for one in run.shards),
        n_inputs=len(manifest["inputs"]),
        n_input_bytes=sum(one["size"] for one in manifest["inputs"]),
        tokenizers=tokenizers,
        sample=sample,
        unknown=count_unknown(run, {one.name: one.total.n_text_tokens for one in tokenizers}),
        parallel=None if parallel is None else measure_parallel(run, parallel),
        targets=weigh(targets, "lang", tokenizers[0].languages) + weigh(targets, "script", tokenizers[0].scripts),
    )


def _tokenizer(run: Run, name: str, main_script: dict[str, str], weights: Sequence[Weight]) -> TokenizerReport:
    raw_scripts = [row for row in run.scripts if row["tokenizer"] == name]
    raw_languages = [row for row in run.languages if row["tokenizer"] == name]
    total = total_of(raw_languages)
    sums = {"tokens": total["n_text_tokens"], "characters": total["n_codepoints"]}
    scripts = [make_row(row, row["script"], script=row["script"], **sums) for row in raw_scripts]
    scripts.sort(key=lambda row: (row.key == ADDED, -row.n_text_tokens, row.key))
    languages = [make_row(row, row["lang"], script=main_script.get(row["lang"]), **sums) for row in raw_languages]
    languages.sort(key=lambda row: (-row.n_text_tokens, row.key))
    moved = [(row, row.n_routed_tokens - row.n_text_tokens) for row in languages if row.n_routed_tokens is not None]
    enough = [row for row in languages if row.n_codepoints >= MIN_CHARACTERS]
    facts = next(one for one in run.manifest["tokenizers"] if one["name"] == name)
    return TokenizerReport(
        name=name,
        routed_reason=facts.get("routed_reason"),
        total=make_row(total, "total", **sums),
        scripts=scripts,
        languages=languages,
        dearest=sorted(enough, key=lambda row: (-(row.tokens_per_character or 0), row.key))[:N_DEAREST],
        savers=[row for row, delta in sorted(moved, key=lambda one: (one[1], one[0].key)) if delta < 0][:N_MOVERS],
        losers=[row for row, delta in sorted(moved, key=lambda one: (-one[1], one[0].key)) if delta > 0][:N_MOVERS],
        costs=price(weights, name, "lang", languages) + price(weights, name, "script", scripts),
    )
