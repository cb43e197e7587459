"""What every tokenizer gives: flat arrays of ids with their byte spans, a whole batch at a time.

Two layers. An `Engine` turns pieces of text into ids and knows nothing of documents. A `Tokenizer` is what the
rest of the library sees: documents in, `Tokens` out, for the clean text and for the routed stream.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.routing import Routed

if TYPE_CHECKING:
    from .prepared import Prepared

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Spans = tuple[Int64, Int64]

NO_DOCUMENTS: Int64 = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a batch, documents back to back.

    Attributes:
        ids: int32[n].
        doc_offsets: int64[n_docs + 1]; document d has the tokens [doc_offsets[d], doc_offsets[d + 1]).
        added: bool[n]; True for tokens that the post-processor adds (BOS, [CLS] …): they stand for no text.
        failed: int64[k]; documents on which the engine raised, ascending. They have no tokens; the others lack nothing.
        spans: computes (starts, ends) when first asked for: many callers need ids alone.
        lengths: int32[n_ids]; bytes that each id stands for, where a document whose tokens' lengths sum to its own has
            them one after the other. None: there is more to it.
    """

    ids: Int32
    doc_offsets: Int64
    added: Bools
    spans: Callable[[], Spans] = field(repr=False)
    failed: Int64 = field(default_factory=lambda: NO_DOCUMENTS)
    lengths: Int32 | None = field(default=None, repr=False)

    @cached_property
    def _spans(self) -> Spans:
        return self.spans()

    @property
    def starts(self) -> Int64:
        """int64[n]: offset of each token's first byte in the batch's bytes (clean UTF-8, or routed stream).

        A token that holds part of a character begins inside it where the engine knows bytes, and at the character's
        first byte where it knows code points only. Added tokens have empty spans at an end of their document. The
        span of any other token of a non-empty document begins inside that document.
        """
        return self._spans[0]

    @property
    def ends(self) -> Int64:
        """int64[n]: offset past each token's last byte."""
        return self._spans[1]

    @property
    def counts(self) -> Int64:
        """int64[n_docs]: tokens per document, added ones included."""
        return np.diff(self.doc_offsets)


class Encoded(NamedTuple):
    """The tokens of some pieces of text, back to back, without added ones.

    Attributes:
        ids: int32[n].
        counts: int64[n_pieces].
        starts: int64[n], bytes from the start of the first piece, pieces back to back; None: not asked for.
        ends: int64[n].
    """

    ids: Int32
    counts: Int64
    starts: Int64 | None = None
    ends: Int64 | None = None


class Engine(Protocol):
    """Turns UTF-8 pieces into ids, each piece as if it were a text of its own; adds no special tokens."""

    @property
    def name(self) -> str:
        """What flags and `run.json` call it."""

    def encode(self, pieces: Sequence[bytes]) -> Encoded:
        """Returns the ids of all pieces, without spans. Raises whatever the library raises."""


class Tokenizer(Protocol):
    """One tokenizer, ready for batches. Safe to share between threads."""

    @property
    def engine(self) -> str:
        """Name of the engine in use."""

    @property
    def note(self) -> str | None:
        """Why a faster engine is not in use; None: nothing to say. Callers show it once."""

    @property
    def vocab_size(self) -> int:
        """Ids are below this."""

    @property
    def unknown_id(self) -> int | None:
        """Id of the unknown token; None where every text has ids of its own."""

    @property
    def routed_reason(self) -> str | None:
        """Why there are no routed ids; None: there are."""

    def text(self, texts: pa.StringArray, *, spans: bool = True) -> Tokens:
        """Returns the ids of clean texts, as a frozen model is billed for them.

        Args:
            texts: no nulls.
            spans: whether starts and ends will be read. They are right either way; where an engine must be asked
                for offsets, saying so beforehand saves a second run.
        """

    def routed(self, routed: Routed, text_tokens: Tokens | None = None) -> Tokens | None:
        """Returns the ids of routed streams; None where the model has none (`routed_reason` says why).

        Args:
            routed: the streams of a batch.
            text_tokens: of the same batch: documents that routing left as they were take theirs.
        """

    def decode_routed_ids(self, ids: Int32) -> bytes:
        """Returns the bytes that the routed ids of one document stand for; added tokens stand for none.

        Raises:
            ConfigError: the model has no routed ids.
        """

    def fingerprint(self) -> dict[str, Any]:
        """Returns what identifies the ids: JSON-able, the same for every engine."""

    def prepared(self) -> "Prepared | None":
        """Returns what spares another process reading and checking the file; None: there is no file."""
