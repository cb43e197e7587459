"""PyTorch datasets: items, sharding over ranks and workers, resume, masks, losses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_fixtures import VOCABULARY, make_documents, toy_ids, write_run

torch = pytest.importorskip("torch", reason="needs the extra torch")

from torch.utils.data import DataLoader  # noqa: E402

from byteroute_ops.errors import ConfigError  # noqa: E402
from byteroute_ops.export.ids import IdSpace  # noqa: E402
from byteroute_ops.loading import Packing  # noqa: E402
from byteroute_ops.loading import attention_mask as numpy_mask  # noqa: E402
from byteroute_ops.loading.torch_datasets import (  # noqa: E402
    DocumentDataset,
    PackedDataset,
    attention_mask,
    collate_documents,
    collate_rows,
)

EOS = VOCABULARY - 1
DOCUMENTS = make_documents(50)
SPACE = IdSpace(kind="text", size=VOCABULARY, eos=EOS)
EXPECTED = [[*toy_ids(text), EOS] if text else [] for _, text in DOCUMENTS]
PACKING = Packing(length=32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of 50 documents in 14 row groups."""
    return write_run(tmp_path_factory.mktemp("run"), DOCUMENTS).folder


def cut(rows: list[dict[str, Any]]) -> list[int]:
    """The ids of some rows without padding, back to back."""
    return [int(i) for row in rows for i in row["input_ids"][row["document_ids"] >= 0]]


def as_lists(rows: list[dict[str, Any]]) -> list[dict[str, list[int]]]:
    """Rows that compare."""
    return [{name: values.tolist() for name, values in row.items()} for row in rows]


@pytest.mark.parametrize("cached", [1, 100])
def test_map_style_items_are_the_rows(folder: str, cached: int) -> None:
    """Item i is row i of the run, in any order of access; negative numbers count from the end."""
    dataset = DocumentDataset(folder, SPACE, cached_units=cached)
    assert len(dataset) == len(DOCUMENTS)
    order = np.random.default_rng(0).permutation(len(DOCUMENTS)).tolist()
    assert [dataset[i].tolist() for i in order] == [EXPECTED[i] for i in order]
    assert dataset[-1].tolist() == EXPECTED[-1]
    with pytest.raises(IndexError, match="document 50 of 50"):
        dataset[50]


def test_one_worker_gives_all_documents_in_order(folder: str) -> None:
    """The rows of an epoch without padding are the documents, back to back; a second epoch repeats them."""
    dataset = PackedDataset(folder, SPACE, PACKING)
    rows = list(dataset)
    assert cut(rows) == [i for ids in EXPECTED for i in ids]
    assert as_lists(list(dataset)) == as_lists(rows)


@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")
@pytest.mark.parametrize("workers", [0, 2])
def test_ranks_and_workers_share_without_overlap(folder: str, workers: int) -> None:
    """Over two ranks, with workers of their own or without, every document comes once."""
    found: list[int] = []
    for rank in range(2):
        dataset = PackedDataset(folder, SPACE, PACKING, seed=3, rank=rank, world_size=2)
        loader = DataLoader(dataset, batch_size=2, num_workers=workers, collate_fn=collate_rows)
        for batch in loader:
            found += batch["input_ids"][batch["document_ids"] >= 0].tolist()
    assert sorted(found) == sorted(i for ids in EXPECTED for i in ids)


def test_epochs_have_orders_of_their_own(folder: str) -> None:
    """With a seed each epoch has the same documents in another order; without end they go on."""
    endless = iter(PackedDataset(folder, SPACE, PACKING, seed=3, epochs=None))
    first = list(PackedDataset(folder, SPACE, PACKING, seed=3))
    rows = [next(endless) for _ in range(2 * len(first))]
    assert as_lists(rows[: len(first)]) == as_lists(first)
    assert as_lists(rows[len(first) :]) != as_lists(first)


@pytest.mark.parametrize("fill", ["cut", "whole"])
@pytest.mark.parametrize("seed", [None, 3])
def test_resume_after_any_row(folder: str, seed: int | None, fill: Any) -> None:
    """A state taken after any row and carried as JSON goes on with exactly the rows that are left."""

    def fresh() -> PackedDataset:
        return PackedDataset(folder, SPACE, Packing(length=32, fill=fill), seed=seed, epochs=2, rank=1, world_size=2)

    rows = as_lists(list(fresh()))
    states, dataset = [], fresh()
    for _ in dataset:
        states.append(json.loads(json.dumps(dataset.state_dict())))
    for n, state in enumerate(states):
        resumed = fresh()
        resumed.load_state_dict(state)
        assert as_lists(list(resumed)) == rows[n + 1 :]


def test_state_of_something_else_is_refused(folder: str) -> None:
    """A state of another packing or number of ranks says what differs."""
    state = PackedDataset(folder, SPACE, PACKING).state_dict()
    other = PackedDataset(folder, SPACE, Packing(length=64), rank=0, world_size=2)
    with pytest.raises(ConfigError, match="another packing, share"):
        other.load_state_dict(state)


def test_interrupted_iteration_begins_anew(folder: str) -> None:
    """Without a loaded state a new iteration starts at the first row, however far the last one went."""
    dataset = PackedDataset(folder, SPACE, PACKING)
    first = next(iter(dataset))
    assert as_lists([next(iter(dataset))]) == as_lists([first])


def test_masks_of_both_kinds_agree(folder: str) -> None:
    """The torch mask is the NumPy mask with a dimension for heads."""
    batch = collate_rows(list(PackedDataset(folder, SPACE, PACKING))[:5])
    mask = attention_mask(batch["document_ids"])
    assert mask.shape == (5, 1, 32, 32)
    assert (mask[:, 0].numpy() == numpy_mask(batch["document_ids"].numpy())).all()


def test_documents_without_packing(folder: str) -> None:
    """Documents collate to one a row, padded to the longest with any pad id."""
    dataset = DocumentDataset(folder, SPACE)
    batch = collate_documents([dataset[0], dataset[1], dataset[2]], pad_id=EOS)
    lengths = [len(EXPECTED[i]) for i in range(3)]
    assert batch["input_ids"].shape == (3, max(lengths))
    assert (batch["document_ids"] >= 0).sum(1).tolist() == lengths
    assert (batch["labels"] != -100).sum(1).tolist() == [max(0, n - 1) for n in lengths]


def test_bytes_of_the_run(tmp_path: Path) -> None:
    """Byte ids come from the routed column."""
    run = write_run(tmp_path, [("a", "é")], n_shards=1)
    dataset = DocumentDataset(run.folder, IdSpace(kind="bytes", size=260, bos=1, eos=2))
    assert dataset[0].tolist() == [1, 0xC3 + 4, 0xA9 + 4, 2]
