"""Byte spans of tokens from the byte lengths of their ids, and from the reference where lengths cannot tell."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .documents import encode_pieces, stretches
from .hf import ReferenceEngine
from .protocol import Bools, Bytes, Encoded, Int32, Int64, Spans
from .source import Traits


@dataclass(frozen=True)
class SpanFinder:
    """Finds spans for ids that come without them.

    Attributes:
        lengths: int32[n_ids], as `Traits.byte_lengths`.
        traits: of the tokenizer.
        reference: asked for the texts whose lengths do not hold.
        cut: cuts a long text into pieces.
    """

    lengths: Int32
    traits: Traits
    reference: ReferenceEngine
    cut: Callable[[bytes], list[bytes]]

    def find(self, encoded: Encoded, data: Bytes, starts: Int64, ends: Int64, *, is_text: Bools) -> Spans:
        """Returns the spans, in `data`, of the tokens of some stretches of it.

        Args:
            encoded: the tokens, without added ones.
            data: uint8[n_bytes].
            starts: int64[k], where the stretches begin.
            ends: int64[k], where they end.
            is_text: bool[k], whether the normalizer ran over a stretch.

        Raises:
            RuntimeError: the reference has another number of tokens for a text than the engine that made the ids.
        """
        counts, lead = encoded.counts, np.where(ends > starts, self.traits.lead, 0)
        total, bounds = np.zeros(encoded.ids.size + 1, np.int64), np.zeros(counts.size + 1, np.int64)
        np.cumsum(self.lengths[encoded.ids], out=total[1:])
        np.cumsum(counts, out=bounds[1:])
        adds_up = np.diff(total[bounds]) == ends - starts + lead
        # Stretches side by side whose lengths all add up need no shift: both ends are views of one array then.
        first, last = total[:-1], total[1:]
        shift = starts - total[bounds[:-1]] - lead
        if shift[counts > 0].any():
            by_token = np.repeat(shift, counts)
            first, last = first + by_token, last + by_token
        if self.traits.lead:
            edge = np.repeat(starts, counts)
            first, last = np.maximum(first, edge), np.maximum(last, edge)
        doubtful = np.full(counts.size, not self.traits.exact) | ~adds_up
        if self.traits.suspect.size:
            hits = np.concatenate([[0], np.cumsum(np.isin(encoded.ids, self.traits.suspect))])
            adds_up &= np.diff(hits[bounds]) == 0
            doubtful |= ~adds_up
        if self.traits.nfc:
            # NFC leaves ASCII alone (UAX #15, section 5); about the rest the library's own normalizer is asked.
            doubtful |= _has_non_ascii(data, starts, ends)
        doubtful &= is_text & (counts > 0)
        place = np.flatnonzero(doubtful)
        for index, utf8 in zip(place.tolist(), stretches(data, starts[place], ends[place]), strict=True):
            if self.traits.exact and adds_up[index] and self.reference.is_normal(utf8.decode()):
                continue
            part = slice(bounds[index], bounds[index + 1])
            if np.may_share_memory(first, last):
                first, last = first.copy(), last.copy()
            spans = self._of_reference(utf8, int(counts[index]))
            first[part], last[part] = spans[0] + starts[index], spans[1] + starts[index]
        return first, last

    def _of_reference(self, utf8: bytes, n_tokens: int) -> Spans:
        encoded, _ = encode_pieces(self.reference.encode_spans, self.cut(utf8))
        if encoded.starts is None or encoded.ends is None or encoded.ids.size != n_tokens:
            raise RuntimeError(
                f"the engine gave {n_tokens} tokens for a text of {len(utf8)} bytes, the reference {encoded.ids.size}; "
                "use engine tokenizers, and report the difference"
            )
        return encoded.starts, encoded.ends


def _has_non_ascii(data: Bytes, starts: Int64, ends: Int64) -> Bools:
    high = np.flatnonzero(data >= 0x80)
    return np.searchsorted(high, ends) > np.searchsorted(high, starts)
