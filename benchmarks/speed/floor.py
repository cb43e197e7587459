"""The least that any pipeline with these columns must do: read, gigatoken, write. Everything else is ready-made.

    python -m benchmarks.speed.floor RUN TOKENIZER_JSON OUTPUT WORKERS

RUN is the output of `byteroute run` on the same input: its shards hold the ready-made columns, which are loaded before
the clock starts. Prints the seconds that loading took in the slowest worker.
"""

import json
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gigatoken import Tokenizer

from byteroute_ops.files import LocalFiles
from byteroute_ops.formats import Range, ReadOptions, read_range
from byteroute_ops.records import SHARD
from byteroute_ops.shards import RollingWriter


def main() -> None:
    run, tokenizer, output, workers = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    output.mkdir(parents=True, exist_ok=True)
    work = json.loads((run.parent / "floor-ranges.json").read_text())
    share = [(run, tokenizer, output, work["root"], work["ranges"][k::workers]) for k in range(workers)]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        print(max(pool.map(_work, share)))


def _work(task: tuple[Path, Path, Path, str, list[Any]]) -> float:
    """Does some ranges; returns the seconds that loading what is ready-made took."""
    run, tokenizer, output, root, ranges = task
    engine = Tokenizer.from_json(tokenizer.read_text(encoding="utf-8"))
    loading = 0.0
    for value in ranges:
        one = Range.from_json(value)
        start = time.perf_counter()
        shards = sorted((run / "shards").glob(f"*{one.index:05d}*.parquet"))
        ready = pa.concat_tables([pq.read_table(shard) for shard in shards]).combine_chunks()
        loading += time.perf_counter() - start
        _do(one, root, ready, engine, output)
    return loading


def _do(one: Range, root: str, ready: pa.Table, engine: Tokenizer, output: Path) -> None:
    files, at = LocalFiles(), 0
    writer = RollingWriter(
        lambda roll: (str(roll), (output / f"{one.index:05d}-{roll}.parquet").open("wb")), "parquet", SHARD
    )
    for read in read_range(one, ReadOptions(), lambda name: files.open(root + name)):
        if read.documents is None:
            continue
        rows = ready.slice(at, read.documents.num_rows).combine_chunks().to_batches()[0]
        at += read.documents.num_rows
        ids = _ids(read.documents["text"], engine)
        columns = [ids if field.name == "token_ids" else rows[field.name] for field in SHARD]
        writer.write(pa.RecordBatch.from_arrays(columns, schema=SHARD))
    writer.close()


def _ids(texts: pa.StringArray, engine: Tokenizer) -> pa.ListArray:
    found = engine.encode_batch(texts.cast(pa.binary()).to_pylist(), parallel=False)
    offsets = np.asarray(found.layout.offsets.data, np.int64)
    content = np.asarray(found.layout.content.data)[offsets[0] : offsets[-1]].astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array((offsets - offsets[0]).astype(np.int32)), pa.array(content), type=SHARD.field("token_ids").type
    )


if __name__ == "__main__":
    main()
