"""Files of one unit of work of an export: temporary until all of them are complete."""

import hashlib
import io
import uuid
from dataclasses import asdict
from typing import Any, BinaryIO, Self, cast

import orjson

from byteroute_ops.export.job import TEMPORARY, WORK, UnitRecord
from byteroute_ops.files import LocalFiles


class _Hashed(io.RawIOBase):
    """A stream that knows the SHA-256 and size of what went through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.sha256 = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self._stream.write(view)
        self.sha256.update(view)
        self.size += len(view)
        return len(view)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class UnitFiles:
    """The files of one attempt at a unit: temporary until `commit`.

    Attempts share no temporary name, as an engine may start a unit again while an attempt that it has given up on
    still runs. Both write the same bytes, so it does not matter whose renames come last.
    """

    def __init__(self, output: str, unit: str) -> None:
        self._files = LocalFiles()
        self._output, self.unit = output, unit
        self._folder = _temporary_folder(output)
        self._open: dict[str, _Hashed] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for stream in self._open.values():
            stream.close()
        self._files.delete(self._folder)

    def _temporary(self, name: str) -> str:
        return f"{self._folder}/{name.replace('/', '-')}"

    def create(self, name: str) -> BinaryIO:
        """Opens a file of the unit by its final name below the output folder."""
        self._open[name] = _Hashed(self._files.create(self._temporary(name)))
        return cast(BinaryIO, self._open[name])

    def commit(self, record: UnitRecord) -> UnitRecord:
        """Gives all files their names, then writes the record."""
        for name, stream in self._open.items():
            stream.close()
            self._files.rename(self._temporary(name), f"{self._output}/{name}")
            record.files.append({"path": name, "bytes": stream.size, "sha256": stream.sha256.hexdigest()})
        write_atomically(self._output, done_name(self.unit), orjson.dumps(asdict(record)))
        return record


def done_name(unit: str) -> str:
    """Returns the name of the record that says that a unit is done, below the output folder.

    >>> done_name("part-00000")
    '_work/done/part-00000.json'
    """
    return f"{WORK}/done/{unit}.json"


def read_done(output: str, unit: str) -> UnitRecord | None:
    """Returns the record of a unit; None: it is not done."""
    try:
        with LocalFiles().open(f"{output}/{done_name(unit)}") as stream:
            return UnitRecord.from_json(stream.read())
    except FileNotFoundError:
        return None


def write_atomically(output: str, name: str, data: bytes) -> None:
    """Writes a small file of an export under a temporary name and renames it."""
    files, folder = LocalFiles(), _temporary_folder(output)
    with files.create(f"{folder}/new") as stream:
        stream.write(data)
    files.rename(f"{folder}/new", f"{output}/{name}")
    files.delete(folder)


def _temporary_folder(output: str) -> str:
    return f"{output}/{TEMPORARY}/{uuid.uuid4().hex}"
