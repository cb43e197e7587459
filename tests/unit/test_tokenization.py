"""Opening tokenizers, and what they do at the edges."""

import gzip
import json
import multiprocessing
import sys
import threading
import unicodedata
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import plain_tokenization as plain
import pyarrow as pa
import pytest
import zstandard

from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import open_tokenizer
from byteroute_ops.tokenization.documents import MAX_CALL_BYTES, call_slices, encode_pieces
from byteroute_ops.tokenization.giga import GigatokenEngine
from byteroute_ops.tokenization.hf import ReferenceEngine
from byteroute_ops.tokenization.model_file import ModelTokenizer
from byteroute_ops.tokenization.protocol import Encoded
from byteroute_ops.tokenization.routed import routed_pieces
from byteroute_ops.tokenization.source import file_name, read_source

TEXTS = ["Hello, world!", "", "Привет 你好 नमस्ते", "a\uf904b 🇩🇪"]


def ids(spec: str | Path, *texts: str, **options: Any) -> list[list[int]]:
    """Returns ids by document."""
    return plain.documents_of(open_tokenizer(spec, **options).text(plain.strings(*texts)))


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".json.zst"])
def test_files_may_be_compressed(tmp_path: Path, suffix: str) -> None:
    """A tokenizer.json is read plain, gzipped and zstd-compressed, whatever its name says."""
    raw = json.dumps(plain.wordpiece()).encode()
    packed = {".json": raw, ".json.gz": gzip.compress(raw, mtime=0), ".json.zst": zstandard.compress(raw)}[suffix]
    path = tmp_path / f"small{suffix}"
    path.write_bytes(packed)
    tokenizer = open_tokenizer(path)
    assert tokenizer.fingerprint()["name"] == "small"
    assert ids(path, "the") == [[2, tokenizer.vocab_size - 2, 3]]
    path.rename(tmp_path / "misnamed.json")
    assert ids(tmp_path / "misnamed.json", "the") == [[2, tokenizer.vocab_size - 2, 3]]


def test_a_folder_stands_for_its_tokenizer_json(tmp_path: Path) -> None:
    """The folder of a model can be given; it names the tokenizer."""
    folder = tmp_path / "bert"
    folder.mkdir()
    plain.write(plain.wordpiece(), folder, "tokenizer.json")
    assert open_tokenizer(folder).fingerprint()["name"] == "bert"
    assert file_name(folder / "tokenizer.json") == "bert"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x00 not json", r"not a readable tokenizer.json \(JSONDecodeError\); give the JSON file"),
        (gzip.compress(b"{}" * 999, mtime=0)[:-9], r"not a readable tokenizer.json \(EOFError\)"),
        (zstandard.compress(b"{}" * 999)[:9], r"not a readable tokenizer.json"),
        (b'{"a": 1}', "without a `model` that has a `vocab`; give tokenizer.json, not tokenizer_config.json"),
        (b"[1]", "without a `model`"),
        (b'{"model": {"type": "BPE", "vocab": {}, "merges": [["a", "b"]]}}', "refuses the file"),
    ],
)
def test_unusable_files_say_what_to_do(tmp_path: Path, content: bytes, message: str) -> None:
    """A file that is no tokenizer is the caller's error, with the remedy."""
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        open_tokenizer(path)


def test_missing_file_and_unknown_engine(tmp_path: Path) -> None:
    """A path that is not there names what may be given; so does an unknown engine."""
    with pytest.raises(ConfigError, match=r"No such file or directory; give the path of a tokenizer\.json"):
        open_tokenizer(tmp_path / "absent.json")
    with pytest.raises(ConfigError, match="unknown engine 'fast': use auto, tokenizers or gigatoken"):
        open_tokenizer("default", "fast")  # type: ignore[arg-type]


def test_random_ids_are_refused() -> None:
    """BPE dropout makes ids random: refused."""
    config = plain.byte_fallback()
    config["model"]["dropout"] = 0.1
    with pytest.raises(ConfigError, match=r"dropout is 0\.1, so its ids are random; set it to null"):
        read_source(json.dumps(config).encode(), "noisy")


def test_unknown_post_processor_is_refused() -> None:
    """A post-processor that the library does not know, or that repeats the text, is refused, not guessed at."""
    twice = plain.template({"<s>": 1}, {})
    twice["single"] = twice["single"] * 2
    for post, message in [({"type": "Mystery"}, "does not work"), (twice, "does not just put constant tokens round")]:
        with pytest.raises(ConfigError, match=message):
            read_source(json.dumps(plain.byte_fallback() | {"post_processor": post}).encode(), "odd")


