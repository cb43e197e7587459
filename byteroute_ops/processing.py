"""All stages on one batch of documents: clean, segment, route, tokenize, count.

Written once, used by the batch job's range worker and by the streaming graph. Nothing here reads or
writes a file after the tokenizers have been loaded, which a `Processor` does when it is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .budgets import BatchCounts, Budget, RunTotals, TokenCounts
from .cleaning import clean_batch
from .errors import ConfigError, RejectReason
from .fingerprints import tokenizer_digest
from .languages import ResolvedLanguages, resolve_languages
from .policy import load_policy
from .records import DOCUMENTS, REJECTS, SHARD, with_columns
from .routing import Routed, Router, route_segmentation, text_digests
from .segmentation import Segmentation, segment_batch
from .settings import Settings
from .tokenization import (
    Prepared,
    Tokenizer,
    Tokens,
    adopt_tokenizer,
    open_tokenizer,
    routed_tokens_per_row,
    text_tokens_per_run,
)

REMOVED_KINDS = ("bom", "feff", "zwsp")
SUMMED = ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens", "n_routed_tokens")


@dataclass(frozen=True)
class Processed:
    """What became of a batch. `rows` plus `rejects` are as many as the documents that went in.

    Attributes:
        rows: of `shard_schema(settings)`.
        rejects: of `records.REJECTS`.
        budget: of the rows.
        totals: of rows and rejects; `records` is the reader's to count.
    """

    rows: pa.RecordBatch
    rejects: pa.RecordBatch
    budget: Budget
    totals: RunTotals


def shard_schema(settings: Settings) -> pa.Schema:
    """Returns the columns of a run's shards."""
    return with_columns(SHARD, settings.keep, text=settings.keep_text)


