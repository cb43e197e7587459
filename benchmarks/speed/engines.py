"""The engines on the same texts, in processor time of one core, with their ids compared."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from byteroute_ops.cleaning import clean_batch
from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.tokenization import Tokenizer, open_tokenizer
from byteroute_ops.tokenization.source import read_source

from . import corpus
from .measure import Table, in_turns, load_average, table


def engine_tables(files: list[Path], tokenizers: list[Path], turns: int) -> list[Table]:
    """Returns a table for every tokenizer."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    texts = [clean_batch(batch)[0] for batch in corpus.batches(files[:1])]
    return [_of(path, texts, turns) for path in tokenizers]


def _of(path: Path, texts: list[pa.StringArray], turns: int) -> Table:
    load, name = load_average(), path.name.split(".")[0]
    engines = {engine: open_tokenizer(path, engine=engine, parallel=False) for engine in ("tokenizers", "gigatoken")}
    runs: dict[str, Callable[[], Any]] = {engine: _encoding(one, texts) for engine, one in engines.items()}
    encoding = _tiktoken(path)
    if encoding is not None:
        strings = [text for batch in texts for text in batch.to_pylist()]
        runs["tiktoken"] = lambda: [np.array(encoding.encode_ordinary(text), np.int32) for text in strings]
    expected = np.concatenate(runs["tokenizers"]())
    equal = {one: np.array_equal(np.concatenate(run()), expected) for one, run in runs.items()}
    # What runs twice has seen every word: a first turn of a fresh process is in the end-to-end table.
    notes = {one: "ids equal" if same else "IDS DIFFER" for one, same in equal.items()}
    taken = in_turns(runs, turns)
    title = f"Engines, {name}, words seen before, one core"
    return table(title, taken, corpus.n_utf8_bytes(texts), "tokenizers", unit="processor s", load=load, notes=notes)


def _encoding(tokenizer: Tokenizer, texts: list[pa.StringArray]) -> Callable[[], Any]:
    return lambda: [tokenizer.text(batch, spans=False).ids for batch in texts]


def _tiktoken(path: Path) -> Any:
    """Returns tiktoken with the vocabulary of a tokenizer.json whose ids are merge ranks; None where it cannot be."""
    try:
        import tiktoken
    except ImportError:
        return None
    source = read_source(path.read_bytes(), path.name)
    patterns, vocab = source.traits.patterns, orjson.loads(source.json)["model"]["vocab"]
    if source.traits.kind != "byte-level BPE" or not patterns or len(patterns) != 1:
        return None
    byte_of = {char: byte for byte, char in enumerate(BYTE_ALPHABET)}
    ranks = {
        bytes(map(byte_of.__getitem__, token)): rank for token, rank in vocab.items() if set(token) <= set(byte_of)
    }
    return tiktoken.Encoding("bench", pat_str=patterns[0], mergeable_ranks=ranks, special_tokens={})
