"""Ids, spans and attribution of every tokenizer kind against the library and the plain twins."""

from pathlib import Path
from typing import Any

import numpy as np
import plain_tokenization as plain
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers.normalizers import NFC
from tokenizers.pre_tokenizers import Split

from byteroute_ops.fingerprints import NASTY_TEXTS
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import (
    Tokenizer,
    Tokens,
    open_tokenizer,
    routed_tokens_per_row,
    text_tokens_per_run,
)
from byteroute_ops.tokenization.cutting import PATTERNS, cut_document

pytestmark = pytest.mark.usefixtures("kernel_form")

KINDS = {
    "byte-level": plain.byte_level(),
    "byte-level with NFC": plain.byte_level(normalizer={"type": "NFC"}),
    "byte-level with Lowercase": plain.byte_level(normalizer={"type": "Lowercase"}),
    "byte-level with a template": plain.byte_level(
        post_processor=plain.template({"<|endoftext|>": 0}, {"<|endoftext|>": 0})
    ),
    "byte-level with stripping": plain.byte_level(
        added_tokens=[plain.added_token(0, "<|endoftext|>", lstrip=True, rstrip=True)]
    ),
    "byte-level with looked-up words": plain.byte_level()
    | {"model": plain.byte_level()["model"] | {"ignore_merges": True}},
    "byte-fallback": plain.byte_fallback(),
    "unigram": plain.unigram(),
    "wordpiece": plain.wordpiece(),
}
LIBRARY = {kind: plain.library(config) for kind, config in KINDS.items()}
# ByteLevel's post-processor trims offsets; attribution is told where tokens really begin.
UNTRIMMED = {kind: plain.library(config | {"post_processor": None}) for kind, config in KINDS.items()}
ATOMS = [
    *"aZé Я1#,.-\n\t漢ひカー한ㄅअिা្ခລ\u0e33ب٠،\u3001\u0301\u0308\u200b\u200d\ufe0f\U0001f44d\U0001f3fd\U0001f1e9©\u00a0'"
    "\uf900\uf901\uf904豈\ufb01Å\u2581가\u1100\u1161\uefa4\ua4ef\uffff\U0001e900",
    "the ", " the", "ing", "Hello", "I'm", "  ", "123", "<|endoftext|>", "<s>", "[SEP]", " <|endoftext|> ",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "日本語の話", "русский язык", "ภาษา", "ქართული ",
]  # fmt: skip
TEXT = st.one_of(st.lists(st.sampled_from(ATOMS), max_size=14).map("".join), st.text(max_size=8))
TEXTS = st.lists(TEXT, min_size=1, max_size=4)
ROUTERS = [
    Router(load_policy("script-a")),
    Router(load_policy("min-bytes"), framing="bom", barrier=True),
    Router(load_policy("script-b"), barrier=True),
    Router(load_policy("script-c"), profile="text"),
]
SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=60)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Tokenizer]:
    """Every kind, with the reference and with the engine that `auto` takes."""
    folder: Path = tmp_path_factory.mktemp("tokenizers")
    found = {}
    for name, config in KINDS.items():
        path = plain.write(config, folder, f"{name}.json")
        found |= {(name, engine): open_tokenizer(path, engine) for engine in ("tokenizers", "auto")}
    return found


def same_spans(left: Tokens, right: Tokens) -> bool:
    """Whether two batches of tokens have the same spans."""
    return bool((left.starts == right.starts).all() and (left.ends == right.ends).all())


@pytest.mark.parametrize("engine", ["tokenizers", "auto"])
@pytest.mark.parametrize("kind", KINDS)
@SLOW
@given(texts=TEXTS)
def test_ids_are_the_librarys(opened: dict[Any, Tokenizer], kind: str, engine: str, texts: list[str]) -> None:
    """Document by document, ids equal those of `Tokenizer.encode` on the text alone."""
    tokens = opened[kind, engine].text(plain.strings(*texts), spans=False)
    assert plain.documents_of(tokens) == [plain.ids_of(LIBRARY[kind], text) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_nasty_texts_are_the_librarys(opened: dict[Any, Tokenizer], kind: str) -> None:
    """The fixed nasty texts as one batch give what each gives alone, with and without spans, on both engines."""
    expected = [plain.ids_of(LIBRARY[kind], text) for text in NASTY_TEXTS]
    for engine in ("tokenizers", "auto"):
        for spans in (True, False):
            tokens = opened[kind, engine].text(plain.strings(*NASTY_TEXTS), spans=spans)
            assert plain.documents_of(tokens) == expected


@pytest.mark.parametrize("kind", KINDS)
@SLOW
@given(texts=TEXTS)
def test_spans_agree_with_the_librarys_offsets(opened: dict[Any, Tokenizer], kind: str, texts: list[str]) -> None:
    """A span covers the characters that the library names, whether it comes from offsets or from byte lengths."""
    tokenizer = opened[kind, "auto"]
    tokens = tokenizer.text(plain.strings(*texts))
    assert same_spans(tokens, tokenizer.text(plain.strings(*texts), spans=False))
    base = 0
    for doc, text in enumerate(texts):
        offsets = [0]
        for char in text:
            offsets.append(offsets[-1] + len(char.encode()))
        part = slice(*tokens.doc_offsets[doc : doc + 2])
        named = UNTRIMMED[kind].encode(text).offsets
        own = ~tokens.added[part]
        starts, ends = tokens.starts[part][own] - base, tokens.ends[part][own] - base
        assert len(named) == len(starts)
        for (first, last), start, end in zip(named, starts.tolist(), ends.tolist(), strict=True):
            if end > start:  # a word marker alone has no text
                assert offsets[first] <= start
                assert end <= offsets[last]
                assert start < offsets[min(first + 1, len(text))]
        base += offsets[-1]


@pytest.mark.parametrize("kind", KINDS)
@SLOW
@given(texts=TEXTS)
def test_text_attribution_is_the_plain_one(opened: dict[Any, Tokenizer], kind: str, texts: list[str]) -> None:
    """Tokens by script run equal a look at every token's characters, and sum to the totals document by document."""
    seg = segment_batch(plain.strings(*texts))
    tokens = opened[kind, "auto"].text(plain.strings(*texts))
    per_run, added = text_tokens_per_run(tokens, seg)
    assert (per_run.tolist(), added.tolist()) == plain.plain_text_attribution(tokens, texts, seg)
    assert (np.bincount(seg.run_doc, per_run, len(texts)) + added == tokens.counts).all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("byte-level")])
