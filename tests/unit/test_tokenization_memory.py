"""Memory: caches are bounded, long documents are cut, nothing is quadratic."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import plain_tokenization as plain
import pytest

from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import giga, open_tokenizer, payload
from byteroute_ops.tokenization.cutting import PIECE_BYTES, cut_document, cut_places
from byteroute_ops.tokenization.hf import ReferenceEngine
from byteroute_ops.tokenization.source import read_source

LEVEL = {"type": "ByteLevel", "trim_offsets": True}

NEW_WORDS = """
import sys
import numpy as np, psutil, pyarrow as pa
from byteroute_ops.tokenization import giga, open_tokenizer

engine, n_calls, n_bytes, giga.RENEW_GROWTH = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), 48 << 20
random = np.random.default_rng(7)
tokenizer = open_tokenizer("default", engine)
def feed():
    letters = random.integers(97, 123, n_bytes).astype(np.uint8)
    letters[random.random(letters.size) < 0.125] = 32
    texts = [letters[at : at + 8192].tobytes().decode() for at in range(0, letters.size, 8192)]
    tokenizer.text(pa.array(texts), spans=False)
for _ in range(3):
    feed()
before = psutil.Process().memory_info().rss
for _ in range(n_calls):
    feed()
print((psutil.Process().memory_info().rss - before) >> 20)
"""


def new_words(count: int, seed: int) -> str:
    """Returns text of words that never come again."""
    random = np.random.default_rng(seed)
    letters = random.integers(97, 123, count).astype(np.uint8)
    letters[random.random(count) < 0.125] = 32
    return letters.tobytes().decode()


def test_the_fast_engine_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gigatoken, which remembers every word, is made anew: where nobody tells memory, after so much text."""
    pytest.importorskip("gigatoken")
    monkeypatch.setattr(giga, "_resident", lambda: 0)
    monkeypatch.setattr(giga, "RENEW_BYTES", 100_000)
    source = read_source(plain.write(plain.byte_level(), tmp_path).read_bytes(), "level")
    engine = giga.GigatokenEngine(source)
    text = new_words(30_000, 1).encode()
    first = engine.encode([text])
    for seed in range(9):
        engine.encode([new_words(30_000, seed).encode()])
    assert engine.renewals == 3
    assert engine.encode([text]).ids.tolist() == first.ids.tolist()


@pytest.mark.parametrize(("engine", "n_calls", "n_bytes"), [("gigatoken", 20, 2 << 20), ("tokenizers", 6, 1 << 18)])
def test_ever_new_words_do_not_grow_the_process(engine: str, n_calls: int, n_bytes: int) -> None:
    """A process that sees nothing but new words stays within a bound (unbounded, gigatoken would take 300 MB here)."""
    if engine == "gigatoken":
        pytest.importorskip("gigatoken")
    command = [sys.executable, "-c", NEW_WORDS, engine, str(n_calls), str(n_bytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 120


def test_remembered_payload_units_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the payload BPE remembers is forgotten at a bound; ids stay the same."""
    monkeypatch.setattr(payload, "_MEMO_UNITS", 50)
    library = plain.library(plain.byte_level())
    bare = payload.PayloadBpe(library, {})
    random = np.random.default_rng(3)
    for _ in range(20):
        data = random.integers(97, 123, 600).astype(np.uint8)
        data[::6] = 4  # joins with no letter
        encoded = bare.encode(data, np.array([0]), np.array([data.size]))
        assert len(bare._memo) <= 50 + 100
        expected = library.model.tokenize(data.tobytes().decode("latin-1").replace("\x04", "\u0104"))
        assert encoded.ids.tolist() == [token.id for token in expected]


def test_long_documents_are_cut() -> None:
    """A long text goes to the engine in pieces, wherever its words allow, and loses no byte."""
    text = ("Все люди рождаются свободными, 生而自由。 free and equal " * 60_000).encode()
    pieces = cut_document(text)
    assert len(pieces) == -(-len(text) // PIECE_BYTES)
    assert b"".join(pieces) == text
    assert max(map(len, pieces)) < PIECE_BYTES + 100
    assert cut_document(b"x" * 5000, piece_bytes=1000) == [b"x" * 5000]
    assert cut_document("ю".encode() * 5000, piece_bytes=1001) == ["ю".encode() * 5000]


def test_long_documents_keep_their_ids() -> None:
    """Above the limit, ids and spans are those of the whole text, on both engines."""
    text = "It's  42 \n\n free, and свободны " * 50_000
    assert len(text.encode()) > PIECE_BYTES
    expected = plain.ids_of(plain.library(plain.byte_level()), text)
    for engine in ("tokenizers", "auto"):
        tokens = open_tokenizer("default", engine).text(plain.strings("a", text, "b"))
        assert tokens.ids[1:-1].tolist() == expected
        assert tokens.starts[1:].tolist() == tokens.ends[:-1].tolist()


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        ({}, True),
        ({"normalizer": {"type": "NFC"}}, True),
        ({"normalizer": {"type": "Lowercase"}}, False),
        ({"added_tokens": [plain.added_token(0, "<|endoftext|>", lstrip=True)]}, True),
        ({"added_tokens": [plain.added_token(0, "word", single_word=True)]}, False),
        ({"added_tokens": [plain.added_token(0, "two words")]}, False),
        ({"pre_tokenizer": LEVEL | {"add_prefix_space": False, "use_regex": True}}, True),
        ({"pre_tokenizer": LEVEL | {"add_prefix_space": True, "use_regex": True}}, False),
        ({"pre_tokenizer": LEVEL | {"add_prefix_space": False, "use_regex": False}}, False),
    ],
)
def test_cutting_needs_its_proof(tmp_path: Path, change: dict[str, object], allowed: bool) -> None:
    """Documents are cut for those tokenizers only to which the argument applies."""
    path = plain.write(plain.byte_level(**change), tmp_path)
    source = read_source(path.read_bytes(), "level")
    assert (cut_places(source.traits, ReferenceEngine(source).is_normal) is not None) is allowed


@pytest.mark.parametrize(("kind", "allowed"), [("wordpiece", True), ("unigram", False), ("byte_fallback", False)])
def test_other_kinds_are_cut_where_they_go_word_by_word(tmp_path: Path, kind: str, allowed: bool) -> None:
    """BERT's arrangement is known to encode word by word; a Unigram behind NFKC, and Llama's BPE, are not."""
    config = {"wordpiece": plain.wordpiece, "unigram": plain.unigram, "byte_fallback": plain.byte_fallback}[kind]()
    source = read_source(plain.write(config, tmp_path).read_bytes(), kind)
    assert (cut_places(source.traits, ReferenceEngine(source).is_normal) is not None) is allowed


def test_huge_payloads_are_linear() -> None:
    """Two million code points in one segment: one pre-token, done at once, and every id accounted for."""
    text = "漢字仮名交じり文" * 250_000
    routed = route_segmentation(segment_batch(plain.strings(text)), Router(load_policy("script-a")))
    tokens = open_tokenizer("default").routed(routed)
    assert tokens is not None
    assert tokens.ends[-1] == routed.data.size
    assert open_tokenizer("default").decode_routed_ids(tokens.ids) == routed.data.tobytes()
