"""Avro records as documents.

The position of a record is `offset of its block << 22 | number in the block`: unique, in file order, and known without
reading the blocks before, so that a file can be read from any block on.
"""

import io
from collections.abc import Iterator
from typing import Any, Final

import fastavro

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats.avro_container import SYNC_BYTES, Block, Header, blocks, read_header, unpack
from byteroute_ops.formats.batching import Collector
from byteroute_ops.formats.fields import RowFields
from byteroute_ops.formats.model import Read
from byteroute_ops.formats.source import ByteFeed, Source

RECORD_BITS: Final = 22
"""Bits of a position that hold the number of the record in its block."""


def read_avro(source: Source, collector: Collector) -> Iterator[Read]:
    """Yields the records of the blocks that begin in the slice.

    Raises:
        InputError: the header is unusable, or a compressed file around it is not whole.
    """
    part = source.slice
    if source.is_empty and source.compression is None:
        raise InputError(RejectReason.TRUNCATED, "an Avro file of 0 bytes", offset=0)
    feed = ByteFeed(source.chunks())
    try:
        header = read_header(feed)
        _check_fields(header, collector)
    except InputError:
        # A property of the file, so it is reported once: by the slice that holds its beginning.
        if part.start == 0:
            raise
        return
    if part.start > 0:
        # The marker before the slice's first block may begin before the slice.
        feed = ByteFeed(source.chunks(part.start - SYNC_BYTES), part.start - SYNC_BYTES)
        if not feed.find(header.sync):
            return
        feed.skip(SYNC_BYTES)
    try:
        yield from _read_blocks(feed, header, None if part.end >= part.size else part.end, collector)
    except InputError as fault:
        raise InputError(fault.reason, fault.detail, offset=_position(fault.offset)) from fault


def _position(offset: int | None) -> int | None:
    return None if offset is None else offset << RECORD_BITS


def _read_blocks(feed: ByteFeed, header: Header, stop: int | None, collector: Collector) -> Iterator[Read]:
    fields = RowFields(collector)
    for block in blocks(feed, header, stop):
        try:
            if isinstance(block, InputError):
                raise block
            yield from _read_block(block, header, fields, collector)
        except InputError as fault:
            collector.reject(_position(fault.offset), fault.reason, fault.detail, is_record=False)
        yield from collector.drain()


def _check_fields(header: Header, collector: Collector) -> None:
    schema, name = header.schema, collector.options.text_field
    names = [f["name"] for f in schema["fields"]] if isinstance(schema, dict) and "fields" in schema else []
    if name not in names and name.split(".")[0] not in names:
        detail = f"no field {name!r} among the {len(names)} of the Avro schema"
        raise InputError(RejectReason.MISSING_FIELD, detail)


def _read_block(block: Block, header: Header, fields: RowFields, collector: Collector) -> Iterator[Read]:
    data = unpack(block, header.codec)
    stream, start = io.BytesIO(data), 0
    for i in range(block.n_records):
        row = _record(stream, header, block, i)
        end = stream.tell()
        position = block.offset << RECORD_BITS | i
        fields.take(position, row, end - start, data[start:end], ill_formed=RejectReason.INVALID_UTF8)
        start = end
        yield from collector.drain()
    if start != len(data):
        detail = f"the block at byte {block.offset} has {len(data) - start} bytes after its {block.n_records} records"
        raise InputError(RejectReason.CORRUPT, detail, offset=block.offset)


def _record(stream: io.BytesIO, header: Header, block: Block, index: int) -> Any:
    try:
        # Bytes that are not UTF-8 become surrogates, so that they cost their record and not the block.
        return fastavro.schemaless_reader(stream, header.schema, None, handle_unicode_errors="surrogateescape")
    except Exception as error:  # damaged bytes lead fastavro anywhere; nothing but memory is touched here
        detail = (
            f"record {index} of the block at byte {block.offset} cannot be decoded ({type(error).__name__}): "
            f"{block.n_records - index} records of the block are lost"
        )
        raise InputError(RejectReason.CORRUPT, detail, offset=block.offset) from error
