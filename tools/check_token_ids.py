"""Compares a finished run with `tokenizers` run alone, document by document.

    python tools/check_token_ids.py OUT TOKENIZER_JSON INPUT.jsonl.zst...

Every document of OUT is decoded from its routed bytes, its clean text is compared with the input's text
cleaned one by one, and its ids with those of `Tokenizer.encode`. Prints the counts; exit 1 on a difference.
The run must have this tokenizer first and `ids: text`.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import tokenizers
import zstandard

from byteroute_ops.cleaning import clean_text
from byteroute_ops.shards import read_shard
from byteroute_ops.stream_codec import decode


def texts(paths: list[str]) -> dict[str, str]:
    found = {}
    for path in paths:
        with Path(path).open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
            for line in io.BufferedReader(stream):
                record = orjson.loads(line)
                found[record["id"]] = record["text"]
    return found


def rows(output: Path) -> Iterator[dict[str, object]]:
    for path in sorted((output / "shards").iterdir()):
        with path.open("rb") as stream:
            for batch in read_shard(stream, ["doc_id", "routed", "token_ids", "n_text_tokens"]):
                yield from batch.to_pylist()


def main() -> int:
    output, spec, *inputs = sys.argv[1:]
    data = Path(spec).read_bytes()
    if spec.endswith(".zst"):
        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 30)
    reference = tokenizers.Tokenizer.from_buffer(data)
    reference.no_truncation()
    reference.no_padding()
    expected = texts(inputs)
    documents = tokens = wrong_text = wrong_ids = 0
    batch: list[tuple[str, list[int]]] = []

    def check() -> int:
        encoded = reference.encode_batch_fast([text for text, _ in batch])
        return sum(one.ids != ids for one, (_, ids) in zip(encoded, batch, strict=True))

    for row in rows(Path(output)):
        text = decode(row["routed"])
        wrong_text += text != clean_text(expected.pop(row["doc_id"])).text
        batch.append((text, row["token_ids"]))
        documents += 1
        tokens += row["n_text_tokens"]
        if len(batch) == 512:
            wrong_ids += check()
            batch = []
    wrong_ids += check() if batch else 0
    budget = pq.read_table(Path(output) / "budgets" / "scripts.parquet").to_pylist()
    first = budget[0]["tokenizer"]
    scripts = sum(row["n_text_tokens"] for row in budget if row["tokenizer"] == first)
    print(
        f"{documents} documents, {len(expected)} missing, {wrong_text} with another text, {wrong_ids} with other ids; "
        f"{tokens} tokens in shards, {scripts} in the script budget"
    )
    return int(bool(wrong_text or wrong_ids or expected or tokens != scripts))


if __name__ == "__main__":
    sys.exit(main())
