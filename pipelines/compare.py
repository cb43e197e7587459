"""What several policies would change, for several tokenizers and for byte models: figures, tables, files."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

import numpy as np
import orjson

from byteroute_ops import __version__
from byteroute_ops.comparison import CONFIDENCE, MIN_DOCUMENTS, REPLICATES, SEED, Estimate, Resampled
from byteroute_ops.records import ADDED
from byteroute_ops.tokenization import Tokenizer
from byteroute_ops.trial import Variant
from byteroute_ops.unicode_data import SCRIPTS, UNICODE_VERSION

from .compare_documents import Corpus
from .compare_measure import BYTES, Bench, Measured, document_values, script_cells

Group = tuple[str, str]
"""Kind (`script`, `lang`, `total`) and name."""

TOTAL: Final = ("total", "total")


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """How intervals are made; see `byteroute_ops.comparison`."""

    replicates: int = REPLICATES
    confidence: float = CONFIDENCE
    seed: int = SEED


@dataclass(frozen=True, kw_only=True)
class Row:
    """One script or language under one tokenizer and one way of routing.

    Attributes:
        kind: `script`, `lang` or `total`.
        name: script (report class, or `(added)`), language tag, or `total`.
        tokenizer: its name; `bytes` for byte models.
        world: `frozen`: a tokenizer as it is; `byte`: the length of the byte sequence.
        policy: name of the policy.
        framing: `control`, `bom`, `none` or `text`.
        barrier: whether barriers are written.
        documents: documents with at least one character of it.
        n_codepoints: their characters in it.
        n_utf8_bytes: of the clean text.
        n_routed_bytes: of the routed stream.
        n_text_tokens: of the clean text; for byte models its bytes.
        n_routed_tokens: of the routed stream, what segments change beside them billed to them; None: no routed ids.
        n_edge_tokens: the part of it that a run's budget shows in another script; a budget has the difference.
        saving: (text - routed) / text.
        saving_low: lower end of its interval.
        saving_high: upper end.
        verdict: `fewer`, `more`, `none` (within the noise), `few documents`, or `no routed ids`.
        byte_saving: the same of bytes, as are the following.
        byte_saving_low: lower end.
        byte_saving_high: upper end.
        byte_verdict: as `verdict`.
    """

    kind: str
    name: str
    tokenizer: str
    world: str
    policy: str
    framing: str
    barrier: bool
    documents: int
    n_codepoints: int
    n_utf8_bytes: int
    n_routed_bytes: int
    n_text_tokens: int
    n_routed_tokens: int | None
    n_edge_tokens: int | None
    saving: float | None
    saving_low: float | None
    saving_high: float | None
    verdict: str
    byte_saving: float | None
    byte_saving_low: float | None
    byte_saving_high: float | None
    byte_verdict: str


@dataclass(frozen=True)
class Comparison:
    """What was compared, and what came out.

    Attributes:
        documents: that were measured.
        n_rejected: records that readers or tokenizers could not use.
        tokenizers: name and fingerprint of each, byte models last.
        variants: ways of routing, in order.
        rows: by tokenizer, variant, kind; scripts and languages with most text tokens first.
        seconds: wall time by what was done: `route`, `text`, `routed`, with tokenizer and variant.
        bootstrap: how intervals were made.
    """

    documents: int
    n_rejected: int
    tokenizers: list[dict[str, Any]]
    variants: tuple[Variant, ...]
    rows: list[Row]
    seconds: list[dict[str, Any]]
    bootstrap: Bootstrap = field(default_factory=Bootstrap)

    def to_json(self) -> bytes:
        """Returns everything, as JSON."""
        value = {
            "format": "byteroute-comparison",
            "format_version": 1,
            "version": __version__,
            "unicode_version": UNICODE_VERSION,
            "documents": self.documents,
            "rejected": self.n_rejected,
            "bootstrap": asdict(self.bootstrap) | {"min_documents": MIN_DOCUMENTS},
            "tokenizers": self.tokenizers,
            "policies": {one.policy.name: one.policy.fingerprint() for one in self.variants},
            "seconds": self.seconds,
            "rows": [asdict(row) for row in self.rows],
        }
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)

    def to_csv(self) -> bytes:
        """Returns the rows, as CSV in UTF-8 with a header line."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [one.name for one in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return text.getvalue().encode()


