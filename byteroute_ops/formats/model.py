"""What readers are given and what they hand back: files, byte slices, ranges, options, reads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import pyarrow as pa

from byteroute_ops.errors import ConfigError

Opener = Callable[[str], BinaryIO]
"""Opens a URI for reading, uncompressed. The stream can seek; `OSError` where the file cannot be opened."""

FORMATS: Final = ("auto", "jsonl", "text", "text-file", "text-separator", "parquet", "avro", "wet")
"""Names that the `format` setting accepts. `auto` looks at the name of each file and at its first bytes."""


@dataclass(frozen=True)
class FileInfo:
    """One input file as a listing shows it.

    Attributes:
        uri: what the opener takes; becomes the `source` of every row.
        size: stored bytes.
        version: entity tag, generation or modification time; changes when the content does.
    """

    uri: str
    size: int
    version: str


@dataclass(frozen=True)
class FileSlice:
    """The part `[start, end)` of a file, in stored bytes; `(0, size)` is the whole file.

    A slice owns the records (lines, Parquet row groups, Avro blocks) that begin in it, so that the slices of a
    file own every record once, wherever the cuts fall.
    """

    uri: str
    size: int
    version: str
    start: int
    end: int

    @property
    def is_whole(self) -> bool:
        """Whether this is all of the file."""
        return self.start == 0 and self.end >= self.size


@dataclass(frozen=True)
class Range:
    """The unit of work: slices that one worker reads in order. Ranges are numbered from 0."""

    index: int
    slices: tuple[FileSlice, ...]

    @property
    def n_bytes(self) -> int:
        """Stored bytes of all slices."""
        return sum(s.end - s.start for s in self.slices)

    def to_json(self) -> dict[str, Any]:
        """Returns a JSON value that `from_json` turns back into an equal range.

        >>> part = Range(0, (FileSlice("a.jsonl", 9, "v1", 0, 9),))
        >>> part.to_json()
        {'index': 0, 'slices': [['a.jsonl', 9, 'v1', 0, 9]]}
        >>> Range.from_json(part.to_json()) == part
        True
        """
        return {"index": self.index, "slices": [[s.uri, s.size, s.version, s.start, s.end] for s in self.slices]}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Range":
        """Returns the range that `to_json` described."""
        return cls(value["index"], tuple(FileSlice(*row) for row in value["slices"]))


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How records become documents.

    Attributes:
        format: one of `FORMATS`.
        text_field: JSON key, Parquet column or Avro field of the text. `a.b` is field `b` inside `a`, unless a field
            is really named `a.b`. Plain text and WET have no fields and ignore it.
        id_field: where the document id is (a string or an integer). None, absent, null or empty: the id becomes
            `source:position`, which is stable for the same file name and content.
        lang_field: where the BCP-47 tag is. None, absent, null or empty: `und`.
        keep: further fields to hand on, as nullable strings: a string as it is, any other value as JSON text. Fields
            named like a column of `records.DOCUMENTS` are refused. WET: names of WARC headers, in any case.
        separator: what ends a document in `text-separator`; not part of either document.
        max_document_bytes: longest text in UTF-8 bytes. Longer documents are rejected.
        split_long: cut longer documents into pieces of at most `max_document_bytes` instead, at white space where
            there is some; piece k of document `x` gets the id `x#k` and the same position.
        keep_raw: put the bytes of a rejected record into the reject.
    """

    format: str = "auto"
    text_field: str = "text"
    id_field: str | None = "id"
    lang_field: str | None = "lang"
    keep: tuple[str, ...] = ()
    separator: str = "\n\n"
    max_document_bytes: int = 64 << 20
    split_long: bool = False
    keep_raw: bool = False

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ConfigError(f"format: {self.format!r} is not known; known are {', '.join(FORMATS)}")
        if not self.text_field:
            raise ConfigError("text_field: '' is empty; name the field that holds the text")
        if not self.separator:
            raise ConfigError("separator: '' is empty; give at least one character")
        if self.max_document_bytes < MIN_DOCUMENT_BYTES:
            raise ConfigError(
                f"max_document_bytes: {self.max_document_bytes} is too small; the least is {MIN_DOCUMENT_BYTES}"
            )
        taken = [name for name in self.keep if name in ("doc_id", "source", "position", "lang", "text")]
        if taken or len(set(self.keep)) != len(self.keep):
            raise ConfigError(f"keep: {self.keep!r} repeats a name or uses one of the document's own columns")

    @property
    def max_record_bytes(self) -> int:
        r"""Longest record in bytes that is taken into memory; longer ones are skipped and rejected.

        Text that is escaped as `\uXXXX` takes up to three times its UTF-8 bytes in a JSON line (two-byte characters
        and surrogate pairs); 1 MiB is for the other fields.
        """
        return 3 * self.max_document_bytes + (1 << 20)


MIN_DOCUMENT_BYTES: Final = 16


@dataclass(frozen=True)
class Read:
    """One step of reading a range.

    Always `documents.num_rows - n_extra_pieces + n_bad_records == n_records`: no record is lost.

    Attributes:
        documents: rows of `records.DOCUMENTS` plus the kept columns, at most `MAX_BATCH_ROWS` rows and
            `MAX_BATCH_BYTES` bytes of records, or one longer document alone; None when there are none.
        rejects: rows of `records.REJECTS`: bad records and faults of files; None when there are none.
        n_records: records that were met, good and bad.
        n_bad_records: records among them that became a reject.
        n_extra_pieces: rows beyond the first of documents that were split.
        source_bytes: stored bytes taken from the files since the step before; for progress, not for accounts.
        warnings: what the user should know about files that were read all the same.
    """

    documents: pa.RecordBatch | None
    rejects: pa.RecordBatch | None
    n_records: int
    n_bad_records: int = 0
    n_extra_pieces: int = 0
    source_bytes: int = 0
    warnings: tuple[str, ...] = field(default=())
