"""`Files` over Beam's filesystems, for object stores: s3, gs and others that have no folders.

Credentials and endpoints come from the environment, as boto3 and Google's libraries read it, or from Beam's options
(`connect_stores`); never from settings, which go into manifests.
"""

import contextlib
import errno
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, cast

from apache_beam.io.filesystem import BeamIOError, FileSystem
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.options.value_provider import RuntimeValueProvider

from ..errors import ConfigError
from ..files import Files, LocalFiles, is_remote
from ..formats import FileInfo
from .stores import FileSystemStore, S3Store, Store

_REFUSALS: Final = {401: errno.EACCES, 403: errno.EACCES, 404: errno.ENOENT, 405: errno.EPERM, 412: errno.EPERM}
_GLOB: Final = frozenset("*?[")
_EXTRAS: Final = {"s3": "aws", "gs": "gcp"}


def open_files(name: str) -> Files:
    """Returns what serves a path (local disk) or a URI (Beam).

    Raises:
        ConfigError: no filesystem for this kind of URI is installed.
    """
    if not is_remote(name):
        return LocalFiles()
    scheme = name.partition("://")[0]
    if not FileSystems._pipeline_options and not RuntimeValueProvider.runtime_options:
        connect_stores(())
    try:
        has_folders = FileSystems.get_filesystem(name).has_dirs()
    except (ValueError, BeamIOError):
        extra = (
            f"type: pip install 'byteroute[{_EXTRAS[scheme]}]'" if scheme in _EXTRAS else "there are s3:// and gs://"
        )
        raise ConfigError(f"{scheme}:// cannot be used: Beam has no filesystem for it; {extra}") from None
    if has_folders:
        raise ConfigError(
            f"{scheme}:// cannot be used: only object stores without folders can, such as s3:// and gs://"
        )
    return BeamFiles(S3Store() if scheme == "s3" else FileSystemStore())


def connect_stores(options: Sequence[str]) -> None:
    """Sets Beam's options for the filesystems of this process, such as `--s3_endpoint_url=...`."""
    FileSystems.set_options(PipelineOptions(list(options)))
    S3Store.forget()


class BeamFiles:
    """Object stores. A rename there is a copy and a delete: readers trust the manifest, which comes last.

    Every failure is an `OSError` with the name of the object: what a later try may mend is a `ConnectionError`,
    what the store refuses is a `FileNotFoundError` or `PermissionError`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, name: str) -> BinaryIO:
        """Returns the object opened for reading, never decompressed on the way."""
        with _as_os_errors(name):
            inner = self._store.open(name)
        return cast("BinaryIO", _Reader(inner, name))

    def create(self, name: str) -> BinaryIO:
        """Returns a stream whose bytes become the object when it is closed."""
        with _as_os_errors(name):
            inner = self._store.create(name)
        return cast("BinaryIO", _Writer(inner, name))

    def rename(self, source: str, target: str) -> None:
        """Copies over the target, then deletes the source.

        The target is never deleted first: it may be there already, whole, from another attempt at the same range,
        and a process that ends between the two steps would lose it.
        """
        with _as_os_errors(target):
            self._store.rename(source, target)

    def delete(self, name: str) -> None:
        """Deletes an object, and all objects below it as a prefix."""
        with _as_os_errors(name):
            below = name.rstrip("/") + "/"
            found = [one.path for one in self._store.list(below)]
            if self._store.exists(name):
                found.append(name)
            if found:
                self._store.delete(found)

    def walk(self, folder: str) -> list[FileInfo]:
        """Returns all objects below a prefix, sorted by name."""
        with _as_os_errors(folder):
            return _infos(self._store.list(folder.rstrip("/") + "/"))

    def match(self, pattern: str) -> list[FileInfo]:
        """Returns what a URI, a prefix or a glob stands for; an object that has just this name comes first."""
        with _as_os_errors(pattern):
            if not pattern.endswith("/") and self._store.exists(pattern):
                return _infos([self._store.info(pattern)])
            if not _GLOB.isdisjoint(pattern):
                is_meant = re.compile(FileSystem.translate_pattern(pattern)).match
                prefix = re.match(r"[^*?[]*", pattern)
                found = self._store.list(prefix[0] if prefix else "")
                return _infos(one for one in found if is_meant(one.path))
        cut = len(pattern.rstrip("/")) + 1
        return [
            info
            for info in self.walk(pattern)
            if not any(part.startswith((".", "_")) for part in info.uri[cut:].split("/"))
        ]


def _infos(found: Iterable[Any]) -> list[FileInfo]:
    infos = [FileInfo(uri=m.path, size=m.size_in_bytes, version=str(m.last_updated_in_seconds)) for m in found]
    # Consoles make empty objects whose names end in a slash, to show a folder.
    return sorted((info for info in infos if not info.uri.endswith("/")), key=lambda info: info.uri)


@contextlib.contextmanager
def _as_os_errors(name: str) -> Iterator[None]:
    """Turns what stores raise into errors of the system, without their messages, which may quote anything."""
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise type(error)(error.errno, error.strerror, name) from error
        details = getattr(error, "exception_details", None)
        inner = next(iter(details.values())) if details else error
        code = getattr(inner, "code", None)
        if isinstance(code, int) and code in _REFUSALS:
            raise OSError(_REFUSALS[code], f"the object store answers {code}", name) from error
        root = inner.__context__ if isinstance(inner, BaseException) and inner.__context__ else inner
        said = f"answers {code}" if isinstance(code, int) else f"cannot be used ({type(root).__name__})"
        raise ConnectionError(errno.EIO, f"the object store {said}", name) from error


class _Reader(io.RawIOBase):
    """A store's stream whose errors are `OSError`s. It fills what it is given, but for the end."""

    def __init__(self, inner: Any, name: str) -> None:
        super().__init__()
        self._inner, self._name = inner, name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view, done = memoryview(buffer).cast("B"), 0
        with _as_os_errors(self._name):
            while done < len(view) and (data := self._inner.read(len(view) - done)):
                view[done : done + len(data)] = data
                done += len(data)
        return done

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _as_os_errors(self._name):
            self._inner.seek(offset, whence)
            return int(self._inner.tell())

    def tell(self) -> int:
        return int(self._inner.tell())

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


class _Writer(io.RawIOBase):
    """A store's stream whose errors are `OSError`s."""

    def __init__(self, inner: Any, name: str) -> None:
        super().__init__()
        self._inner, self._name = inner, name

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        with _as_os_errors(self._name):
            self._inner.write(data)
        return memoryview(data).nbytes

    def close(self) -> None:
        if self.closed:
            return
        try:
            with _as_os_errors(self._name):
                self._inner.close()
        finally:
            super().close()
