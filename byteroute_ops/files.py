"""Where bytes come from and go to: one small protocol, and its form for local disks.

Object stores are served by `byteroute_ops.beam.files`, which says the same words through Beam's
filesystems.
"""

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from .formats import FileInfo


class Files(Protocol):
    """What a run asks of a file system. Names are paths or URIs; parents are made when needed."""

    def open(self, name: str) -> BinaryIO:
        """Returns a readable, seekable stream."""
        ...

    def create(self, name: str) -> BinaryIO:
        """Returns a writable stream; its bytes are durable when it has been closed."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Moves a file, replacing the target. Raises OSError when it did not happen."""
        ...

    def delete(self, name: str) -> None:
        """Deletes a file or a whole folder; an absent one is fine."""
        ...

    def walk(self, folder: str) -> list[FileInfo]:
        """Returns all files below a folder, sorted by name; none when it is absent."""
        ...

    def match(self, pattern: str) -> list[FileInfo]:
        """Returns the files that a path, a folder or a glob stands for, sorted by name."""
        ...


def is_remote(name: str) -> bool:
    r"""Returns whether a name is a URI for an object store and not a local path.

    >>> is_remote("s3://bucket/a"), is_remote("/tmp/a"), is_remote("C:\\\\a")
    (True, False, False)
    """
    return "://" in name


class LocalFiles:
    """Local disks: fsync on close, atomic rename."""

    def open(self, name: str) -> BinaryIO:
        """Returns the file opened for reading."""
        return Path(name).open("rb")

    def create(self, name: str) -> BinaryIO:
        """Returns the file opened for writing, parents made."""
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        return Path(name).open("wb")

    def rename(self, source: str, target: str) -> None:
        """Moves a file in one step; the folder entry is durable when this returns."""
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        with Path(source).open("rb") as written:
            os.fsync(written.fileno())
        os.replace(source, target)
        folder = os.open(Path(target).parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def delete(self, name: str) -> None:
        """Deletes a file or a folder with all that is in it."""
        path = Path(name)
        if path.is_dir() and not path.is_symlink():
            for entry in path.iterdir():
                self.delete(str(entry))
            path.rmdir()
        else:
            path.unlink(missing_ok=True)

    def walk(self, folder: str) -> list[FileInfo]:
        """Returns all files below a folder, sorted by name."""
        return [_info(path) for path in sorted(_walk(folder, hidden=True))]

    def match(self, pattern: str) -> list[FileInfo]:
        """Returns what a path, folder or glob stands for.

        A name that exists is taken as it is, so files with `*` or `[` in their names can be named. A
        folder stands for all files below it that are not hidden (a leading `.` or `_`).
        """
        if os.path.isdir(pattern):
            return [_info(path) for path in sorted(_walk(pattern, hidden=False))]
        if os.path.exists(pattern):
            return [_info(pattern)]
        return [_info(path) for path in sorted(glob.glob(pattern, recursive=True)) if os.path.isfile(path)]


def _walk(folder: str, *, hidden: bool) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if hidden or name[0] not in "._"]
        yield from (os.path.join(parent, name) for name in names if hidden or name[0] not in "._")


def _info(path: str) -> FileInfo:
    status = os.stat(path)
    return FileInfo(uri=path, size=status.st_size, version=str(status.st_mtime_ns))
