"""What every exporter is handed and what it must do; one file of this folder holds one format.

Exporters write to streams that the caller opens: no paths, no renames. A *part* is what one unit of work
writes: the documents of one input shard, or of one bucket of a shuffle, in one split.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.ids import IdSpace

Split = Literal["train", "validation"]
SPLITS: tuple[Split, ...] = ("train", "validation")


@dataclass(frozen=True)
class TokenBatch:
    """Documents, back to back, with their delimiters already in place. No document is empty.

    Attributes:
        ids: the ids in the dtype of the export, flat.
        offsets: int64[n_docs + 1], where each document starts in `ids`.
        rows: what else is known of the documents: `doc_id`, `source`, `position`, `lang`, and `text` for
            exporters that ask for it; n_docs rows.
    """

    ids: npt.NDArray[np.generic]
    offsets: npt.NDArray[np.int64]
    rows: pa.RecordBatch

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Part:
    """The place of a part in the whole export.

    Attributes:
        split: train or validation.
        index: number of the input shard or bucket.
        shuffled: whether the documents come in random order.
    """

    split: Split
    index: int
    shuffled: bool = False


@dataclass(frozen=True, kw_only=True)
class ExportSettings:
    """All that decides what an export writes, apart from the shards themselves.

    Attributes:
        space: which ids, how many there are, and which of them delimit documents.
        dtype: NumPy name of the id type on disk.
        name: base name of files in formats that let the user choose one.
        tokenizer: what names the tokenizer in formats that have a place for it.
        entropies: how the BLT export fills its entropies column.
    """

    space: IdSpace
    dtype: str
    name: str = "byteroute"
    tokenizer: str = "unknown"
    entropies: Literal["clusters", "whitespace"] = "clusters"


class PartWriter(Protocol):
    """Writes one part. Nothing is on disk before the first document: no shard is ever empty."""

    def write(self, batch: TokenBatch) -> None:
        """Appends documents."""
        ...

    def close(self) -> None:
        """Completes and closes every stream that was opened."""
        ...


@dataclass(frozen=True)
class PartSummary:
    """What `Exporter.finish` knows of a part that has documents."""

    part: Part
    files: Sequence[str] = field(default=())


Create = Callable[[str], BinaryIO]
"""Opens a stream for a file of the part, by its name below the output folder; closed by who asked."""
Read = Callable[[str], bytes]
"""Returns a small finished file of the export, by its name below the output folder."""


class Exporter(Protocol):
    """One output format."""

    @property
    def name(self) -> str:
        """What `--to` says."""
        ...

    @property
    def dtypes(self) -> tuple[str, ...]:
        """NumPy names of the id types that the format can hold, smallest first."""
        ...

    @property
    def carries_text(self) -> bool:
        """Whether the format holds text and not ids."""
        ...

    def validate(self, settings: ExportSettings) -> None:
        """Raises ConfigError, with the remedy, where the format cannot hold what is asked for."""
        ...

    def writer(self, part: Part, settings: ExportSettings, create: Create) -> PartWriter:
        """Returns the writer of one part."""
        ...

    def finish(self, parts: Sequence[PartSummary], create: Create, read: Read) -> None:
        """Writes the files that span parts, when all parts are done."""
        ...


class OnePartFiles:
    """Base of exporters that need no file beyond those of the parts."""

    carries_text = False

    def validate(self, settings: ExportSettings) -> None:
        """Accepts everything."""

    def finish(self, parts: Sequence[PartSummary], create: Create, read: Read) -> None:
        """Writes nothing."""


def pick_dtype(exporter: Exporter, space: IdSpace) -> str:
    """Returns the smallest type of the format that holds the largest id of the vocabulary.

    It goes by the vocabulary and not by the ids seen, so that all parts of an export, and later exports of
    the same tokenizer, have one type: Megatron refuses to merge files of different types.

    Raises:
        ConfigError: no type of the format is wide enough.
    """
    for dtype in exporter.dtypes:
        if space.size - 1 <= np.iinfo(dtype).max:
            return dtype
    raise ConfigError(
        f"{exporter.name} holds ids up to {np.iinfo(exporter.dtypes[-1]).max}, the vocabulary has {space.size}; "
        "export to another format"
    )
