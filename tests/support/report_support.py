"""A finished run that never was: many languages with names that do harm where a page does not escape them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from byteroute.pipelines.report.load import Run

from byteroute_ops.budgets import Histogram
from byteroute_ops.files import LocalFiles
from byteroute_ops.records import SHARD

HOSTILE = "<script>window.harm=1</script>"
HOSTILE_IMAGE = '"><img src=x onerror="window.harm=2">'
SCRIPTS = ("Latn", "Cyrl", "Arab", "Deva", "Mymr")


class MadeUpRun(Run):
    """A run whose only shard is made when it is read."""

    def batches(self, path: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields a document for each language: plain ASCII, whatever its script is called."""
        names = dict.fromkeys(row["lang"] for row in self.languages)
        rows = [document(lang, SCRIPTS[i % len(SCRIPTS)]) for i, lang in enumerate(names)]
        yield pa.RecordBatch.from_pylist(rows, schema=SHARD).select(list(columns))


def document(lang: str, script: str) -> dict[str, Any]:
    """Returns the row of a document in a shard."""
    text = "abcdefghij" * 3
    segment = {"report_script": script, "encoding_script": script, "encoding": "utf-8"}
    spans = {"text_start": 0, "text_end": len(text), "start": 0, "end": len(text)}
    counts = dict.fromkeys(("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens", "n_routed_tokens"), 30)
    names = {"doc_id": f"{lang}/1", "source": HOSTILE, "position": 0, "lang": lang, "text_digest": bytes(16)}
    return {**names, **counts, "routed": text.encode(), "segments": [segment | spans], "token_ids": None}


def budget_row(tokenizer: str, key: str, name: str, n: int) -> dict[str, Any]:
    """Returns a row of a budget table for `n` documents, each a little longer than the one before."""
    tokens = np.arange(n) * 37 + n
    pairs = [{"bucket": bucket, "documents": count} for bucket, count in Histogram.of(tokens).to_pairs()]
    total = int(tokens.sum())
    counts = {"documents": n, "n_codepoints": 2 * total, "n_utf8_bytes": 5 * total, "n_routed_bytes": 4 * total + n}
    tokens_of = {"n_text_tokens": total, "n_routed_tokens": total - 3 * n if n % 2 else total + 5 * n}
    histograms = {"text_token_histogram": pairs, "routed_token_histogram": pairs}
    return {"tokenizer": tokenizer, key: name, **counts, **tokens_of, **histograms}


def made_up_run(n_languages: int, *, tokenizers: Sequence[str] = (HOSTILE_IMAGE,)) -> Run:
    """Returns a run with so many languages; names of languages, tokenizers, files and reasons are hostile."""
    names = [HOSTILE, HOSTILE_IMAGE, *(f"q{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(n_languages - 2))]
    languages = [budget_row(tok, "lang", name, 3 + i) for tok in tokenizers for i, name in enumerate(names)]
    scripts = [budget_row(tok, "script", name, 900 + i) for tok in tokenizers for i, name in enumerate(SCRIPTS)]
    first = [row for row in languages if row["tokenizer"] == tokenizers[0]]
    measured = ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens", "n_routed_tokens")
    sums = {name: sum(row[name] for row in first) for name in measured}
    documents = sum(row["documents"] for row in first)
    manifest = {
        "format": "byteroute-output",
        "format_version": 1,
        "version": "0",
        "settings": {"policy": HOSTILE, "framing": "control", "profile": "bytes", "barrier": False},
        "tokenizers": [{"name": name, "kind": "made up", "routed_reason": None} for name in tokenizers],
        "inputs": [{"name": HOSTILE, "size": 1}],
        "totals": {"records": documents + 1, "documents": documents, "not_sampled": 0, "rejects": {HOSTILE: 1},
                   "removed": {"bom": 2, "zwsp": 0}, "unknown_tokens": {tokenizers[0]: 7}, **sums},
        "warnings": [HOSTILE],
        "files": [{"path": "shards/part-00000-000.parquet", "kind": "shard", "bytes": 1000}],
    }  # fmt: skip
    return MadeUpRun(f"/data/{HOSTILE_IMAGE}", LocalFiles(), manifest, {"runner": HOSTILE}, scripts, languages)
