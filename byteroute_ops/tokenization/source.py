"""Reads a tokenizer.json and finds out what may be assumed of it.

Format: the JSON of the Hugging Face `tokenizers` library, version "1.0" (`Tokenizer::to_string`). What is
assumed is decided on the structure alone, so it holds for every text; see `Traits`.
"""

import gzip
import io
import unicodedata
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson
import zstandard
from tokenizers import Tokenizer

from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.errors import ConfigError
from byteroute_ops.fingerprints import structural_digest

from .bare import bare_json
from .protocol import Int32

Kind = Literal["byte-level BPE", "byte-fallback BPE", "BPE", "Unigram", "WordPiece", "WordLevel"]

_META = "\u2581"
"""What SentencePiece-style models write for a space."""
_LLAMA_NORMALIZERS = (
    [{"type": "Prepend", "prepend": _META}, {"type": "Replace", "pattern": {"String": " "}, "content": _META}],
    [{"type": "Replace", "pattern": {"String": " "}, "content": _META}],
)
_BRACKETS = "<>[]{}|"
_KEEPS_ALL = ("Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
"""Behaviours of a splitting pre-tokenizer that drop nothing; `Removed` does."""


@dataclass(frozen=True)
class Traits:
    """What the structure of a tokenizer.json promises.

    Attributes:
        kind: of the model.
        byte_lengths: int32[n_ids]: bytes that each id stands for; None: the vocabulary does not tell.
        suspect: int32[k]; ids in whose texts lengths are not believed: added tokens that strip or look at neighbours,
            whose contents NFC changes, or before which the normalizer puts its `lead` again.
        exact: lengths tell spans: every byte of a text becomes part of exactly one token, as the model is a BPE without
            affixes and nothing between text and model drops or adds bytes but what `nfc` and `lead` say. They
            hold for a document whose length is their sum (`lead` included).
        lead: characters that the normalizer puts before a text (Llama 2: one); part of the first token's length.
        nfc: the normalizer is NFC: lengths are right for documents that NFC leaves as they are.
        prefix: int32[p]; ids that the post-processor puts before every text. They are constant, so they can be put
            there by us, and a document can be encoded in pieces.
        suffix: int32[s]; likewise, after every text.
        added: contents of the added tokens, by id.
        steady: no added token looks at its neighbours (`lstrip`, `rstrip`, `single_word`), or all that do begin and end
            with brackets, which are never next to a cut.
        spaced: the arrangement, of the two known to encode word by word, that the tokenizer has; None: neither.
        patterns: the pre-tokenizer's regular expressions, in order; None: it has parts other than these and ByteLevel.
        routed_reason: why the model has no routed ids; None: it has.
        unknown: id of the unknown token; None: there is none, or bytes stand in for it.
    """

    kind: Kind
    byte_lengths: Int32 | None
    suspect: Int32
    exact: bool
    lead: int
    nfc: bool
    prefix: Int32
    suffix: Int32
    added: dict[int, str]
    steady: bool
    spaced: Literal["BERT", "Metaspace"] | None
    patterns: tuple[str, ...] | None
    routed_reason: str | None
    unknown: int | None


@dataclass(frozen=True)
class Source:
    """A tokenizer file, read and understood.

    Attributes:
        name: file name without suffixes: what tables and flags call it.
        json: tokenizer.json without truncation, padding and post-processor. The first two would cut or fill documents
            silently; the third is done by `Traits.prefix` and `suffix`, and may trim offsets.
        traits: what may be assumed.
        digest: SHA-256 over all that decides ids, as hex.
    """

    name: str
    json: str
    traits: Traits
    digest: str


def read_source(data: bytes, name: str) -> Source:
    """Returns the tokenizer of a file's bytes, plain, gzip or zstd (told by the first bytes).

    Settings for truncation and padding in the file are switched off: budgets count whole documents.

    Raises:
        ConfigError: the bytes are no tokenizer.json, or one whose ids are not a function of the text (dropout).
    """
    try:
        config = orjson.loads(_decompressed(data))
    except (OSError, EOFError, zlib.error, zstandard.ZstdError, orjson.JSONDecodeError) as error:
        raise ConfigError(
            f"tokenizer {name!r:.80}: not a readable tokenizer.json ({type(error).__name__}); give the JSON file of "
            "the Hugging Face `tokenizers` library, plain, .gz or .zst, or the name `default` or `bytes`"
        ) from None
    model = config.get("model") if isinstance(config, dict) else None
    if not isinstance(model, dict) or "vocab" not in model:
        raise ConfigError(
            f"tokenizer {name!r:.80}: JSON without a `model` that has a `vocab`; give tokenizer.json, not "
            "tokenizer_config.json or vocab.json (a slow tokenizer: save it once with `transformers` as a fast one)"
        )
    if model.get("dropout"):
        raise ConfigError(
            f"tokenizer {name!r:.80}: model.dropout is {model['dropout']!r:.80}, so its ids are random; set it to null"
        )
    digest = structural_digest(config)
    traits = _traits(config, name)
    return Source(name, bare_json(config), traits, digest)


def file_name(path: str | Path) -> str:
    """Returns what a tokenizer file is called in tables: the file name up to the suffixes.

    >>> file_name("models/cl100k.json.zst"), file_name("qwen/tokenizer.json")
    ('cl100k', 'qwen')
    """
    path = Path(path)
    stem = path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".json")
    return path.parent.name or stem if stem == "tokenizer" else stem