def test_truncation_and_padding_are_switched_off(tmp_path: Path) -> None:
    """Settings in the file that would cut or fill documents do not."""
    padding = {
        "strategy": {"Fixed": 20}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "[PAD]",
    }  # fmt: skip
    truncation = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    path = plain.write(plain.wordpiece() | {"padding": padding, "truncation": truncation}, tmp_path)
    plainly = plain.write(plain.wordpiece(), tmp_path, "plain.json")
    assert ids(path, "the a b c d e", "a") == ids(plainly, "the a b c d e", "a")


CLS, SEP = ("[CLS]", 2), ("[SEP]", 3)
ROBERTA = {"type": "RobertaProcessing", "cls": CLS, "sep": SEP, "trim_offsets": True, "add_prefix_space": True}
LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
START, END = plain.template({"[CLS]": 2}, {}), plain.template({}, {"[SEP]": 3, "[PAD]": 0})


@pytest.mark.parametrize(
    ("post", "before", "after"),
    [
        (None, [], []),
        (LEVEL, [], []),
        (ROBERTA, [2], [3]),
        ({"type": "BertProcessing", "cls": CLS, "sep": SEP}, [2], [3]),
        (END, [], [3, 0]),
        ({"type": "Sequence", "processors": [LEVEL, START]}, [2], []),
        # The library gives a second template what the first one made as a pair, and a pair gets nothing here.
        ({"type": "Sequence", "processors": [START, END]}, [2], []),
    ],
)
def test_post_processors(tmp_path: Path, post: Any, before: list[int], after: list[int]) -> None:
    """What the post-processor adds goes round every document, empty ones too, as in the library; or not, on request."""
    config = plain.wordpiece() | {"post_processor": post}
    path = plain.write(config, tmp_path)
    own = plain.library(config)
    assert ids(path, "the a", "") == [plain.ids_of(own, "the a"), plain.ids_of(own, "")]
    tokens = open_tokenizer(path).text(plain.strings("the a", ""))
    assert tokens.ids[tokens.added].tolist() == [*before, *after] * 2
    assert tokens.starts[tokens.added].tolist() == [0] * len(before) + [5] * (2 * len(after) + len(before))
    assert ids(path, "the a", "", add_special_tokens=False)[1] == []


def test_bytes() -> None:
    """BLT's numbers: byte + 4, BOS 1, EOS 2."""
    assert ids("bytes", "Aé", "") == [[1, 69, 199, 173, 2], [1, 2]]
    assert ids("bytes", "Aé", "", add_special_tokens=False) == [[69, 199, 173], []]
    assert open_tokenizer("bytes").decode_routed_ids(np.array([1, 69, 199, 173, 2], np.int32)) == "Aé".encode()


def test_opened_once() -> None:
    """The same arguments give the same object; a file that changed is read again."""
    assert open_tokenizer("default") is open_tokenizer("default")
    assert open_tokenizer("default") is not open_tokenizer("default", "tokenizers")


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    """A tokenizer file that was replaced is not served from the process's memory."""
    path = plain.write(plain.wordpiece(), tmp_path)
    assert open_tokenizer(path).fingerprint()["kind"] == "WordPiece"
    plain.write(plain.unigram(), tmp_path)
    assert open_tokenizer(path).fingerprint()["kind"] == "Unigram"


