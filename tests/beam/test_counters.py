"""What an engine shows of a job: counters by stage, made into progress."""

from pathlib import Path

import orjson
from byteroute.pipelines.build import batch_pipeline
from byteroute.pipelines.engines import _follower, job_name
from byteroute.pipelines.preprocess import make_plan
from byteroute.runners import find_profile, launch

from byteroute_ops.settings import Settings


class Seen:
    """Adds up what it hears of progress."""

    def __init__(self) -> None:
        self.source_bytes, self.documents, self.ranges = 0, 0, 0

    def read(self, range_index: int, source_bytes: int, documents: int) -> None:
        """Hears of progress."""
        self.source_bytes += source_bytes
        self.documents += documents

    def range_done(self, range_index: int) -> None:
        """Hears of an end."""
        self.ranges += 1


def test_counters_of_a_job_agree_with_its_records(data_dir: Path, tmp_path: Path) -> None:
    """Rows, bytes, tokens and rejects by reason are those of the ranges' records, and their sum is the progress."""
    lines = (data_dir / "udhr_small.jsonl").read_text(encoding="utf-8")
    (tmp_path / "in.jsonl").write_text(lines + '\n{broken\n{"id": "x"}\n', encoding="utf-8")
    settings = Settings(tokenizers=("bytes",), range_bytes=10_000)
    plan = make_plan(settings, [str(tmp_path / "in.jsonl")], str(tmp_path / "out"))
    found = launch(find_profile("local"), batch_pipeline(plan.job, plan.ranges), [], job_name=job_name(plan.job))
    counters = {(namespace, name): value for (_, namespace, name), value in found.items()}
    records = [orjson.loads(path.read_bytes())["totals"] for path in (tmp_path / "out" / "_ranges").glob("*.json")]

    def total(name: str) -> int:
        return sum(one[name] for one in records)

    assert counters["byteroute.read", "rows_out"] == total("records")
    assert counters["byteroute.write", "rows"] == total("documents")
    assert counters["byteroute.route", "bytes_in"] == total("n_utf8_bytes")
    assert counters["byteroute.route", "bytes_out"] == total("n_routed_bytes")
    assert counters["byteroute.tokenize", "text_tokens"] == total("n_text_tokens")
    assert counters["byteroute.reject", "reason_invalid_json"] == 1
    assert counters["byteroute.reject", "reason_missing_field"] == 1
    seen = Seen()
    follow = _follower(seen)
    follow({})
    follow(found)
    follow(found)
    assert (seen.documents, seen.ranges) == (total("records"), len(plan.ranges))
    # Slices are read in blocks, so that neighbours read some bytes twice.
    assert seen.source_bytes >= (tmp_path / "in.jsonl").stat().st_size


def test_a_range_that_is_done_is_not_done_again(data_dir: Path, tmp_path: Path) -> None:
    """An engine that repeats a bundle finds the records of its ranges, and does the others only."""
    plan = make_plan(Settings(tokenizers=("bytes",)), [str(data_dir / "udhr_small.jsonl")], str(tmp_path / "out"))
    build = batch_pipeline(plan.job, plan.ranges)
    launch(find_profile("local"), build, [], job_name="one")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*") if path.is_file()}
    again = launch(find_profile("local"), build, [], job_name="two")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*") if path.is_file()} == before
    assert not [name for _, name, _ in again if name == "byteroute.write"]
