"""Train or validation, and the order of a shuffle, both from what a document is and not from where it lies."""

import hashlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.errors import ConfigError

_SPAN = 1 << 64


def _hashes(parts: list[str], person: bytes, seed: int) -> npt.NDArray[np.uint64]:
    key = seed.to_bytes(8, "little", signed=True)
    digests = b"".join(hashlib.blake2b(part.encode(), digest_size=8, key=key, person=person).digest() for part in parts)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def validation_mask(doc_ids: pa.Array, fraction: float, *, seed: int = 0) -> npt.NDArray[np.bool_]:
    """Returns bool[n_docs], True where a document belongs to the validation split.

    A document's split depends on its id and the seed alone: it stays where it is when the corpus grows, is
    sharded otherwise or exported to another format, and documents that share an id are never torn apart.
    A larger fraction only adds documents to validation.

    Raises:
        ConfigError: the fraction is not in [0, 1).

    >>> validation_mask(pa.array(["a", "b", "c"]), 0.0).tolist()
    [False, False, False]
    """
    if not 0 <= fraction < 1:
        raise ConfigError(f"the validation fraction must be at least 0 and below 1, found {fraction!r}")
    if fraction == 0:
        return np.zeros(len(doc_ids), bool)
    return _hashes(doc_ids.to_pylist(), b"byteroute split ", seed) < np.uint64(int(fraction * _SPAN))


def shuffle_keys(rows: pa.RecordBatch, seed: int) -> npt.NDArray[np.uint64]:
    """Returns uint64[n_docs], sorting by which is the shuffle of a seed.

    The key comes from doc_id, source and position, so neither the number of workers nor the sharding of
    the input changes the order.
    """
    columns = (rows.column(name).to_pylist() for name in ("doc_id", "source", "position"))
    return _hashes([f"{d}\0{s}\0{p}" for d, s, p in zip(*columns, strict=True)], b"byteroute order ", seed)
