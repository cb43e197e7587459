"""PyTorch datasets over the shards of a run (extra `torch`)."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.ids import Ids, IdSpace
from byteroute_ops.loading.order import Share, documents, epoch_units, stream
from byteroute_ops.loading.packing import PADDING, Packing, Place, Row, one_per_row, pack
from byteroute_ops.loading.runs import FinishedRun, open_run

Tensors = dict[str, torch.Tensor]


class DocumentDataset(Dataset[torch.Tensor]):
    """Map-style: item i is the ids of row i of the run, with delimiters, int64.

    Rows are in order of shard and position. A document that an export leaves out (no ids, or a delimiter
    inside with `drop_inner`) is an empty item, so that numbers stay those of the rows.

    Args:
        folder: output of `byteroute run`.
        space: which ids, and their delimiters.
        cached_units: how many row groups stay in memory; random access wants more of them.
    """

    def __init__(self, folder: str, space: IdSpace, *, cached_units: int = 4) -> None:
        self._run = open_run(folder)
        self._space = space
        self._units = self._run.units()
        self._ends = np.cumsum([unit.rows for unit in self._units])
        self._cached = cached_units
        self._cache: OrderedDict[int, list[Ids]] = OrderedDict()

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, index: int) -> torch.Tensor:
        if not -len(self) <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        index %= len(self)
        number = int(np.searchsorted(self._ends, index, side="right"))
        first = int(self._ends[number]) - self._units[number].rows
        return torch.from_numpy(self._unit(number)[index - first].astype(np.int64))

    def _unit(self, number: int) -> list[Ids]:
        if number not in self._cache:
            self._cache[number] = documents(self._run, self._units[number], self._space)
            if len(self._cache) > self._cached:
                self._cache.popitem(last=False)
        self._cache.move_to_end(number)
        return self._cache[number]


class PackedDataset(IterableDataset[Tensors]):
    """Iterable: rows of packed documents, as `packing.Row` has them.

    Row groups are dealt to ranks and workers; each packs its own. So all documents come exactly once an
    epoch whatever the number of workers, but ranks may differ in their number of rows by a row group's
    worth: count steps and not epochs where ranks must stay together (`epochs=None` never ends).

    `state_dict` is what `torchdata`'s StatefulDataLoader asks for; with a plain DataLoader it works in one
    process (`num_workers=0`), as the loader does not bring the state of its workers home.

    Args:
        folder: output of `byteroute run`.
        space: which ids, and their delimiters.
        packing: how rows are made.
        seed: shuffles row groups, and documents within them, anew each epoch; None: the order of the run.
            For a shuffle of the whole corpus use `byteroute export --shuffle`.
        epochs: None never ends.
        rank: of this process; None asks torch.distributed, and is 0 where that is not set up.
        world_size: likewise; None and not set up: 1.
    """

    def __init__(
        self,
        folder: str,
        space: IdSpace,
        packing: Packing,
        *,
        seed: int | None = None,
        epochs: int | None = 1,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        self._run: FinishedRun = open_run(folder)
        self._space, self._packing, self._seed, self._epochs = space, packing, seed, epochs
        self._rank, self._world_size = rank, world_size
        self._units = self._run.units()
        self._epoch, self._place = 0, Place()
        self._resumed = False

    def _share(self) -> Share:
        rank, size = self._rank, self._world_size
        if rank is None or size is None:
            set_up = torch.distributed.is_available() and torch.distributed.is_initialized()
            rank, size = (torch.distributed.get_rank(), torch.distributed.get_world_size()) if set_up else (0, 1)
        worker = get_worker_info()
        workers = 1 if worker is None else worker.num_workers
        return Share(rank * workers + (0 if worker is None else worker.id), size * workers)

    def __iter__(self) -> Iterator[Tensors]:
        if not self._resumed:
            self._epoch, self._place = 0, Place()
        self._resumed = False
        share = self._share()
        while self._epochs is None or self._epoch < self._epochs:
            units = epoch_units(self._units, share, seed=self._seed, epoch=self._epoch)
            ids = stream(self._run, units, self._space, seed=self._seed, epoch=self._epoch, skip=self._place.document)
            for row in pack(ids, self._packing, start=self._place):
                # Before the yield: who asks for the state between two rows gets the second one next.
                self._place = row.after
                yield {name: torch.from_numpy(values) for name, values in row.arrays().items()}
            self._epoch, self._place = self._epoch + 1, Place()

    def _identity(self) -> dict[str, Any]:
        share = self._share()
        return {
            "run": self._run.digest,
            "space": repr(self._space),
            "packing": repr(self._packing),
            "seed": self._seed,
            "share": [share.index, share.count],
        }

    def state_dict(self) -> dict[str, Any]:
        """Returns where the next row begins, JSON-able."""
        place = {"epoch": self._epoch, "document": self._place.document, "token": self._place.token}
        return {**place, "of": self._identity()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next iteration go on from a state; the one after it begins anew.

        Raises:
            ConfigError: the state is of other data, another packing or another number of workers.
        """
        mine = self._identity()
        names = [name for name in mine if state["of"].get(name) != mine[name]]
        if names:
            raise ConfigError(f"the state belongs to another {', '.join(names)}; resume with what it was saved with")
        self._epoch, self._place = state["epoch"], Place(state["document"], state["token"])
        self._resumed = True


def attention_mask(document_ids: torch.Tensor) -> torch.Tensor:
    """Returns bool[batch, 1, length, length] for `scaled_dot_product_attention`, on the ids' device.

    As `packing.attention_mask`: causal within a document, padding apart.
    """
    length = document_ids.shape[-1]
    same = document_ids[:, :, None] == document_ids[:, None, :]
    causal = torch.ones(length, length, dtype=torch.bool, device=document_ids.device).tril()
    token = (document_ids != PADDING)[:, :, None]
    own = torch.eye(length, dtype=torch.bool, device=document_ids.device)
    return (same & causal & token | own)[:, None]


def collate_rows(rows: Sequence[Tensors]) -> Tensors:
    """Returns rows of a `PackedDataset` as one batch with its `attention_mask`."""
    batch = {name: torch.stack([row[name] for row in rows]) for name in rows[0]}
    return batch | {"attention_mask": attention_mask(batch["document_ids"])}


def collate_documents(items: Sequence[torch.Tensor], *, pad_id: int = 0) -> Tensors:
    """Returns documents of a `DocumentDataset` as one batch, a document a row, padded to the longest."""
    rows: list[Row] = one_per_row([item.numpy() for item in items], pad_id=pad_id)
    return collate_rows([{name: torch.from_numpy(a) for name, a in row.arrays().items()} for row in rows])
