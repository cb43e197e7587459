"""The plan of a run: which input files, cut into which ranges. It depends on the input and the settings alone."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from byteroute_ops.errors import ConfigError
from byteroute_ops.files import Files, is_remote
from byteroute_ops.formats import FileInfo, Range, plan_ranges
from byteroute_ops.settings import Settings


@dataclass(frozen=True)
class Inputs:
    """The input files below one root. Shards name sources relative to it, so a corpus may move."""

    root: str
    files: tuple[FileInfo, ...]

    @property
    def n_bytes(self) -> int:
        """Bytes of all files as they are stored."""
        return sum(file.size for file in self.files)

    def to_json(self) -> list[dict[str, Any]]:
        """Returns name, size and version of each file."""
        return [{"name": file.uri, "size": file.size, "version": file.version} for file in self.files]


def find_inputs(patterns: Sequence[str], files: Files) -> Inputs:
    """Returns the files that the patterns stand for, each once, sorted by name.

    Raises:
        ConfigError: a pattern that matches nothing, or local and remote names mixed.
    """
    found: dict[str, FileInfo] = {}
    for pattern in patterns:
        matched = files.match(pattern)
        if not matched:
            raise ConfigError(
                f"no input file matches {pattern!r}; check the path (quote globs, so that byteroute expands them)"
            )
        found.update({info.uri: info for info in matched})
    for name in found:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ConfigError(
                f"the name of an input file is not UTF-8: {name!a}; rename it, or use a UTF-8 locale"
            ) from None
    if len({is_remote(name) for name in found}) > 1:
        raise ConfigError("local paths and URIs cannot be mixed in one run; give inputs of one kind")
    root = _common_folder([*found])
    cut = len(root)
    relative = [FileInfo(uri=name[cut:], size=info.size, version=info.version) for name, info in found.items()]
    return Inputs(root=root, files=tuple(sorted(relative, key=lambda info: info.uri)))


def _common_folder(names: Sequence[str]) -> str:
    if len(names) == 1:
        folder = posixpath.dirname(names[0])
    else:
        # Part by part, not os.path.commonpath: that would fold the two slashes of a URI into one.
        parts = [posixpath.dirname(name).split("/") for name in names]
        shared = takewhile(lambda same: len(set(same)) == 1, zip(*parts, strict=False))
        folder = "/".join(same[0] for same in shared)
    return folder + "/" if folder or names[0].startswith("/") else ""


def make_ranges(inputs: Inputs, settings: Settings, files: Files) -> list[Range]:
    """Returns the units of work, in input order.

    With `limit` there is one range over everything, since "the first N documents" has an order.
    """
    ranges = plan_ranges(
        inputs.files,
        format=settings.format,
        range_bytes=settings.range_bytes,
        opener=lambda name: files.open(inputs.root + name),
    )
    if settings.limit is not None:
        return [Range(index=0, slices=tuple(part for one in ranges for part in one.slices))]
    return ranges
