"""What the budgets do not hold and a look into the shards tells: main scripts, and sizes after compression."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from byteroute_ops.records import UND
from byteroute_ops.stream_codec import decode

from .load import Run
from .rows import change

SAMPLE_BYTES: Final = 32 << 20
"""Clean text that is looked at by default, in UTF-8 bytes."""

SAMPLE_SHARDS: Final = 16
"""From so many shards, evenly spaced in the order of their names."""

BLOCK_BYTES: Final = 1 << 20
LEVEL: Final = 3
"""How the texts are compressed for the comparison: as Parquet does it, in blocks (pages) of 1 MiB by zstd level 3."""

_WEAK: Final = frozenset({"Zyyy", "Zinh", "Zzzz", "Emoji"})
_COLUMNS: Final = ("lang", "routed", "segments", "n_utf8_bytes")
ALL: Final = "all"


@dataclass(frozen=True, kw_only=True)
class Compression:
    """Sizes in bytes of the same documents, as UTF-8 and routed, raw and compressed.

    Attributes:
        script: main script of the documents, or `all`.
    """

    script: str
    documents: int
    utf8: int
    routed: int
    utf8_compressed: int
    routed_compressed: int
    change: float | None
    compressed_change: float | None


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What a look at some documents told.

    Attributes:
        documents: looked at.
        of_documents: in all shards.
        utf8_bytes: of the clean texts looked at.
        of_utf8_bytes: of all clean texts.
        shards: files that the documents are from.
        of_shards: all shard files.
        main_script: language → script of most of its characters.
        compression: `all`, then by main script of the document, largest first.
    """

    documents: int
    of_documents: int
    utf8_bytes: int
    of_utf8_bytes: int
    shards: int
    of_shards: int
    main_script: dict[str, str] = field(default_factory=dict)
    compression: list[Compression] = field(default_factory=list)


class _Blocks:
    """Counts the compressed bytes of documents that are put together to blocks."""

    def __init__(self) -> None:
        self.raw = self.compressed = self.documents = 0
        self._pending = bytearray()
        self._codec = zstandard.ZstdCompressor(level=LEVEL)

    def add(self, data: bytes) -> None:
        """Counts a document."""
        self.documents += 1
        self.raw += len(data)
        self._pending += data
        if len(self._pending) >= BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Ends the block."""
        if self._pending:
            self.compressed += len(self._codec.compress(bytes(self._pending)))
            self._pending.clear()


def scan_shards(run: Run, *, sample_bytes: int = SAMPLE_BYTES, sample_shards: int = SAMPLE_SHARDS) -> Sample:
    """Returns what the beginning of some shards, evenly spaced, tells.

    Raises:
        ConfigError: a shard that cannot be read.
    """
    shards = run.shards
    places = np.unique(np.linspace(0, len(shards) - 1, min(sample_shards, len(shards))).round().astype(int))
    scripts: dict[str, Counter[str]] = {}
    blocks: dict[str, tuple[_Blocks, _Blocks]] = {}
    for n_before, place in enumerate(places.tolist()):
        # What an early, small shard does not use of its part goes to those that follow.
        used = blocks[ALL][0].raw if blocks else 0
        _scan_shard(run, shards[place]["path"], (sample_bytes - used) // (len(places) - n_before), scripts, blocks)
    totals = run.manifest["totals"]
    everything = blocks.get(ALL, (_Blocks(), _Blocks()))
    return Sample(
        documents=everything[0].documents,
        of_documents=totals["documents"],
        utf8_bytes=everything[0].raw,
        of_utf8_bytes=totals["n_utf8_bytes"],
        shards=len(places),
        of_shards=len(shards),
        main_script={lang: _most(counts) for lang, counts in sorted(scripts.items()) if counts},
        compression=_sizes(blocks),
    )


def _scan_shard(
    run: Run, path: str, quota: int, scripts: dict[str, Counter[str]], blocks: dict[str, tuple[_Blocks, _Blocks]]
) -> None:
    settings = run.manifest["settings"]
    form = {name: settings[name] for name in ("framing", "profile", "barrier")}
    for batch in run.batches(path, _COLUMNS):
        by_document = _characters_by_script(batch.column("segments"))
        routed = batch.column("routed").to_pylist()
        for i, lang in enumerate(batch.column("lang").to_pylist()):
            counts = by_document.get(i, Counter())
            scripts.setdefault(lang or UND, Counter()).update(counts)
            text = decode(routed[i], **form).encode()
            for group in (ALL, _most(counts)) if counts else (ALL,):
                pair = blocks.setdefault(group, (_Blocks(), _Blocks()))
                pair[0].add(text)
                pair[1].add(routed[i])
            quota -= len(text)
            if quota <= 0:
                return


def _characters_by_script(segments: pa.ListArray) -> dict[int, Counter[str]]:
    """Returns document → code points by report class, without classes that say nothing of the language."""
    rows = segments.flatten()
    parents: npt.NDArray[Any] = pc.list_parent_indices(segments).to_numpy(zero_copy_only=False)
    lengths = pc.subtract(rows.field("text_end"), rows.field("text_start")).to_pylist()
    found: dict[int, Counter[str]] = {}
    for document, script, length in zip(
        parents.tolist(), rows.field("report_script").to_pylist(), lengths, strict=True
    ):
        if script not in _WEAK:
            found.setdefault(document, Counter())[script] += length
    return found


def _most(counts: Counter[str]) -> str:
    return min(counts, key=lambda script: (-counts[script], script))


def _sizes(blocks: dict[str, tuple[_Blocks, _Blocks]]) -> list[Compression]:
    sizes = []
    for script, (utf8, routed) in blocks.items():
        utf8.flush()
        routed.flush()
        sizes.append(
            Compression(
                script=script,
                documents=utf8.documents,
                utf8=utf8.raw,
                routed=routed.raw,
                utf8_compressed=utf8.compressed,
                routed_compressed=routed.compressed,
                change=change(utf8.raw, routed.raw),
                compressed_change=change(utf8.compressed, routed.compressed),
            )
        )
    return sorted(sizes, key=lambda one: (one.script != ALL, -one.utf8, one.script))