def _decompressed(data: bytes) -> bytes:
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
    return data


def _traits(config: dict[str, Any], name: str) -> Traits:
    model, steps = config["model"], _flat(config.get("pre_tokenizer"), "pretokenizers")
    normalizers = _flat(config.get("normalizer"), "normalizers")
    added = config.get("added_tokens") or []
    prefix, suffix = _affixes(config.get("post_processor"), name)
    kind = _kind(model, steps)
    nfc = [step["type"] for step in normalizers] == ["NFC"]
    lead = int(normalizers == _LLAMA_NORMALIZERS[0])
    looking = [token["content"] for token in added if any(map(token.get, ("lstrip", "rstrip", "single_word")))]
    vocab, routed_reason = model["vocab"], _routed_reason(kind, model)
    lengths, trusted, exact = None, True, all(map(_keeps_bytes, steps))
    if kind == "byte-level BPE" and routed_reason is None:
        plain = all(unicodedata.is_normalized("NFC", token["content"]) for token in added)
        lengths = _byte_lengths(vocab, added, len)
        exact, trusted = exact and (nfc or not normalizers), not looking and (plain or not nfc)
    elif kind == "byte-fallback BPE" and normalizers in _LLAMA_NORMALIZERS and _has_fallback_bytes(vocab):
        lengths = _byte_lengths(vocab, added, _fallback_length)
        trusted = not looking and not lead
    return Traits(
        kind=kind,
        byte_lengths=lengths,
        suspect=np.array([] if trusted else [token["id"] for token in added], np.int32),
        exact=exact and lengths is not None,
        lead=lead,
        nfc=nfc,
        prefix=prefix,
        suffix=suffix,
        added={token["id"]: token["content"] for token in added},
        steady=all(content[0] in _BRACKETS and content[-1] in _BRACKETS for content in looking),
        spaced=_spaced(kind, normalizers, steps),
        patterns=_patterns(steps),
        routed_reason=routed_reason,
        unknown=_unknown(kind, model),
    )


def _unknown(kind: Kind, model: dict[str, Any]) -> int | None:
    if kind in ("byte-level BPE", "byte-fallback BPE"):
        return None
    if model.get("unk_id") is not None:
        return int(model["unk_id"])
    unknown = model["vocab"].get(model.get("unk_token")) if isinstance(model["vocab"], dict) else None
    return None if unknown is None else int(unknown)


def _spaced(
    kind: Kind, normalizers: list[dict[str, Any]], steps: list[dict[str, Any]]
) -> Literal["BERT", "Metaspace"] | None:
    names = [step["type"] for step in steps]
    if kind == "WordPiece" and [one["type"] for one in normalizers] == ["BertNormalizer"]:
        return "BERT" if names == ["BertPreTokenizer"] else None
    one_space = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    charsmap = bool(normalizers) and normalizers[0]["type"] == "Precompiled" and normalizers[1:] in ([], [one_space])
    if kind == "Unigram" and charsmap and names in (["Metaspace"], ["WhitespaceSplit", "Metaspace"]):
        space = steps[-1]
        return "Metaspace" if space.get("prepend_scheme") == "always" and space.get("split") else None
    return None


