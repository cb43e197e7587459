"""Finds document ids that occur twice in an output, in bounded memory."""

import tempfile
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.duplicates import DIGEST_BYTES, id_digests

N_BUCKETS = 256
"""Digests are dealt out to this many temporary files by their first byte; one bucket at a time is sorted."""


class DuplicateFinder:
    """Counts ids that occur more than once.

    Memory is that of one bucket: 16 bytes for each of 1/256 of the ids. Two different ids are taken for
    equal with a probability below 2**-64 for any corpus that fits on earth (128-bit digests).
    """

    def __init__(self) -> None:
        self._buckets: list[BinaryIO | None] = [None] * N_BUCKETS

    def add(self, ids: pa.StringArray) -> None:
        """Notes the ids of a batch."""
        rows = id_digests(ids).view(np.uint8).reshape(-1, DIGEST_BYTES)
        for bucket in np.unique(rows[:, 0]).tolist():
            stream = self._buckets[bucket]
            if stream is None:
                stream = self._buckets[bucket] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the finder
            stream.write(rows[rows[:, 0] == bucket].tobytes())

    def count(self) -> int:
        """Returns how many rows repeat an id that another row has."""
        return sum(self._repeats(stream) for stream in self._buckets if stream is not None)

    @staticmethod
    def _repeats(stream: BinaryIO) -> int:
        stream.seek(0)
        digests: npt.NDArray[np.void] = np.frombuffer(stream.read(), f"V{DIGEST_BYTES}")
        stream.close()
        return len(digests) - len(np.unique(digests))
