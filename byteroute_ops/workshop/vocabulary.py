"""A tokenizer's vocabulary as bytes: what each id stands for, whatever way the file spells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.tokenization.source import Kind, read_source

Bools = npt.NDArray[np.bool_]

META: Final = "\u2581"
"""What SentencePiece-style models write for a space."""
_BYTE_OF: Final = {ord(char): byte for byte, char in enumerate(BYTE_ALPHABET)}


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The ids of a tokenizer.json.

    Attributes:
        name: of the tokenizer.
        kind: of its model.
        n_ids: one more than the greatest id.
        spelling: id → the model's own string; ids that only added tokens have are not there.
        added: id → content of the added tokens, special ones and others.
        unknown: the id of the unknown token, if any.
        prefix: what a WordPiece's inner pieces begin with; empty for other models.
    """

    name: str
    kind: Kind
    n_ids: int
    spelling: Mapping[int, str]
    added: Mapping[int, str]
    unknown: int | None
    prefix: str = ""

    @staticmethod
    def from_json(data: bytes, name: str) -> "Vocabulary":
        """Returns the vocabulary of a tokenizer.json.

        Raises:
            ConfigError: as `tokenization.source.read_source`.
        """
        source = read_source(data, name)
        config = orjson.loads(source.json)
        model = config["model"]
        spelling = spellings(model)
        unknown = model.get("unk_id")
        if model.get("unk_token") is not None:
            unknown = next((index for index, token in spelling.items() if token == model["unk_token"]), None)
        n_ids = max([*spelling, *source.traits.added], default=-1) + 1
        prefix = model.get("continuing_subword_prefix") or ""
        return Vocabulary(name, source.traits.kind, n_ids, spelling, source.traits.added, unknown, prefix)

    @property
    def size(self) -> int:
        """Ids that there are: `n_ids` without holes."""
        return len(self.spelling.keys() | self.added.keys())

    @cached_property
    def content(self) -> tuple[bytes | None, ...]:
        """What each id stands for, bytes[n_ids]; None: nothing (a special token, an unused id)."""
        found: list[bytes | None] = [None] * self.n_ids
        for index, token in self.spelling.items():
            if index not in self.added and index != self.unknown:
                found[index] = self._bytes_of(token)
        return tuple(found)

    @cached_property
    def is_unknown(self) -> Bools:
        """bool[n_ids]: True for the unknown token alone."""
        found = np.zeros(self.n_ids, np.bool_)
        if self.unknown is not None:
            found[self.unknown] = True
        return found

    @cached_property
    def is_fragment(self) -> Bools:
        """bool[n_ids]: tokens that are no well-formed UTF-8 by themselves, and the `<0xNN>` of byte fallback."""
        found = np.zeros(self.n_ids, np.bool_)
        for index, token in enumerate(self.content):
            found[index] = token is not None and not _is_text(token)
        found[[index for index, token in self.spelling.items() if self._is_fallback(token)]] = True
        return found

    def _is_fallback(self, token: str) -> bool:
        return self.kind in ("byte-fallback BPE", "Unigram") and fallback_byte(token) is not None

    def _bytes_of(self, token: str) -> bytes:
        if self.kind == "byte-level BPE":
            # A token with other characters is an added token of old, spelled as text.
            known = all(ord(char) in _BYTE_OF for char in token)
            return bytes(_BYTE_OF[ord(char)] for char in token) if known else token.encode()
        if self._is_fallback(token):
            return bytes([fallback_byte(token) or 0])
        return token.removeprefix(self.prefix).replace(META, " ").encode()


def spellings(model: Mapping[str, Any]) -> dict[int, str]:
    """Returns id → string of the vocabulary of a model of a tokenizer.json: a list for Unigram, else an object."""
    vocab = model["vocab"]
    if isinstance(vocab, list):
        return {index: piece for index, (piece, _) in enumerate(vocab)}
    return {index: token for token, index in vocab.items()}


def fallback_byte(token: str) -> int | None:
    """Returns the byte of a token of byte fallback; None: it is none.

    >>> fallback_byte("<0xE2>"), fallback_byte("e2")
    (226, None)
    """
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        try:
            return int(token[3:5], 16)
        except ValueError:
            return None
    return None


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
