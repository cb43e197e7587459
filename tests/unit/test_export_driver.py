"""The export driver: splits, shuffle, resume, refusal, manifest."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from byteroute.pipelines.export_driver import plan_export, write_export
from export_fixtures import VOCABULARY, make_documents, toy_ids, write_run

from byteroute_ops.errors import ConfigError
from byteroute_ops.export import EXPORTERS, IdSpace
from byteroute_ops.export.work import run_part
from byteroute_ops.loading import FinishedRun
from byteroute_ops.loading.runs import small_batches

EOS = VOCABULARY - 1
DOCUMENTS = make_documents(60)
SPACE = IdSpace(kind="text", size=VOCABULARY, eos=EOS)
EXPECTED = {doc_id: [*toy_ids(text), EOS] for doc_id, text in DOCUMENTS if text}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run of 60 documents in three shards."""
    return write_run(tmp_path_factory.mktemp("run"), DOCUMENTS)


def export(run: FinishedRun, output: Path, *, to: str = "arrow", workers: int = 1, **options: Any) -> dict[str, Any]:
    """Exports to a folder and returns the manifest."""
    job = plan_export(run, str(output), to=to, **{"space": SPACE} | options)
    return write_export(job, run, workers=workers)


def read_arrow(output: Path, split: str) -> list[tuple[str, list[int]]]:
    """All documents of an Arrow export, in order of files and rows."""
    found: list[tuple[str, list[int]]] = []
    for path in sorted((output / split).glob("*.arrow")):
        table = pa.ipc.open_file(path).read_all()
        found += zip(table["doc_id"].to_pylist(), table["input_ids"].to_pylist(), strict=True)
    return found


