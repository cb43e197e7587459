"""`byteroute tokenizer bench`: any number of tokenizers on one corpus."""

import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer as Library

from byteroute_ops.budgets.disparity import align, disparity
from byteroute_ops.errors import ConfigError
from byteroute_ops.routing import Routed, Router, route_segmentation
from byteroute_ops.segmentation import Segmentation, segment_batch
from byteroute_ops.tokenization import Tokenizer, Tokens, open_tokenizer
from byteroute_ops.tokenization.payload import PayloadBpe
from byteroute_ops.tokenization.source import file_name, read_source
from byteroute_ops.workshop.measures import Tally, count_sentences
from byteroute_ops.workshop.pretokens import Int64, regex_cuts, routed_cuts, text_cuts
from byteroute_ops.workshop.vocabulary import Vocabulary

from .check import tokenizer_json
from .workshop import Corpus, corpus_facts, key_reader

ROUTED = "routed:"


@dataclass(frozen=True)
class Batch:
    """One batch in all the forms that a tokenizer may want; what no tokenizer wants is not made."""

    texts: pa.StringArray
    seg: Segmentation
    routed: Routed | None
    cuts: Int64 | None


@dataclass(frozen=True)
class Entrant:
    """One tokenizer in the comparison.

    Attributes:
        name: as the table shows it.
        vocabulary: of it.
        is_routed: whether it is given routed streams.
        encode: a batch → its tokens.
    """

    name: str
    vocabulary: Vocabulary
    is_routed: bool
    encode: Callable[[Batch], Tokens]


def open_entrant(spec: str, cuts: Literal["served", "segments"], engine: Any) -> Entrant:
    """Returns a tokenizer for the comparison.

    Args:
        spec: a tokenizer.json, a folder with one or `default`; with `routed:` before it, on routed streams.
        cuts: `served`: pre-tokens as the tokenizer is used; `segments`: the same places for text and routed bytes, of
            `workshop.pretokens`, for byte-level BPEs.
        engine: as in `open_tokenizer`.

    Raises:
        ConfigError: no such tokenizer, or one that cannot do that.
    """
    is_routed, path = spec.startswith(ROUTED), spec.removeprefix(ROUTED)
    name = "default" if path == "default" else file_name(path)
    data = tokenizer_json(path)
    vocabulary = Vocabulary.from_json(data, name)
    shown = f"{name} (routed)" if is_routed else name
    tokenizer = open_tokenizer(path, engine=engine, add_special_tokens=False, parallel=False)
    if (is_routed or cuts == "segments") and tokenizer.routed_reason is not None:
        raise ConfigError(f"tokenizer {name!r:.80}: no routed ids: {tokenizer.routed_reason}")
    if cuts == "segments":
        source = read_source(data, name)
        bare = PayloadBpe(Library.from_str(source.json), source.traits.added)
        return Entrant(shown, vocabulary, is_routed, lambda batch: _cut_tokens(bare, batch, is_routed=is_routed))
    return Entrant(shown, vocabulary, is_routed, lambda batch: _served_tokens(tokenizer, batch, is_routed=is_routed))


def _served_tokens(tokenizer: Tokenizer, batch: Batch, *, is_routed: bool) -> Tokens:
    if not is_routed or batch.routed is None:
        return tokenizer.text(batch.texts, spans=False)
    tokens = tokenizer.routed(batch.routed)
    if tokens is None:
        raise ConfigError(f"no routed ids: {tokenizer.routed_reason}")
    return tokens


def _cut_tokens(bare: PayloadBpe, batch: Batch, *, is_routed: bool) -> Tokens:
    """Returns the tokens of pre-tokens that are cut at the same places for text and routed bytes."""
    if batch.routed is None or batch.cuts is None:
        raise ConfigError("cuts at segments need the routed streams")
    if is_routed:
        data, bounds = batch.routed.data, batch.routed.doc_routed
        begins = routed_cuts(batch.seg, batch.cuts, batch.routed)
    else:
        data, bounds = batch.seg.utf8, batch.seg.doc_byte
        begins = text_cuts(batch.seg, batch.cuts, batch.routed)
    encoded = bare.encode(data, begins, np.append(begins[1:], data.size)[: begins.size])
    total = np.concatenate([[0], np.cumsum(encoded.counts)])
    offsets = total[np.searchsorted(begins, bounds)]
    none = np.zeros(0, np.int64)
    return Tokens(encoded.ids, offsets, np.zeros(encoded.ids.size, np.bool_), lambda: (none, none))


