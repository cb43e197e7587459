"""Finds the policy `auto` of a tokenizer: which scripts to route, on evidence.

The documents are split in halves by a hash of where they stand. The first half proposes, the second must agree, and in
both a script's saving must be beyond the bootstrap's interval. Costs are those of `byteroute_ops.trial`: markers, and
what a segment changes in the UTF-8 beside it, are billed to the script that is routed.

1. Screening: everything in UTF-16-BE, and in LE, markers not counted. A script that does not even save that way is out;
   for the others, the byte order with fewer tokens.
2. Length: the table of these scripts with several `min_codepoints`; the one that saves most where it saves.
3. Elimination: the table as it would be used. Out goes each script that does not save beyond the interval in both
   halves, and each that makes a report class (Japanese, say, when Han is routed) cost more. Repeated until none goes:
   a script that goes cuts segments that its neighbours shared.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from byteroute_ops import __version__
from byteroute_ops.comparison import Estimate
from byteroute_ops.encoders import ENCODING_NAMES, SEGMENT_ENCODINGS
from byteroute_ops.fingerprints import tokenizer_digest
from byteroute_ops.policy import Policy, parse_policy
from byteroute_ops.tokenization import Tokenizer
from byteroute_ops.trial import Framing
from byteroute_ops.unicode_data import SCRIPTS, UNICODE_VERSION

from .calibrate_sample import HALVES, Figures, Sample
from .compare import Bootstrap
from .compare_documents import Corpus

MIN_CODEPOINTS: Final = (1, 4, 16, 64)
_MAX_ROUNDS: Final = 50


@dataclass(frozen=True)
class Finding:
    """What was found of one script.

    Attributes:
        script: encoding class.
        encoding: that was tried last; None where the sample has too few documents.
        routed: whether the policy routes it.
        reason: why, or why not.
        n_text_tokens: in both halves.
        choose: saving in the first half, as last measured.
        confirm: in the second half.
    """

    script: str
    encoding: str | None
    routed: bool
    reason: str
    n_text_tokens: int
    choose: Estimate
    confirm: Estimate


@dataclass(frozen=True)
class Calibration:
    """A policy file's content, and what it rests on."""

    policy: dict[str, Any]
    findings: list[Finding]


def calibrate(
    corpus: Corpus,
    tokenizer: Tokenizer,
    *,
    name: str,
    tokenizer_name: str,
    framing: Framing = "control",
    barrier: bool = False,
    bootstrap: Bootstrap | None = None,
) -> Calibration:
    """Returns the policy with the fewest tokens that the corpus can vouch for. Reads the corpus several times.

    Args:
        corpus: the calibration sample; documents kept out of it can test the policy.
        tokenizer: has routed ids.
        name: of the policy.
        tokenizer_name: for people; the policy is bound to the tokenizer's fingerprint.
        framing: of the streams the policy is for; not `none`.
        barrier: likewise.
        bootstrap: how intervals are made.
    """
    sample = Sample(corpus, tokenizer, framing, barrier, bootstrap or Bootstrap())
    screened, findings = _screen(sample)
    least = _length(sample, screened) if screened else 1
    table, last, dropped = _eliminate(sample, screened, least)
    for script, encoding in screened.items():
        reason = dropped.get(script, "saves beyond the interval in both halves")
        savings = [last[script].saving("script", half, script) for half in HALVES]
        findings[script] = Finding(
            SCRIPTS[script], encoding, script in table, reason, findings[script].n_text_tokens, *savings
        )
    policy = _table(table, least, name) | {
        "description": f"The scripts that save tokens under the tokenizer {tokenizer_name}: byteroute calibrate.",
        "evidence": {
            "tokenizer": tokenizer_name,
            **_evidence(sample),
            "findings": [asdict(one) for one in findings.values()],
        },
    }
    return Calibration(policy, list(findings.values()))


def _screen(sample: Sample) -> tuple[dict[int, str], dict[int, Finding]]:
    """Returns the encoding of each script that might save, and the findings so far, most tokens first."""
    everything = [
        parse_policy({"name": one.name, "kind": "scripts", "default": one.name, "scripts": {}})
        for one in SEGMENT_ENCODINGS
    ]
    figures = sample.measure(everything, framed=False)
    screened: dict[int, str] = {}
    findings = {}
    for script in figures.scripts():
        savings = {half: figures.saving("script", half, script) for half in HALVES}
        reason = "costs more even without markers"
        best = 0
        if any(one.verdict == "few documents" for one in savings.values()):
            reason = "too few documents"
        else:
            best = max(range(len(everything)), key=lambda one: (figures.saved(script, one), -one))
            savings = {half: figures.saving("script", half, script, policy=best) for half in HALVES}
            if figures.saved(script, best) > 0:
                screened[script] = everything[best].name
        findings[script] = Finding(
            SCRIPTS[script], everything[best].name, False, reason, figures.tokens(script), *savings.values()
        )
    return screened, findings


def _length(sample: Sample, scripts: dict[int, str]) -> int:
    """Returns the `min_codepoints` with which the scripts that save, save most together."""
    policies = [_policy(scripts, least, f"from {least}") for least in MIN_CODEPOINTS]
    figures = sample.measure(policies)
    saved = [sum(max(0, figures.saved(script, i)) for script in scripts) for i in range(len(policies))]
    return MIN_CODEPOINTS[int(np.argmax(saved))]


def _eliminate(
    sample: Sample, scripts: dict[int, str], least: int
) -> tuple[dict[int, str], dict[int, Figures], dict[int, str]]:
    """Returns the scripts that stay, the figures each was last measured in, and why the others went."""
    table = dict(scripts)
    last: dict[int, Figures] = {}
    dropped: dict[int, str] = {}
    for _ in range(_MAX_ROUNDS):
        if not table:
            break
        figures = sample.measure([_policy(table, least, "auto")])
        last.update(dict.fromkeys(table, figures))
        out: dict[int, str] = {}
        for script in table:
            for half in HALVES:
                if figures.saving("script", half, script).verdict != "fewer":
                    out.setdefault(script, f"no saving beyond the interval ({half} half)")
        for report in figures.reports():
            if any(figures.saving("report", half, report=report).verdict == "more" for half in HALVES):
                for script in table:
                    of_pair = [figures.saving("pair", half, script, report).saving or 0.0 for half in HALVES]
                    if min(of_pair) < 0:
                        out.setdefault(script, f"would make {SCRIPTS[report]} cost more")
        if not out:
            break
        dropped |= out
        table = {script: encoding for script, encoding in table.items() if script not in out}
    return table, last, dropped


def _policy(scripts: dict[int, str], least: int, name: str) -> Policy:
    return parse_policy(_table(scripts, least, name))


def _table(scripts: dict[int, str], least: int, name: str) -> dict[str, Any]:
    named = {SCRIPTS[script]: encoding for script, encoding in sorted(scripts.items())}
    return {"name": name, "kind": "scripts", "default": ENCODING_NAMES[0], "scripts": named, "min_codepoints": least}


def _evidence(sample: Sample) -> dict[str, Any]:
    return {
        "tokenizer_fingerprint": tokenizer_digest(sample.tokenizer.fingerprint()),
        "stream": {
            "framing": "control" if sample.framing == "text" else sample.framing,
            "profile": "text" if sample.framing == "text" else "bytes",
            "barrier": sample.barrier,
        },
        "unicode_version": UNICODE_VERSION,
        "byteroute_version": __version__,
        "bootstrap": asdict(sample.bootstrap),
        "sample": sample.facts,
    }
