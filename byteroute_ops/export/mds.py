"""MDS (mosaicml-streaming): `shard.00000.mds` files and `index.json`.

Source: streaming/base/format/mds/writer.py and encodings.py, format version 2. A shard is uint32 K, uint32[K+1]
absolute offsets, the JSON configuration, then the samples. A sample is the uint32 lengths of its variable-size
columns in column order, then their bytes. Each part is a folder of its own with an index; `finish` writes the
index of the split, which names the shards with their folders.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.base import SPLITS, Create, ExportSettings, Part, PartSummary, Read, TokenBatch

SIZE_LIMIT = 1 << 26
_OFFSET_LIMIT = (1 << 32) - 1
_SHAPE_DTYPES = ("uint8", "uint16", "uint32", "uint64")


def encode_ndarray(values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> bytes:
    """Returns a one-dimensional array as MDS' `ndarray:DTYPE` encoding has it.

    One byte holds the number of dimensions (above bit 2) and the type of the shape, the smallest that fits.

    >>> encode_ndarray(np.array([7, 8], np.uint16)).hex()
    '040207000800'
    """
    code = next(i for i, name in enumerate(_SHAPE_DTYPES) if len(values) <= np.iinfo(name).max)
    shape = np.array([len(values)], np.dtype(_SHAPE_DTYPES[code]).newbyteorder("<"))
    return bytes([1 << 2 | code]) + shape.tobytes() + values.astype(values.dtype.newbyteorder("<")).tobytes()


def shard_config(dtype: str) -> dict[str, Any]:
    """Returns the configuration that stands in every shard and, with more, in the index."""
    return {
        "version": 2,
        "format": "mds",
        "compression": None,
        "hashes": [],
        "size_limit": SIZE_LIMIT,
        "column_names": ["doc_id", "input_ids"],
        "column_encodings": ["str", f"ndarray:{dtype}"],
        "column_sizes": [None, None],
    }


class _Writer:
    def __init__(self, part: Part, settings: ExportSettings, create: Create) -> None:
        self._folder = f"{part.split}/{part.index:05d}"
        self._dtype = settings.dtype
        self._create = create
        self._config = json.dumps(shard_config(self._dtype), sort_keys=True).encode()
        self._samples: list[bytes] = []
        self._size = self._header_size(0)
        self._shards: list[dict[str, Any]] = []

    def _header_size(self, samples: int) -> int:
        return 4 + 4 * (samples + 1) + len(self._config)

    def write(self, batch: TokenBatch) -> None:
        ids = batch.ids.astype(self._dtype)
        for i, doc_id in enumerate(batch.rows.column("doc_id").to_pylist()):
            name, values = doc_id.encode(), encode_ndarray(ids[batch.offsets[i] : batch.offsets[i + 1]])
            sample = struct.pack("<II", len(name), len(values)) + name + values
            if self._samples and self._size + len(sample) + 4 > SIZE_LIMIT:
                self._flush()
            if len(sample) + self._header_size(1) > _OFFSET_LIMIT:
                raise ConfigError(
                    f"a document of {len(sample)} bytes: MDS offsets are uint32; export to another format"
                )
            self._samples.append(sample)
            self._size += len(sample) + 4

    def _flush(self) -> None:
        name = f"shard.{len(self._shards):05d}.mds"
        sizes = np.array([len(sample) for sample in self._samples], np.int64)
        offsets = self._header_size(len(sizes)) + np.concatenate([[0], np.cumsum(sizes)])
        stream = self._create(f"{self._folder}/{name}")
        stream.write(struct.pack("<I", len(sizes)) + offsets.astype("<u4").tobytes() + self._config)
        stream.writelines(self._samples)
        stream.close()
        raw = {"basename": name, "bytes": int(offsets[-1]), "hashes": {}}
        self._shards.append(shard_config(self._dtype) | {"raw_data": raw, "zip_data": None, "samples": len(sizes)})
        self._samples, self._size = [], self._header_size(0)

    def close(self) -> None:
        if self._samples:
            self._flush()
        if self._shards:
            stream = self._create(f"{self._folder}/index.json")
            stream.write(_index(self._shards))
            stream.close()


def _index(shards: Sequence[dict[str, Any]]) -> bytes:
    return json.dumps({"version": 2, "shards": shards}, sort_keys=True).encode()


class Mds:
    """`SPLIT/00000/shard.00000.mds`, an `index.json` in each folder and one for the split."""

    name = "mds"
    dtypes = ("uint8", "uint16", "uint32")
    carries_text = False

    def validate(self, settings: ExportSettings) -> None:
        """Accepts everything."""

    def writer(self, part: Part, settings: ExportSettings, create: Create) -> _Writer:
        """Returns the writer of a part's folder."""
        return _Writer(part, settings, create)

    def finish(self, parts: Sequence[PartSummary], create: Create, read: Read) -> None:
        """Writes the index of each split that has documents."""
        for split in SPLITS:
            shards: list[dict[str, Any]] = []
            for summary in parts:
                if summary.part.split != split:
                    continue
                folder = f"{summary.part.index:05d}"
                for shard in json.loads(read(f"{split}/{folder}/index.json"))["shards"]:
                    shard["raw_data"]["basename"] = f"{folder}/{shard['raw_data']['basename']}"
                    shards.append(shard)
            if shards:
                stream = create(f"{split}/index.json")
                stream.write(_index(shards))
                stream.close()
