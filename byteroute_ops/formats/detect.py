"""What a file is: compression, format and text encoding, from its name and its first bytes.

Magic bytes win over the name where they are sure, because a wrong name is the commoner mistake (a download keeps the
suffix when the client has unpacked it). Plain text has no magic bytes; there the name decides.
"""

from dataclasses import dataclass
from typing import Final

from byteroute_ops.errors import InputError, RejectReason

HEAD_BYTES: Final = 4096
"""How much of a file is looked at."""

_COMPRESSION_SUFFIXES: Final = {
    ".gz": "gzip",
    ".gzip": "gzip",
    ".bgz": "gzip",
    ".bz2": "bzip2",
    ".xz": "xz",
    ".lzma": "xz",
    ".zst": "zstd",
    ".zstd": "zstd",
}
_FORMAT_SUFFIXES: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".txt": "text",
    ".text": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".avro": "avro",
    ".wet": "wet",
    ".warc": "wet",
}
_FORMAT_MAGIC: Final = {b"PAR1": "parquet", b"Obj\x01": "avro", b"WARC/0.": "wet", b"WARC/1.": "wet"}
_WARC_LINE: Final = b"\nWARC/1."

# The Unicode Standard, section 23.8. UTF-32 LE first: its mark begins with that of UTF-16 LE.
_MARKS: Final = (
    (b"\xff\xfe\0\0", "utf-32-le", 4),
    (b"\0\0\xfe\xff", "utf-32-be", 4),
    (b"\xff\xfe", "utf-16-le", 2),
    (b"\xfe\xff", "utf-16-be", 2),
    (b"\xef\xbb\xbf", "utf-8", 1),
)


@dataclass(frozen=True)
class Encoding:
    """Encoding of plain text.

    Attributes:
        name: Python codec name, without a byte order mark.
        n_mark: bytes of the byte order mark at the start of the file.
        width: bytes of one code unit.
    """

    name: str = "utf-8"
    n_mark: int = 0
    width: int = 1


def compression_of_name(uri: str) -> str | None:
    """Returns the compression that a file name promises, None for plain.

    >>> compression_of_name("a/part-1.jsonl.GZ"), compression_of_name("a.gz/part-1.jsonl")
    ('gzip', None)
    """
    return _COMPRESSION_SUFFIXES.get(_suffix(uri))


def format_of_name(uri: str) -> str | None:
    """Returns the format that a file name promises, None where it says nothing.

    >>> format_of_name("crawl.warc.wet.gz"), format_of_name("s3://bucket/data.parquet"), format_of_name("README")
    ('wet', 'parquet', None)
    """
    suffix = _suffix(uri)
    if suffix in _COMPRESSION_SUFFIXES:
        suffix = _suffix(uri[: -len(suffix)])
    return _FORMAT_SUFFIXES.get(suffix)


def _suffix(uri: str) -> str:
    name = uri.rsplit("/", 1)[-1]
    dot = name.rfind(".")
    return name[dot:].lower() if dot >= 0 else ""


def compression_of_head(head: bytes) -> str | None:
    """Returns the compression whose magic bytes a file begins with.

    None of them can begin UTF-8 or JSON, but for bzip2's, which is ASCII and so must go on with a block's or the
    end's magic number. Legacy .lzma has no magic bytes.
    """
    if head.startswith(b"\x1f\x8b\x08"):
        return "gzip"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    return None


def compression(uri: str, head: bytes, warnings: list[str]) -> str | None:
    """Returns how a file is compressed; adds to `warnings` where its name says otherwise.

    Raises:
        InputError: the name promises a compression, but the content is neither that nor anything readable.
    """
    named, found = compression_of_name(uri), compression_of_head(head)
    if found == named or not head or (named == "xz" and _suffix(uri) == ".lzma" and found is None):
        return named
    if found is not None:
        warnings.append(f"the name says {named or 'not compressed'}, the content is {found}; read as {found}")
        return found
    if format_of_head(head) is None and not _looks_like_text(head):
        detail = f"the name says {named}, but the first bytes are neither {named} nor text"
        raise InputError(RejectReason.UNREADABLE_FILE, detail, offset=0)
    warnings.append(f"the name says {named}, the content is not compressed; read as it is")
    return None


def format_of_head(head: bytes) -> str | None:
    """Returns the format that the first (decompressed) bytes prove, None where they prove none."""
    return next((name for magic, name in _FORMAT_MAGIC.items() if head.startswith(magic)), None)


def file_format(uri: str, head: bytes, wanted: str, warnings: list[str]) -> str:
    """Returns the format to read a file as; adds to `warnings` where the content is not what was expected.

    Args:
        uri: for its suffixes.
        head: first decompressed bytes.
        wanted: the `format` setting. A format of plain text is taken at its word.
        warnings: is appended to.

    Raises:
        InputError: the content is not what name or setting promise, and no other reader fits.
    """
    if wanted.startswith("text"):
        return wanted
    found = format_of_head(head)
    promised = format_of_name(uri) if wanted == "auto" else wanted
    if not head:
        return promised or "jsonl"
    if found is None and promised not in ("jsonl", "text"):
        found = _guess(head, promised)
    if found is None or found == promised:
        return promised or "jsonl"
    if promised is not None:
        warnings.append(f"{promised} was expected, the content is {found}; read as {found}")
    return found


def _guess(head: bytes, promised: str | None) -> str:
    """Returns the format of content without magic bytes under a name that promises some, or nothing."""
    if _looks_like_json(head):
        return "jsonl"
    # A damaged start need not cost the file: WET is read from the next record on, Parquet is found from its end.
    if (promised == "wet" and _WARC_LINE in head) or (promised == "parquet" and not _looks_like_text(head)):
        return promised
    detail = f"the content is not {promised}" if promised else "neither name nor content tell the format; set it"
    raise InputError(RejectReason.UNREADABLE_FILE, detail, offset=0)


def text_encoding(head: bytes) -> Encoding:
    r"""Returns the encoding that a byte order mark tells; UTF-8 without one.

    >>> text_encoding(b"\xff\xfea\0")
    Encoding(name='utf-16-le', n_mark=2, width=2)
    """
    for mark, name, width in _MARKS:
        if head.startswith(mark):
            return Encoding(name, len(mark), width)
    return Encoding()


def _looks_like_json(head: bytes) -> bool:
    encoding = text_encoding(head)
    return head[encoding.n_mark :].replace(b"\0", b"").lstrip().startswith(b"{")


def _looks_like_text(head: bytes) -> bool:
    encoding = text_encoding(head)
    if encoding.width > 1:
        return True
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
        text = head[: error.start].decode()
    return not any(c < " " and c not in "\t\n\r\f\x1b" for c in text)
