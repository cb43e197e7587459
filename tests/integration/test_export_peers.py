"""Exports read back by the trainers' own packages: ids equal document by document.

`make peers` installs them (two environments: the pins of mosaicml-streaming exclude datatrove's). Each test
is skipped with the reason where its peer is not installed.
"""

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from byteroute.pipelines.export_driver import plan_export, write_export
from export_fixtures import write_run

from byteroute_ops.export import IdSpace
from byteroute_ops.loading import FinishedRun

pytestmark = [
    # The peers and their dependencies warn about each other on import.
    pytest.mark.filterwarnings("ignore"),
]
WIDE = 100_000
SPACES = {
    "text": IdSpace(kind="text", size=WIDE, eos=WIDE - 1),
    "bytes": IdSpace(kind="bytes", size=260, bos=1, eos=2),
    "raw-bytes": IdSpace(kind="raw-bytes", size=256),
}


def wide_ids(text: str) -> list[int]:
    """One id a character, up to beyond 16 bits, never the EOS."""
    return [(ord(character) * 7919) % (WIDE - 1) for character in text]


@pytest.fixture(scope="module")
def documents(data_dir: Path) -> list[tuple[str, str]]:
    """The small UDHR sample, with an empty document in the middle."""
    rows = [orjson.loads(line) for line in (data_dir / "udhr_small.jsonl").read_bytes().splitlines()]
    found = [(row["id"], row["text"]) for row in rows]
    return [*found[:50], ("empty", ""), *found[50:]]