def test_engine_falls_back_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without gigatoken, or where it cannot load or differs, the reference works and `note` says why."""
    path = plain.write(plain.wordpiece(), tmp_path)
    tokenizer = open_tokenizer(path)
    assert tokenizer.engine == "tokenizers"
    assert tokenizer.note is not None
    assert "gigatoken cannot load it" in tokenizer.note
    with pytest.raises(ConfigError, match="gigatoken cannot load it"):
        open_tokenizer(path, "gigatoken")
    path = plain.write(plain.byte_level(), tmp_path, "level.json")
    wrong = Encoded(np.zeros(1, np.int32), np.ones(1, np.int64))
    monkeypatch.setattr(GigatokenEngine, "encode", lambda self, pieces: wrong)
    assert "other ids than tokenizers" in (open_tokenizer(path).note or "")
    monkeypatch.setitem(sys.modules, "gigatoken", None)
    path = plain.write(plain.byte_level(), tmp_path, "other.json")
    assert "pip install 'byteroute[fast]'" in (open_tokenizer(path).note or "")


def test_models_without_routed_ids_say_why(tmp_path: Path) -> None:
    """Only byte-level BPE has ids for bytes; the others give None, the reason, and refuse to decode."""
    for config, kind in [
        (plain.unigram(), "Unigram"),
        (plain.wordpiece(), "WordPiece"),
        (plain.byte_fallback(), "byte-fallback BPE"),
    ]:
        tokenizer = open_tokenizer(plain.write(config, tmp_path, f"{kind}.json"))
        assert (
            tokenizer.routed_reason
            == f"{kind} has no ids for raw bytes; use a byte-level BPE, or the `bytes` tokenizer"
        )
        seg = segment_batch(plain.strings("a"))
        assert tokenizer.routed(route_segmentation(seg, Router())) is None
        with pytest.raises(ConfigError, match="has no ids for raw bytes"):
            tokenizer.decode_routed_ids(np.zeros(1, np.int32))
    config = plain.byte_level()
    del config["model"]["vocab"]["\u0100"]
    config["model"]["merges"] = [pair for pair in config["model"]["merges"] if "\u0100" not in "".join(pair)]
    lacking = open_tokenizer(plain.write(config, tmp_path, "lacking.json"))
    assert lacking.routed_reason == "1 of the 256 single bytes are not in its vocabulary"


def pieces_of(policy: str, *texts: str) -> list[tuple[int, str, bool]]:
    """Returns (document, bytes, whether it is text) of the pieces of routed texts."""
    routed = route_segmentation(segment_batch(plain.strings(*texts)), Router(load_policy(policy), barrier=True))
    rows = zip(*(column.tolist() for column in routed_pieces(routed)), strict=True)
    return [(doc, routed.data[start:end].tobytes().hex(), text) for doc, start, end, text, _ in rows]


def test_pieces_of_a_routed_stream() -> None:
    """Every marker, barrier and escape is a piece; the literal behind an escape, itself an escape or not, is text."""
    assert pieces_of("utf-8", "a\uf904\uf904b\uf900", "plain", "") == [
        (0, "61", True), (0, "efa484", False), (0, "efa484", True), (0, "efa484", False), (0, "efa48462", True),
        (0, "efa484", False), (0, "efa480", True), (1, "706c61696e", True),
    ]  # fmt: skip
    assert pieces_of("script-a", "", "你好ю", "b") == [
        (1, "c080", False), (1, "efa480", False), (1, "4f60597d", False), (1, "efa481", False), (1, "c080", False),
        (1, "efa482", False), (1, "4e04", False), (1, "efa483", False), (2, "62", True),
    ]  # fmt: skip


def test_lengths_that_add_up_by_chance(tmp_path: Path) -> None:
    """Where NFC makes one character longer and others shorter, spans come from the library all the same."""
    path = plain.write(plain.byte_level(normalizer={"type": "NFC"}), tmp_path)
    text = "\u0958\u212b\u212b\u212b"
    normal = unicodedata.normalize("NFC", text)
    assert len(normal.encode()) == len(text.encode())
    tokens = open_tokenizer(path).text(plain.strings(text))
    assert plain.documents_of(tokens) == ids(path, normal)
    assert set(tokens.starts.tolist()) == {0, 3, 6, 9}


def test_lengths_and_repeated_leads(tmp_path: Path) -> None:
    """An added token makes the normalizer put its marker again; a literal marker hides that from the sum of lengths."""
    path = plain.write(plain.byte_fallback() | {"post_processor": None}, tmp_path)
    text = "a<s>b<s>a\u2581"
    tokens = open_tokenizer(path).text(plain.strings(text))
    assert plain.documents_of(tokens) == [plain.ids_of(plain.library(plain.byte_fallback()), text, special=False)]
    pieces = [(start, end) for start, end in zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)]
    offsets = plain.library(plain.byte_fallback()).encode(text, add_special_tokens=False).offsets
    at = [len(text[:index].encode()) for index in range(len(text) + 1)]
    assert pieces == [(at[start], at[end]) for start, end in offsets]


def test_a_failing_document_costs_no_neighbour(tmp_path: Path) -> None:
    """Where the library raises, that document has no tokens and is named; all others are complete."""
    path = plain.write(plain.wordpiece(unknown="[MISSING]"), tmp_path)
    good = open_tokenizer(plain.write(plain.wordpiece(), tmp_path, "good.json"))
    texts = ["the a", "1", "", "abc", "2"]
    for spans in (True, False):
        tokens = open_tokenizer(path).text(plain.strings(*texts), spans=spans)
        assert tokens.failed.tolist() == [1, 4]
        expected = plain.documents_of(good.text(plain.strings("the a", "", "abc")))
        assert plain.documents_of(tokens) == [expected[0], [], expected[1], expected[2], []]
        assert tokens.starts.tolist() == [0, 0, 4, 5, 6, 6, 6, 6, 7, 8, 9]


def test_panics_are_failures_and_interrupts_are_not() -> None:
    """A Rust panic (no Exception) fails its document only; what is meant to end the program does."""

    class PanicException(BaseException):
        pass

    def encode(pieces: Any) -> Encoded:
        if b"panic" in pieces:
            raise PanicException
        if b"stop" in pieces:
            raise KeyboardInterrupt
        return Encoded(np.zeros(len(pieces), np.int32), np.ones(len(pieces), np.int64))

    encoded, failed = encode_pieces(encode, [b"a", b"panic", b"b"])
    assert failed.tolist() == [False, True, False]
    assert encoded.counts.tolist() == [1, 0, 1]
    with pytest.raises(KeyboardInterrupt):
        encode_pieces(encode, [b"a", b"stop"])


def test_the_reference_rescues_what_the_fast_engine_fails_on() -> None:
    """Which documents fail does not depend on the engine in use."""

    def broken(pieces: Any) -> Encoded:
        raise ValueError(len(pieces))

    source = read_source(json.dumps(plain.byte_level()).encode(), "level")
    reference = ReferenceEngine(source)
    fast = type("Broken", (), {"name": "broken", "encode": staticmethod(broken)})()
    tokens = ModelTokenizer(source, reference, fast).text(plain.strings(*TEXTS))
    assert plain.documents_of(tokens) == ids("default", *TEXTS)


def test_calls_are_bounded() -> None:
    """No call gets more text than the bound, except a single longer piece."""
    sizes = [MAX_CALL_BYTES // 3] * 7 + [2 * MAX_CALL_BYTES] + [1] * 3000
    slices = call_slices(sizes)
    assert [index for part in slices for index in range(part.start, part.stop)] == list(range(len(sizes)))
    assert all(sum(sizes[part]) <= MAX_CALL_BYTES or part.stop - part.start == 1 for part in slices)


def test_sliced_and_large_columns() -> None:
    """Offsets of the Arrow array are honoured, 64-bit strings accepted."""
    column = plain.strings("x", *TEXTS, "y")
    expected = ids("default", *TEXTS)
    tokenizer = open_tokenizer("default")
    for part in (column[1:-1], column[1:-1].cast(pa.large_string())):
        tokens = tokenizer.text(part)
        assert plain.documents_of(tokens) == expected
        assert tokens.starts[0] == 0


def _work(results: list[list[list[int]]]) -> None:
    tokenizer = open_tokenizer("default")
    texts = plain.strings(*TEXTS * 20)
    routed = route_segmentation(segment_batch(texts), Router(load_policy("script-a")))
    for _ in range(5):
        stream = tokenizer.routed(routed)
        assert stream is not None
        results.append(plain.documents_of(tokenizer.text(texts)) + plain.documents_of(stream))


def test_threads() -> None:
    """One tokenizer serves many threads."""
    results: list[list[list[int]]] = []
    threads = [threading.Thread(target=_work, args=(results,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 30
    assert all(one == results[0] for one in results)


def _in_child(queue: Any) -> None:
    results: list[list[list[int]]] = []
    _work(results)
    queue.put(results[0])


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork")
def test_forks() -> None:
    """A tokenizer that has used its thread pool goes on working in a forked child."""
    results: list[list[list[int]]] = []
    _work(results)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 and later advise against forking
        child = context.Process(target=_in_child, args=(queue,))
        child.start()
    assert queue.get(timeout=60) == results[0]
    child.join(60)
    assert child.exitcode == 0


def test_without_the_thread_pool() -> None:
    """`parallel=False` gives the same ids."""
    for engine in ("tokenizers", "auto"):
        assert ids("default", *TEXTS, engine=engine, parallel=False) == ids("default", *TEXTS)