def tokenizer_names(specs: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the names that tokenizers go by in budgets: the file name without what follows its first dot.

    Raises:
        ConfigError: two tokenizers of one name.

    >>> tokenizer_names(("models/cl100k.json.zst", "bytes"))
    ('cl100k', 'bytes')
    """
    names = tuple(spec.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].split(".")[0] or spec for spec in specs)
    double = sorted({name for name in names if names.count(name) > 1})
    if double:
        raise ConfigError(f"tokenizers: two are called {', '.join(double)}; rename one of the files")
    return names


class Processor:
    """Stages with their tokenizers and policy, ready for batches. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        """Loads policy and tokenizers.

        Raises:
            ConfigError: one of them cannot be used.
        """
        self.settings = settings
        self.router = Router(
            load_policy(settings.policy),
            framing=settings.framing,
            profile=settings.profile,
            barrier=settings.barrier,
        )
        self.tokenizers: dict[str, Tokenizer] = {
            name: _open(spec, settings)
            for name, spec in zip(tokenizer_names(settings.tokenizers), settings.tokenizers, strict=True)
        }
        self._routed_bytes = _open("bytes", settings) if settings.routed_engine == "bytes" else None
        self._check_counter(self._routed_bytes or next(iter(self.tokenizers.values())))
        self._schema = shard_schema(settings)
        # A pattern or an extra that cannot be used is told now, not by a worker.
        nothing = pa.array([], pa.string())
        self._languages(pa.record_batch({"lang": nothing, "source": nothing}), nothing)

    def prepared(self) -> tuple[Prepared | None, ...]:
        """Returns, for each tokenizer, what `adopt_tokenizers` takes; None: there is nothing to prepare."""
        return tuple(one.prepared() for one in self.tokenizers.values())

    def process(self, documents: pa.RecordBatch) -> Processed:
        """Returns rows, rejects and counts of a batch of `records.DOCUMENTS` (and kept columns).

        A document on which a tokenizer fails is rejected; the others are done again without it, since
        every count is of the rows that remain.
        """
        cleaned, removed = clean_batch(documents["text"], zwsp=self.settings.zwsp)
        work = self._work(cleaned)
        rejects = pa.RecordBatch.from_pylist([], schema=REJECTS)
        if work.failed.size:
            rejects = self._rejects(documents.take(pa.array(work.failed)))
            keep = np.setdiff1d(np.arange(documents.num_rows), work.failed)
            documents, removed = documents.take(pa.array(keep)), removed[keep]
            work = self._work(cleaned.take(pa.array(keep)))
        found = self._languages(documents, work.texts)
        documents = documents.set_column(documents.schema.get_field_index("lang"), DOCUMENTS.field("lang"), found.tags)
        budget = Budget.zero()
        budget.add(BatchCounts.of(documents["lang"], work.seg, work.routed), work.token_counts())
        rows = self._rows(documents, work)
        totals = RunTotals(
            documents=rows.num_rows,
            rejects={RejectReason.TOKENIZER_FAILURE.value: rejects.num_rows} if rejects.num_rows else {},
            removed=dict(zip(REMOVED_KINDS, removed.sum(axis=0).tolist(), strict=True)),
            languages=_origins(found),
            unknown_tokens=self._unknown(work),
            **{name: pc.sum(rows[name]).as_py() or 0 for name in SUMMED},
        )
        return Processed(rows, rejects, budget, totals)

    def _languages(self, documents: pa.RecordBatch, texts: pa.StringArray) -> ResolvedLanguages:
        return resolve_languages(
            documents["lang"],
            documents["source"],
            texts,
            pattern=self.settings.lang_pattern,
            identify=self.settings.identify_languages,
            threshold=self.settings.lang_threshold,
        )

    def _unknown(self, work: "_Work") -> dict[str, int]:
        """Returns how many text tokens are the unknown token, for the tokenizers that have one."""
        ids = {name: tokenizer.unknown_id for name, tokenizer in self.tokenizers.items()}
        return {name: int(np.count_nonzero(work.text[name].ids == one)) for name, one in ids.items() if one is not None}

    def _check_counter(self, counter: Tokenizer) -> None:
        """Checks that what counts routed tokens suits the policy, and that it counts any if documents go by it."""
        policy, settings = self.router.policy, self.settings
        if policy.evidence is not None:
            policy.check_tokenizer(tokenizer_digest(counter.fingerprint()))
            policy.check_stream(settings.framing, settings.profile, barrier=settings.barrier)
        if settings.never_worse and counter.routed_reason is not None:
            raise ConfigError(
                f"never_worse counts routed tokens, and the first tokenizer has none ({counter.routed_reason}); "
                "put another one first, or use routed_engine bytes"
            )

    def _work(self, texts: pa.StringArray) -> "_Work":
        seg = segment_batch(texts)
        text = {name: tokenizer.text(texts) for name, tokenizer in self.tokenizers.items()}
        routed = route_segmentation(seg, self.router)
        first = next(iter(text))
        stream = self._stream(first, routed, text[first])
        if self.settings.never_worse and stream is not None:
            routed, stream = self._never_worse(seg, routed, text[first], stream)
        rest = {name: self._stream(name, routed, tokens) for name, tokens in text.items() if name != first}
        return _Work(texts, seg, routed, text, {first: stream, **rest})

    def _stream(self, name: str, routed: Routed, text: Tokens) -> Tokens | None:
        """Returns the tokens of routed streams under a tokenizer, or whatever counts for it."""
        if self._routed_bytes is not None:
            return self._routed_bytes.routed(routed)
        return self.tokenizers[name].routed(routed, text)

    def _never_worse(self, seg: Segmentation, routed: Routed, text: Tokens, stream: Tokens) -> tuple[Routed, Tokens]:
        """Returns streams and tokens once documents that routing made longer are UTF-8."""
        name = next(iter(self.tokenizers))
        least = text.counts if self._routed_bytes is None else stream.counts - np.diff(routed.doc_routed - seg.doc_byte)
        worse = stream.counts > least
        if not worse.any():
            return routed, stream
        kept, of_kept = self._routed_only(seg, ~worse, name, text)
        # Escapes of literals make UTF-8 longer than the text, so a segment may have been the better form after all.
        back = worse & (of_kept.counts > stream.counts)
        return self._routed_only(seg, ~worse | back, name, text) if back.any() else (kept, of_kept)

    def _routed_only(
        self, seg: Segmentation, only: npt.NDArray[np.bool_], name: str, text: Tokens
    ) -> tuple[Routed, Tokens]:
        routed = route_segmentation(seg, self.router, only=only)
        stream = self._stream(name, routed, text)
        if stream is None:  # pragma: no cover - `_check_counter` refuses such a tokenizer
            raise ConfigError(f"tokenizer {name!r:.80} has no routed ids")
        return routed, stream

    def _rejects(self, documents: pa.RecordBatch) -> pa.RecordBatch:
        n = documents.num_rows
        raw = documents["text"].cast(pa.binary()) if self.settings.keep_raw else pa.nulls(n, pa.binary())
        sizes = [len(text.as_buffer()) for text in documents["text"]]
        columns = [
            documents["source"],
            documents["position"],
            pa.array(["tokenize"] * n, pa.string()),
            pa.array([RejectReason.TOKENIZER_FAILURE.value] * n, pa.string()),
            pa.array([f"a tokenizer raised on this text of {size} UTF-8 bytes" for size in sizes], pa.string()),
            raw,
        ]
        return pa.RecordBatch.from_arrays(columns, schema=REJECTS)

    def _rows(self, documents: pa.RecordBatch, work: "_Work") -> pa.RecordBatch:
        first = next(iter(self.tokenizers))
        text, stream = work.text[first], work.streams[first]
        columns: dict[str, Any] = {name: documents[name] for name in ("doc_id", "source", "position", "lang")}
        columns["routed"] = work.routed.streams()
        columns["segments"] = work.routed.segments()
        columns["n_codepoints"] = np.diff(work.seg.doc_cp)
        columns["n_utf8_bytes"] = np.diff(work.seg.doc_byte)
        columns["n_routed_bytes"] = np.diff(work.routed.doc_routed)
        columns["n_text_tokens"] = text.counts
        columns["n_routed_tokens"] = None if stream is None else stream.counts
        columns["token_ids"] = _id_lists({"text": text, "routed": stream, "none": None}[self.settings.ids])
        columns["text_digest"] = text_digests(work.seg)
        columns["text"] = work.texts
        n = documents.num_rows
        arrays = []
        for field in self._schema:
            values = columns[field.name] if field.name in columns else documents[field.name]
            arrays.append(pa.nulls(n, field.type) if values is None else pa.array(values, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


@dataclass(frozen=True)
class _Work:
    """A batch between its stages."""

    texts: pa.StringArray
    seg: Segmentation
    routed: Routed
    text: dict[str, Tokens]
    streams: dict[str, Tokens | None]

    @property
    def failed(self) -> npt.NDArray[np.int64]:
        """Documents on which any tokenizer failed, ascending."""
        tokens = [*self.text.values(), *(one for one in self.streams.values() if one is not None)]
        return np.unique(np.concatenate([one.failed for one in tokens]))

    def token_counts(self) -> dict[str, TokenCounts]:
        """Returns what budgets count, by tokenizer."""
        return {name: self._counts(text, self.streams[name]) for name, text in self.text.items()}

    def _counts(self, text: Tokens, stream: Tokens | None) -> TokenCounts:
        per_run, added = text_tokens_per_run(text, self.seg)
        if stream is None:
            return TokenCounts(text=per_run, text_added=added)
        per_row, routed_added = routed_tokens_per_row(stream, self.routed, self.seg)
        return TokenCounts(text=per_run, text_added=added, routed=per_row, routed_added=routed_added)


def _origins(found: ResolvedLanguages) -> dict[str, int]:
    return {
        "record": found.n_record,
        "path": found.n_path,
        "identified": found.n_identified,
        "undetermined": found.n_undetermined,
    }


def adopt_tokenizers(settings: Settings, prepared: Sequence[Prepared | None]) -> None:
    """Spares a `Processor` of these settings in this process what `Processor.prepared` found out in another."""
    for spec, one in zip(settings.tokenizers, prepared, strict=True):
        if one is not None:
            adopt_tokenizer(
                one, spec, engine=settings.engine, add_special_tokens=settings.add_special_tokens, parallel=False
            )


def _open(spec: str, settings: Settings) -> Tokenizer:
    # Cores are shared out by running several workers, so that a worker count means what it says.
    return open_tokenizer(spec, engine=settings.engine, add_special_tokens=settings.add_special_tokens, parallel=False)


def _id_lists(tokens: Tokens | None) -> pa.ListArray | None:
    if tokens is None:
        return None
    item = pa.field("item", pa.int32(), nullable=False)
    return pa.ListArray.from_arrays(pa.array(tokens.doc_offsets, pa.int32()), pa.array(tokens.ids), pa.list_(item))
