"""Small tokenizers of every kind, and plain twins of what `byteroute_ops.tokenization` computes on whole batches."""

import json
from functools import cache
from importlib import resources
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import zstandard
from plain_segmentation import NEUTRAL, script_of
from tokenizers import Tokenizer

from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.routing import Routed, Router, route_text
from byteroute_ops.segmentation import Segmentation
from byteroute_ops.stream_codec import parse
from byteroute_ops.tokenization import Tokens
from byteroute_ops.unicode_data import EMOJI

META = "\u2581"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@cache
def _default_json() -> bytes:
    packed = resources.files("byteroute_ops.tokenization").joinpath("data", "default.json.zst").read_bytes()
    return zstandard.ZstdDecompressor().decompress(packed)


def byte_level(**changes: Any) -> dict[str, Any]:
    """Returns the bundled tokenizer.json, with some top-level parts changed."""
    return json.loads(_default_json()) | changes


def template(before: dict[str, int], after: dict[str, int]) -> dict[str, Any]:
    """Returns a post-processor that puts tokens (content to id) before and after a text."""
    names = [*before, *after]
    return {
        "type": "TemplateProcessing",
        "single": [
            *({"SpecialToken": {"id": name, "type_id": 0}} for name in before),
            {"Sequence": {"id": "A", "type_id": 0}},
            *({"SpecialToken": {"id": name, "type_id": 0}} for name in after),
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            name: {"id": name, "ids": [(before | after)[name]], "tokens": [name]} for name in dict.fromkeys(names)
        },
    }


def added_token(index: int, content: str, **flags: bool) -> dict[str, Any]:
    """Returns an entry of `added_tokens`."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": index, "content": content} | plain | flags


def tokenizer_json(model: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Returns a tokenizer.json around a model."""
    empty = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": []} | empty | {"model": model} | parts


def byte_fallback() -> dict[str, Any]:
    """Returns a BPE with byte fallback, as Llama 2 has it."""
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), META, *LETTERS, "é", "я", "你"]
    merges = [("t", "h"), ("th", "e"), (META, "the"), (META, "a"), (META, META), ("a", "n"), ("l", "l")]
    names += [a + b for a, b in merges]
    model = {
        "type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
        "vocab": {name: index for index, name in enumerate(names)}, "merges": [list(pair) for pair in merges],
    }  # fmt: skip
    normalizers = [
        {"type": "Prepend", "prepend": META},
        {"type": "Replace", "pattern": {"String": " "}, "content": META},
    ]
    return tokenizer_json(
        model,
        normalizer={"type": "Sequence", "normalizers": normalizers},
        post_processor=template({"<s>": 1}, {}),
        added_tokens=[added_token(i, name) for i, name in enumerate(names[:3])],
    )


def unigram() -> dict[str, Any]:
    """Returns a Unigram behind NFKC, which changes texts and their offsets."""
    pieces = [["<s>", 0.0], ["<unk>", 0.0], ["</s>", 0.0], [META, -2.0]]
    pieces += [[char, -4.0 - index / 100] for index, char in enumerate(LETTERS + "éя你中あ한คᄀ1")]
    pieces += [[META + "the", -3.0], ["ing", -3.5], ["ff", -4.5]]
    return tokenizer_json(
        {"type": "Unigram", "unk_id": 1, "vocab": pieces, "byte_fallback": False},
        normalizer={"type": "NFKC"},
        pre_tokenizer={"type": "Metaspace", "replacement": META, "prepend_scheme": "always", "split": True},
        post_processor=template({"<s>": 0}, {"</s>": 2}),
        added_tokens=[added_token(0, "<s>"), added_token(1, "<unk>"), added_token(2, "</s>")],
    )


def wordpiece(unknown: str = "[UNK]") -> dict[str, Any]:
    """Returns an English WordPiece as BERT has it; with an unknown token that it lacks, unknown words raise."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *("##" + char for char in LETTERS), ",", ".", "the", "##ing"]
    return tokenizer_json(
        {
            "type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {name: index for index, name in enumerate(names)},
        },
        normalizer={
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": True,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor=template({"[CLS]": 2}, {"[SEP]": 3}),
        added_tokens=[added_token(index, name) for index, name in enumerate(names[:4])],
    )  # fmt: skip


def write(config: dict[str, Any], folder: Path, name: str = "model.json") -> Path:
    """Writes a tokenizer file and returns its path."""
    path = folder / name
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def library(config: dict[str, Any]) -> Tokenizer:
    """Returns the library's own tokenizer; nothing is switched off but truncation and padding."""
    return Tokenizer.from_str(json.dumps(config | {"truncation": None, "padding": None}))


def ids_of(own: Tokenizer, text: str, *, special: bool = True) -> list[int]:
    """Returns the ids that the library gives a text, whole."""
    return list(own.encode(text, add_special_tokens=special).ids)


