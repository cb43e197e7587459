"""Planning: every file once, even pieces, small files together, hardly any reading."""

import io
import json
import random
from typing import BinaryIO

import pytest

from byteroute_ops.errors import ConfigError
from byteroute_ops.formats import FileInfo, Range, plan_ranges

MIB = 1 << 20


def info(name: str, size: int) -> FileInfo:
    """Returns a listing entry."""
    return FileInfo(name, size, "v")


def no_opener(uri: str) -> BinaryIO:
    """Fails the test when anything is opened."""
    raise AssertionError(uri)


def json_opener(uri: str) -> BinaryIO:
    """Opens any file as JSON lines."""
    return io.BytesIO(b'{"text":"a"}\n')


def plan(files: list[FileInfo], range_mib: int = 64, opener: object = json_opener) -> list[Range]:
    """Plans with the format found out."""
    return plan_ranges(files, format="auto", range_bytes=range_mib * MIB, opener=opener)  # type: ignore[arg-type]


def check_cover(files: list[FileInfo], ranges: list[Range]) -> None:
    """Checks that the slices of each file are contiguous and cover it once, in the order of names."""
    ends: dict[str, int] = {}
    for i, part in enumerate(ranges):
        assert part.index == i
        for s in part.slices:
            assert s.start == ends.get(s.uri, 0)
            assert s.end > s.start or s.size == 0
            ends[s.uri] = s.end
    assert ends == {f.uri: f.size for f in files}
    assert list(ends) == sorted(ends)


def test_large_plain_files_are_cut_evenly() -> None:
    """A 1 GB file becomes many slices of the same size."""
    files = [info("big.jsonl", 1000 * MIB)]
    ranges = plan(files)
    check_cover(files, ranges)
    sizes = [part.n_bytes for part in ranges]
    assert len(sizes) == 16
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.txt.zst", "a.wet", "a.warc.wet.gz"])
def test_what_cannot_be_split_is_one_slice(name: str) -> None:
    """Compressed files and WET stay whole, however large."""
    opener = no_opener if not name.endswith(".wet") else lambda uri: io.BytesIO(b"WARC/1.0\r\n")
    assert [s.is_whole for r in plan([info(name, 1000 * MIB)], opener=opener) for s in r.slices] == [True]


@pytest.mark.parametrize("head", [b"\x1f\x8b\x08", b"\xff\xfe{\0", b"\xfd7zXZ\0"])
def test_content_that_cannot_be_split_is_found_out(head: bytes) -> None:
    """A compressed or UTF-16 file under a plain name stays whole."""
    ranges = plan([info("a.jsonl", 1000 * MIB)], opener=lambda uri: io.BytesIO(head))
    assert len(ranges) == 1


def test_small_files_are_put_together_without_opening_them() -> None:
    """5,000 tiny files make few ranges, and none is opened."""
    files = [info(f"{i:05}.jsonl", 1000) for i in range(5000)]
    ranges = plan(files, opener=no_opener)
    check_cover(files, ranges)
    assert len(ranges) == 5


def test_compressed_files_weigh_what_they_hold() -> None:
    """Ranges of compressed and plain files hold about the same amount of text."""
    packed = plan([info(f"{i}.jsonl.zst", MIB) for i in range(100)], range_mib=20)
    plain = plan([info(f"{i}.jsonl", 4 * MIB) for i in range(100)], range_mib=20)
    assert len(packed) == len(plain)


def test_the_plan_depends_on_the_listing_alone() -> None:
    """Any order of the listing gives the same ranges, and they survive JSON."""
    files = [info(f"d/{i} *é.jsonl", i * 3 * MIB) for i in range(40)]
    ranges = plan(files)
    check_cover(files, ranges)
    shuffled = random.Random(3).sample(files, len(files))
    assert plan(shuffled) == ranges
    assert [Range.from_json(json.loads(json.dumps(r.to_json()))) for r in ranges] == ranges


def test_files_that_cannot_be_opened_are_planned_whole() -> None:
    """Their reader will report them."""

    def opener(uri: str) -> BinaryIO:
        raise PermissionError(13, "no", uri)

    assert len(plan([info("a.jsonl", 1000 * MIB)], opener=opener)) == 1


def test_no_files_no_ranges() -> None:
    """An empty listing is not the planner's to refuse; empty files are planned."""
    assert plan([]) == []
    assert len(plan([info("a.jsonl", 0)])[0].slices) == 1


def test_wrong_settings_are_refused() -> None:
    """A file listed twice and a size of nothing."""
    with pytest.raises(ConfigError, match="listed twice"):
        plan([info("a", 1), info("a", 1)])
    with pytest.raises(ConfigError, match="not positive"):
        plan([], range_mib=0)
