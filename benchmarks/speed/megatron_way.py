"""Megatron-LM's way to tokenize: a pool over JSON lines with `tokenizers`, one writer of .bin and .idx in the parent.

    python -m benchmarks.speed.megatron_way FOLDER TOKENIZER_JSON OUTPUT WORKERS

After `tools/preprocess_data.py` of NVIDIA/Megatron-LM: `Pool.imap` with chunks of 32 lines, ids as int32, sizes and
offsets in the index. Written anew for the benchmark, with nothing but what it measures.
"""

import io
import json
import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import zstandard
from tokenizers import Tokenizer

_tokenizer: Tokenizer | None = None


def _prepare(path: str) -> None:
    global _tokenizer  # noqa: PLW0603 - how pools hand a worker its state
    _tokenizer = Tokenizer.from_file(path)


def _encode(line: str) -> list[int]:
    if _tokenizer is None:
        raise RuntimeError("the pool's initializer did not run")
    return list(_tokenizer.encode(json.loads(line)["text"]).ids)


def _lines(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.jsonl.zst")):
        with path.open("rb") as stream:
            yield from io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(stream), encoding="utf-8")


def main() -> None:
    folder, tokenizer, output, workers = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    output.mkdir(parents=True, exist_ok=True)
    sizes = []
    with multiprocessing.Pool(workers, _prepare, (tokenizer,)) as pool, (output / "text.bin").open("wb") as out:
        for ids in pool.imap(_encode, _lines(folder), 32):
            out.write(np.array(ids, np.int32).tobytes())
            sizes.append(len(ids))
    counts = np.array(sizes, np.int32)
    (output / "text.idx").write_bytes(counts.tobytes() + (np.cumsum(counts, dtype=np.int64) * 4).tobytes())


if __name__ == "__main__":
    main()
