"""Compressed streams to bytes: bounded steps, all members, and an error where the archive is not whole.

Formats: gzip (RFC 1952), bzip2, xz and legacy .lzma, Zstandard (RFC 8878). Files that hold several members, streams or
frames one after the other are read to their end; zero bytes between or after them are padding, as tape and xz have it.
"""

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, Protocol

from byteroute_ops.errors import InputError, RejectReason

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

READ_BYTES: Final = 256 << 10
"""Stored bytes that are asked for at a time."""

_SALVAGE_READ_BYTES: Final = 1 << 10

OUTPUT_BYTES: Final = 1 << 20
"""Most bytes that one step of a decoder may give: what bounds memory, whatever the file claims."""

_HELD_BACK_BYTES: Final = {"bzip2": 900_000}
"""Output that waits until its checksum is known. A damaged bzip2 block comes out as plausible, shuffled text, and only
then fails its CRC; a block has at most 900,000 bytes but for long runs. The other formats check too far apart."""

MAX_EXPANSION: Final = 1000
EXPANSION_FLOOR_BYTES: Final = 1 << 30
"""A file is a bomb when it gives more than `EXPANSION_FLOOR_BYTES` and more than `MAX_EXPANSION` times its size.

gzip cannot expand by more than 1032; text expands by 3 to 20. Memory is bounded either way: this bounds time.
"""

XZ_MEMORY_BYTES: Final = 256 << 20
"""Memory that an xz dictionary may take; `xz -9` needs 65 MiB."""

ZSTD_WINDOW_LOG: Final = 31
"""Largest Zstandard window, as a power of two: public dumps are made with `--long=31`. The memory that is touched is
never more than what the frame has given so far."""


class Decoder(Protocol):
    """One member of a compressed file; bz2, lzma and zstd decoders have this form."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Takes stored bytes and gives at most `max_length` bytes."""