def bench(
    corpus: Corpus, specs: Sequence[str], *, router: Router, cuts: Literal["served", "segments"] = "served",
    engine: str = "tokenizers", parallel_key: str | None = None, reference: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """Returns what tokenizers do on a corpus, JSON-able.

    Args:
        corpus: what to encode.
        specs: of `open_entrant`.
        router: of the routed streams and segments.
        cuts: as there.
        engine: as in `open_tokenizer`.
        parallel_key: as in `workshop.key_reader`; None: no premiums.
        reference: the language that premiums are relative to.

    Raises:
        ConfigError: a tokenizer, a key or a corpus that cannot be used.
    """
    entrants = [open_entrant(spec, cuts, engine) for spec in specs]
    tallies = [Tally(one.vocabulary) for one in entrants]
    keys = key_reader(parallel_key)
    for rows in corpus.batches():
        texts = rows["text"]
        seg = segment_batch(texts)
        wants_routed = cuts == "segments" or any(one.is_routed for one in entrants)
        routed = route_segmentation(seg, router) if wants_routed else None
        places = regex_cuts(texts.to_pylist()) if cuts == "segments" else None
        batch = Batch(texts, seg, routed, places)
        n_codepoints, n_sentences, of = np.diff(seg.doc_cp), count_sentences(seg), keys(rows)
        for entrant, tally in zip(entrants, tallies, strict=True):
            started = time.perf_counter()
            tokens = entrant.encode(batch)
            tally.seconds += time.perf_counter() - started
            tally.add(tokens, n_codepoints, n_sentences, of)
    if not tallies or not tallies[0].documents:
        raise ConfigError("the corpus holds no document; check --format, --text-field and --where")
    measured = [_row(one, tally, timed=cuts == "served") for one, tally in zip(entrants, tallies, strict=True)]
    if parallel_key is not None:
        for row, tally in zip(measured, tallies, strict=True):
            row["parallel"] = _parallel(tally, reference)
    return {
        "corpus": corpus_facts(corpus),
        "cuts": cuts,
        "router": router.fingerprint(),
        "cpu": cpu_name(),
        "threads": 1,
        "engine": engine,
        "tokenizers": measured,
    }


def _row(entrant: Entrant, tally: Tally, *, timed: bool) -> dict[str, Any]:
    sentences = max(tally.sentences, 1)
    return {
        "name": entrant.name,
        "kind": entrant.vocabulary.kind,
        "vocab_size": entrant.vocabulary.size,
        "documents": tally.documents,
        "failed": tally.failed,
        "characters": tally.codepoints,
        "sentences": tally.sentences,
        "tokens": tally.tokens,
        "tokens_per_document": tally.tokens / tally.documents if tally.documents else math.nan,
        "tokens_per_sentence": tally.tokens / sentences,
        "tokens_per_character": tally.tokens / max(tally.codepoints, 1),
        "utilisation": tally.utilisation,
        "unknown_rate": tally.unknown_rate,
        "fallback_rate": tally.fallback_rate,
        "renyi_efficiency": tally.renyi,
        "sentences_per_second": tally.sentences / tally.seconds if timed and tally.seconds else None,
    }


def _parallel(tally: Tally, reference: str) -> dict[str, Any]:
    units: dict[str, set[str]] = {}
    for lang, unit in tally.units:
        if lang not in tally.repeated:
            units.setdefault(lang, set()).add(unit)
    if not tally.units:
        raise ConfigError("--parallel-key matches no document id of the corpus")
    if reference in tally.repeated:
        raise ConfigError(
            f"the reference {reference!r:.80} has units more than once: is it several languages under one tag? "
            "Take the language from another field (--lang-field) or from the id, with a group (?P<lang>...)"
        )
    grid = align(units, reference)
    costs = {lang: float(sum(tally.units[lang, unit] for unit in grid.units)) for lang in grid.languages}
    found = disparity(costs, reference)
    names = ("total", "gini", "maximum", "p90", "median", "minimum")
    return {
        "reference": reference,
        "units": len(grid.units),
        "languages": len(grid.languages),
        "reference_tokens": costs[reference],
        "repeated_languages": sorted(tally.repeated),
        "dropped_languages": dict(grid.dropped_languages),
        **{name: getattr(found, name) for name in names},
        "mean": float(np.mean(list(found.premium.values()))),
        "premium": dict(found.premium),
    }


def cpu_name() -> str:
    """Returns what the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
