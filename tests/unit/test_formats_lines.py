"""Cutting streams at separators, and long documents into pieces."""

import time
import tracemalloc
from collections.abc import Iterator

from byteroute_ops.formats.lines import RecordSplitter
from byteroute_ops.formats.splitting import split_document


def chunks_of(n_chunks: int, size: int) -> Iterator[bytes]:
    """Yields chunks without a line end, each made when it is asked for."""
    for _ in range(n_chunks):
        yield b"x" * size


def test_memory_is_bounded_by_the_limit_not_by_the_line() -> None:
    """A line of 64 MiB under a limit of 1 MiB: counted, not kept."""
    found: list[tuple[int, int]] = []
    splitter = RecordSplitter(
        chunks_of(1024, 65536), b"\n", limit=1 << 20, on_long=lambda offset, n: found.append((offset, n))
    )
    tracemalloc.start()
    try:
        assert list(splitter) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [(0, 1 << 26)]
    assert splitter.rest == b""
    assert peak < 4 << 20


def test_long_lines_take_linear_work() -> None:
    """Sixteen times the line takes far less than the 256 times of a quadratic reader."""

    def seconds(n_chunks: int) -> float:
        start = time.process_time()
        splitter = RecordSplitter(chunks_of(n_chunks, 4096), b"\n", limit=1 << 30, on_long=print)
        list(splitter)
        assert len(splitter.rest) == n_chunks * 4096
        return time.process_time() - start

    quick = min(seconds(1000) for _ in range(3))
    assert seconds(16_000) < 100 * max(quick, 0.001)


def test_pieces_end_at_white_space_else_between_clusters() -> None:
    """White space first; without it no cut before a mark, a modifier or beside a joiner."""
    assert [p for p, _ in split_document("aaaa bbbb cccc", 7)] == ["aaaa ", "bbbb ", "cccc"]
    accents = "e\u0301" * 20
    assert all(not p.startswith("\u0301") for p, _ in split_document(accents, 16))
    family = "\U0001f469\u200d\U0001f467" * 20
    pieces = [p for p, _ in split_document(family, 30)]
    assert all(not p.startswith("\u200d") and not p.endswith("\u200d") for p in pieces)
    assert "".join(pieces) == family


def test_pieces_advance_when_nothing_fits_well() -> None:
    """A run of combining marks is cut anywhere rather than never."""
    marks = "\u0301" * 100
    pieces = list(split_document(marks, 16))
    assert "".join(p for p, _ in pieces) == marks
    assert all(0 < n <= 16 for _, n in pieces)
    assert list(split_document("", 16)) == []
