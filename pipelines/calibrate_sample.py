"""What policies would change in a calibration sample, by script, in each of its two halves."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from byteroute_ops.comparison import Estimate, Resampled
from byteroute_ops.policy import Policy
from byteroute_ops.routing import text_digests
from byteroute_ops.tokenization import Tokenizer
from byteroute_ops.trial import Framing, Variant
from byteroute_ops.unicode_data import SCRIPTS, ZINH, ZYYY, ZZZZ

from .compare import Bootstrap
from .compare_documents import Corpus
from .compare_measure import BYTES, Bench, Int64, Measure, Measured, script_cells

HALVES: Final = ("choose", "confirm")
_NEVER: Final = {ZYYY, ZINH, ZZZZ}

Group = tuple[str, str, int, int]
"""Kind (`script`, `report`, `pair`), half, encoding class or -1, report class or -1."""


@dataclass
class Sample:
    """The documents, and what is tried on them."""

    corpus: Corpus
    tokenizer: Tokenizer
    framing: Framing
    barrier: bool
    bootstrap: Bootstrap
    facts: dict[str, Any] = field(default_factory=dict)

    def measure(self, policies: Sequence[Policy], *, framed: bool = True) -> "Figures":
        """Returns what the policies would change; reads the corpus once."""
        variants = [
            Variant(one, framing=self.framing if framed else "none", barrier=self.barrier and framed)
            for one in policies
        ]
        name = BYTES if self.tokenizer.engine == BYTES else "tokenizer"
        bench = Bench({name: self.tokenizer}, variants)
        sums: Resampled[Group] = Resampled(
            len(bench.measures), bench.n_drawn, replicates=self.bootstrap.replicates, seed=self.bootstrap.seed
        )
        sha, counts = hashlib.sha256(), np.zeros(2, np.int64)
        n_bytes = 0
        for batch in self.corpus.batches():
            measured = bench.measure(batch)
            _add(sums, measured)
            counts += np.bincount(_half(measured), minlength=2)
            n_bytes += len(measured.seg.utf8)
            sha.update(b"".join(text_digests(measured.seg).to_pylist()))
        self.facts = {
            "documents": int(counts.sum()),
            **dict(zip(HALVES, counts.tolist(), strict=True)),
            "n_utf8_bytes": n_bytes,
            "sha256": sha.hexdigest(),
        }
        base: Measure = ("utf8",) if name == BYTES else ("text", name)
        other = [("bytes", v.name) if name == BYTES else ("tokens", name, v.name) for v in variants]
        at = bench.measures
        return Figures(sums, at[base], [at[one] for one in other], self.bootstrap.confidence)


@dataclass(frozen=True)
class Figures:
    """Costs of a sample under one or more policies, by script and half."""

    sums: Resampled[Group]
    base: int
    tried: list[int]
    confidence: float

    def saving(self, kind: str, half: str, script: int = -1, report: int = -1, policy: int = 0) -> Estimate:
        """Returns what a policy saves of a group; without documents there is nothing to say."""
        group = (kind, half, script, report)
        if group not in self.sums.groups:
            return Estimate(None, None, None, "few documents")
        return self.sums.saving(group, self.base, self.tried[policy], self.confidence)

    def saved(self, script: int, policy: int) -> int:
        """Tokens that a policy saves of a script in the first half."""
        group = ("script", HALVES[0], script, -1)
        return self.sums.total(group, self.base) - self.sums.total(group, self.tried[policy])

    def tokens(self, script: int) -> int:
        """Text tokens of a script in both halves."""
        groups = [("script", half, script, -1) for half in HALVES]
        return sum(self.sums.total(one, self.base) for one in groups if one in self.sums.groups)

    def scripts(self) -> list[int]:
        """Encoding classes in the sample, most tokens first."""
        found = {one[2] for one in self.sums.groups if one[0] == "script"} - _NEVER
        return sorted(found, key=lambda script: (-self.tokens(script), script))

    def reports(self) -> Iterator[int]:
        """Report classes in the sample."""
        yield from sorted({one[3] for one in self.sums.groups if one[0] == "report"})


def _half(measured: Measured) -> Int64:
    # The top bit: the bootstrap's weights hash the whole key.
    return (measured.batch.keys >> np.uint64(63)).astype(np.int64)


def _add(sums: Resampled[Group], measured: Measured) -> None:
    n, half_of = len(SCRIPTS), _half(measured)
    script, report = measured.script, measured.report
    # One number for kind, script and report class, so that all three go in together and draw their weights once.
    codes = {"script": script * n, "report": report, "pair": script * n + report}
    groups: list[Group] = []
    parts = []
    for kind, code in codes.items():
        found, doc, values = script_cells(measured, code)
        used, number = np.unique(found * 2 + half_of[doc], return_inverse=True)
        parts.append((number + len(groups), doc, values))
        for one in used.tolist():
            pair = (-1 if kind == "report" else one // 2 // n, -1 if kind == "script" else one // 2 % n)
            groups.append((kind, HALVES[one % 2], *pair))
    number, doc, values = (np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
    sums.add(groups, number, doc, values, measured.batch.keys)
