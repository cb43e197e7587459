"""Real vocabularies pruned to real text: equal ids wherever no pruned token was involved, piece by piece."""

import json
from pathlib import Path

import numpy as np
import pytest
import zstandard
from byteroute.pipelines.check import tokenizer_json
from tokenizers import Tokenizer

from byteroute_ops.workshop.pruning import prune
from byteroute_ops.workshop.vocabulary import Vocabulary

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def halves(shared_dir: Path) -> tuple[list[str], list[str]]:
    """Two samples of the UDHR over all its languages: one decides what is kept, the other has not been seen."""
    raw = zstandard.ZstdDecompressor().stream_reader((shared_dir / "corpus/udhr.jsonl.zst").read_bytes()).read()
    texts = [json.loads(line)["text"] for line in raw.decode().splitlines()]
    return texts[::37], texts[18::37]


def pieces_of(tokenizer: Tokenizer, texts: list[str]) -> list[str]:
    """Returns what the model is given: the distinct pre-tokens of the texts, as the file spells them."""
    found: dict[str, None] = {}
    for text in texts:
        normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        split = tokenizer.pre_tokenizer.pre_tokenize_str(normal) if tokenizer.pre_tokenizer else [(normal, (0, 0))]
        found.update(dict.fromkeys(piece for piece, _ in split))
    return list(found)


@pytest.mark.parametrize("name", ["cl100k", "llama2", "xlmr_e5", "minilm_bert"])
def test_equal_ids_piece_by_piece(name: str, halves: tuple[list[str], list[str]], shared_dir: Path) -> None:
    """Every pre-token whose old ids are all kept has the same ids, in seen and in unseen text, and there are many."""
    data = tokenizer_json(str(shared_dir / f"tokenizers/{name}.json.zst"))
    vocabulary = Vocabulary.from_json(data, name)
    old = Tokenizer.from_str(data.decode())
    old.no_truncation()
    old.no_padding()
    counts = np.zeros(vocabulary.n_ids, np.int64)
    for text in halves[0]:
        counts += np.bincount(old.encode(text).ids, minlength=counts.size)
    done = prune(data, vocabulary, counts > 0)
    new = Tokenizer.from_str(done.json.decode())
    assert done.kept.size < vocabulary.size / 2
    before, after = Tokenizer(old.model), Tokenizer(new.model)
    pieces = pieces_of(old, halves[0] + halves[1])
    same = involved = 0
    for piece in pieces:
        mapped = done.new_ids[before.encode(piece, add_special_tokens=False).ids]
        if (mapped >= 0).all():
            same += 1
            assert after.encode(piece, add_special_tokens=False).ids == mapped.tolist()
        else:
            involved += 1
    assert same > involved > 0