def tree(output: Path) -> dict[str, str]:
    """SHA-256 of every file of an export, by name."""
    files = sorted(path for path in output.rglob("*") if path.is_file())
    return {str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_every_document_once_in_order(run: FinishedRun, tmp_path: Path) -> None:
    """Without a shuffle the export has the run's documents in the run's order, empty ones left out and counted."""
    manifest = export(run, tmp_path)
    assert read_arrow(tmp_path, "train") == list(EXPECTED.items())
    assert manifest["splits"]["train"] == {
        "documents": len(EXPECTED),
        "tokens": sum(map(len, EXPECTED.values())),
        "n_empty": len(DOCUMENTS) - len(EXPECTED),
        "n_inner": 0,
    }
    assert not (tmp_path / "validation").exists()


@pytest.mark.parametrize("to", EXPORTERS)
def test_manifest_lists_exactly_what_is_there(run: FinishedRun, tmp_path: Path, to: str) -> None:
    """Every file but the manifest is in it with size and SHA-256, and no temporary one is left."""
    space = IdSpace(kind="text", size=260) if to == "blt" else SPACE
    manifest = export(run, tmp_path, to=to, space=space, validation_fraction=0.3)
    assert {entry["path"]: entry["sha256"] for entry in manifest["files"]} == {
        name: digest for name, digest in tree(tmp_path).items() if name != "manifest.json"
    }
    assert all((tmp_path / entry["path"]).stat().st_size == entry["bytes"] for entry in manifest["files"])
    assert json.loads((tmp_path / "manifest.json").read_bytes()) == manifest
    assert manifest["format"] == "byteroute-export"


def test_splits_are_disjoint_and_complete(run: FinishedRun, tmp_path: Path) -> None:
    """Train and validation share no document and miss none; shuffling does not move documents between them."""
    export(run, tmp_path / "a", validation_fraction=0.3)
    export(run, tmp_path / "b", validation_fraction=0.3, shuffle_seed=5)
    train, validation = (dict(read_arrow(tmp_path / "a", split)) for split in ("train", "validation"))
    assert train | validation == EXPECTED
    assert len(train) + len(validation) == len(EXPECTED)
    assert len(validation) > 5
    assert dict(read_arrow(tmp_path / "b", "validation")) == validation


@pytest.mark.parametrize("parts", [1, 5])
def test_shuffle_is_a_permutation(run: FinishedRun, tmp_path: Path, parts: int) -> None:
    """A shuffled export has the same documents in another order, which only the seed decides."""
    export(run, tmp_path / "a", shuffle_seed=1, parts=parts)
    export(run, tmp_path / "b", shuffle_seed=2, parts=parts)
    first, second = read_arrow(tmp_path / "a", "train"), read_arrow(tmp_path / "b", "train")
    assert dict(first) == dict(second) == EXPECTED
    assert first != second
    assert first != list(EXPECTED.items())
    assert len(list((tmp_path / "a" / "train").iterdir())) == parts


def test_shuffle_depends_on_neither_shards_nor_parts(run: FinishedRun, tmp_path: Path) -> None:
    """The order of all parts together is the same for other input shards and another number of parts."""
    other = write_run(tmp_path / "run", DOCUMENTS, n_shards=7)
    export(run, tmp_path / "a", shuffle_seed=1, parts=2)
    export(other, tmp_path / "b", shuffle_seed=1, parts=6)
    assert read_arrow(tmp_path / "a", "train") == read_arrow(tmp_path / "b", "train")


def test_shuffle_in_small_runs(run: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cutting the input into many runs changes nothing about the order."""
    export(run, tmp_path / "a", shuffle_seed=1, parts=3)
    monkeypatch.setattr("byteroute.pipelines.export_driver.BUCKET_BYTES", 1000)
    export(run, tmp_path / "b", shuffle_seed=1, parts=3)
    assert read_arrow(tmp_path / "a", "train") == read_arrow(tmp_path / "b", "train")


def test_order_is_uniform(tmp_path: Path) -> None:
    """Over many seeds a document's place is spread evenly: its mean is the middle."""
    run = write_run(tmp_path / "run", [(str(i), "x") for i in range(20)], n_shards=2)
    places = []
    for seed in range(40):
        export(run, tmp_path / str(seed), shuffle_seed=seed, parts=2)
        places.append([doc_id for doc_id, _ in read_arrow(tmp_path / str(seed), "train")].index("3"))
    # Mean of 40 uniform draws from 0..19: 9.5 with a standard error of 0.91; four of them.
    assert abs(np.mean(places) - 9.5) < 3.7


@pytest.mark.parametrize("options", [{}, {"shuffle_seed": 3, "parts": 4}])
def test_workers_change_no_byte(run: FinishedRun, tmp_path: Path, options: dict[str, Any]) -> None:
    """Two processes write what one writes, byte for byte."""
    export(run, tmp_path / "a", to="megatron", validation_fraction=0.2, **options)
    export(run, tmp_path / "b", to="megatron", validation_fraction=0.2, workers=2, **options)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_bytes_ids(run: FinishedRun, tmp_path: Path) -> None:
    """Routed bytes are exported as byte + 4 with BOS and EOS of BLT."""
    manifest = export(run, tmp_path, space=IdSpace(kind="bytes", size=260, bos=1, eos=2))
    texts = {doc_id: text for doc_id, text in DOCUMENTS if text}
    assert read_arrow(tmp_path, "train") == [
        (doc_id, [1, *(byte + 4 for byte in text.encode()), 2]) for doc_id, text in texts.items()
    ]
    assert (manifest["dtype"], manifest["vocab_size"]) == ("uint16", 260)


@pytest.mark.parametrize("keep_text", [True, False])
def test_blt_text_with_and_without_text_column(tmp_path: Path, keep_text: bool) -> None:
    """BLT gets the clean text, decoded from routed bytes where the shards have no text."""
    run = write_run(tmp_path / "run", DOCUMENTS, keep_text=keep_text)
    export(run, tmp_path / "out", to="blt", space=IdSpace(kind="text", size=260))
    found = []
    for path in sorted((tmp_path / "out/train/preprocess/byteroute/forced").glob("*.arrow")):
        table = pa.ipc.open_file(path).read_all()
        found += zip(table["sample_id"].to_pylist(), table["text"].to_pylist(), strict=True)
    assert found == [(doc_id, text) for doc_id, text in DOCUMENTS if text]


@pytest.mark.parametrize("options", [{}, {"shuffle_seed": 3, "parts": 4}])
def test_killed_export_resumes_to_the_same_bytes(run: FinishedRun, tmp_path: Path, options: dict[str, Any]) -> None:
    """Stopped after any number of units, with a half file lying about, the next run ends with the same files."""
    export(run, tmp_path / "whole", validation_fraction=0.2, **options)
    for stop in range(6):
        output = tmp_path / str(stop)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", failing_after(stop * 2))
            with pytest.raises(KeyboardInterrupt):
                export(run, output, validation_fraction=0.2, **options)
        assert not (output / "manifest.json").exists()
        export(run, output, validation_fraction=0.2, **options)
        assert tree(output) == tree(tmp_path / "whole")


def failing_after(n: int) -> Any:
    """An `os.replace` that is interrupted at its call number `n`."""
    real, calls = os.replace, iter(range(10**9))

    def replace(source: str, target: str) -> None:
        if next(calls) >= n:
            raise KeyboardInterrupt
        real(source, target)

    return replace


def test_finished_units_are_not_done_again(run: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed export does only the units without a record."""
    done: list[int] = []

    def counted(job: Any, index: int) -> Any:
        done.append(index)
        if len(done) == 2:
            raise KeyboardInterrupt
        return run_part(job, index)

    monkeypatch.setattr("byteroute.pipelines.export_driver.run_part", counted)
    with pytest.raises(KeyboardInterrupt):
        export(run, tmp_path)
    export(run, tmp_path)
    assert done == [0, 1, 1, 2]


def test_complete_export_is_left_alone(run: FinishedRun, tmp_path: Path) -> None:
    """The same export again changes nothing and returns the manifest."""
    manifest = export(run, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert export(run, tmp_path) == manifest
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_another_export_is_refused_unless_overwritten(run: FinishedRun, tmp_path: Path) -> None:
    """An export with other settings names what differs; overwrite replaces all of the old one."""
    export(run, tmp_path, to="megatron", validation_fraction=0.3)
    with pytest.raises(ConfigError, match=r"other format, validation_fraction.*--overwrite"):
        export(run, tmp_path, to="arrow")
    write_export(plan_export(run, str(tmp_path), to="arrow", space=SPACE), run, overwrite=True)
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} == {".arrow", ".json"}


def test_foreign_folder_is_refused(run: FinishedRun, tmp_path: Path) -> None:
    """A folder with other things in it is not written to."""
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(ConfigError, match="not empty and is no export"):
        export(run, tmp_path)


def test_eos_inside_names_the_shard(tmp_path: Path) -> None:
    """A delimiter inside a document ends the export with the shard's name; dropping such documents counts them."""
    run = write_run(tmp_path / "run", [("a", "xy"), ("b", "x")], n_shards=2, tokenize=lambda t: [EOS, 5][: len(t)])
    with pytest.raises(
        ConfigError, match=r"shards/part-00000-000.parquet: an EOS or BOS id occurs inside 1 document.* at position 0\)"
    ):
        export(run, tmp_path / "out")
    space = IdSpace(kind="text", size=VOCABULARY, eos=EOS, drop_inner=True)
    counts = export(run, tmp_path / "other", space=space)["splits"]["train"]
    assert (counts["n_inner"], counts["n_empty"], counts["documents"]) == (1, 1, 0)


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_avro_shards_export_like_parquet(run: FinishedRun, tmp_path: Path, kind: Any) -> None:
    """The same documents in Avro shards give the same export, in order and shuffled."""
    other = write_run(tmp_path / "run", DOCUMENTS, kind="avro")
    space = SPACE if kind == "text" else IdSpace(kind="bytes", size=260, eos=2)
    for name, options in (("a", {}), ("b", {"shuffle_seed": 1, "parts": 2})):
        export(run, tmp_path / f"parquet-{name}", space=space, **options)
        export(other, tmp_path / f"avro-{name}", space=space, **options)
        assert read_arrow(tmp_path / f"avro-{name}", "train") == read_arrow(tmp_path / f"parquet-{name}", "train")


def test_long_documents_come_in_small_batches() -> None:
    """Batches hold at most 512 rows and 8 MiB, except for a row that is larger by itself; none is lost."""
    texts = ["x" * size for size in (1, 5 << 20, 5 << 20, 20 << 20, 7)] + ["y"] * 600
    batches = list(small_batches(pa.RecordBatch.from_pydict({"text": texts})))
    assert [text for batch in batches for text in batch.column("text").to_pylist()] == texts
    assert all(batch.num_rows == 1 or (batch.num_rows <= 512 and batch.nbytes <= 8 << 20) for batch in batches)


def test_ids_that_the_shards_lack(run: FinishedRun, tmp_path: Path) -> None:
    """Routed ids cannot come out of shards that hold text ids."""
    with pytest.raises(ConfigError, match="hold text ids, not routed"):
        export(run, tmp_path, space=IdSpace(kind="routed", size=VOCABULARY))
