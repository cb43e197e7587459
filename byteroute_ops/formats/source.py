"""One file (or slice of one) as a reader sees it: what it is, its bytes in order, and how far reading has come."""

import errno
import io
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats import detect
from byteroute_ops.formats.compression import OUTPUT_BYTES, Decompressor
from byteroute_ops.formats.model import FileSlice, Opener

_RETRYABLE: Final = (ConnectionError, TimeoutError, InterruptedError)
"""Failures of the moment: they end the attempt, so that a retry may do better, and never become a reject."""


class Stream(io.RawIOBase):
    """The caller's stream, counted.

    A library that is handed this stream may turn an `OSError` of it into an error about the data; `failure` keeps the
    original, so that a failing disk is never taken for a damaged file.

    Attributes:
        n_taken: bytes read so far.
        failure: what the inner stream raised, if it did.
    """

    def __init__(self, inner: BinaryIO) -> None:
        super().__init__()
        self._inner = inner
        self.n_taken = 0
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        """Returns True."""
        return True

    def seekable(self) -> bool:
        """Returns whether the inner stream can seek."""
        return self._inner.seekable()

    def tell(self) -> int:
        """Returns the position in bytes."""
        return self._inner.tell()

    def read(self, size: int = -1, /) -> bytes:
        """Returns up to `size` bytes, b"" at the end."""
        try:
            data = self._inner.read(size)
        except Exception as error:
            self.failure = error
            raise
        self.n_taken += len(data)
        return data

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer` and returns the number of bytes."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Moves to a position and returns it."""
        try:
            return self._inner.seek(offset, whence)
        except Exception as error:
            self.failure = error
            raise

    def reraise_failure(self) -> None:
        """Passes on the failure of the inner stream, if there was one: then the data are not at fault.

        Raises:
            Exception: what the inner stream raised.
        """
        if self.failure is not None:
            raise self.failure

    def close(self) -> None:
        """Closes the inner stream."""
        if not self.closed:
            self._inner.close()
        super().close()


class Source:
    """An opened slice, looked at but not yet read.

    Attributes:
        slice: which bytes.
        stream: the stored bytes.
        compression: None for plain.
        format: name of the reader.
        encoding: of plain text.
        warnings: what detection has to say.
    """

    def __init__(self, part: FileSlice, stream: Stream, wanted: str) -> None:
        self.slice = part
        self.stream = stream
        self.warnings: list[str] = []
        self._first = b""
        self._fault: InputError | None = None
        head = _read_head(stream)
        self.compression = detect.compression(part.uri, head, self.warnings)
        if self.compression is not None:
            self._decompressor = iter(Decompressor(stream, self.compression))
            head = self._peek()
        self.is_empty = not head
        self.format = detect.file_format(part.uri, head, wanted, self.warnings)
        self.encoding = detect.text_encoding(head)

    def _peek(self) -> bytes:
        try:
            while len(self._first) < detect.HEAD_BYTES and (data := next(self._decompressor, b"")):
                self._first += data
        except InputError as fault:
            # Bytes first: `chunks` raises the fault in its place.
            self._fault = fault
        return self._first[: detect.HEAD_BYTES]

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """Yields the decompressed bytes from byte `start` (plain files only) to the end, in pieces of at most 1 MiB.

        Raises:
            InputError: the archive is not whole; what could be had was given before.
        """
        if self.compression is None:
            self.stream.seek(start)
            while data := self.stream.read(OUTPUT_BYTES):
                yield data
            return
        if self._first:
            yield self._first
        if self._fault is not None:
            raise self._fault
        yield from self._decompressor


def _read_head(stream: Stream) -> bytes:
    """Returns the first bytes of a file and goes back to its start. Remote streams may give fewer than asked for."""
    head = b""
    while len(head) < detect.HEAD_BYTES and (data := stream.read(detect.HEAD_BYTES - len(head))):
        head += data
    stream.seek(0)
    return head


def open_stream(uri: str, opener: Opener) -> Stream:
    """Returns the opened file.

    Raises:
        InputError: it cannot be opened (missing, no permission); the detail names the system's error code.
        ConnectionError, TimeoutError, InterruptedError: a failure of the moment; a retry may do better.
    """
    try:
        return Stream(opener(uri))
    except _RETRYABLE:
        raise
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, type(error).__name__)
        raise InputError(RejectReason.UNREADABLE_FILE, f"the file cannot be opened ({code})") from error


class ByteFeed:
    """Takes exact numbers of bytes from chunks, for formats whose records say how long they are.

    A fault of the chunks looks like the end of the stream, so that what stands before it can be used to the last byte;
    whoever meets the end calls `check`.

    Attributes:
        offset: of the next byte, in the decompressed stream.
    """

    def __init__(self, chunks: Iterator[bytes], offset: int = 0) -> None:
        self._chunks = chunks
        self._buffer = b""
        self._at = 0
        self._fault: InputError | None = None
        self.offset = offset

    def check(self) -> None:
        """Passes on the fault that ended the stream, if one did.

        Raises:
            InputError: the fault.
        """
        if self._fault is not None:
            raise self._fault

    def _more(self) -> bool:
        try:
            data = next(self._chunks, b"")
        except InputError as fault:
            self._fault, data = fault, b""
        self._buffer = self._buffer[self._at :] + data
        self._at = 0
        return bool(data)

    def _skip(self, n: int) -> None:
        self._at += n
        self.offset += n

    def read(self, n: int) -> bytes:
        """Returns the next `n` bytes, fewer at the end of the stream."""
        parts = []
        while n > 0 and (self._at < len(self._buffer) or self._more()):
            part = self._buffer[self._at : self._at + n]
            parts.append(part)
            n -= len(part)
            self._skip(len(part))
        return b"".join(parts)

    def skip(self, n: int) -> int:
        """Moves past `n` bytes without keeping them; returns how many there were."""
        skipped = 0
        while skipped < n and (self._at < len(self._buffer) or self._more()):
            step = min(n - skipped, len(self._buffer) - self._at)
            skipped += step
            self._skip(step)
        return skipped

    def unread(self, data: bytes) -> None:
        """Puts bytes back that were the last ones taken."""
        if len(data) <= self._at:
            # They are still there: no copy of what may be a megabyte for the few bytes of a length.
            self._at -= len(data)
        else:
            self._buffer = data + self._buffer[self._at :]
            self._at = 0
        self.offset -= len(data)

    def read_until(self, mark: bytes, limit: int) -> bytes | None:
        """Returns the bytes up to and with `mark`; None, and nothing taken, where it is not among the next `limit`."""
        while (place := self._buffer.find(mark, self._at, self._at + limit)) < 0:
            if len(self._buffer) - self._at >= limit or not self._more():
                return None
        return self.read(place + len(mark) - self._at)

    def find(self, mark: bytes) -> bool:
        """Moves to the next `mark`, before its first byte; to the end of the stream where there is none."""
        while (place := self._buffer.find(mark, self._at)) < 0:
            self._skip(max(0, len(self._buffer) - self._at - len(mark) + 1))
            if not self._more():
                self._skip(len(self._buffer) - self._at)
                return False
        self._skip(place - self._at)
        return True
