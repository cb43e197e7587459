"""The batch job on real files: what goes in comes out, or is accounted for."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from byteroute.pipelines.preprocess import files_for, make_plan, prepare_output
from byteroute.pipelines.verify import open_manifest, verify_output
from integration_support import digests, do_ranges

from byteroute_ops import compiled
from byteroute_ops.cleaning import clean_text
from byteroute_ops.errors import ConfigError
from byteroute_ops.segmentation import segment_text
from byteroute_ops.settings import load_settings
from byteroute_ops.stream_codec import decode
from byteroute_ops.tokenization import open_tokenizer


def rows_of(output: Path) -> list[dict[str, Any]]:
    """Returns all shard rows, in order of file and row, by an independent reader of each format."""
    rows: list[dict[str, Any]] = []
    for path in sorted((output / "shards").iterdir()):
        if path.suffix == ".parquet":
            rows += pq.read_table(path).to_pylist()
        else:
            with path.open("rb") as stream:
                rows += list(fastavro.reader(stream))
    return rows


def source_records(corpus: Path) -> dict[str, dict[str, Any]]:
    """Returns the usable records by id, read line by line with the standard library."""
    found = {}
    for path in sorted(corpus.iterdir()):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record.get("text"), str):
                found[record["id"]] = record
    return found


@pytest.mark.parametrize("shard_format", ["parquet", "avro"])
def test_every_row_is_written_or_rejected(run_inline: Any, corpus: Path, tmp_path: Path, shard_format: str) -> None:
    """Rows in are rows out plus rejects, and each row holds its text, counts and digest."""
    manifest = run_inline([corpus], tmp_path / "out", shard_format=shard_format, policy="script-a", keep_text=True)
    records = source_records(corpus)
    rows = rows_of(tmp_path / "out")
    assert {row["doc_id"] for row in rows} == set(records)
    assert manifest["totals"]["records"] == len(records) + 3
    assert manifest["totals"]["rejects"] == {"invalid_json": 1, "missing_field": 1, "wrong_type": 1}
    for row in rows:
        text = clean_text(records[row["doc_id"]]["text"]).text
        assert decode(row["routed"]) == row["text"] == text
        assert (row["n_codepoints"], row["n_utf8_bytes"]) == (len(text), len(text.encode()))
        assert row["n_routed_bytes"] == len(row["routed"])
        assert row["text_digest"] == hashlib.sha256(text.encode()).digest()[:16]
        assert row["lang"] == records[row["doc_id"]]["lang"]
    assert verify_output(files_for(str(tmp_path)), str(tmp_path / "out")).problems == []


def test_segments_are_the_script_runs_of_each_text(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """The column covers each text without gap and names the runs that segmentation finds."""
    run_inline([corpus], tmp_path / "out", policy="script-b")
    for row in rows_of(tmp_path / "out"):
        runs = segment_text(decode(row["routed"]))
        found = [(s["report_script"], s["encoding_script"], s["text_start"], s["text_end"]) for s in row["segments"]]
        assert found == [tuple(run) for run in runs]


def test_avro_and_parquet_shards_hold_the_same_rows(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """The format of the files changes no value."""
    for shard_format in ("parquet", "avro"):
        run_inline([corpus], tmp_path / shard_format, shard_format=shard_format)
    assert rows_of(tmp_path / "parquet") == rows_of(tmp_path / "avro")


def test_token_ids_are_those_of_the_tokenizer_alone(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """Ids in shards equal `tokenizers` run over each clean text, document by document."""
    from importlib import resources

    import tokenizers
    import zstandard

    data = resources.files("byteroute_ops.tokenization").joinpath("data", "default.json.zst").read_bytes()
    reference = tokenizers.Tokenizer.from_buffer(zstandard.ZstdDecompressor().decompress(data, 1 << 28))
    run_inline([corpus], tmp_path / "out")
    for row in rows_of(tmp_path / "out"):
        assert row["token_ids"] == reference.encode(decode(row["routed"])).ids


def test_routed_ids_stand_for_the_routed_bytes(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """With `ids: routed` the ids decode to the stream, and plain bytes give one id a byte."""
    run_inline([corpus], tmp_path / "out", ids="routed", policy="script-a")
    tokenizer = open_tokenizer("default")
    for row in rows_of(tmp_path / "out"):
        ids = pa.array(row["token_ids"], pa.int32()).to_numpy()
        assert tokenizer.decode_routed_ids(ids) == row["routed"]
        assert len(ids) == row["n_routed_tokens"]


@pytest.mark.parametrize("tokenizers", [("default",), ("default", "bytes")])
def test_budgets_add_up_to_the_rows(run_inline: Any, corpus: Path, tmp_path: Path, tokenizers: tuple[str, ...]) -> None:
    """Script rows and language rows both sum to the totals of the shard rows, for every tokenizer."""
    run_inline([corpus], tmp_path / "out", tokenizers=tokenizers, policy="script-a")
    rows = rows_of(tmp_path / "out")
    names = ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens", "n_routed_tokens")
    expected = {name: sum(row[name] for row in rows) for name in names}
    for table in ("scripts", "languages"):
        budget = pq.read_table(tmp_path / "out" / "budgets" / f"{table}.parquet").to_pylist()
        assert list(dict.fromkeys(row["tokenizer"] for row in budget)) == list(tokenizers)
        for tokenizer in tokenizers:
            sums = {name: sum(row[name] for row in budget if row["tokenizer"] == tokenizer) for name in names}
            assert {name: sums[name] for name in names[:3]} == {name: expected[name] for name in names[:3]}
            if tokenizer == "default":
                assert sums == expected
    languages = pq.read_table(tmp_path / "out" / "budgets" / "languages.parquet").to_pylist()
    documents = {row["lang"]: row["documents"] for row in languages if row["tokenizer"] == "default"}
    assert documents == Counter(row["lang"] for row in rows)


def test_a_repeated_run_writes_the_same_bytes(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """Two runs of one job agree in every file but run.json; so does a run over a copy elsewhere."""
    for shard_format in ("parquet", "avro"):
        settings = {"shard_format": shard_format, "range_bytes": 4096}
        run_inline([corpus], tmp_path / "a", overwrite=True, **settings)
        moved = tmp_path / "moved" / shard_format
        moved.mkdir(parents=True)
        for path in corpus.iterdir():
            (moved / path.name).write_bytes(path.read_bytes())
        run_inline([moved], tmp_path / "b", overwrite=True, **settings)
        assert digests(tmp_path / "a") == digests(tmp_path / "b")


@pytest.mark.skipif(not compiled.is_complete(), reason="byteroute was installed without its compiled modules")
def test_a_run_without_compiled_modules_writes_the_same_bytes(
    run_inline: Any, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was compiled shows in run.json and nowhere else."""
    run_inline([corpus], tmp_path / "compiled")
    for name in ("runs", "streams", "tokens"):
        monkeypatch.setattr(compiled, name, None)
    run_inline([corpus], tmp_path / "numpy")
    assert digests(tmp_path / "compiled") == digests(tmp_path / "numpy")
    facts = [json.loads((tmp_path / name / "run.json").read_bytes()) for name in ("compiled", "numpy")]
    assert [one["compiled"] for one in facts] == [True, False]


