"""Compressed streams: members, bounds, and what is given before a fault."""

import bz2
import gzip
import io
import lzma
import random
import struct
import tracemalloc
import zlib

import pytest
from reader_harness import COMPRESSORS, Trickle, zstd, zstd_compress

from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.formats import compression
from byteroute_ops.formats.compression import Decompressor, decompress_all

KINDS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd_compress}
TEXT = random.Random(1).randbytes(60_000).hex().encode()


def outcome(stream: io.BytesIO, kind: str) -> tuple[bytes, InputError | None]:
    """Returns what came out and the fault at the end."""
    out, fault = b"", None
    try:
        for piece in Decompressor(stream, kind):
            assert 0 < len(piece) <= compression.OUTPUT_BYTES
            out += piece
    except InputError as error:
        fault = error
    assert fault is None or fault.offset == len(out)
    return out, fault


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [None, 1000, 1])
def test_several_members_are_one_stream(kind: str, step: int | None) -> None:
    """Members (streams, frames), empty ones and zero padding after them read as one, in any steps."""
    pack = KINDS[kind]
    data = pack(b"one") + pack(b"") + pack(b"two" * 1000) + b"\0" * 512
    stream = io.BytesIO(data) if step is None else Trickle(data, step)
    assert outcome(stream, kind) == (b"one" + b"two" * 1000, None)


def test_padding_between_xz_streams() -> None:
    """Stream padding of the xz format may stand between streams too."""
    data = lzma.compress(b"a") + b"\0" * 8 + lzma.compress(b"b")
    assert outcome(io.BytesIO(data), "xz") == (b"ab", None)


def test_legacy_lzma() -> None:
    """The .lzma format is read as xz is."""
    assert outcome(io.BytesIO(lzma.compress(TEXT, lzma.FORMAT_ALONE)), "xz") == (TEXT, None)


def test_zstd_skippable_frames() -> None:
    """Skippable frames (RFC 8878 section 3.1.2) hold no data."""
    skip = struct.pack("<II", 0x184D2A53, 5) + b"hello"
    assert outcome(io.BytesIO(skip + zstd.compress(b"a") + skip), "zstd") == (b"a", None)


def test_zstd_long_windows() -> None:
    """Dumps made with --long=31 are read."""
    options = {zstd.CompressionParameter.window_log: 31, zstd.CompressionParameter.compression_level: 1}
    packer = zstd.ZstdCompressor(options=options)
    data = packer.compress(TEXT) + packer.flush()
    assert outcome(io.BytesIO(data), "zstd") == (TEXT, None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.99])
