"""`byteroute tokenizer audit` and `prune`: what a vocabulary wastes on a corpus, and the same tokenizer without it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.split import validation_mask
from byteroute_ops.fingerprints import structural_digest
from byteroute_ops.tokenization import Tokenizer, open_tokenizer
from byteroute_ops.tokenization.source import file_name
from byteroute_ops.workshop.auditing import Audit, audit
from byteroute_ops.workshop.pruning import Pruned, prune
from byteroute_ops.workshop.vocabulary import Vocabulary

from .check import tokenizer_json
from .workshop import Corpus

Int64 = npt.NDArray[np.int64]


def read_vocabulary(spec: str) -> tuple[bytes, Vocabulary]:
    """Returns the JSON of a tokenizer and its vocabulary."""
    data = tokenizer_json(spec)
    return data, Vocabulary.from_json(data, "default" if spec == "default" else file_name(spec))


def run_audit(spec: str, corpus: Corpus) -> tuple[Vocabulary, Audit]:
    """Returns what the vocabulary of a tokenizer wastes on a corpus."""
    _, vocabulary = read_vocabulary(spec)
    counts = count_ids(_open(spec), vocabulary.n_ids, (batch["text"] for batch in corpus.batches()))
    return vocabulary, audit(vocabulary, counts)


def count_ids(tokenizer: Tokenizer, n_ids: int, batches: Iterator[pa.StringArray]) -> Int64:
    """Returns how often each id occurs in texts: int64[n_ids]."""
    counts = np.zeros(n_ids, np.int64)
    for texts in batches:
        counts += np.bincount(tokenizer.text(texts, spans=False).ids, minlength=n_ids)
    return counts


@dataclass
class Comparison:
    """The old and the new tokenizer on the same documents.

    Attributes:
        documents: compared.
        untouched: documents in which the old tokenizer uses no pruned id.
        equal: of these, with the same ids through the map.
        old_tokens, new_tokens: of all documents.
        pruned_tokens: old tokens with a pruned id.
    """

    documents: int = 0
    untouched: int = 0
    equal: int = 0
    old_tokens: int = 0
    new_tokens: int = 0
    pruned_tokens: int = 0

    def add(
        self, old: list[npt.NDArray[np.int32]], new: list[npt.NDArray[np.int32]], new_ids: npt.NDArray[Any]
    ) -> None:
        """Adds documents, given the ids of each with both tokenizers."""
        for before, after in zip(old, new, strict=True):
            mapped = new_ids[before]
            lost = int(np.count_nonzero(mapped < 0))
            self.documents += 1
            self.old_tokens += before.size
            self.new_tokens += after.size
            self.pruned_tokens += lost
            if not lost:
                self.untouched += 1
                self.equal += bool(np.array_equal(mapped, after))

    def to_json(self) -> dict[str, Any]:
        """Returns the figures."""
        change = (self.new_tokens - self.old_tokens) / self.old_tokens if self.old_tokens else 0.0
        return {**vars(self), "change": change}


@dataclass
class PruneReport:
    """A pruned tokenizer and what it does to a corpus.

    Attributes:
        vocabulary: the old one.
        pruned: the new tokenizer.
        old_json_bytes: of the old file, plain.
        counted: on the documents whose ids were counted.
        held_back: on the others.
    """

    vocabulary: Vocabulary
    pruned: Pruned
    old_json_bytes: int
    counted: Comparison = field(default_factory=Comparison)
    held_back: Comparison = field(default_factory=Comparison)

    def to_json(self) -> dict[str, Any]:
        """Returns the report."""
        return {
            "tokenizer": self.vocabulary.name,
            "kind": self.vocabulary.kind,
            "old_size": self.vocabulary.size,
            "new_size": int(self.pruned.kept.size),
            "kept_because": dict(self.pruned.reasons),
            "old_json_bytes": self.old_json_bytes,
            "new_json_bytes": len(self.pruned.json),
            "counted": self.counted.to_json(),
            "held_back": self.held_back.to_json(),
        }


def run_prune(
    spec: str, corpus: Corpus, output: Path, *, min_count: int, size: int | None, held_back: float, seed: int
) -> PruneReport:
    """Writes a pruned tokenizer and its map, and returns what that changes.

    Args:
        spec: the tokenizer.
        corpus: counts decide what is rare.
        output: folder for tokenizer.json, id_map.json and report.json.
        min_count: rarer ids are dropped.
        size: keep only so many of the most frequent ids, and what they need; None: all that are not rare.
        held_back: share of the documents that are not counted, only compared.
        seed: of that choice.

    Raises:
        ConfigError: a tokenizer that cannot be pruned, or an empty corpus.
    """
    data, vocabulary = read_vocabulary(spec)
    old = _open(spec)

    def halves() -> Iterator[tuple[pa.StringArray, npt.NDArray[np.bool_]]]:
        for batch in corpus.batches():
            yield batch["text"], validation_mask(batch["doc_id"], held_back, seed=seed)

    counts = count_ids(old, vocabulary.n_ids, (texts.filter(pa.array(~held)) for texts, held in halves()))
    if not counts.any():
        raise ConfigError("the corpus holds no text to count; check --format and --text-field")
    wanted = counts >= min_count
    if size is not None:
        wanted[np.argsort(-counts, kind="stable")[size:]] = False
    report = PruneReport(vocabulary, prune(data, vocabulary, wanted), len(data))
    output.mkdir(parents=True, exist_ok=True)
    (output / "tokenizer.json").write_bytes(report.pruned.json)
    new = _open(str(output / "tokenizer.json"))
    for texts, held in halves():
        for part, mask in ((report.counted, ~held), (report.held_back, held)):
            chosen = texts.filter(pa.array(mask))
            part.add(_documents(old, chosen), _documents(new, chosen), report.pruned.new_ids)
    (output / "id_map.json").write_bytes(orjson.dumps(id_map(data, report.pruned)))
    (output / "report.json").write_bytes(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2))
    return report


def id_map(data: bytes, pruned: Pruned) -> dict[str, Any]:
    """Returns the map between old and new ids: `kept[new] = old`, so that rows of an embedding are taken by it."""
    return {
        "old_size": pruned.n_old,
        "new_size": int(pruned.kept.size),
        "old_structural": structural_digest(orjson.loads(data)),
        "new_structural": structural_digest(orjson.loads(pruned.json)),
        "kept": pruned.kept.tolist(),
    }


def _open(spec: str) -> Tokenizer:
    return open_tokenizer(spec, engine="tokenizers", add_special_tokens=False, parallel=False)


def _documents(tokenizer: Tokenizer, texts: pa.StringArray) -> list[npt.NDArray[np.int32]]:
    tokens = tokenizer.text(texts, spans=False)
    return np.split(tokens.ids, tokens.doc_offsets[1:-1]) if len(texts) else []
