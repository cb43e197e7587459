"""From the records of all ranges to the final budgets and the manifest. Nothing is counted a second time."""

from collections.abc import Sequence
from typing import Any

import orjson

from byteroute_ops import layout
from byteroute_ops.budgets import Budget, RunTotals
from byteroute_ops.errors import ByteRouteError
from byteroute_ops.files import Files
from byteroute_ops.formats import Range
from byteroute_ops.range_worker import RangeRecord, read_range_record
from byteroute_ops.shards import FileReport, HashingStream, Kind, write_table

from .plan import Inputs

MANIFEST_VERSION = 1
_ATTEMPT = "final"
_KINDS: tuple[Kind, ...] = ("parquet", "avro")


def finalize(
    output: str, ranges: Sequence[Range], files: Files, *, identity: dict[str, Any], inputs: Inputs
) -> dict[str, Any]:
    """Writes budgets and summary, then the manifest, and removes what only an unfinished run needs.

    Returns:
        The manifest.

    Raises:
        ByteRouteError: a range without a record, or counts that do not add up.
    """
    records = [_record(files, output, one.index) for one in ranges]
    budget = Budget.merged(record.budget for record in records)
    totals = RunTotals.zero()
    for record in records:
        totals = totals.merge(record.totals)
    if not totals.balanced:
        raise ByteRouteError(f"records in and out do not balance: {totals.to_json()}; please report this")
    manifest = write_results(
        output, files, budget, totals, [one for record in records for one in record.files],
        identity=identity,
        inputs=[{"name": one.uri, "size": one.size} for one in inputs.files],
        warnings=[warning for record in records for warning in record.warnings],
    )  # fmt: skip
    for name in layout.WORKING:
        files.delete(layout.join(output, name))
    return manifest


def write_results(
    output: str,
    files: Files,
    budget: Budget,
    totals: RunTotals,
    written: Sequence[dict[str, Any]],
    *,
    identity: dict[str, Any],
    inputs: Sequence[dict[str, Any]],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """Writes budgets and summary, the manifest last, and returns it.

    Args:
        output: the output folder.
        files: serves it.
        budget: of the whole run.
        totals: of the whole run.
        written: the shards and rejects, as the manifest lists them.
        identity: what decided the output.
        inputs: the input files; empty for a stream.
        warnings: about the input.
    """
    writer = _Writer(files, output)
    listed = [*written]
    for name, table, avro_name in (
        ("scripts", budget.script_table(), "script_budget"),
        ("languages", budget.language_table(), "language_budget"),
    ):
        for kind in _KINDS:
            listed.append(writer.table(f"{layout.BUDGETS}/{name}.{kind}", table, kind, avro_name))
    listed.append(writer.json(layout.SUMMARY, summarize(budget, totals), kind="summary"))
    manifest = {
        "format": "byteroute-output",
        "format_version": MANIFEST_VERSION,
        **identity,
        "inputs": list(inputs),
        "totals": totals.to_json(),
        "warnings": list(warnings),
        "files": sorted(listed, key=lambda one: str(one["path"])),
    }
    writer.json(layout.MANIFEST, manifest, kind="manifest")
    return manifest


def _record(files: Files, output: str, index: int) -> RangeRecord:
    record = read_range_record(files, output, index)
    if record is None:
        raise ByteRouteError(f"range {index} has no record; run again with --resume")
    return record


def summarize(budget: Budget, totals: RunTotals) -> dict[str, Any]:
    """Returns the summary: totals, and for each tokenizer its totals and its scripts without histograms."""
    scripts = budget.script_table().drop_columns(["text_token_histogram", "routed_token_histogram"]).to_pylist()
    return {
        "totals": totals.to_json(),
        "tokenizers": {
            name: {
                "totals": budget.totals(name),
                "scripts": {row["script"]: _without(row) for row in scripts if row["tokenizer"] == name},
            }
            for name in budget.tokenizers
        },
    }


def _without(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("tokenizer", "script")}


class _Writer:
    """Writes small final files: temporary name first, then renamed."""

    def __init__(self, files: Files, output: str) -> None:
        self._files, self._output = files, output

    def table(self, path: str, table: Any, kind: Kind, avro_name: str) -> dict[str, Any]:
        temporary = layout.join(self._output, layout.temporary(_ATTEMPT, path))
        with self._files.create(temporary) as stream:
            report = write_table(table, path, stream, kind, avro_name=avro_name, seed=path.encode())
        return self._commit(temporary, report, "budget")

    def json(self, path: str, value: dict[str, Any], *, kind: str) -> dict[str, Any]:
        temporary = layout.join(self._output, layout.temporary(_ATTEMPT, path))
        with self._files.create(temporary) as stream:
            hashing = HashingStream(stream)
            hashing.write(orjson.dumps(value, option=orjson.OPT_INDENT_2))
        return self._commit(temporary, FileReport(path, 1, hashing.n_bytes, hashing.sha256()), kind)

    def _commit(self, temporary: str, report: FileReport, kind: str) -> dict[str, Any]:
        self._files.rename(temporary, layout.join(self._output, report.name))
        return {
            "path": report.name,
            "kind": kind,
            "rows": report.rows,
            "bytes": report.n_bytes,
            "sha256": report.sha256,
        }
