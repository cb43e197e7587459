"""The tokenizer workshop's corpus: the inputs of a run, read again and again, one cleaned batch at a time."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from byteroute_ops.cleaning import clean_batch
from byteroute_ops.errors import ConfigError
from byteroute_ops.formats import Range, read_range
from byteroute_ops.range_worker import in_sample, read_options
from byteroute_ops.records import DOCUMENTS
from byteroute_ops.settings import Settings

from .plan import Inputs, find_inputs, make_ranges
from .preprocess import files_for

ENGLISH = "en"


@dataclass
class Corpus:
    """Documents for the workshop; every pass gives the same ones in the same order.

    Attributes:
        inputs: the files.
        ranges: of them.
        settings: how records are read and cleaned, `limit` and `sample`.
        where: a field (or `lang`, `doc_id`) and the value that it must have; None takes all documents.
        match: found in the ids of the documents that are taken; None takes all.
        rejected: records that the last pass could not use.
    """

    inputs: Inputs
    ranges: Sequence[Range]
    settings: Settings
    where: tuple[str, str] | None = None
    match: str | None = None
    rejected: int = field(default=0, init=False)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yields the documents as batches with the columns doc_id, lang and text (clean)."""
        self.rejected, left = 0, self.settings.limit
        options = read_options(self.settings)
        files = files_for(self.inputs.root)
        for one in self.ranges:
            for read in read_range(one, options, lambda name: files.open(self.inputs.root + name)):
                self.rejected += 0 if read.rejects is None else read.rejects.num_rows
                batch = None if read.documents is None else self._wanted(read.documents)
                if batch is None:
                    continue
                batch = batch if left is None else batch.slice(0, left)
                left = None if left is None else left - batch.num_rows
                texts, _ = clean_batch(batch["text"], zwsp=self.settings.zwsp)
                columns = [batch["doc_id"], batch["lang"], texts]
                yield pa.RecordBatch.from_arrays(columns, names=["doc_id", "lang", "text"])
                if left == 0:
                    return

    def _wanted(self, documents: pa.RecordBatch) -> pa.RecordBatch | None:
        if self.where is not None:
            documents = documents.filter(pc.fill_null(pc.equal(documents[self.where[0]], self.where[1]), False))
        if self.match is not None:
            documents = documents.filter(pc.match_substring_regex(documents["doc_id"], self.match))
        if self.settings.sample is not None:
            documents = documents.filter(pa.array(in_sample(documents["doc_id"], self.settings.sample)))
        return documents if documents.num_rows else None


def open_corpus(
    patterns: Sequence[str], settings: Settings, *, where: tuple[str, str] | None = None, match: str | None = None
) -> Corpus:
    """Returns the corpus that files, folders and globs stand for; see `Corpus` for what is taken of it.

    Raises:
        ConfigError: no file, or `match` is no regular expression.
    """
    if match is not None:
        try:
            pc.match_substring_regex(pa.array([""]), match)
        except pa.ArrowInvalid:
            raise ConfigError(f"--match {match!r:.80} is no regular expression (of RE2)") from None
    if not patterns:
        raise ConfigError("no input: give files, folders or globs")
    if where is not None and where[0] not in DOCUMENTS.names:
        settings = settings.model_copy(update={"keep": (where[0],)})
    files = files_for(patterns[0])
    inputs = find_inputs(patterns, files)
    return Corpus(inputs, make_ranges(inputs, settings, files), settings, where, match)


def key_reader(pattern: str | None) -> Callable[[pa.RecordBatch], list[tuple[str, str] | None]]:
    """Returns what finds language and unit of each document of a batch, by a pattern on its id.

    Args:
        pattern: has a group `unit`, and perhaps `lang`, else the column `lang` is the language. None: there are none.

    Raises:
        ConfigError: no regular expression, or none with the group.
    """
    if pattern is None:
        return lambda batch: [None] * batch.num_rows
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"--parallel-key {pattern!r:.80}: {error}") from None
    if "unit" not in compiled.groupindex:
        raise ConfigError(f"--parallel-key {pattern!r:.80} has no group (?P<unit>...)")
    has_lang = "lang" in compiled.groupindex

    def keys(batch: pa.RecordBatch) -> list[tuple[str, str] | None]:
        found: list[tuple[str, str] | None] = []
        for doc_id, lang in zip(batch["doc_id"].to_pylist(), batch["lang"].to_pylist(), strict=True):
            match = compiled.search(doc_id)
            named = match["lang"] if match is not None and has_lang else lang
            found.append(None if match is None else (named, match["unit"]))
        return found

    return keys


def corpus_facts(corpus: Corpus) -> dict[str, Any]:
    """Returns what a report says of the corpus it was made on."""
    return {
        "files": [file.uri for file in corpus.inputs.files],
        "bytes": corpus.inputs.n_bytes,
        "limit": corpus.settings.limit,
        "sample": corpus.settings.sample,
        "where": None if corpus.where is None else "=".join(corpus.where),
        "match": corpus.match,
        "rejected": corpus.rejected,
    }
