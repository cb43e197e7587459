"""Shards as training batches: packing (NumPy), and PyTorch datasets in `loading.torch_datasets` (extra `torch`)."""

from byteroute_ops.export.ids import IdSpace
from byteroute_ops.loading.packing import IGNORE, Packing, Place, Row, attention_mask, one_per_row, pack, picture, stack
from byteroute_ops.loading.runs import FinishedRun, open_run

__all__ = [
    "IGNORE",
    "FinishedRun",
    "IdSpace",
    "Packing",
    "Place",
    "Row",
    "attention_mask",
    "one_per_row",
    "open_run",
    "pack",
    "picture",
    "stack",
]