@pytest.fixture(scope="module")
def run(documents: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run of the sample in three shards."""
    folder = tmp_path_factory.mktemp("run")
    return write_run(folder, documents, tokenize=wide_ids, vocab_size=WIDE, row_group=20)


@pytest.fixture(scope="module")
def expected(documents: list[tuple[str, str]]) -> dict[str, list[list[int]]]:
    """By kind of ids: what the documents are, in order, with delimiters."""
    texts = [text for _, text in documents if text]
    return {
        "text": [[*wide_ids(text), WIDE - 1] for text in texts],
        "bytes": [[1, *(byte + 4 for byte in text.encode()), 2] for text in texts],
        "raw-bytes": [list(text.encode()) for text in texts],
    }


def export(run: FinishedRun, output: Path, to: str, kind: str, **options: Any) -> dict[str, Any]:
    """Exports the run and returns the manifest."""
    return write_export(plan_export(run, str(output), to=to, space=SPACES[kind], **options), run)


@pytest.mark.parametrize("kind", SPACES)
def test_megatron(run: FinishedRun, expected: Any, tmp_path: Path, kind: str) -> None:
    """Megatron-Core reads every document, and its own builder writes the same two files byte for byte."""
    torch = pytest.importorskip("torch", reason="needs megatron-core (make peers)")
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset", reason="needs megatron-core (make peers)")
    manifest = export(run, tmp_path, "megatron", kind)
    found = []
    for path in sorted((tmp_path / "train").glob("*.idx")):
        dataset = indexed.IndexedDataset(str(path.with_suffix("")))
        mine = [dataset[i].tolist() for i in range(len(dataset))]
        assert dataset.document_indices.tolist() == list(range(len(mine) + 1))
        builder = indexed.IndexedDatasetBuilder(str(tmp_path / "own.bin"), dtype=np.dtype(manifest["dtype"]).type)
        for ids in mine:
            builder.add_document(torch.tensor(ids), [len(ids)])
        builder.finalize(str(tmp_path / "own.idx"))
        assert (tmp_path / "own.idx").read_bytes() == path.read_bytes()
        assert (tmp_path / "own.bin").read_bytes() == path.with_suffix(".bin").read_bytes()
        found += mine
    assert found == expected[kind]
    assert manifest["dtype"] == {"text": "int32", "bytes": "uint16", "raw-bytes": "uint8"}[kind]


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_datatrove_writer(run: FinishedRun, expected: Any, tmp_path: Path, kind: str) -> None:
    """Datatrove's TokenizedFile, given the same documents, writes the same three files byte for byte."""
    tokens = pytest.importorskip("datatrove.pipeline.tokens.tokenizer", reason="needs datatrove (make peers)")
    manifest = export(run, tmp_path, "datatrove", kind)
    size = np.dtype(manifest["dtype"]).itemsize
    position = 0
    for path in sorted((tmp_path / "train").glob("*.ds")):
        own = tokens.TokenizedFile(
            str(tmp_path / "own"),
            path.name,
            tokenizer_name_or_path="toy" if kind == "text" else "bytes",
            save_final_metadata=True,
            token_size=size,
        )
        for _ in np.fromfile(f"{path}.index", "<u8"):
            own.write(expected[kind][position], None)
            position += 1
        own.close()
        for suffix in ("", ".index", ".metadata"):
            assert Path(f"{path}{suffix}").read_bytes() == (tmp_path / "own" / f"{path.name}{suffix}").read_bytes()
    assert position == len(expected[kind])


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_datatrove_dataset(run: FinishedRun, expected: Any, tmp_path: Path, kind: str) -> None:
    """Datatrove's training dataset gives our ids window by window, and positions that restart at every document."""
    pytest.importorskip("torch", reason="needs torch and datatrove (make peers)")
    dataset = pytest.importorskip("datatrove.utils.dataset", reason="needs datatrove (make peers)")
    manifest = export(run, tmp_path, "datatrove", kind, shuffle_seed=1, parts=1)
    (path,) = (tmp_path / "train").glob("*_doc_shuffled.ds")
    size = np.dtype(manifest["dtype"]).itemsize
    windows = dataset.DatatroveFileDataset(str(path), seq_len=63, token_size=size, return_positions=True)
    ends = np.fromfile(f"{path}.index", "<u8").astype(np.int64)
    ids = np.fromfile(path, manifest["dtype"])
    cut = np.split(ids, ends[:-1])
    assert sorted(document.tolist() for document in cut) == sorted(expected[kind])
    starts = np.repeat(np.concatenate([[0], ends[:-1]]), np.diff(ends, prepend=0))
    places = np.arange(len(ids)) - starts
    for number in range(len(windows)):
        window = slice(number * 64, number * 64 + 64)
        assert windows[number]["input_ids"].tolist() == ids[window].tolist()
        # In its first document a window counts from 0, as it cannot see what came before.
        own = places[window] - np.where(starts[window] < window.start, places[window.start], 0)
        assert windows[number]["positions"].tolist() == own.tolist()


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_olmo_core(run: FinishedRun, expected: Any, tmp_path: Path, kind: str) -> None:
    """OLMo-core finds the same documents by EOS and by the csv, and reads their ids."""
    utils = pytest.importorskip("olmo_core.data.utils", reason="needs ai2-olmo-core (make peers)")
    manifest = export(run, tmp_path, "olmo", kind)
    dtype = np.dtype(manifest["dtype"]).type
    found = []
    for path in sorted((tmp_path / "train").glob("*.npy")):
        by_eos = list(utils.iter_document_indices(str(path), eos_token_id=SPACES[kind].eos, dtype=dtype))
        by_csv = list(utils.iter_document_indices(str(path), use_array_if_local=False))
        assert by_eos == by_csv
        found += [utils.load_array_slice_into_tensor(str(path), a, b, dtype).tolist() for a, b in by_eos]
    assert found == expected[kind]


@pytest.mark.parametrize("kind", SPACES)
def test_mosaic(run: FinishedRun, expected: Any, tmp_path: Path, kind: str) -> None:
    """mosaicml-streaming's dataset, given the split's folder alone, reads every sample."""
    streaming = pytest.importorskip("streaming", reason="needs mosaicml-streaming (make peers)")
    export(run, tmp_path, "mds", kind)
    streaming.base.util.clean_stale_shared_memory()
    dataset = streaming.StreamingDataset(local=str(tmp_path / "train"), batch_size=1, shuffle=False)
    found = {dataset[i]["doc_id"]: dataset[i]["input_ids"] for i in range(len(dataset))}
    assert [ids.tolist() for ids in found.values()] == expected[kind]
    assert {str(ids.dtype) for ids in found.values()} == {
        {"text": "uint32", "bytes": "uint16", "raw-bytes": "uint8"}[kind]
    }


def test_mosaic_writer(run: FinishedRun, tmp_path: Path) -> None:
    """mosaicml-streaming's own writer, given the same samples, writes the same shard file byte for byte."""
    streaming = pytest.importorskip("streaming", reason="needs mosaicml-streaming (make peers)")
    export(run, tmp_path, "mds", "text", shuffle_seed=1, parts=1)
    reader = streaming.base.format.reader_from_json
    (shard,) = orjson.loads((tmp_path / "train/index.json").read_bytes())["shards"]
    samples = reader(str(tmp_path / "train"), "", shard)
    columns = {"doc_id": "str", "input_ids": "ndarray:uint32"}
    with streaming.MDSWriter(out=str(tmp_path / "own"), columns=columns) as writer:
        for i in range(len(samples)):
            writer.write(samples[i])
    assert (tmp_path / "own/shard.00000.mds").read_bytes() == (tmp_path / "train/00000/shard.00000.mds").read_bytes()
    own = orjson.loads((tmp_path / "own/index.json").read_bytes())
    assert own == orjson.loads((tmp_path / "train/00000/index.json").read_bytes())


def test_hugging_face_datasets(run: FinishedRun, expected: Any, tmp_path: Path) -> None:
    """`datasets` loads an Arrow export, and the Parquet shards of a run as they are."""
    datasets = pytest.importorskip("datasets", reason="needs datasets (make peers)")
    export(run, tmp_path / "out", "arrow", "text")
    options: dict[str, Any] = {"split": "train", "cache_dir": str(tmp_path / "cache")}
    files = sorted(str(path) for path in (tmp_path / "out/train").glob("*.arrow"))
    assert datasets.load_dataset("arrow", data_files=files, **options)["input_ids"][:] == expected["text"]
    shards = sorted(str(path) for path in Path(run.folder, "shards").glob("*.parquet"))
    rows = datasets.load_dataset("parquet", data_files=shards, **options)
    assert [ids for ids in rows["token_ids"] if ids] == [ids[:-1] for ids in expected["text"]]
