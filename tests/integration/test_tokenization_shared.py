"""Real tokenizers on real text: ids, spans and attribution of every kind."""

import json
from pathlib import Path

import numpy as np
import plain_tokenization as plain
import pyarrow as pa
import pytest
import zstandard
from tokenizers import Tokenizer

from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import open_tokenizer, routed_tokens_per_row, text_tokens_per_run
from byteroute_ops.tokenization.cutting import cut_document, cut_places
from byteroute_ops.tokenization.hf import ReferenceEngine
from byteroute_ops.tokenization.source import read_source

NAMES = ("gpt2", "cl100k", "o200k", "llama2", "qwen3", "xlmr_e5", "minilm_bert")
EVERY = 40


@pytest.fixture(scope="module")
def texts(shared_dir: Path) -> list[str]:
    """Every 40th document of one corpus file, every 40th article of the Universal Declaration."""
    found = []
    for name in ("multi-03", "udhr"):
        packed = (shared_dir / "corpus" / f"{name}.jsonl.zst").read_bytes()
        lines = zstandard.ZstdDecompressor().stream_reader(packed).read().splitlines()
        found += [json.loads(line)["text"] for line in lines[::EVERY]]
    return found


def library(path: Path) -> Tokenizer:
    """Returns the library's own tokenizer of a compressed file."""
    raw = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()
    return plain.library(json.loads(raw))


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_real_tokenizers(shared_dir: Path, texts: list[str], name: str) -> None:
    """Ids equal the library's document by document, on both engines; every token counts for one script."""
    path = shared_dir / "tokenizers" / f"{name}.json.zst"
    own = library(path)
    expected = [list(one.ids) for one in own.encode_batch_fast(texts)]
    column = pa.array(texts)
    seg = segment_batch(column)
    for engine in ("tokenizers", "auto"):
        tokenizer = open_tokenizer(path, engine)
        tokens = tokenizer.text(column)
        assert plain.documents_of(tokens) == expected
        per_run, added = text_tokens_per_run(tokens, seg)
        assert (np.bincount(seg.run_doc, per_run, len(texts)) + added == tokens.counts).all()
        assert (per_run >= 0).all()


@pytest.mark.shared
@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "qwen3"])
@pytest.mark.parametrize("policy", ["script-a", "min-bytes"])
def test_routed_ids_of_real_tokenizers(shared_dir: Path, texts: list[str], name: str, policy: str) -> None:
    """Routed ids equal the stream's pieces run through the library one by one, and decode to the stream."""
    path = shared_dir / "tokenizers" / f"{name}.json.zst"
    own = library(path)
    some = texts[:60] + texts[-60:]
    seg = segment_batch(pa.array(some))
    router = Router(load_policy(policy), barrier=True)
    routed = route_segmentation(seg, router)
    tokenizer = open_tokenizer(path)
    tokens = tokenizer.routed(routed, tokenizer.text(pa.array(some)))
    assert tokens is not None
    assert plain.documents_of(tokens) == [plain.plain_routed_ids(own, text, router) for text in some]
    per_row, added = routed_tokens_per_row(tokens, routed, seg)
    assert (np.bincount(routed.row_doc, per_row, len(some)) + added == tokens.counts).all()
    if name != "qwen3":  # its NFC changes some texts
        assert tokenizer.decode_routed_ids(tokens.ids) == routed.data.tobytes()


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_cutting_real_tokenizers(shared_dir: Path, texts: list[str], name: str) -> None:
    """Cut wherever that is allowed, real documents keep their ids; every tokenizer but Llama's allows it."""
    path = shared_dir / "tokenizers" / f"{name}.json.zst"
    source = read_source(path.read_bytes(), name)
    engine = ReferenceEngine(source)
    places = cut_places(source.traits, engine.is_normal)
    assert (places is None) == (name == "llama2")
    if places is not None:
        long = ["  ".join(texts[at : at + 20]) for at in range(0, len(texts), 20)]
        pieces = [cut_document(text.encode(), places, piece_bytes=40) for text in long]
        assert sum(map(len, pieces)) > 20 * len(long)
        whole = engine.encode([text.encode() for text in long])
        parts = engine.encode([piece for one in pieces for piece in one])
        assert whole.ids.tolist() == parts.ids.tolist()
