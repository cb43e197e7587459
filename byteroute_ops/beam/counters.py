"""Counters and distributions of each stage, as an engine's page shows them: `byteroute.<stage>` / name.

They are for looking on. A bundle that is done again counts again, so every reported number comes from the
records of ranges and panes. No name or value holds anything of the text.
"""

from collections.abc import Mapping

from apache_beam.metrics import Metrics

from ..budgets import RunTotals


def count(stage: str, values: Mapping[str, int]) -> None:
    """Adds to the counters of a stage; zeros make none."""
    for name, value in values.items():
        if value:
            Metrics.counter(f"byteroute.{stage}", name).inc(value)


def count_totals(totals: RunTotals) -> None:
    """Counts what became of a range, a batch or a pane: rows and bytes by stage, rejects by reason."""
    rejected = sum(totals.rejects.values())
    count("read", {"rows_out": totals.records, "rows_not_sampled": totals.not_sampled})
    count("clean", {f"removed_{kind}": n for kind, n in totals.removed.items()} | {"bytes_out": totals.n_utf8_bytes})
    count("route", {"bytes_in": totals.n_utf8_bytes, "bytes_out": totals.n_routed_bytes})
    count("tokenize", {"text_tokens": totals.n_text_tokens, "routed_tokens": totals.n_routed_tokens})
    count("write", {"rows": totals.documents, "files": totals.n_shards, "bytes": totals.n_shard_bytes})
    count("reject", {"rows": rejected, **{f"reason_{reason}": n for reason, n in totals.rejects.items()}})
    if totals.documents:
        Metrics.distribution("byteroute.write", "documents_at_once").update(totals.documents)
        Metrics.distribution("byteroute.route", "mean_document_bytes").update(totals.n_utf8_bytes // totals.documents)
