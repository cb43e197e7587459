"""Avro object container files, block by block (Apache Avro 1.12 specification, "Object Container Files").

A reader of our own because a library's stops at the first fault, cannot begin in the middle, and unpacks a block
whatever its size. Sync markers make it possible to step over a damaged block. Decoding records is left to fastavro.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import cramjam
import fastavro
import orjson

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats.compression import decompress_all
from byteroute_ops.formats.source import ByteFeed

MAGIC: Final = b"Obj\x01"
SYNC_BYTES: Final = 16

MAX_BLOCK_BYTES: Final = 256 << 20
"""Largest block, stored or unpacked. Writers make blocks of some kilobytes to a few megabytes."""

MAX_BLOCK_RECORDS: Final = 1 << 22
"""Most records of a block, so that a record number fits below a block's offset in a position."""

_MAX_HEADER_BYTES: Final = 16 << 20


@dataclass(frozen=True)
class Header:
    """What stands before the first block.

    Attributes:
        schema: of the records, as fastavro parsed it.
        codec: name of the block compression.
        sync: the marker after each block.
    """

    schema: Any
    codec: str
    sync: bytes


@dataclass(frozen=True)
class Block:
    """A block as it is stored: `offset` of its first byte in the file, number of records, packed records."""

    offset: int
    n_records: int
    data: bytes


def read_header(feed: ByteFeed) -> Header:
    """Returns the header.

    Raises:
        InputError: it is cut or damaged, has no usable schema or an unknown codec.
    """
    if _read_exact(feed, len(MAGIC)) != MAGIC:
        raise InputError(RejectReason.UNREADABLE_FILE, "the content is not an Avro container file", offset=0)
    meta: dict[bytes, bytes] = {}
    while n_pairs := _read_long(feed):
        if n_pairs < 0:
            # A negative count is followed by the size in bytes.
            _read_long(feed)
        for _ in range(min(abs(n_pairs), _MAX_HEADER_BYTES)):
            key = _read_bytes(feed, _MAX_HEADER_BYTES)
            meta[key] = _read_bytes(feed, _MAX_HEADER_BYTES)
            if feed.offset > _MAX_HEADER_BYTES:
                raise InputError(RejectReason.CORRUPT, "the Avro header has no end", offset=feed.offset)
    sync = _read_exact(feed, SYNC_BYTES)
    codec = meta.get(b"avro.codec", b"null").decode(errors="replace")
    if codec not in CODECS:
        detail = f"unknown Avro codec; known are {', '.join(CODECS)}"
        raise InputError(RejectReason.UNREADABLE_FILE, detail, offset=0)
    try:
        schema = fastavro.parse_schema(orjson.loads(meta[b"avro.schema"]))
    except Exception as error:  # parse_schema meets arbitrary JSON and raises whatever that leads to
        detail = f"the Avro header has no usable schema ({type(error).__name__})"
        raise InputError(RejectReason.CORRUPT, detail, offset=0) from error
    return Header(schema, codec, sync)


def blocks(feed: ByteFeed, header: Header, stop: int | None) -> Iterator[Block | InputError]:
    """Yields the blocks that begin before byte `stop`, and a fault in the place of damaged ones.

    Reading goes on after the next sync marker. Where none follows, the file is taken to be cut there.

    Raises:
        InputError: a compressed file around the container is not whole.
    """
    while stop is None or feed.offset < stop:
        offset = feed.offset
        taken = feed.read(1)
        if not taken:
            break
        feed.unread(taken)
        try:
            yield _read_block(feed, header, offset)
        except _Damaged as damage:
            # What was taken may hold good blocks: the damage may be in the length.
            feed.unread(damage.taken)
            if feed.find(header.sync):
                feed.skip(SYNC_BYTES)
                detail = f"the block at byte {offset} is damaged; the next begins at byte {feed.offset}"
                yield InputError(RejectReason.CORRUPT, detail, offset=offset)
            else:
                feed.check()
                detail = f"the file ends at byte {feed.offset}, inside the block that begins at byte {offset}"
                yield InputError(RejectReason.TRUNCATED, detail, offset=offset)
    feed.check()


class _Damaged(Exception):  # noqa: N818 - a signal between two functions
    def __init__(self, taken: bytes) -> None:
        super().__init__()
        self.taken = taken


