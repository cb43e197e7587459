"""Cuts a byte stream at a separator: linear in the length of a record, bounded in memory, with exact offsets."""

from collections.abc import Callable, Iterator

OnLong = Callable[[int, int], None]
"""Called with offset and length in bytes of a record that was skipped because it is too long."""


class RecordSplitter:
    r"""Iterates over `(offset, records)`: records that follow each other, each ended by the separator.

    The offset is that of the first record, in the decompressed stream; the next record begins
    `len(record) + len(separator)` bytes later. What follows the last separator is not yielded: it is `rest`, complete
    only where the stream ended without an error.

    Args:
        chunks: the bytes from `offset` on.
        separator: the encoded separator.
        offset: of the first chunk, in bytes.
        limit: a record longer than this many bytes is not kept but reported.
        on_long: where to report.
        width: bytes of one code unit; a separator is only found on a whole unit.
        stop: records that begin at or after this offset are another slice's.
        skip_first: the bytes up to the first separator belong to the slice before.

    >>> splitter = RecordSplitter(iter([b"a\nbc", b"d\n\ne"]), b"\n", limit=9, on_long=print)
    >>> list(splitter), splitter.rest, splitter.rest_offset
    ([(0, [b'a']), (2, [b'bcd', b''])], b'e', 7)
    """

    def __init__(
        self,
        chunks: Iterator[bytes],
        separator: bytes,
        *,
        limit: int,
        on_long: OnLong,
        offset: int = 0,
        width: int = 1,
        stop: int | None = None,
        skip_first: bool = False,
    ) -> None:
        self._chunks = chunks
        self._separator = separator
        self._limit = limit
        self._on_long = on_long
        self._width = width
        self._stop = stop
        self._skip_first = skip_first
        # The open record is parts + tail; tail may hold the first bytes of a separator.
        self._parts: list[bytes] = []
        self._n_parts = 0
        self._tail = b""
        self.rest_offset = offset

    @property
    def rest(self) -> bytes:
        """Bytes after the last separator; b"" where they are another slice's or too long."""
        is_ours = not self._skip_first and (self._stop is None or self.rest_offset < self._stop)
        if not is_ours or self._n_parts + len(self._tail) > self._limit:
            return b""
        return b"".join([*self._parts, self._tail])

    def __iter__(self) -> Iterator[tuple[int, list[bytes]]]:
        for data in self._chunks:
            chunk = self._tail + data
            chunk_offset = self.rest_offset + self._n_parts
            records, n_cut = self._cut(chunk, chunk_offset)
            if records:
                start, n_first = self.rest_offset, self._n_parts + len(records[0])
                if self._parts:
                    records[0] = b"".join([*self._parts, records[0]])
                self.rest_offset = chunk_offset + n_cut
                self._parts, self._n_parts, self._tail = [], 0, b""
                yield from self._checked(start, n_first, records)
                if self._stop is not None and self.rest_offset >= self._stop:
                    return
            self._keep(chunk[n_cut:])
        n_rest = self._n_parts + len(self._tail)
        if n_rest > self._limit and not self._skip_first:
            self._on_long(self.rest_offset, n_rest)

    def _keep(self, data: bytes) -> None:
        """Adds to the open record, or only counts where it is too long already."""
        n_body = max(0, len(data) - len(self._separator) + 1)
        self._tail = data[n_body:]
        self._n_parts += n_body
        if self._n_parts > self._limit:
            self._parts = []
        elif n_body:
            self._parts.append(data[:n_body])

    def _cut(self, chunk: bytes, chunk_offset: int) -> tuple[list[bytes], int]:
        """Returns the records that end in the chunk, and how many of its bytes they and their separators take."""
        separator = self._separator
        if len(separator) == 1:
            records = chunk.split(separator)
            return records, len(chunk) - len(records.pop())
        records = []
        start, found = 0, chunk.find(separator)
        while found >= 0:
            if (chunk_offset + found) % self._width:
                found = chunk.find(separator, found + 1)
                continue
            records.append(chunk[start:found])
            start = found + len(separator)
            found = chunk.find(separator, start)
        return records, start

    def _checked(self, start: int, n_first: int, records: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
        """Yields the records that are this slice's and not too long."""
        n_separator = len(self._separator)
        if self._skip_first or n_first > self._limit:
            if not self._skip_first:
                self._on_long(start, n_first)
            self._skip_first = False
            start += n_first + n_separator
            records = records[1:]
        if self._stop is not None and self.rest_offset > self._stop:
            records = self._before_stop(start, records)
        if records and max(map(len, records)) <= self._limit:
            yield start, records
            return
        for record in records:
            if len(record) > self._limit:
                self._on_long(start, len(record))
            else:
                yield start, [record]
            start += len(record) + n_separator

    def _before_stop(self, start: int, records: list[bytes]) -> list[bytes]:
        for i, record in enumerate(records):
            if self._stop is not None and start >= self._stop:
                return records[:i]
            start += len(record) + len(self._separator)
        return records
