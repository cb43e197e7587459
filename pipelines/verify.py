"""Checks a finished output against its manifest: hashes, row counts, every document decoded and compared."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

from byteroute_ops import layout
from byteroute_ops.errors import ConfigError, InputError, StreamError
from byteroute_ops.files import Files
from byteroute_ops.shards import open_shard
from byteroute_ops.stream_codec import decode

from .unique import DuplicateFinder

_GLOBBED = (layout.SHARDS, layout.REJECTS, layout.DUPLICATES, layout.BUDGETS)

MAX_PROBLEMS = 50
"""Problems listed; what comes after them is counted."""


@dataclass
class Report:
    """What was checked and what is wrong. Document texts are never quoted."""

    files: int = 0
    documents: int = 0
    routed_bytes: int = 0
    problems: list[str] = field(default_factory=list)
    not_listed: int = 0

    def problem(self, text: str) -> None:
        """Notes a problem."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(text)
        else:
            self.not_listed += 1


def open_manifest(files: Files, output: str) -> dict[str, Any]:
    """Returns the manifest of a finished run.

    Raises:
        ConfigError: there is none, so the output is not complete, or it cannot be read.
    """
    name = layout.join(output, layout.MANIFEST)
    try:
        with files.open(name) as stream:
            manifest = orjson.loads(stream.read())
    except FileNotFoundError:
        raise ConfigError(
            f"{output} has no {layout.MANIFEST}: not the output of a finished run (--resume goes on with one)"
        ) from None
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{name} is damaged: {error.msg} at byte {error.pos}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != "byteroute-output":
        raise ConfigError(f"{name} is not a byteroute manifest")
    return manifest


def verify_output(files: Files, output: str, *, unique: bool = False) -> Report:
    """Returns the report on an output folder.

    Args:
        files: what serves the folder.
        output: the folder.
        unique: also look for document ids that occur twice.

    Raises:
        ConfigError: no manifest.
    """
    manifest = open_manifest(files, output)
    report = Report()
    _check_listing(files, output, manifest, report)
    sums = dict.fromkeys(("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens"), 0)
    finder = DuplicateFinder() if unique else None
    for one in manifest["files"]:
        report.files += 1
        if not _check_hash(files, output, one, report) or one["kind"] != "shard":
            continue
        rows = 0
        try:
            for batch in _batches(files, layout.join(output, one["path"])):
                _check_batch(batch, one["path"], rows, manifest["settings"], report)
                rows += batch.num_rows
                for name in sums:
                    sums[name] += sum(batch[name].to_pylist())
                if finder is not None:
                    finder.add(batch["doc_id"])
        except InputError as error:
            report.problem(f"{one['path']}: {error}")
        if rows != one["rows"]:
            report.problem(f"{one['path']}: {rows} rows, the manifest says {one['rows']}")
        report.documents += rows
    _check_totals(manifest["totals"], sums, report)
    if finder is not None and (duplicates := finder.count()):
        report.problem(f"{duplicates} document ids occur more than once")
    if report.not_listed:
        report.problems.append(f"{report.not_listed} more problems")
    report.routed_bytes = sums["n_routed_bytes"]
    return report


def _check_listing(files: Files, output: str, manifest: dict[str, Any], report: Report) -> None:
    """Every listed file is there; nothing else lies in the folders that readers glob."""
    prefix = layout.join(output, "")
    present = {info.uri.removeprefix(prefix) for info in files.walk(output)}
    listed = {one["path"] for one in manifest["files"]}
    for path in sorted(listed - present):
        report.problem(f"{path}: missing")
    for path in sorted(present - listed):
        if path.startswith(tuple(f"{name}/" for name in _GLOBBED)):
            report.problem(f"{path}: not in the manifest")
    totals = manifest["totals"]
    shard_rows = sum(one["rows"] for one in manifest["files"] if one["kind"] == "shard")
    reject_rows = sum(one["rows"] for one in manifest["files"] if one["kind"] == "rejects")
    if shard_rows != totals["documents"]:
        report.problem(f"manifest: {totals['documents']} documents, but its shards have {shard_rows} rows")
    if reject_rows != sum(totals["rejects"].values()):
        report.problem(f"manifest: {sum(totals['rejects'].values())} rejects, but their files have {reject_rows} rows")


def _check_hash(files: Files, output: str, one: dict[str, Any], report: Report) -> bool:
    digest, size = hashlib.sha256(), 0
    try:
        with files.open(layout.join(output, one["path"])) as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        report.problem(f"{one['path']}: {error.strerror or type(error).__name__}")
        return False
    if size != one["bytes"]:
        report.problem(f"{one['path']}: {size} bytes, the manifest says {one['bytes']}")
        return False
    if digest.hexdigest() != one["sha256"]:
        report.problem(f"{one['path']}: sha256 differs from the manifest's")
        return False
    return True


def _batches(files: Files, name: str) -> Iterator[pa.RecordBatch]:
    with files.open(name) as stream:
        yield from open_shard(stream).batches()


def _check_batch(batch: pa.RecordBatch, path: str, first_row: int, settings: dict[str, Any], report: Report) -> None:
    columns = batch.select(
        ["routed", "text_digest", "n_codepoints", "n_utf8_bytes", "n_routed_bytes", "segments", "token_ids"]
    ).to_pydict()
    counted = {"text": batch["n_text_tokens"], "routed": batch["n_routed_tokens"]}.get(settings["ids"])
    expected_ids = counted.to_pylist() if counted is not None else [None] * batch.num_rows
    for i, routed in enumerate(columns["routed"]):
        where = f"{path}: row {first_row + i}"
        try:
            text = decode(routed, framing=settings["framing"], profile=settings["profile"], barrier=settings["barrier"])
        except StreamError as error:
            report.problem(f"{where}: {error}")
            continue
        utf8 = text.encode()
        if hashlib.sha256(utf8).digest()[:16] != columns["text_digest"][i]:
            report.problem(f"{where}: the decoded text has another digest")
        found = (len(text), len(utf8), len(routed))
        said = (columns["n_codepoints"][i], columns["n_utf8_bytes"][i], columns["n_routed_bytes"][i])
        if found != said:
            report.problem(f"{where}: code points, UTF-8 bytes, routed bytes are {found}, the row says {said}")
        ids = columns["token_ids"][i]
        if (None if ids is None else len(ids)) != expected_ids[i]:
            report.problem(f"{where}: the number of token ids is not the number of tokens")
        _check_segments(columns["segments"][i], len(text), where, report)


def _check_segments(segments: list[dict[str, Any]], n_codepoints: int, where: str, report: Report) -> None:
    at = 0
    for one in segments:
        if one["text_start"] != at or one["text_end"] <= at:
            report.problem(f"{where}: segments do not follow each other at code point {at}")
            return
        at = one["text_end"]
    if at != n_codepoints:
        report.problem(f"{where}: segments end at code point {at} of {n_codepoints}")


def _check_totals(totals: dict[str, Any], sums: dict[str, int], report: Report) -> None:
    for name, value in sums.items():
        if totals[name] != value:
            report.problem(f"{name}: shards add up to {value}, the manifest says {totals[name]}")
