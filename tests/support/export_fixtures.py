"""Small finished runs for the tests of export, loading and check, written as `byteroute run` writes them."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from byteroute_ops.loading import FinishedRun, open_run
from byteroute_ops.records import SHARD, with_columns
from byteroute_ops.shards.rolling import open_shard_writer

TEXTS = (
    "All human beings are born free and equal.",
    "",
    "人人生而自由，在尊严和权利上一律平等。",
    "Все люди рождаются свободными 👩‍👩‍👧 и равными",
    "a",
    'ሰው ሁሉ ነጻ ሆኖ ይወለዳል\nline two, with "quotes"',
    "សិទ្ធិ x",
)
VOCABULARY = 1000


def toy_ids(text: str) -> list[int]:
    """A tokenizer good enough here: one id a character, never one of the three top ids."""
    return [(ord(character) * 31) % (VOCABULARY - 3) for character in text]


def make_documents(n: int) -> list[tuple[str, str]]:
    """`n` documents with ids of their own and texts of very different lengths, some of them empty."""
    return [(f"doc,{i}", TEXTS[i % len(TEXTS)] * (1 + i % 5)) for i in range(n)]


def write_run(
    folder: Path,
    documents: Sequence[tuple[str, str]],
    *,
    n_shards: int = 3,
    tokenize: Callable[[str], list[int]] = toy_ids,
    vocab_size: int = VOCABULARY,
    keep_text: bool = True,
    kind: Literal["parquet", "avro"] = "parquet",
    row_group: int = 4,
    settings: dict[str, Any] | None = None,
    tokenizer: dict[str, Any] | None = None,
) -> FinishedRun:
    """Writes the documents to `n_shards` shards and a manifest, and opens the run."""
    shared = {"ids": "text", "framing": "control", "profile": "bytes", "barrier": False, "keep_text": keep_text}
    shared |= {"routed_engine": "tokenizer"}
    shared |= {"tokenizers": ["toy.json"]} | (settings or {})
    identity = {"name": "toy", "vocab_size": vocab_size} | (tokenizer or {})
    files = []
    for number, chosen in enumerate(np.array_split(np.arange(len(documents)), n_shards)):
        name = f"shards/part-{number:05d}-000.{kind}"
        rows = [_row(*documents[i], position=int(i), tokenize=tokenize) for i in chosen]
        table = pa.Table.from_pylist(rows, schema=with_columns(SHARD, (), text=keep_text))
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=row_group)
        else:
            with path.open("wb") as stream:
                writer = open_shard_writer(kind, stream, table.schema, seed=b"test")
                for batch in table.to_batches():
                    writer.write(batch)
                writer.close()
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        files.append({"path": name, "kind": "shard", "rows": len(rows), "bytes": len(data), "sha256": digest})
    manifest = {"format": "byteroute-output", "files": files, "settings": shared, "tokenizers": [identity]}
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    return open_run(str(folder))


def _row(doc_id: str, text: str, *, position: int, tokenize: Callable[[str], list[int]]) -> dict[str, Any]:
    data, ids = text.encode(), tokenize(text)
    return {
        "doc_id": doc_id,
        "source": "in put.jsonl",
        "position": position,
        "lang": "und",
        "routed": data,
        "segments": [],
        "n_codepoints": len(text),
        "n_utf8_bytes": len(data),
        "n_routed_bytes": len(data),
        "n_text_tokens": len(ids),
        "n_routed_tokens": None,
        "token_ids": ids,
        "text_digest": hashlib.sha256(data).digest()[:16],
        "text": text,
    }