class _Gzip:
    """A gzip member in the form of `Decoder`. zlib checks the CRC and the length itself."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._tail = b""
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._tail and not self._is_full

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data + self._tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        data = self._tail + data
        # Who asks for one byte wants no output to be lost to an error, such as that of the CRC right behind it.
        n_fed = 1 if max_length == 1 else len(data)
        out = self._inner.decompress(data[:n_fed], max_length)
        self._tail = self._inner.unconsumed_tail + data[n_fed:]
        # A full step may leave output in the window even when all input is taken.
        self._is_full = len(out) == max_length
        return out


def _zstd_decoder() -> Any:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})


DECODERS: Final[dict[str, Callable[[], Any]]] = {
    "gzip": _Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES),
    "zstd": _zstd_decoder,
}
"""Compression names and what makes a decoder for one member."""

DECODER_ERRORS: Final = (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError, ValueError, EOFError)
"""What decoders raise on bad data; bz2 raises OSError and ValueError."""


class Decompressor:
    """Iterates over the bytes of a compressed stream, each piece at most `OUTPUT_BYTES` long.

    Iteration ends with an `InputError` (truncated, corrupt, decompression_bomb) where the archive is not whole, after
    all bytes that can be had were given. Errors of the stream itself (`OSError`) pass through.

    Attributes:
        n_given: decompressed bytes given so far.
    """

    def __init__(self, stream: BinaryIO | io.RawIOBase, kind: str, *, max_expansion: int = MAX_EXPANSION) -> None:
        self._stream = stream
        self._kind = kind
        self._max_expansion = max_expansion
        self._n_taken = 0
        self._n_members = 0
        self._held = b""
        self._member_start = 0
        self._member_given = 0
        self.n_given = 0

    def __iter__(self) -> Iterator[bytes]:
        decoder: Decoder | None = None
        while data := self._stream.read(READ_BYTES) or b"":
            self._n_taken += len(data)
            while data:
                if decoder is None:
                    data = data.lstrip(b"\0") if self._n_members else data
                    if not data:
                        break
                    decoder = self._next_member(self._n_taken - len(data))
                yield from self._decode(decoder, data)
                data, decoder = (decoder.unused_data, None) if decoder.eof else (b"", decoder)
        if decoder is not None or not self._n_taken:
            yield from self._give(b"", hold=0)
            detail = f"{self._kind} data ends after {self._n_taken} stored bytes, before its end marker"
            raise InputError(RejectReason.TRUNCATED, detail, offset=self.n_given)

    def _next_member(self, start: int) -> Decoder:
        self._member_start, self._member_given = start, 0
        self._n_members += 1
        decoder: Decoder = DECODERS[self._kind]()
        return decoder

    def _decode(self, decoder: Decoder, data: bytes) -> Iterator[bytes]:
        while True:
            try:
                out = decoder.decompress(data, OUTPUT_BYTES)
            except DECODER_ERRORS as error:
                yield from self._salvage()
                raise self._fault(error) from error
            hold = 0 if decoder.eof else _HELD_BACK_BYTES.get(self._kind, 0)
            yield from self._give(out, hold)
            self._check_expansion()
            if decoder.eof or decoder.needs_input:
                return
            data = b""

    def _give(self, data: bytes, hold: int) -> Iterator[bytes]:
        """Yields output but for the last `hold` bytes, which wait."""
        if hold or self._held:
            data = self._held + data
            n_ready = max(0, len(data) - hold)
            data, self._held = data[:n_ready], data[n_ready:]
        self.n_given += len(data)
        self._member_given += len(data)
        for start in range(0, len(data), OUTPUT_BYTES):
            yield data[start : start + OUTPUT_BYTES]

    def _salvage(self) -> Iterator[bytes]:
        """Yields what the failing step would have given before the fault: a decoder drops it when it raises.

        The member is decoded again, in steps so small that nothing is lost; of a format whose blocks are checked, block
        by block. Only where the stream can seek.
        """
        if not self._stream.seekable():
            return
        n_step = OUTPUT_BYTES if self._kind in _HELD_BACK_BYTES else 1
        self._stream.seek(self._member_start)
        decoder: Decoder = DECODERS[self._kind]()
        n_skip, found = self._member_given, bytearray()
        try:
            while len(found) < 2 * OUTPUT_BYTES and (data := self._stream.read(_SALVAGE_READ_BYTES) or b""):
                while data or not decoder.needs_input:
                    out = decoder.decompress(data, min(n_skip, OUTPUT_BYTES) or n_step)
                    data = b""
                    if n_skip:
                        n_skip -= len(out)
                    else:
                        found += out
        except DECODER_ERRORS:
            pass
        self._held = b""
        yield from self._give(bytes(found), hold=0)

    def _fault(self, error: Exception) -> InputError:
        where = f"{self._kind} member {self._n_members}, which begins at stored byte {self._member_start}"
        if "emory" in str(error):
            detail = f"{where}, asks for more memory than is allowed"
            return InputError(RejectReason.DECOMPRESSION_BOMB, detail, offset=self.n_given)
        detail = f"{where}, is damaged ({type(error).__name__})"
        return InputError(RejectReason.CORRUPT, detail, offset=self.n_given)

    def _check_expansion(self) -> None:
        if self.n_given > EXPANSION_FLOOR_BYTES and self.n_given > self._max_expansion * self._n_taken:
            detail = f"{self._n_taken} stored bytes gave {self.n_given}, more than {self._max_expansion} times as many"
            raise InputError(RejectReason.DECOMPRESSION_BOMB, detail, offset=self.n_given)


def decompress_all(data: bytes, kind: str, max_bytes: int) -> bytes:
    """Returns all of a small compressed string.

    Raises:
        InputError: it is not whole, or gives more than `max_bytes` bytes.
    """
    parts, n = [], 0
    for part in Decompressor(io.BytesIO(data), kind):
        parts.append(part)
        n += len(part)
        if n > max_bytes:
            detail = f"{len(data)} stored bytes give more than {max_bytes}"
            raise InputError(RejectReason.DECOMPRESSION_BOMB, detail, offset=0)
    return b"".join(parts)
