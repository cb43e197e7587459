"""Digests of everything that changes ids, so that two runs can tell whether their ids mean the same.

Two for a tokenizer: *structural*, over the file, and *behavioural*, over the ids of a fixed list of nasty texts
(the idea of llama.cpp's `chktxt`): the first sees a change that no text of ours shows, the second a change of the
library that no file shows. `run_fingerprint` adds policy, framing, Unicode version and settings.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

NASTY_TEXTS: Final = (
    "",
    " ",
    "  \t\n \r\n\n  x   y\u00a0z\u3000w\u2028v  ",
    "Hello, world! I'm you're WE'LL they'd DON'T ſ'ſ 'S",
    "1 12 123 1234 12345 3.14159 1,000,000 ٠١٢٣ १२३ ①② ½",
    "aA bBc CamelCaseWord snake_case_word kebab-case/path\\to?x=1&y=[2]{3}",
    "caf\u00e9 cafe\u0301 \u212b \u00c5 A\u030a \ufb01 \u1e9b\u0323 Vi\u1ec7t Nam Vie\u0323\u0302t",
    "Ελληνικά Русский язык українська ქართული Հայերեն",
    "שָׁלוֹם עולם السَّلامُ عليكم نمی\u200cخواهم",
    "हिन्दी क्ष क्\u200dष বাংলা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල ਪੰਜਾਬੀ ગુજરાતી ଓଡ଼ିଆ",
    "ภาษาไทย\u200bไม่มีช่องว่าง ລາວ ខ្មែរ\u200bភាសា မြန်မာ བོད་སྐད།",
    "中文，没有空格。日本語のテキスト、カタカナ！한국어 텍스트 \u1112\u1161\u11ab ㄅㄆㄇ 𠀀𪚥",
    "አማርኛ ᏣᎳᎩ ⵜⴰⵎⴰⵣⵉⵖⵜ 𞤆𞤵𞤤𞤢𞤪 ᠮᠣᠩᠭᠣᠯ ꦗꦮ",
    "😀 👩\u200d👩\u200d👧\u200d👦 👍🏽 🇩🇪🇫🇷 1\ufe0f\u20e3 ❤\ufe0f ❤\ufe0e 🏴"
    "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "\u0301 lone \u200d\u200c\u2060\ufeff\u00ad \ufffd \uffff \U0010ffff \u2581 \u0120 \u010a",
    "\uf900\uf901\uf902\uf903\uf904 豈更車賈滑",
    "".join(map(chr, range(256))),
    "a" * 300 + " " * 300 + "\n" * 300 + "=" * 300 + "的" * 300,
    "<s></s><unk><pad><mask>[CLS][SEP][UNK][PAD][MASK]<|endoftext|><|im_start|>user<0x0A>",
)
"""Whitespace runs, contractions, digits, NFC against NFD, every joiner, bidi, many scripts, emoji sequences, what looks
like markers, every byte value as a Latin-1 character, long repeats, and special tokens written as text."""


def structural_digest(config: dict[str, Any]) -> str:
    """Returns the SHA-256, as hex, over the parts of a tokenizer.json that decide ids.

    Model (vocabulary, merges, fallback, unknown token …), normalizer, pre-tokenizer, post-processor and added tokens.
    Not: decoder, truncation and padding (both are switched off), and how the file spells the same thing
    (key order, merges as pairs or as strings).

    >>> structural_digest({"model": {"merges": ["a b"]}}) == structural_digest({"model": {"merges": [["a", "b"]]}})
    True
    """
    model = dict(config["model"])
    if "merges" in model:
        model["merges"] = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    parts = {name: config.get(name) for name in ("normalizer", "pre_tokenizer", "post_processor")}
    added = sorted(config.get("added_tokens") or [], key=lambda token: int(token["id"]))
    return json_digest(parts | {"model": model, "added_tokens": added})


def behavioural_digest(ids: Iterable[npt.NDArray[np.int32]]) -> str:
    """Returns the SHA-256, as hex, over lists of ids: each as its count and its ids, little-endian int32.

    Args:
        ids: of `NASTY_TEXTS` and of the added tokens' contents, a list a text.
    """
    sha = hashlib.sha256()
    for one in ids:
        sha.update(np.array([one.size, *one], "<i4").tobytes())
    return sha.hexdigest()


def tokenizer_digest(fingerprint: dict[str, Any]) -> str:
    """Returns what a calibrated policy knows a tokenizer by: its `fingerprint()` without what changes no cost.

    That is its name, so that files may be renamed, and whether special tokens are added, which routing leaves alone.

    >>> tokenizer_digest({"name": "a", "structural": "1"}) == tokenizer_digest({"name": "b", "structural": "1"})
    True
    """
    return json_digest({key: value for key, value in fingerprint.items() if key not in ("name", "add_special_tokens")})


def run_fingerprint(
    *,
    tokenizers: Sequence[dict[str, Any]],
    policy: dict[str, Any],
    framing: str,
    profile: str,
    barrier: bool,
    unicode_version: str,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Returns what decides the ids of a run, with one digest over it all.

    Args:
        tokenizers: `Tokenizer.fingerprint()` of each, in order.
        policy: the policy in canonical form.
        framing: of routed segments.
        profile: of the routed stream.
        barrier: whether C0 80 stands before opening markers.
        unicode_version: of the segmentation tables.
        settings: whatever else changes ids: cleaning, special tokens, which ids are written.

    Returns:
        JSON-able; equal digests mean equal ids for equal input.

    >>> stream = {"policy": {}, "framing": "control", "profile": "bytes", "barrier": False}
    >>> rest = {"unicode_version": "18.0.0", "settings": {}, **stream}
    >>> one, other = (run_fingerprint(tokenizers=[{"structural": name}], **rest) for name in "ab")
    >>> one["sha256"] == other["sha256"]
    False
    """
    parts = {
        "tokenizers": list(tokenizers),
        "policy": policy,
        "framing": framing,
        "profile": profile,
        "barrier": barrier,
        "unicode": unicode_version,
        "settings": settings,
    }
    return parts | {"sha256": json_digest(parts)}


def json_digest(value: Any) -> str:
    """Returns the SHA-256, as hex, of a JSON-able value in one canonical form (sorted keys, no spaces)."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
