"""Inputs and ranges: from names to units of work."""

from pathlib import Path

import pytest
from byteroute.pipelines.plan import find_inputs, make_ranges

from byteroute_ops.errors import ConfigError
from byteroute_ops.files import LocalFiles
from byteroute_ops.formats import FileInfo
from byteroute_ops.settings import load_settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with awkward names, a hidden file and a nested one."""
    for name in ("a b.jsonl", "ünï.jsonl", "star*.jsonl", "star1.jsonl", ".hidden", "_partial", "sub/c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"text": "x"}\n', encoding="utf-8")
    return tmp_path


def names(folder: Path, *patterns: str) -> list[str]:
    """Returns the source names that patterns below a folder stand for."""
    inputs = find_inputs([str(folder / pattern) for pattern in patterns], LocalFiles())
    assert all((Path(inputs.root) / one.uri).is_file() for one in inputs.files)
    return [one.uri for one in inputs.files]


def test_a_folder_is_all_files_that_are_not_hidden(folder: Path) -> None:
    """Leading dots and underscores hide; folders are walked; order is by name."""
    assert names(folder, "") == ["a b.jsonl", "star*.jsonl", "star1.jsonl", "sub/c.jsonl", "ünï.jsonl"]


def test_a_name_that_exists_is_no_glob(folder: Path) -> None:
    """`star*.jsonl` is a file here; as a glob it would match two."""
    assert names(folder, "star*.jsonl") == ["star*.jsonl"]
    assert names(folder, "s*1.jsonl") == ["star1.jsonl"]


def test_each_file_counts_once(folder: Path) -> None:
    """Overlapping patterns do not double a file."""
    assert names(folder, "a*.jsonl", "*.jsonl") == ["a b.jsonl", "star*.jsonl", "star1.jsonl", "ünï.jsonl"]


def test_a_pattern_without_a_match_is_an_error(folder: Path) -> None:
    """One wrong pattern among right ones is not ignored."""
    with pytest.raises(ConfigError, match="no input file matches"):
        names(folder, "*.jsonl", "*.parquet")


class Listing:
    """Remote files by name."""

    def __init__(self, *uris: str) -> None:
        self._uris = uris

    def match(self, pattern: str) -> list[FileInfo]:
        """Returns the files below a prefix."""
        return [FileInfo(uri=uri, size=1, version="v") for uri in self._uris if uri.startswith(pattern.rstrip("*"))]


@pytest.mark.parametrize(
    ("uris", "root", "relative"),
    [
        (("s3://b/x/1.jsonl",), "s3://b/x/", ["1.jsonl"]),
        (("s3://b/x/1.jsonl", "s3://b/xy/2.jsonl"), "s3://b/", ["x/1.jsonl", "xy/2.jsonl"]),
        (("s3://b/1.jsonl", "s3://c/1.jsonl"), "s3://", ["b/1.jsonl", "c/1.jsonl"]),
    ],
)
def test_sources_are_named_below_the_common_folder(uris: tuple[str, ...], root: str, relative: list[str]) -> None:
    """The root keeps the scheme's slashes; names are cut at whole folders."""
    inputs = find_inputs(["s3://*"], Listing(*uris))  # type: ignore[arg-type]
    assert (inputs.root, [one.uri for one in inputs.files]) == (root, relative)


def test_local_and_remote_do_not_mix() -> None:
    """One run reads from one kind of place."""
    listing = Listing("s3://b/1", "/data/1")
    with pytest.raises(ConfigError, match="cannot be mixed"):
        find_inputs(["s3://", "/data/"], listing)  # type: ignore[arg-type]


def test_a_limit_makes_one_range_in_order(folder: Path) -> None:
    """The first N documents have an order, so one worker reads all ranges one after the other."""
    inputs = find_inputs([str(folder / "*.jsonl")], LocalFiles())
    settings = load_settings({"range_bytes": 4})
    several = make_ranges(inputs, settings, LocalFiles())
    (one,) = make_ranges(inputs, settings.model_copy(update={"limit": 1}), LocalFiles())
    assert len(several) > 1
    assert one.slices == tuple(part for each in several for part in each.slices)
