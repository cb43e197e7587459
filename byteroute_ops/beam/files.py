"""`Files` over Beam's filesystems: gs, s3, hdfs and whatever else Beam has registered."""

import io
from typing import BinaryIO, cast

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems

from ..files import Files, LocalFiles, is_remote
from ..formats import FileInfo


def open_files(name: str) -> Files:
    """Returns what serves a path (local disk) or a URI (Beam)."""
    return BeamFiles() if is_remote(name) else LocalFiles()


class BeamFiles:
    """Object stores. A rename there is a copy and a delete: readers trust the manifest, which comes last."""

    def open(self, name: str) -> BinaryIO:
        """Returns the object opened for reading, never decompressed on the way."""
        stream = FileSystems.open(name, "application/octet-stream", CompressionTypes.UNCOMPRESSED)
        return cast("BinaryIO", stream if isinstance(stream, io.BufferedIOBase) else io.BufferedReader(stream))

    def create(self, name: str) -> BinaryIO:
        """Returns a stream whose bytes become the object when it is closed."""
        return cast("BinaryIO", FileSystems.create(name, "application/octet-stream", CompressionTypes.UNCOMPRESSED))

    def rename(self, source: str, target: str) -> None:
        """Copies, then deletes the source; raises OSError when either fails."""
        if FileSystems.exists(target):
            FileSystems.delete([target])
        FileSystems.rename([source], [target])

    def delete(self, name: str) -> None:
        """Deletes an object, or all objects below a prefix."""
        found = [info.uri for info in self.walk(name)]
        if FileSystems.exists(name):
            found.append(name)
        if found:
            FileSystems.delete(found)

    def walk(self, folder: str) -> list[FileInfo]:
        """Returns all objects below a prefix, sorted by name."""
        return self._match(folder.rstrip("/") + "/**")

    def match(self, pattern: str) -> list[FileInfo]:
        """Returns what a URI, a prefix or a glob stands for."""
        return self._match(pattern) or [
            info for info in self.walk(pattern) if not any(part[:1] in "._" for part in info.uri.split("/")[3:])
        ]

    def _match(self, pattern: str) -> list[FileInfo]:
        try:
            results = FileSystems.match([pattern])
        except BeamIOError as error:
            raise OSError(f"cannot list {pattern}: {type(error).__name__}") from error
        return sorted(
            (
                FileInfo(uri=m.path, size=m.size_in_bytes, version=str(m.last_updated_in_seconds))
                for result in results
                for m in result.metadata_list
            ),
            key=lambda info: info.uri,
        )
