"""How a run ends: exit 0 and 3 with the table of reasons, odd names and locales, no input and no documents."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import fastavro
import pytest
from byteroute.pipelines.options import parse_threshold
from byteroute.pipelines.preprocess import files_for
from byteroute.pipelines.verify import verify_output
from integration_support import digests, run_command

from byteroute_ops.duplicates import SeenIds
from byteroute_ops.errors import ConfigError

QUICK = ("--tokenizer", "bytes", "--workers", "1", "--quiet")


def run(*arguments: Path | str, **environment: str) -> tuple[int, str]:
    """Runs the command; returns its exit code and what it said on standard error."""
    command = run_command(arguments[0], arguments[1], *map(str, arguments[2:]), *QUICK)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=os.environ | environment
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_too_many_rejects_are_exit_3_with_the_reasons(corpus: Path, tmp_path: Path) -> None:
    """The output is complete; the message has counts, limit and every reason, and a second run says it again."""
    expected = (
        "byteroute: 3 of 157 records rejected, more than the 1 % that --max-rejected allows\n"
        "  invalid_json                    1    0.637 %\n"
        "  missing_field                   1    0.637 %\n"
        "  wrong_type                      1    0.637 %\n"
        f"the output is complete; the rejected rows are in {tmp_path / 'out'}/rejects/, see docs/rejects.md\n"
    )
    assert run(corpus, tmp_path / "out") == (3, expected)
    assert verify_output(files_for(str(tmp_path)), str(tmp_path / "out")).problems == []
    code, said = run(corpus, tmp_path / "out", "--max-rejected", "2")
    assert (code, "more than the 2 that" in said) == (3, True)
    assert run(corpus, tmp_path / "out", "--max-rejected", "3")[0] == 0
    assert run(corpus, tmp_path / "out", "--max-rejected", "2%")[0] == 0


@pytest.mark.parametrize("text", ["-1", "-1%", "101%", "1.5", "many", "nan%"])
def test_thresholds_that_mean_nothing_are_refused(text: str) -> None:
    """A count below zero, a fraction above one, or no number."""
    with pytest.raises(ConfigError, match="neither a count"):
        parse_threshold(text)


def test_resume_and_overwrite_exclude_each_other(corpus: Path, tmp_path: Path) -> None:
    """Wrong use: exit 2 before anything is written."""
    code, said = run(corpus, tmp_path / "out", "--resume", "--overwrite")
    assert code == 2
    assert "exclude each other" in said
    assert not (tmp_path / "out").exists()


def test_no_input_file_is_wrong_use(tmp_path: Path) -> None:
    """A pattern without a match is exit 2; files without a document are a valid output."""
    assert run(str(tmp_path / "*.jsonl"), tmp_path / "out")[0] == 2
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert run(tmp_path / "empty.jsonl", tmp_path / "out") == (0, "")


def test_names_and_locale_change_nothing(tmp_path: Path) -> None:
    """Spaces, non-ASCII letters, glob signs and line breaks in names of files and folders, under LC_ALL=C and UTF-8."""
    folder = tmp_path / "entrée *"
    (folder / "unter ordner").mkdir(parents=True)
    for i, name in enumerate(("a b.jsonl", "ä中.jsonl", "*.jsonl", "[x].jsonl", "unter ordner/-f\n.jsonl")):
        (folder / name).write_text(json.dumps({"text": f"ключ {i}"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert run(folder, tmp_path / "plain", LC_ALL="C") == (0, "")
    assert run(folder, tmp_path / "ütf *", LC_ALL="C.UTF-8") == (0, "")
    assert digests(tmp_path / "plain") == digests(tmp_path / "ütf *")
    assert json.loads((tmp_path / "plain" / "manifest.json").read_bytes())["totals"]["documents"] == 5
    assert run(folder / "*.jsonl", tmp_path / "one") == (0, "")
    inputs = json.loads((tmp_path / "one" / "manifest.json").read_bytes())["inputs"]
    assert [one["name"] for one in inputs] == ["*.jsonl"]


def test_a_name_that_is_not_utf8_is_wrong_use(tmp_path: Path) -> None:
    """No shard could name such a source: exit 2 before any work, and the name in ASCII."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / os.fsdecode(b"\xff.jsonl")).write_bytes(b'{"text": "x"}\n')
    code, said = run(tmp_path / "in", tmp_path / "out")
    assert code == 2
    assert "\\udcff.jsonl" in said
    assert said.count("\n") == 1


def test_repeated_ids_are_counted_and_named(run_inline: Any, tmp_path: Path) -> None:
    """Within a range: in the totals and in duplicates/; across ranges: by verify --unique. Nothing is dropped."""
    rows = [json.dumps({"id": i, "text": f"text {k}"}) for k, i in enumerate(["a", "b", "a", "c", "a", "b"])]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "in" / "y.jsonl").write_text('{"id": "c", "text": "z"}\n', encoding="utf-8")
    settings = {"tokenizers": ("bytes",), "range_bytes": 70_000}
    manifest = run_inline([tmp_path / "in"], tmp_path / "out", **settings)
    assert (manifest["totals"]["documents"], manifest["totals"]["duplicates"]) == (7, 3)
    with (tmp_path / "out" / "duplicates" / "part-00000.avro").open("rb") as stream:
        found = [(row["doc_id"], row["source"], row["position"]) for row in fastavro.reader(stream)]
    step = len(rows[0]) + 1
    assert found == [(name, "x.jsonl", k * step) for name, k in (("a", 2), ("a", 4), ("b", 5))]
    assert [one["path"] for one in manifest["files"] if one["kind"] == "duplicates"] == ["duplicates/part-00000.avro"]
    files = files_for(str(tmp_path))
    assert verify_output(files, str(tmp_path / "out")).problems == []
    problems = verify_output(files, str(tmp_path / "out"), unique=True).problems
    assert problems == ["4 document ids occur more than once"]


def test_seen_ids_equal_a_set(run_inline: Any) -> None:
    """Over many batches of many sizes the digests say what a set of the ids says."""
    import random

    import pyarrow as pa

    rng = random.Random(3)
    seen, known = SeenIds(), set()
    for _ in range(60):
        ids = [str(rng.randrange(3000)) for _ in range(rng.choice((0, 1, 7, 200)))]
        expected = []
        for one in ids:
            expected.append(one in known)
            known.add(one)
        assert seen.repeats(pa.array(ids, pa.string())).tolist() == expected