def documents_of(tokens: Tokens) -> list[list[int]]:
    """Returns the ids document by document."""
    bounds = tokens.doc_offsets.tolist()
    return [tokens.ids[a:b].tolist() for a, b in pairwise(bounds)]


def plain_routed_ids(own: Tokenizer, text: str, router: Router) -> list[int]:
    """Returns the routed ids of one text, piece by piece of its stream, from the library's own model."""
    stream = route_text(text, router)
    bare = own.model
    pieces = parse(stream, framing=router.framing, profile=router.profile, barrier=router.barrier)
    ids: list[int] = []
    # A decoder may yield a text or payload in parts; markers, escapes and barriers stand alone.
    for (kind, *_), group in groupby(enumerate(pieces), lambda one: _group(*one)):
        parts = [piece for _, piece in group]
        if kind == "text":
            ids += ids_of(own, "".join(piece.text for piece in parts), special=False)
        else:
            raw = stream[parts[0].start : parts[-1].end]
            ids += [token.id for token in bare.tokenize("".join(BYTE_ALPHABET[byte] for byte in raw))]
    return ids


def _group(index: int, piece: Any) -> tuple[Any, ...]:
    return (piece.kind,) if piece.kind in ("text", "payload") else (piece.kind, index)


def plain_text_attribution(tokens: Tokens, texts: list[str], seg: Segmentation) -> tuple[list[int], list[int]]:
    """Returns tokens by run and added tokens by document, from the characters of each token."""
    chars = [(start, start + len(char.encode()), run, strong) for start, char, run, strong in _characters(texts, seg)]
    return _attributed(tokens, chars, len(seg.run_doc), texts)


def plain_routed_attribution(
    tokens: Tokens, texts: list[str], routed: Routed, seg: Segmentation
) -> tuple[list[int], list[int]]:
    """Returns tokens by run (framing counts for the run it is billed to) and added tokens by document."""
    places = list(_characters(texts, seg))
    chars = []
    for row in range(len(routed.row_doc)):
        doc, encoding = int(routed.row_doc[row]), int(routed.row_encoding[row])
        base, place = int(seg.doc_cp[doc]), int(routed.doc_routed[doc] + routed.row_start[row])
        run = int(routed.row_run[row])
        chars.append((int(routed.row_region[row]), place, run, False))  # an opening marker
        for index in range(base + int(routed.row_text_start[row]), base + int(routed.row_text_end[row])):
            _, char, _, strong = places[index]
            width = len(_in_stream(char, encoding, routed.router))
            chars.append((place, place + width, run, strong))
            place += width
        chars.append((place, int(routed.row_region[row + 1]), run, False))  # a closing marker
    return _attributed(tokens, [one for one in chars if one[1] > one[0]], len(seg.run_doc), texts)


def _in_stream(char: str, encoding: int, router: Router) -> bytes:
    if encoding == 0:
        return (b"\xef\xa4\x84" * (router.framing == "control" and "\uf900" <= char <= "\uf904")) + char.encode()
    raw = char.encode(("utf-16-be", "utf-16-le")[encoding - 1])
    return "".join(BYTE_ALPHABET[byte] for byte in raw).encode() if router.profile == "text" else raw


def _characters(texts: list[str], seg: Segmentation) -> list[tuple[int, str, int, bool]]:
    """Returns (first byte, character, run, whether it is strong) of every character of the batch."""
    found, start, index = [], 0, 0
    starts = seg.run_start.tolist()
    run = -1
    for char in "".join(texts):
        while run + 1 < len(starts) and starts[run + 1] <= index:
            run += 1
        strong = seg.run_script[run] == EMOJI or script_of(char) not in NEUTRAL
        found.append((start, char, run, bool(strong)))
        start, index = start + len(char.encode()), index + 1
    return found


def _attributed(
    tokens: Tokens, chars: list[tuple[int, int, int, bool]], n_runs: int, texts: list[str]
) -> tuple[list[int], list[int]]:
    per_run, added = [0] * n_runs, [0] * len(texts)
    doc_of = np.repeat(np.arange(len(texts)), np.diff(tokens.doc_offsets))
    for index in range(len(tokens.ids)):
        start, end = int(tokens.starts[index]), int(tokens.ends[index])
        if tokens.added[index] or not texts[doc_of[index]]:
            added[doc_of[index]] += 1
            continue
        touched = [one for one in chars if one[0] < max(end, start + 1) and one[1] > start]
        per_run[next((one for one in touched if one[3]), touched[0])[2]] += 1
    return per_run, added


def strings(*texts: str) -> pa.StringArray:
    """Returns texts as an Arrow column."""
    return pa.array(texts, pa.string())