def _flat(step: Any, children: str) -> list[dict[str, Any]]:
    """Returns the steps of a normalizer or pre-tokenizer in order, sequences unrolled."""
    if step is None:
        return []
    if step.get("type") == "Sequence":
        return [leaf for child in step[children] for leaf in _flat(child, children)]
    return [step]


def _kind(model: dict[str, Any], steps: list[dict[str, Any]]) -> Kind:
    # Old files leave the type out; only a BPE has merges, and only a Unigram's vocabulary is a list.
    guess = "BPE" if "merges" in model else "Unigram" if isinstance(model["vocab"], list) else "WordLevel"
    name: Kind = model.get("type", guess)
    if name != "BPE" or model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"):
        return name
    if any(step["type"] == "ByteLevel" for step in steps):
        return "byte-level BPE"
    return "byte-fallback BPE" if model.get("byte_fallback") else name


def _keeps_bytes(step: dict[str, Any]) -> bool:
    if step["type"] == "ByteLevel":
        return not step.get("add_prefix_space")
    splits = step["type"] in ("Split", "Punctuation")
    return (splits and step["behavior"] in _KEEPS_ALL) or step["type"] == "Digits"


def _patterns(steps: list[dict[str, Any]]) -> tuple[str, ...] | None:
    patterns = []
    for step in steps:
        if step["type"] == "Split" and step["behavior"] == "Isolated" and not step["invert"]:
            patterns.append(step["pattern"].get("Regex", ""))
        elif step["type"] == "ByteLevel" and not step.get("add_prefix_space"):
            patterns += [GPT2_PATTERN] if step.get("use_regex", True) else []
        else:
            return None
    return tuple(patterns)


GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""What ByteLevel with `use_regex` splits by."""


def _byte_lengths(vocab: dict[str, int], added: list[dict[str, Any]], length: Callable[[str], int]) -> Int32:
    ids = [*vocab.values(), *(token["id"] for token in added)]
    lengths = np.zeros(max(ids, default=-1) + 1, np.int32)
    for token, index in vocab.items():
        lengths[index] = length(token)
    for one in added:
        lengths[one["id"]] = len(one["content"].encode())
    return lengths


def _has_fallback_bytes(vocab: dict[str, int]) -> bool:
    return all(f"<0x{byte:02X}>" in vocab for byte in range(256))


def _fallback_length(token: str) -> int:
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        return 1
    return len(token.replace(_META, " ").encode())


def _affixes(post: Any, name: str) -> tuple[Int32, Int32]:
    """Returns the ids that a post-processor puts round a text.

    Read off the library: a one-word tokenizer with this post-processor encodes its word, and nothing. (Reading the
    JSON instead goes wrong where a sequence holds two templates: the second then sees a pair.)
    """
    model = {"type": "WordLevel", "vocab": {"x": 0}, "unk_token": "x"}
    try:
        probe = Tokenizer.from_str(orjson.dumps({"version": "1.0", "model": model, "post_processor": post}).decode())
        encoding, empty = probe.encode("x"), probe.encode("")
    except Exception as error:  # the binding raises bare Exception
        raise ConfigError(
            f"tokenizer {name!r:.80}: its post_processor does not work ({error!s:.200}); set it to null to do without"
        ) from None
    is_text = [index for index, added in enumerate(encoding.special_tokens_mask) if not added]
    if len(is_text) != 1 or encoding.ids[: is_text[0]] + encoding.ids[is_text[0] + 1 :] != empty.ids:
        raise ConfigError(
            f"tokenizer {name!r:.80}: its post_processor does not just put constant tokens round a text; set it null"
        )
    return np.array(encoding.ids[: is_text[0]], np.int32), np.array(encoding.ids[is_text[0] + 1 :], np.int32)


def _routed_reason(kind: Kind, model: dict[str, Any]) -> str | None:
    if kind != "byte-level BPE":
        return f"{kind} has no ids for raw bytes; use a byte-level BPE, or the `bytes` tokenizer"
    missing = sum(char not in model["vocab"] for char in BYTE_ALPHABET)
    if missing:
        return f"{missing} of the 256 single bytes are not in its vocabulary"
    return None
