"""A tokenizer made of a tokenizer.json: documents in, tokens out, whichever engine does the work."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from byteroute_ops.errors import ConfigError
from byteroute_ops.fingerprints import NASTY_TEXTS, behavioural_digest
from byteroute_ops.routing import Routed
from byteroute_ops.segmentation import utf8_of

from .cutting import PIECE_BYTES, cut_document, cut_places
from .documents import encode_pieces, spread_spans, stretches, with_affixes
from .hf import ReferenceEngine
from .payload import PayloadBpe
from .prepared import Prepared
from .protocol import Bools, Bytes, Encoded, Engine, Int32, Int64, Spans, Tokens
from .routed import routed_pieces
from .source import Source
from .spans import SpanFinder


class ModelTokenizer:
    """Any model of the `tokenizers` library.

    Added tokens that occur in a text as text (a document that quotes `<|endoftext|>`) are matched, as the library does.

    Args:
        source: the tokenizer file.
        reference: its reference engine.
        fast: the engine for ids; None: the reference.
        note: why there is no faster one.
        add_special_tokens: whether the post-processor's tokens go round every document.
        fingerprint: what another process has found out; None: found out when it is asked for.
    """

    def __init__(
        self,
        source: Source,
        reference: ReferenceEngine,
        fast: Engine | None,
        *,
        note: str | None = None,
        add_special_tokens: bool = True,
        fingerprint: dict[str, Any] | None = None,
    ) -> None:
        self.name = source.name
        self.traits = source.traits
        self.note = note
        self._source = source
        self._known = fingerprint
        self._reference = reference
        self._fast: Engine = fast or reference
        self._add_special_tokens = add_special_tokens
        none = np.zeros(0, np.int32)
        self._affixes = (source.traits.prefix, source.traits.suffix) if add_special_tokens else (none, none)
        self._places = cut_places(source.traits, reference.is_normal)
        lengths = source.traits.byte_lengths
        plain = source.traits.exact and not (source.traits.nfc or source.traits.lead or source.traits.suspect.size)
        self._lengths = lengths if plain else None
        self._finder = None if lengths is None else SpanFinder(lengths, source.traits, reference, self._cut)

    @property
    def engine(self) -> str:
        """Name of the engine in use."""
        return self._fast.name

    @property
    def vocab_size(self) -> int:
        """One more than the greatest id."""
        return self._reference.vocab_size if self._known is None else int(self._known["vocab_size"])

    @property
    def unknown_id(self) -> int | None:
        """Id of the unknown token; None where every text has ids of its own."""
        return self.traits.unknown

    @property
    def routed_reason(self) -> str | None:
        """Why there are no routed ids; None: there are."""
        return self.traits.routed_reason

    def text(self, texts: pa.StringArray, *, spans: bool = True) -> Tokens:
        """Returns the ids of clean texts; see `Tokenizer.text`."""
        utf8, bounds = utf8_of(texts)
        encoded, failed = self._encode(utf8, bounds[:-1], bounds[1:], spans=spans and not self.traits.exact)

        def find() -> Spans:
            if self._finder is not None and self.traits.exact:
                is_text = np.ones(encoded.counts.size, np.bool_)
                return self._finder.find(encoded, utf8, bounds[:-1], bounds[1:], is_text=is_text)
            known = encoded if spans else self._encode(utf8, bounds[:-1], bounds[1:], spans=True)[0]
            none = np.zeros(0, np.int64)
            return (none, none) if known.starts is None or known.ends is None else (known.starts, known.ends)

        return self._tokens(encoded, failed, bounds, find)

    def routed(self, routed: Routed, text_tokens: Tokens | None = None) -> Tokens | None:
        """Returns the ids of routed streams; see `Tokenizer.routed`. The rules are in `routed`."""
        finder = self._finder
        if self.routed_reason is not None or finder is None:
            return None
        pieces = routed_pieces(routed)
        in_text, in_payload, in_plain = pieces.is_text & ~pieces.is_plain, ~pieces.is_text, pieces.is_plain
        parts, failed = [], np.zeros(routed.doc_routed.size - 1, np.bool_)
        for chosen in (in_text, in_plain) if text_tokens is None else (in_text,):
            encoded, bad = self._encode(routed.data, pieces.starts[chosen], pieces.ends[chosen], spans=False)
            failed[pieces.doc[chosen][bad]] = True
            parts.append((chosen, encoded))
        if in_payload.any():
            starts, ends = pieces.starts[in_payload], pieces.ends[in_payload]
            parts.append((in_payload, self._payload.encode(routed.data, starts, ends)))
        if text_tokens is not None:
            failed[text_tokens.failed] = True
            parts.append((in_plain, _of_documents(text_tokens, pieces.doc[in_plain])))
        encoded = _without(_interleaved(parts, pieces.starts.size), failed[pieces.doc])
        n_tokens = np.bincount(pieces.doc, encoded.counts, failed.size).astype(np.int64)

        def find() -> Spans:
            return finder.find(encoded, routed.data, pieces.starts, pieces.ends, is_text=pieces.is_text)

        return self._tokens(encoded._replace(counts=n_tokens), failed, routed.doc_routed, find)

    def decode_routed_ids(self, ids: Int32) -> bytes:
        """Returns the bytes of one document's routed ids; with an NFC normalizer, text comes back normalized.

        Raises:
            ConfigError: the model has no routed ids.
        """
        if self.routed_reason is not None:
            raise ConfigError(f"tokenizer {self.name!r:.80}: no routed ids: {self.routed_reason}")
        prefix, suffix = self._affixes
        return self._payload.decode(ids[prefix.size : ids.size - suffix.size])

    def fingerprint(self) -> dict[str, Any]:
        """Returns what identifies the ids: the same for every engine and every place of the file."""
        if self._known is None:
            self._known = {
                "name": self.name,
                "kind": self.traits.kind,
                "vocab_size": self.vocab_size,
                "add_special_tokens": self._add_special_tokens,
                "structural": self._source.digest,
                "behavioural": self._behaviour(),
            }
        return dict(self._known)

    def prepared(self) -> Prepared:
        """Returns what another process needs in order not to read and check the file again."""
        return Prepared(self._source, self._fast is not self._reference, self.note, self.fingerprint())

    def _behaviour(self) -> str:
        added = [content for _, content in sorted(self.traits.added.items())]
        tokens = self.text(pa.array([*NASTY_TEXTS, *added], pa.string()), spans=False)
        return behavioural_digest(np.split(tokens.ids, tokens.doc_offsets[1:-1]))

    @cached_property
    def _payload(self) -> PayloadBpe:
        return PayloadBpe(self._reference.library, self.traits.added)

    def _cut(self, utf8: bytes) -> list[bytes]:
        return [utf8] if self._places is None or len(utf8) <= PIECE_BYTES else cut_document(utf8, self._places)

    def _encode(self, data: Bytes, starts: Int64, ends: Int64, *, spans: bool) -> tuple[Encoded, Bools]:
        """Returns the tokens of stretches of `data`, and which of them failed and so have none."""
        cut = [self._cut(utf8) for utf8 in stretches(data, starts, ends)]
        if not cut:
            return Encoded(np.zeros(0, np.int32), np.zeros(0, np.int64)), np.zeros(0, np.bool_)
        n_parts = np.array([len(parts) for parts in cut])
        encode = self._reference.encode_spans if spans else self._fast.encode
        rescue = None if spans or self._fast is self._reference else self._reference.encode
        encoded, lost = encode_pieces(encode, [part for parts in cut for part in parts], rescue)
        first = np.cumsum(n_parts) - n_parts
        failed = np.logical_or.reduceat(lost, first)
        counts = np.add.reduceat(encoded.counts, first)
        return _without(encoded._replace(counts=counts), failed), failed

    def _tokens(self, encoded: Encoded, failed: Bools, bounds: Int64, find: Callable[[], Spans]) -> Tokens:
        prefix, suffix = self._affixes
        ids, offsets, added = with_affixes(encoded.ids, np.where(failed, -1, encoded.counts), prefix, suffix)
        return Tokens(
            ids,
            offsets,
            added,
            lambda: spread_spans(find(), added, offsets, bounds, prefix.size),
            np.flatnonzero(failed),
            self._lengths,
        )


def _without(encoded: Encoded, failed: Bools) -> Encoded:
    """Returns the tokens without those of failed stretches."""
    if not failed.any():
        return encoded
    keep = np.repeat(~failed, encoded.counts)
    counts = np.where(failed, 0, encoded.counts)
    if encoded.starts is None or encoded.ends is None:
        return Encoded(encoded.ids[keep], counts)
    return Encoded(encoded.ids[keep], counts, encoded.starts[keep], encoded.ends[keep])


def _of_documents(tokens: Tokens, docs: Int64) -> Encoded:
    """Returns the tokens of some documents, without added ones."""
    counts = np.bincount(
        np.repeat(np.arange(tokens.counts.size), tokens.counts)[~tokens.added], minlength=tokens.counts.size
    )
    wanted = np.zeros(tokens.counts.size, np.bool_)
    wanted[docs] = True
    return Encoded(tokens.ids[~tokens.added & np.repeat(wanted, tokens.counts)], counts[docs].astype(np.int64))


def _interleaved(parts: list[tuple[Bools, Encoded]], n_pieces: int) -> Encoded:
    """Returns the tokens of all pieces in order, given those of disjoint choices of pieces."""
    counts = np.zeros(n_pieces, np.int64)
    source = np.zeros(n_pieces, np.int8)
    for index, (chosen, encoded) in enumerate(parts):
        counts[chosen] = encoded.counts
        source[chosen] = index
    of_token = np.repeat(source, counts)
    ids = np.empty(of_token.size, np.int32)
    for index, (_, encoded) in enumerate(parts):
        ids[of_token == index] = encoded.ids
    return Encoded(ids, counts)
