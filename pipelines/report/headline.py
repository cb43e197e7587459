"""What a reader should know after a minute, in sentences with the figures in them."""

from dataclasses import dataclass
from typing import Final

from .model import NOT_PARALLEL, Report, TokenizerReport
from .parallel import Parallel
from .show import show

NOTICEABLE: Final = 0.0005
"""Relative changes below are shown as 0.0 % and are called no change."""


@dataclass(frozen=True)
class Answer:
    """A question, a short answer, and what it rests on."""

    question: str
    answer: str
    details: tuple[str, ...]


def answers(report: Report) -> list[Answer]:
    """Returns the answers to the three questions that everyone has."""
    return [_who_pays(report), _did_routing_help(report), _is_anything_lost(report)]


def _who_pays(report: Report) -> Answer:
    question = "Which languages pay most?"
    first = report.tokenizers[0]
    if report.parallel is not None:
        return Answer(question, *_premiums(report.parallel, first))
    if not first.dearest:
        return Answer(question, "No language has enough text to say.", (NOT_PARALLEL,))
    named = _listed([f"{row.key} ({show(row.tokens_per_character, 'ratio')})" for row in first.dearest[:3]])
    details = [
        f"All text together has {show(first.total.tokens_per_character, 'ratio')} {first.name} tokens a character.",
        NOT_PARALLEL,
    ]
    for other in report.tokenizers[1:]:
        dearest = _listed([f"{row.key} ({show(row.tokens_per_character, 'ratio')})" for row in other.dearest[:3]])
        details.insert(
            -1, f"Under {other.name}: {dearest}; all text {show(other.total.tokens_per_character, 'ratio')}."
        )
    return Answer(question, f"Per character under {first.name}: {named}.", tuple(details))


def _premiums(parallel: Parallel, first: TokenizerReport) -> tuple[str, tuple[str, ...]]:
    found = parallel.measures["n_text_tokens"]
    named = _listed([f"{lang} ({show(premium, 'factor')})" for lang, premium in list(found.premium.items())[:3]])
    answer = f"For the same text, in {first.name} tokens relative to {parallel.reference}: {named}."
    return answer, (
        f"{parallel.n_languages:,} languages, {parallel.n_units:,} aligned units. The median language pays "
        f"{show(found.median, 'factor')}, one in ten more than {show(found.p90, 'factor')}, the cheapest "
        f"{show(found.minimum, 'factor')}.",
        f"Gini {show(found.gini, 'ratio')} at a total of {show(found.total, 'integer')} tokens: the first can be "
        "lowered by raising the second, so read them together.",
    )


def _did_routing_help(report: Report) -> Answer:
    totals = report.totals
    delta = (totals["n_routed_bytes"] - totals["n_utf8_bytes"]) / (totals["n_utf8_bytes"] or 1)
    parts = [f"bytes {show(delta, 'change')}"]
    everything = report.sample.compression[0] if report.sample.compression else None
    if everything is not None and everything.compressed_change is not None:
        parts.append(f"after compression {show(everything.compressed_change, 'change')}")
    details = []
    worse = []
    for one in report.tokenizers:
        if one.total.n_routed_tokens is None:
            details.append(f"{one.name}: no routed tokens; {one.routed_reason or 'it has no ids for routed bytes'}.")
        if one.total.tokens_change is None:
            continue
        parts.append(f"{one.name} tokens {show(one.total.tokens_change, 'change')}")
        worse.append(one.total.tokens_change)
        details += _movers(one)
    if report.parallel is not None and "n_routed_tokens" in report.parallel.measures:
        text, routed = (report.parallel.measures[name] for name in ("n_text_tokens", "n_routed_tokens"))
        details.append(
            f"On the aligned units: Gini {show(text.gini, 'ratio')} → {show(routed.gini, 'ratio')}, total "
            f"{show(text.total, 'integer')} → {show(routed.total, 'integer')} tokens."
        )
    if worse:
        details.append(
            "Routed tokens are counts: a model that was not trained on routed streams does not understand them."
        )
    return Answer(
        "Did routing help?", f"{_verdict(delta, worse)} Policy {_policy(report)}: {', '.join(parts)}.", tuple(details)
    )


def _verdict(byte_change: float, token_changes: list[float]) -> str:
    fewer = byte_change < -NOTICEABLE
    if not token_changes:
        return "It saves bytes." if fewer else "It saves no bytes."
    if all(abs(change) < NOTICEABLE for change in token_changes) and not fewer:
        return "It changes nothing."
    if all(change < -NOTICEABLE for change in token_changes):
        return "Yes: fewer tokens."
    if all(change > NOTICEABLE for change in token_changes):
        return "Not in tokens: " + ("fewer bytes, but more tokens." if fewer else "more tokens.")
    return "That depends on the tokenizer." if len(token_changes) > 1 else "Tokens stay as they are."


def _movers(one: TokenizerReport) -> list[str]:
    saving = _listed([f"{row.key} ({show(row.tokens_change, 'change')})" for row in one.savers[:3]])
    adding = _listed([f"{row.key} ({show(row.tokens_change, 'change')})" for row in one.losers[:3]])
    return [f"{one.name}: saves most tokens in {saving}; adds most in {adding}."]


def _policy(report: Report) -> str:
    policy = report.settings["policy"]
    return policy if isinstance(policy, str) else str(policy.get("name", "of your own"))


def _is_anything_lost(report: Report) -> Answer:
    totals = report.totals
    rejected, removed = sum(totals["rejects"].values()), sum(totals["removed"].values())
    answer = (
        f"{totals['records']:,} records in, {totals['documents']:,} documents out, {rejected:,} rejected, "
        f"{totals['not_sampled']:,} not sampled."
    )
    details = [f"Cleaning removed {removed:,} characters (byte order marks, zero-width spaces)."]
    for one in report.unknown:
        if one.rate:
            details.append(
                f"{one.tokenizer}: {show(one.rate, 'share')} of its tokens are the unknown token: what they stand "
                "for is lost, and its counts flatter it."
            )
    return Answer("Was anything lost?", answer, (*details, *report.warnings))


def _listed(names: list[str]) -> str:
    if not names:
        return "no language"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