@pytest.mark.parametrize("router", ROUTERS, ids=["script-a", "min-bytes bom", "script-b barrier", "script-c text"])
@settings(SLOW, max_examples=30)
@given(texts=TEXTS)
def test_routed_ids_are_the_plain_ones(
    opened: dict[Any, Tokenizer], kind: str, router: Router, texts: list[str]
) -> None:
    """Routed ids equal the stream's pieces run through the library one by one; they are attributed exactly."""
    tokenizer = opened[kind, "auto"]
    seg = segment_batch(plain.strings(*texts))
    routed = route_segmentation(seg, router)
    text_tokens = tokenizer.text(plain.strings(*texts))
    tokens = tokenizer.routed(routed, text_tokens)
    alone = tokenizer.routed(routed)
    assert tokens is not None
    assert alone is not None
    prefix = [token for token in (0,) if "template" in kind]
    expected = [prefix + plain.plain_routed_ids(LIBRARY[kind], text, router) + prefix for text in texts]
    assert plain.documents_of(tokens) == plain.documents_of(alone) == expected
    per_row, added = routed_tokens_per_row(tokens, routed, seg)
    per_run = np.bincount(routed.row_run, per_row, len(seg.run_doc)).astype(int).tolist()
    assert (per_run, added.tolist()) == plain.plain_routed_attribution(tokens, texts, routed, seg)
    assert (np.bincount(routed.row_doc, per_row, len(texts)) + added == tokens.counts).all()


@SLOW
@given(
    texts=TEXTS,
    policy=st.sampled_from(["script-a", "min-bytes", "utf-8"]),
    tokenizer=st.sampled_from(["bytes", "default"]),
)
def test_routed_ids_decode_to_the_stream(texts: list[str], policy: str, tokenizer: str) -> None:
    """Without a normalizer, routed ids stand for exactly the bytes of the stream."""
    routed = route_segmentation(segment_batch(plain.strings(*texts)), Router(load_policy(policy)))
    tokens = open_tokenizer(tokenizer).routed(routed)
    assert tokens is not None
    assert open_tokenizer(tokenizer).decode_routed_ids(tokens.ids) == routed.data.tobytes()


BOUNDARIES = [*"aZбह你1 '\n\r\t.,/!。\u0301\u093e\u00a0ſ", "'s", "'LL", "  ", "\r\n", "the", "Das"]


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
@settings(SLOW, max_examples=400)
@given(text=st.lists(st.sampled_from(BOUNDARIES), max_size=16).map("".join), size=st.integers(1, 3))
def test_cutting_changes_no_pre_token(pattern: str, text: str, size: int) -> None:
    """Cut at every place where cutting is allowed, a document falls into the pre-tokens of the whole."""
    split = Split(Regex(pattern), "isolated").pre_tokenize_str
    pieces = cut_document(text.encode(), piece_bytes=size)
    assert b"".join(pieces) == text.encode()
    assert [word for piece in pieces for word, _ in split(piece.decode())] == [word for word, _ in split(text)]


@settings(SLOW, max_examples=400)
@given(
    text=st.lists(st.sampled_from([*BOUNDARIES, "abc", "ing", "[CLS]"]), max_size=16).map("".join),
    size=st.integers(1, 3),
)
def test_cutting_changes_no_word_piece(text: str, size: int) -> None:
    """BERT's arrangement gives the pieces the ids of the whole."""
    pieces = cut_document(text.encode(), piece_bytes=size)
    ids = [plain.ids_of(LIBRARY["wordpiece"], piece.decode(), special=False) for piece in pieces]
    assert [token for piece in ids for token in piece] == plain.ids_of(LIBRARY["wordpiece"], text, special=False)


@settings(SLOW, max_examples=200)
@given(text=st.lists(TEXT, max_size=12).map("".join), size=st.integers(1, 4))
def test_cutting_and_normalizing_go_together(text: str, size: int) -> None:
    """NFC of the pieces is NFC of the whole, by the library's own normalizer."""
    normal = NFC().normalize_str
    assert "".join(normal(piece.decode()) for piece in cut_document(text.encode(), piece_bytes=size)) == normal(text)
