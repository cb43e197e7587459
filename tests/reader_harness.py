"""Reads in-memory files the way a worker reads a range; shared by the tests of the readers."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from byteroute_ops.formats import FileInfo, Read, ReadOptions, plan_ranges, read_range
from byteroute_ops.records import DOCUMENTS, MAX_BATCH_BYTES, MAX_BATCH_ROWS, REJECTS, with_columns

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def zstd_compress(data: bytes) -> bytes:
    """Returns a frame with a checksum, as the zstd tool writes it; the library leaves it out."""
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd_compress}


class Trickle(io.BytesIO):
    """A stream that gives at most `step` bytes at a time, as remote ones may."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        """Returns at most `step` bytes."""
        return super().read(self._step if size is None or size < 0 else min(size, self._step))


@dataclass
class Result:
    """All that reading gave, in order."""

    documents: list[dict[str, Any]] = field(default_factory=list)
    rejects: list[dict[str, Any]] = field(default_factory=list)
    batches: list[pa.RecordBatch] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    n_records: int = 0
    n_bad_records: int = 0
    source_bytes: int = 0
    n_ranges: int = 0

    @property
    def texts(self) -> list[str]:
        """Texts of the documents."""
        return [row["text"] for row in self.documents]

    @property
    def reasons(self) -> list[str]:
        """Reasons of the rejects."""
        return [row["reason"] for row in self.rejects]

    def take(self, read: Read, options: ReadOptions) -> None:
        """Checks what holds for every step, then adds it."""
        n_rows = 0
        if read.documents is not None:
            read.documents.validate(full=True)
            assert read.documents.schema == with_columns(DOCUMENTS, options.keep)
            n_rows = read.documents.num_rows
            assert 0 < n_rows <= MAX_BATCH_ROWS
            rows = read.documents.to_pylist()
            assert n_rows == 1 or sum(len(row["text"].encode()) for row in rows) <= MAX_BATCH_BYTES
            self.documents += rows
            self.batches.append(read.documents)
        if read.rejects is not None:
            read.rejects.validate(full=True)
            assert read.rejects.schema == REJECTS
            self.rejects += read.rejects.to_pylist()
        assert n_rows - read.n_extra_pieces + read.n_bad_records == read.n_records
        self.n_records += read.n_records
        self.n_bad_records += read.n_bad_records
        self.source_bytes += read.source_bytes
        self.warnings += read.warnings


def read_files(
    files: Mapping[str, bytes], *, range_bytes: int = 64 << 20, step: int | None = None, **options: Any
) -> Result:
    """Plans and reads `files` (name → content); `step` makes the streams give few bytes at a time."""

    def opener(uri: str) -> Any:
        if uri not in files:
            raise FileNotFoundError(2, "no such file", uri)
        return io.BytesIO(files[uri]) if step is None else Trickle(files[uri], step)

    settings = ReadOptions(**options)
    listing = [FileInfo(name, len(data), "v") for name, data in files.items()]
    ranges = plan_ranges(listing, format=settings.format, range_bytes=range_bytes, opener=opener)
    result = Result(n_ranges=len(ranges))
    for part in ranges:
        for read in read_range(part, settings, opener):
            result.take(read, settings)
    return result


def read_one(data: bytes, name: str = "a.jsonl", **options: Any) -> Result:
    """Reads one file."""
    return read_files({name: data}, **options)


def json_lines(rows: Iterable[bytes]) -> bytes:
    """Returns lines, each with its line end."""
    return b"".join(row + b"\n" for row in rows)