def _read_block(feed: ByteFeed, header: Header, offset: int) -> Block:
    head = feed.read(20)
    n_records, n_head = _long_at(head, 0)
    n_bytes, n_head = _long_at(head, n_head)
    if n_head < 0 or not 0 <= n_records <= MAX_BLOCK_RECORDS or not 0 <= n_bytes <= MAX_BLOCK_BYTES:
        raise _Damaged(head)
    feed.unread(head[n_head:])
    data = feed.read(n_bytes)
    sync = feed.read(SYNC_BYTES)
    if sync != header.sync:
        raise _Damaged(head[:n_head] + data + sync)
    return Block(offset, n_records, data)


def unpack(block: Block, codec: str) -> bytes:
    """Returns the records of a block.

    Raises:
        InputError: the compressed data are damaged or unpack to more than `MAX_BLOCK_BYTES`.
    """
    try:
        return CODECS[codec](block.data)
    except InputError as fault:
        raise InputError(
            fault.reason, f"the block at byte {block.offset}: {fault.detail}", offset=block.offset
        ) from None


def _deflate(data: bytes) -> bytes:
    # RFC 1951 without a zlib or gzip wrapper.
    inner = zlib.decompressobj(wbits=-15)
    try:
        out = inner.decompress(data, MAX_BLOCK_BYTES)
    except zlib.error as error:
        raise InputError(RejectReason.CORRUPT, "deflate data are damaged", offset=0) from error
    if not inner.eof:
        reason = RejectReason.DECOMPRESSION_BOMB if len(out) == MAX_BLOCK_BYTES else RejectReason.CORRUPT
        raise InputError(reason, f"deflate data do not end within {MAX_BLOCK_BYTES} bytes", offset=0)
    return out


def _snappy(data: bytes) -> bytes:
    # Raw snappy, then the CRC-32 of the unpacked bytes, big-endian.
    out = _sized(data[:-4], _varint_size(data), cramjam.snappy.decompress_raw)
    if zlib.crc32(out) != int.from_bytes(data[-4:], "big"):
        raise InputError(RejectReason.CORRUPT, "snappy data fail their checksum", offset=0)
    return out


def _varint_size(data: bytes) -> int:
    size = 0
    for i, byte in enumerate(data[:5]):
        size |= (byte & 127) << (7 * i)
        if byte < 128:
            return size
    return MAX_BLOCK_BYTES + 1


def _lz4(data: bytes) -> bytes:
    # An LZ4 block behind its unpacked size, little-endian.
    return _sized(data, int.from_bytes(data[:4], "little"), cramjam.lz4.decompress_block)


def _sized(data: bytes, n_bytes: int, unpacker: Callable[[bytes], Any]) -> bytes:
    if n_bytes > MAX_BLOCK_BYTES:
        raise InputError(RejectReason.DECOMPRESSION_BOMB, f"data claim to unpack to {n_bytes} bytes", offset=0)
    try:
        return bytes(unpacker(data))
    except cramjam.DecompressionError as error:
        raise InputError(RejectReason.CORRUPT, "packed data are damaged", offset=0) from error


CODECS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "null": lambda data: data,
    "deflate": _deflate,
    "bzip2": lambda data: decompress_all(data, "bzip2", MAX_BLOCK_BYTES),
    "xz": lambda data: decompress_all(data, "xz", MAX_BLOCK_BYTES),
    "zstandard": lambda data: decompress_all(data, "zstd", MAX_BLOCK_BYTES),
    "snappy": _snappy,
    "lz4": _lz4,
}
"""Codec names of the specification, and lz4, which fastavro writes."""


def _long_at(data: bytes, at: int) -> tuple[int, int]:
    """Returns a zigzag variable-length long and where it ends; -1 for the end where there is none."""
    value = 0
    for i in range(10):
        if not 0 <= at + i < len(data):
            break
        byte = data[at + i]
        value |= (byte & 127) << (7 * i)
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at + i + 1
    return 0, -1


def _read_long(feed: ByteFeed) -> int:
    head = feed.read(10)
    value, end = _long_at(head, 0)
    if end < 0:
        feed.check()
        raise InputError(RejectReason.TRUNCATED, "the Avro header is cut or damaged", offset=feed.offset)
    feed.unread(head[end:])
    return value


def _read_bytes(feed: ByteFeed, limit: int) -> bytes:
    n_bytes = _read_long(feed)
    if not 0 <= n_bytes <= limit:
        raise InputError(RejectReason.CORRUPT, "the Avro header is damaged", offset=feed.offset)
    return _read_exact(feed, n_bytes)


def _read_exact(feed: ByteFeed, n_bytes: int) -> bytes:
    data = feed.read(n_bytes)
    if len(data) < n_bytes:
        feed.check()
        raise InputError(RejectReason.TRUNCATED, "the file ends inside its Avro header", offset=feed.offset)
    return data