def test_truncation_is_a_fault_after_all_that_was_readable(kind: str, fraction: float) -> None:
    """A cut archive gives as much as a decoder fed byte by byte, then one fault."""
    data = KINDS[kind](TEXT)
    cut = data[: int(len(data) * fraction)]
    out, fault = outcome(io.BytesIO(cut), kind)
    assert fault is not None
    assert fault.reason == RejectReason.TRUNCATED
    assert out == patient(cut, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fraction", [0.3, 0.6, 0.97])
def test_damage_is_a_fault_after_all_that_was_readable(kind: str, fraction: float) -> None:
    """A flipped byte gives as much as a decoder that is asked for one byte at a time, then one fault.

    Not of bzip2: what it gives of the damaged block is shuffled.
    """
    data = bytearray(KINDS[kind](TEXT))
    data[int(len(data) * fraction)] ^= 0x55
    out, fault = outcome(io.BytesIO(bytes(data)), kind)
    assert fault is not None
    assert fault.reason in (RejectReason.CORRUPT, RejectReason.TRUNCATED)
    assert out == (b"" if kind == "bzip2" else patient(bytes(data), kind))


def test_bzip2_gives_the_blocks_before_the_damaged_one_and_nothing_of_it() -> None:
    """Blocks have checksums of their own: those before the damage are given to the last byte."""
    text = random.Random(2).randbytes(100_000).hex().encode()
    data = bytearray(bz2.compress(text, 1))
    data[int(len(data) * 0.85)] ^= 0x10
    out, fault = outcome(io.BytesIO(bytes(data)), "bzip2")
    assert fault is not None
    # Level 1 has blocks of 100,000 bytes less a margin of 19, in which runs of four or more take a byte extra.
    assert out == text[: len(out)]
    assert 99_900 < len(out) <= 99_981


def patient(data: bytes, kind: str) -> bytes:
    """What the plain decoder gives before its error when it is asked for one byte at a time."""
    decoder = compression.DECODERS[kind]()
    out = bytearray()
    try:
        for at in range(0, len(data), 64):
            piece = data[at : at + 64]
            while piece or not decoder.needs_input:
                out += decoder.decompress(piece, 1)
                piece = b""
                if decoder.eof:
                    return bytes(out)
    except compression.DECODER_ERRORS:
        pass
    return bytes(out)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_after_the_last_member_are_a_fault(kind: str) -> None:
    """Anything but zero bytes after a member: its data are kept, and the rest is not passed over in silence."""
    out, fault = outcome(io.BytesIO(KINDS[kind](b"data") + b"this is not a member at all"), kind)
    assert out == b"data"
    assert fault is not None
    assert fault.reason == RejectReason.CORRUPT


@pytest.mark.parametrize("kind", KINDS)
def test_no_bytes_are_a_truncated_archive(kind: str) -> None:
    """Not even an archive of nothing is empty."""
    out, fault = outcome(io.BytesIO(b""), kind)
    assert out == b""
    assert fault is not None
    assert fault.reason == RejectReason.TRUNCATED


@pytest.mark.parametrize("kind", KINDS)
def test_memory_stays_bounded_while_a_bomb_unfolds(kind: str) -> None:
    """64 MiB out of a few kilobytes: never more than a few steps in memory."""
    data = KINDS[kind](b"\0" * (64 << 20))
    tracemalloc.start()
    try:
        n = sum(len(piece) for piece in Decompressor(io.BytesIO(data), kind))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n == 64 << 20
    assert peak < 16 << 20


def test_expansion_beyond_the_limit_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the floor and the ratio the file is a bomb; what was given stays given."""
    monkeypatch.setattr(compression, "EXPANSION_FLOOR_BYTES", 4 << 20)
    out, fault = outcome(io.BytesIO(zstd.compress(b"\0" * (32 << 20))), "zstd")
    assert fault is not None
    assert fault.reason == RejectReason.DECOMPRESSION_BOMB
    assert 4 << 20 < len(out) <= 6 << 20
    assert outcome(io.BytesIO(zstd.compress(TEXT * 8)), "zstd") == (TEXT * 8, None)


def test_dictionaries_beyond_the_memory_limit_are_refused() -> None:
    """An xz file that asks for 1.5 GiB is a bomb, not a crash."""
    head = lzma.compress(b"x", filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}])
    # The block header follows 12 bytes of stream header: its fifth byte codes the dictionary size (xz file format
    # 5.3.1, 39 is 3 GiB), its last four are a CRC-32.
    block = bytearray(head[12:24])
    block[4] = 39
    block[8:12] = struct.pack("<I", zlib.crc32(bytes(block[:8])))
    out, fault = outcome(io.BytesIO(head[:12] + bytes(block) + head[24:]), "xz")
    assert out == b""
    assert fault is not None
    assert fault.reason == RejectReason.DECOMPRESSION_BOMB


def test_decompress_all_is_bounded() -> None:
    """The form for small strings refuses more than it was told."""
    data = zstd.compress(b"\0" * (3 << 20))
    assert len(decompress_all(data, "zstd", 3 << 20)) == 3 << 20
    with pytest.raises(InputError) as caught:
        decompress_all(data, "zstd", (3 << 20) - 1)
    assert caught.value.reason == RejectReason.DECOMPRESSION_BOMB


def test_errors_of_the_stream_are_no_faults_of_the_data() -> None:
    """A failing disk or connection passes through, so that a retry can do better."""

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError):
        list(Decompressor(Failing(), "gzip"))


def test_every_suffix_of_the_harness_is_known() -> None:
    """The decoders cover what the tests compress with."""
    assert len(compression.DECODERS) == len(COMPRESSORS) - 1