def test_an_interrupted_run_goes_on_to_the_same_end(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """After losing the record of a range and a half-written file, --resume ends with the same bytes."""
    run_inline([corpus], tmp_path / "whole", range_bytes=4096)
    output = tmp_path / "broken"
    plan = make_plan(load_settings({"range_bytes": 4096}), [str(corpus)], str(output))
    todo = prepare_output(plan, resume=False, overwrite=False)
    assert todo is not None
    assert len(todo) > 2
    do_ranges(plan.job, todo[:2])
    (output / "_temporary" / "dead").mkdir(parents=True)
    (output / "_temporary" / "dead" / "shards-part-00009-000.parquet").write_bytes(b"half a shard")
    with pytest.raises(ConfigError, match="--resume"):
        prepare_output(plan, resume=False, overwrite=False)
    run_inline([corpus], output, resume=True, range_bytes=4096)
    assert digests(output) == digests(tmp_path / "whole")


def test_another_configuration_is_refused_with_what_differs(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """A folder belongs to one job: settings and inputs are compared, and the difference is named."""
    run_inline([corpus], tmp_path / "out")

    def refusal(**settings: Any) -> str:
        plan = make_plan(load_settings(settings), [str(corpus)], str(tmp_path / "out"))
        with pytest.raises(ConfigError) as caught:
            prepare_output(plan, resume=True, overwrite=False)
        return str(caught.value)

    assert "different: framing, policy" in refusal(policy="script-a", framing="bom")
    (corpus / "new.jsonl").write_text('{"text": "more"}\n', encoding="utf-8")
    assert "different: input files" in refusal()


def test_overwrite_leaves_no_stale_file_and_deletes_nothing_foreign(
    run_inline: Any, corpus: Path, tmp_path: Path
) -> None:
    """A run with fewer shards replaces one with more; a folder that no run wrote is never touched."""
    run_inline([corpus], tmp_path / "out", range_bytes=4096)
    (tmp_path / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    manifest = run_inline([corpus], tmp_path / "out", overwrite=True)
    shards = [one["path"] for one in manifest["files"] if one["kind"] == "shard"]
    assert [path.name for path in (tmp_path / "out" / "shards").iterdir()] == [Path(one).name for one in shards]
    assert (tmp_path / "out" / "notes.txt").exists()
    foreign = tmp_path / "foreign"
    (foreign / "shards").mkdir(parents=True)
    (foreign / "shards" / "precious").write_bytes(b"1")
    with pytest.raises(ConfigError, match="holds no byteroute run"):
        run_inline([corpus], foreign, overwrite=True)
    assert (foreign / "shards" / "precious").exists()


def test_without_a_manifest_the_output_is_not_complete(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """Readers refuse a folder whose manifest is missing."""
    run_inline([corpus], tmp_path / "out")
    (tmp_path / "out" / "manifest.json").unlink()
    with pytest.raises(ConfigError, match=r"no manifest\.json"):
        open_manifest(files_for(str(tmp_path)), str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("path", "change", "message"),
    [
        ("shards/part-00000-000.parquet", b"x", "bytes, the manifest says"),
        ("shards/extra.parquet", b"x", "not in the manifest"),
        ("budgets/scripts.parquet", None, "missing"),
    ],
)
def test_verify_names_what_was_changed(
    run_inline: Any, corpus: Path, tmp_path: Path, path: str, change: bytes | None, message: str
) -> None:
    """A longer, an additional and a missing file are each reported."""
    output = tmp_path / "out"
    run_inline([corpus], output)
    target = output / path
    if change is None:
        target.unlink()
    else:
        target.write_bytes((target.read_bytes() if target.exists() else b"") + change)
    problems = verify_output(files_for(str(output)), str(output)).problems
    assert any(path in one and message in one for one in problems)


def test_limit_takes_the_first_documents_in_order(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """`limit` counts documents, not records, and what it leaves out of a batch is accounted for."""
    run_inline([corpus], tmp_path / "all", range_bytes=4096)
    manifest = run_inline([corpus], tmp_path / "some", limit=11, range_bytes=4096)
    expected = [row["doc_id"] for row in rows_of(tmp_path / "all")][:11]
    assert [row["doc_id"] for row in rows_of(tmp_path / "some")] == expected
    totals = manifest["totals"]
    assert totals["records"] == totals["documents"] + totals["not_sampled"] + sum(totals["rejects"].values())


def test_a_larger_sample_holds_the_smaller_one(run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """`sample` goes by the id alone, so samples nest and do not depend on ranges."""
    ids = {}
    for fraction, range_bytes in ((0.2, 4096), (0.5, 1 << 20)):
        output = tmp_path / str(fraction)
        run_inline([corpus], output, sample=fraction, range_bytes=range_bytes)
        ids[fraction] = {row["doc_id"] for row in rows_of(output)}
    assert ids[0.2] < ids[0.5] < set(source_records(corpus))


def test_an_empty_corpus_is_a_valid_output(run_inline: Any, tmp_path: Path) -> None:
    """Files without a document give no shards, empty budgets and a manifest that verifies."""
    (tmp_path / "empty.jsonl").write_bytes(b"")
    manifest = run_inline([tmp_path / "empty.jsonl"], tmp_path / "out")
    assert manifest["totals"]["documents"] == 0
    assert pq.read_table(tmp_path / "out" / "budgets" / "scripts.parquet").num_rows == 0
    assert verify_output(files_for(str(tmp_path)), str(tmp_path / "out")).problems == []
