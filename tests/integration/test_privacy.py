"""A canary in every kind of input: it may come out in shards and kept raw bytes, and nowhere else."""

import json
import logging
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from byteroute.pipelines.preprocess import make_plan, prepare_output
from integration_support import do_ranges, run_command

from byteroute_ops import range_worker
from byteroute_ops.errors import WorkError, describe_error
from byteroute_ops.settings import load_settings
from byteroute_ops.tokenization.hf import ReferenceEngine

CANARY = "xyzzy-canary"
DATA_FOLDERS = ("shards", "duplicates")
"""Where ids and texts belong; without --keep-raw the rejects hold neither."""


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    """Files with the canary in texts, ids, languages, field values, broken lines, names of fields and bad bytes."""
    folder = tmp_path / "in"
    folder.mkdir()
    good = json.dumps({"id": CANARY, "lang": CANARY, "text": f"{CANARY} text", "more": CANARY})
    lines = [
        good.encode(),
        good.encode(),
        b'{"text": "' + CANARY.encode() + b'\xff"}',
        b'{"text": "' + CANARY.encode(),
        json.dumps({"text": [CANARY]}).encode(),
        json.dumps({"text": CANARY, "id": {CANARY: 1}}).encode(),
        json.dumps({"id": CANARY}).encode(),
        json.dumps(CANARY).encode(),
        b'{"text": "' + CANARY.encode() + b'\\ud83d"}',
        json.dumps({"text": CANARY * 20}).encode(),
    ]
    (folder / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    (folder / "b.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00" + CANARY.encode() * 40)
    (folder / "c.parquet").write_bytes(b"PAR1" + CANARY.encode() * 9 + b"PAR1")
    (folder / "d.avro").write_bytes(b"Obj\x01" + CANARY.encode() * 9)
    (folder / "e.wet").write_bytes(b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: " + CANARY.encode() + b"\r\n")
    return folder


def leaks(output: Path) -> list[str]:
    """Returns the files outside the data folders that hold the canary, whatever their compression."""
    found = []
    for path in sorted(output.rglob("*")):
        name = path.relative_to(output)
        if path.is_file() and name.parts[0] not in DATA_FOLDERS:
            data = path.read_bytes()
            if path.suffix == ".avro":
                data = b"".join(json.dumps(row, default=repr).encode() for row in avro_rows(path))
            if path.suffix == ".parquet":
                data = json.dumps(pa.parquet.read_table(path).to_pylist(), default=repr).encode()
            if CANARY.encode() in data:
                found.append(str(name))
    return found


def avro_rows(path: Path) -> list[Any]:
    """Returns the rows of an Avro file."""
    import fastavro

    with path.open("rb") as stream:
        return list(fastavro.reader(stream))


def test_rejects_say_nothing_of_the_text(poisoned: Path, tmp_path: Path) -> None:
    """All of standard output and error, with --debug, and every file of counts and rejects."""
    output = tmp_path / "out"
    command = run_command(poisoned, output, "--max-document-bytes", "100", "--max-rejected", "0", "--workers", "1")
    command.insert(command.index("run"), "--debug")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 3
    assert CANARY not in done.stdout + done.stderr
    totals = json.loads((output / "manifest.json").read_bytes())["totals"]
    assert totals["documents"] == 2
    assert set(totals["rejects"]) >= {
        "invalid_utf8", "invalid_json", "wrong_type", "missing_field", "lone_surrogate", "document_too_large",
    }  # fmt: skip
    # The language is a key of the budgets by its nature, so only there a tag may stand, and this one is no tag.
    assert leaks(output) == []


def test_raw_bytes_are_kept_only_when_asked_for(run_inline: Any, poisoned: Path, tmp_path: Path) -> None:
    """With --keep-raw the canary is in the rejects, and still in nothing else."""
    run_inline([poisoned], tmp_path / "out", keep_raw=True, max_document_bytes=100, tokenizers=("bytes",))
    assert [name for name in leaks(tmp_path / "out") if not name.startswith("rejects/")] == []
    assert [name for name in leaks(tmp_path / "out") if name.startswith("rejects/")] != []


def test_a_tokenizer_that_fails_on_a_text_names_no_text(
    run_inline: Any, poisoned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its reject has sizes only, and its neighbours are written."""
    original = ReferenceEngine._encode

    def failing(self: ReferenceEngine, pieces: Any, *, spans: bool) -> Any:
        if any(CANARY.encode() in piece for piece in pieces):
            raise RuntimeError(pieces)
        return original(self, pieces, spans=spans)

    monkeypatch.setattr(ReferenceEngine, "_encode", failing)
    (poisoned / "good.jsonl").write_text('{"text": "a neighbour"}\n', encoding="utf-8")
    with caplog.at_level(logging.DEBUG):
        manifest = run_inline([poisoned], tmp_path / "out", engine="tokenizers", max_document_bytes=100)
    assert manifest["totals"]["rejects"]["tokenizer_failure"] == 2
    assert manifest["totals"]["documents"] == 1
    assert CANARY not in caplog.text
    assert leaks(tmp_path / "out") == []


def test_a_bug_whose_message_quotes_the_text_tells_type_and_place(
    poisoned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library's exception is described without its message, on every way out of a worker."""
    plan = make_plan(load_settings({"tokenizers": ["bytes"]}), [str(poisoned)], str(tmp_path / "out"))

    def buggy(*_: Any, **__: Any) -> None:
        raise KeyError(CANARY)

    monkeypatch.setattr(range_worker, "read_range", buggy)
    assert prepare_output(plan, resume=False, overwrite=False)
    with pytest.raises(KeyError) as caught:
        do_ranges(plan.job, plan.ranges)
    said = describe_error(caught.value)
    assert "KeyError at" in said
    assert CANARY not in said


BUGGY = """
import byteroute_ops.processing as processing
def buggy(*_): raise ValueError("{canary}")
processing.segment_batch = buggy
"""


def test_a_bug_in_a_worker_process_is_one_line(poisoned: Path, tmp_path: Path) -> None:
    """Whatever Beam, the worker and the parent print, the canary is not in it."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "usercustomize.py").write_text("", encoding="utf-8")
    (site / "sitecustomize.py").write_text(BUGGY.format(canary=CANARY), encoding="utf-8")
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        run_command(poisoned, tmp_path / "out", "--tokenizer", "bytes", "--workers", "1", "--quiet"),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1
    assert "ValueError at" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert CANARY not in done.stdout + done.stderr
    assert leaks(tmp_path / "out") == []


def test_a_work_error_keeps_our_own_words() -> None:
    """What we say on purpose is passed on as it is."""
    assert describe_error(WorkError("range 3: no room")) == "range 3: no room"
