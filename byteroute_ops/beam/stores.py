"""Object stores in the few words that `BeamFiles` needs: any filesystem of Beam, and Beam's S3 client without its cost.

Beam's S3 filesystem makes a new boto3 session for every call, which reads a megabyte of JSON each time: a tenth of a
second of CPU, fifteen times a range. Here all calls of a process share one.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from apache_beam.io.filesystem import CompressionTypes, FileMetadata
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.value_provider import RuntimeValueProvider

_MIME = "application/octet-stream"


class Store(Protocol):
    """What an object store can do. Errors are those of the store."""

    def open(self, name: str) -> Any:
        """Returns a stream to read."""

    def create(self, name: str) -> Any:
        """Returns a stream to write; the object is there when it is closed."""

    def rename(self, source: str, target: str) -> None:
        """Copies over the target, then deletes the source."""

    def delete(self, names: list[str]) -> None:
        """Deletes objects."""

    def list(self, prefix: str) -> Iterator[FileMetadata]:
        """Yields the objects whose names begin so."""

    def exists(self, name: str) -> bool:
        """Returns whether there is an object of this name."""

    def info(self, name: str) -> FileMetadata:
        """Returns size and time of change of an object."""


class FileSystemStore:
    """Any filesystem that Beam has registered."""

    def open(self, name: str) -> Any:
        """As in `Store`."""
        return FileSystems.open(name, _MIME, CompressionTypes.UNCOMPRESSED)

    def create(self, name: str) -> Any:
        """As in `Store`."""
        return FileSystems.create(name, _MIME, CompressionTypes.UNCOMPRESSED)

    def rename(self, source: str, target: str) -> None:
        """As in `Store`."""
        FileSystems.rename([source], [target])

    def delete(self, names: list[str]) -> None:
        """As in `Store`."""
        FileSystems.delete(names)

    def list(self, prefix: str) -> Iterator[FileMetadata]:
        """As in `Store`: by prefix and not by pattern, for a name may hold a `*`."""
        yield from FileSystems.get_filesystem(prefix)._list(prefix)

    def exists(self, name: str) -> bool:
        """As in `Store`."""
        return bool(FileSystems.exists(name))

    def info(self, name: str) -> FileMetadata:
        """As in `Store`."""
        return FileSystems.get_filesystem(name).metadata(name)


class S3Store:
    """Beam's S3 client over one boto3 client a process."""

    _first: Any = None

    @property
    def _io(self) -> Any:
        from apache_beam.io.aws import s3io
        from apache_beam.io.aws.clients.s3 import boto3_client

        if S3Store._first is None:
            options = FileSystems._pipeline_options or RuntimeValueProvider.runtime_options
            S3Store._first = boto3_client.Client(options)
        # Beam's wrapper holds the download at hand, so each stream has its own; the boto3 client inside is shared.
        client = object.__new__(boto3_client.Client)
        vars(client).update(vars(S3Store._first), _download_request=None, _download_stream=None, _download_pos=0)
        return s3io.S3IO(client=client)

    @classmethod
    def forget(cls) -> None:
        """Makes the next call read options and environment anew."""
        cls._first = None

    def open(self, name: str) -> Any:
        """As in `Store`."""
        return self._io.open(name, "rb", mime_type=_MIME)

    def create(self, name: str) -> Any:
        """As in `Store`."""
        return self._io.open(name, "wb", mime_type=_MIME)

    def rename(self, source: str, target: str) -> None:
        """As in `Store`.

        Raises:
            Exception: what the store answered.
        """
        for _, _, error in self._io.rename_files([(source, target)]):
            if error is not None:
                raise error

    def delete(self, names: list[str]) -> None:
        """As in `Store`.

        Raises:
            Exception: what the store answered.
        """
        for _, error in self._io.delete_files(names):
            if error is not None:
                raise error

    def list(self, prefix: str) -> Iterator[FileMetadata]:
        """As in `Store`."""
        for name, (size, updated) in self._io.list_files(prefix, with_metadata=True):
            yield FileMetadata(name, size, updated)

    def exists(self, name: str) -> bool:
        """As in `Store`."""
        return bool(self._io.exists(name))

    def info(self, name: str) -> FileMetadata:
        """As in `Store`."""
        status = self._io._status(name)
        return FileMetadata(name, status["size"], status["last_updated"])
