"""Document ids that were seen before, in bounded memory: 16 bytes for each id of a range."""

import hashlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

DIGEST_BYTES = 16


def id_digests(ids: pa.StringArray) -> npt.NDArray[np.bytes_]:
    """Returns BLAKE2b digests of ids: S16[n_ids].

    NumPy leaves zero bytes at the end of an S16 out, of all digests alike, so equal means equal. 128 bits: two
    different ids of one run are taken for equal with a probability below 2**-64.

    >>> id_digests(pa.array(["a", "a"])).dtype, len(set(id_digests(pa.array(["a", "b", "a"])).tolist()))
    (dtype('S16'), 2)
    """
    names = ids.cast(pa.binary()).to_pylist()
    digests = b"".join([hashlib.blake2b(name, digest_size=DIGEST_BYTES).digest() for name in names])
    return np.frombuffer(digests, f"S{DIGEST_BYTES}")


class SeenIds:
    """Says which ids came before, over any number of batches.

    Sorted arrays of digests, each at least twice as long as the next: an id is looked up in a logarithmic number of
    them. A Python set would take six times the memory.
    """

    def __init__(self) -> None:
        self._levels: list[npt.NDArray[np.bytes_]] = []

    def repeats(self, ids: pa.StringArray) -> npt.NDArray[np.bool_]:
        """Returns which ids stand earlier in the batch or in an earlier batch: bool[n_ids].

        >>> seen = SeenIds()
        >>> seen.repeats(pa.array(["a", "b", "a"])).tolist(), seen.repeats(pa.array(["c", "b"])).tolist()
        ([False, False, True], [False, True])
        """
        digests = id_digests(ids)
        order = np.argsort(digests, kind="stable")
        ordered = digests[order]
        seen = np.zeros(len(digests), np.bool_)
        seen[1:] = ordered[1:] == ordered[:-1]
        for level in self._levels:
            # In ascending order: each search begins where the one before ended.
            places = np.searchsorted(level, ordered)
            seen |= level[np.minimum(places, len(level) - 1)] == ordered
        self._add(ordered[~seen])
        found = np.empty(len(digests), np.bool_)
        found[order] = seen
        return found

    def _add(self, new: npt.NDArray[np.bytes_]) -> None:
        if not len(new):
            return
        self._levels.append(new)
        while len(self._levels) > 1 and len(self._levels[-2]) < 2 * len(self._levels[-1]):
            last, before = self._levels.pop(), self._levels.pop()
            self._levels.append(np.sort(np.concatenate([before, last])))