def compare(
    corpus: Corpus, tokenizers: dict[str, Tokenizer], variants: Sequence[Variant], bootstrap: Bootstrap | None = None
) -> Comparison:
    """Returns what the variants would change; reads the corpus once, in bounded memory.

    Args:
        corpus: the documents.
        tokenizers: by name; byte models are always compared too.
        variants: ways of routing, of different names.
        bootstrap: how intervals are made.
    """
    bootstrap = bootstrap or Bootstrap()
    bench = Bench(tokenizers, variants)
    sums: Resampled[Group] = Resampled(
        len(bench.measures), bench.n_drawn, replicates=bootstrap.replicates, seed=bootstrap.seed
    )
    documents = n_failed = 0
    for batch in corpus.batches():
        measured = bench.measure(batch)
        documents += len(measured.batch.texts)
        n_failed += measured.n_failed
        _add(sums, measured)
    rows = [
        row
        for tokenizer in (*bench.tokenizers, BYTES)
        for variant in bench.variants.values()
        for row in _rows(sums, bench, tokenizer, variant, bootstrap.confidence)
    ]
    return Comparison(
        documents=documents,
        n_rejected=corpus.n_rejected + n_failed,
        tokenizers=[{"engine": one.engine, "routed_reason": one.routed_reason, **one.fingerprint()} | {"name": name}
                    for name, one in bench.tokenizers.items()] + [{"name": BYTES}],
        variants=tuple(variants),
        rows=rows,
        seconds=_seconds(bench),
        bootstrap=bootstrap,
    )  # fmt: skip


_SCRIPT_GROUPS: Final = [("script", code) for code in SCRIPTS]


def _add(sums: Resampled[Group], measured: Measured) -> None:
    """Adds a batch to its scripts, its languages, the row of added tokens and the total."""
    script, script_doc, by_script = script_cells(measured, measured.report)
    n_docs = len(measured.batch.texts)
    if not n_docs:
        return
    doc = np.arange(n_docs)
    by_doc = document_values(measured)
    lang = measured.batch.lang.dictionary_encode()
    languages: list[Group] = [("lang", name) for name in lang.dictionary.to_pylist()]
    first_language = len(_SCRIPT_GROUPS)
    last = first_language + len(languages)
    has_added = np.flatnonzero(measured.added.any(axis=0))
    sums.add(
        [*_SCRIPT_GROUPS, *languages, ("script", ADDED), TOTAL],
        np.concatenate([script, first_language + lang.indices.to_numpy(), np.full(len(has_added), last),
                        np.full(n_docs, last + 1)]),
        np.concatenate([script_doc, doc, has_added, doc]),
        np.concatenate([by_script, by_doc, measured.added[:, has_added], by_doc], axis=1),
        measured.batch.keys,
    )  # fmt: skip


def _rows(sums: Resampled[Group], bench: Bench, tokenizer: str, variant: Variant, confidence: float) -> list[Row]:
    """Returns the rows of a tokenizer and a variant: scripts, languages, total."""
    at = bench.measures
    utf8, routed = at["utf8",], at["bytes", variant.name]
    byte_model = tokenizer == BYTES
    text = utf8 if byte_model else at["text", tokenizer]
    tokens = routed if byte_model else at.get(("tokens", tokenizer, variant.name))
    edges = None if byte_model else at.get(("edges", tokenizer, variant.name))
    order = {"script": 0, "lang": 1, "total": 2}
    found = []
    for group in sorted(sums.groups, key=lambda one: (order[one[0]], one[1] == ADDED, -sums.total(one, text), one[1])):
        of_bytes = sums.saving(group, utf8, routed, confidence)
        of_tokens = of_bytes if byte_model else None if tokens is None else sums.saving(group, text, tokens, confidence)
        shown = of_tokens or Estimate(None, None, None, "none")
        found.append(
            Row(
                kind=group[0],
                name=group[1],
                tokenizer=tokenizer,
                world="byte" if byte_model else "frozen",
                policy=variant.policy.name,
                framing=variant.framing,
                barrier=variant.barrier,
                documents=sums.documents(group),
                n_codepoints=sums.total(group, at["codepoints",]),
                n_utf8_bytes=sums.total(group, utf8),
                n_routed_bytes=sums.total(group, routed),
                n_text_tokens=sums.total(group, text),
                n_routed_tokens=None if tokens is None else sums.total(group, tokens),
                n_edge_tokens=0 if byte_model else None if edges is None else sums.total(group, edges),
                saving=shown.saving,
                saving_low=shown.low,
                saving_high=shown.high,
                verdict="no routed ids" if of_tokens is None else shown.verdict,
                byte_saving=of_bytes.saving,
                byte_saving_low=of_bytes.low,
                byte_saving_high=of_bytes.high,
                byte_verdict=of_bytes.verdict,
            )
        )
    return found


def _seconds(bench: Bench) -> list[dict[str, Any]]:
    names = {"bytes": "route", "text": "text", "tokens": "routed"}
    rows = []
    for measure, seconds in bench.seconds.items():
        what, *rest = measure
        variant = rest.pop() if what in ("bytes", "tokens") else None
        tokenizer = rest.pop() if rest else None
        rows.append({"what": names[what], "tokenizer": tokenizer, "variant": variant, "seconds": round(seconds, 3)})
    return rows
