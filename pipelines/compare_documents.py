"""The documents that a comparison or a calibration looks at: cleaned batches that can be read again and again."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.cleaning import clean_batch
from byteroute_ops.errors import ConfigError
from byteroute_ops.files import is_remote
from byteroute_ops.formats import read_range
from byteroute_ops.languages import resolve_languages
from byteroute_ops.range_worker import in_sample, read_options
from byteroute_ops.settings import Settings

from .plan import find_inputs, make_ranges
from .preprocess import files_for


@dataclass(frozen=True)
class Batch:
    """Some documents, clean.

    Attributes:
        texts: string[n_docs].
        lang: string[n_docs], BCP-47.
        keys: uint64[n_docs], a hash of where each document stands in the input.
    """

    texts: pa.StringArray
    lang: pa.StringArray
    keys: npt.NDArray[np.uint64]

    def take(self, docs: npt.NDArray[np.int64]) -> "Batch":
        """Returns some of the documents."""
        chosen = pa.array(docs)
        return Batch(self.texts.take(chosen), self.lang.take(chosen), self.keys[docs])


class Corpus:
    """The documents of some inputs, as the settings `sample`, `limit` and the readers' settings choose them.

    Args:
        settings: of a run.
        patterns: files, folders or globs.
        held_back: take what `sample` leaves out, and leave out what it takes.

    Raises:
        ConfigError: nothing matches, or `held_back` without a sample.
    """

    def __init__(self, settings: Settings, patterns: Sequence[str], *, held_back: bool = False) -> None:
        if held_back and settings.sample is None:
            raise ConfigError("--held-back needs --sample: it takes the documents which that sample leaves out")
        self._settings, self._held_back = settings, held_back
        self._files = files_for(patterns[0])
        self.inputs = find_inputs(patterns, self._files)
        root = self.inputs.root
        self._root = root if is_remote(root) else os.path.join(os.path.abspath(root or "."), "")
        self._ranges = make_ranges(self.inputs, settings, self._files)
        self.n_rejected = 0

    def batches(self) -> Iterator[Batch]:
        """Yields all documents, in input order; `n_rejected` counts what the readers could not use."""
        options = read_options(self._settings)
        left = self._settings.limit
        self.n_rejected = 0
        for one in self._ranges:
            for read in read_range(one, options, lambda name: self._files.open(self._root + name)):
                self.n_rejected += 0 if read.rejects is None else read.rejects.num_rows
                documents = None if read.documents is None else self._wanted(read.documents).slice(0, left)
                if documents is None or not documents.num_rows:
                    continue
                if left is not None:
                    left -= documents.num_rows
                cleaned, _ = clean_batch(documents["text"], zwsp=self._settings.zwsp)
                yield Batch(cleaned, self._languages(documents, cleaned), _keys(documents))
                if left == 0:
                    return

    def _languages(self, documents: pa.RecordBatch, cleaned: pa.StringArray) -> pa.StringArray:
        settings = self._settings
        return resolve_languages(
            documents["lang"],
            documents["source"],
            cleaned,
            pattern=settings.lang_pattern,
            identify=settings.identify_languages,
            threshold=settings.lang_threshold,
        ).tags

    def _wanted(self, documents: pa.RecordBatch) -> pa.RecordBatch:
        if self._settings.sample is None:
            return documents
        taken = in_sample(documents["doc_id"], self._settings.sample)
        return documents.filter(pa.array(taken != self._held_back))


def _keys(documents: pa.RecordBatch) -> npt.NDArray[np.uint64]:
    # Not of the id, which may occur twice, nor of the text: repeated texts are still separate draws.
    places = zip(documents["source"].to_pylist(), documents["position"].to_pylist(), strict=True)
    digests = (hashlib.blake2b(f"{source}\0{position}".encode(), digest_size=8).digest() for source, position in places)
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)
