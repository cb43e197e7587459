"""`byteroute tokenizer train`: a mix of languages from a corpus, and a tokenizer trained on it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from byteroute_ops.errors import ConfigError
from byteroute_ops.workshop.mix import Sampler, quotas, shares
from byteroute_ops.workshop.training import (
    BYTE_KINDS,
    Recipe,
    common_characters,
    count_characters,
    train,
    train_parity,
)

from .workshop import Corpus


@dataclass(frozen=True)
class Mix:
    """How much of which language.

    Attributes:
        characters: in all.
        temperature: evens out the corpus' own mix; see `byteroute_ops.workshop.mix.shares`.
        weights: language → weight, instead of the temperature.
    """

    characters: int
    temperature: float = 1.0
    weights: dict[str, float] | None = None


@dataclass(frozen=True)
class Sample:
    """The part of a corpus that a mix takes."""

    corpus: Corpus
    available: dict[str, int]
    quota: dict[str, int]

    def texts(self) -> Iterator[tuple[pa.StringArray, list[str]]]:
        """Yields batches of texts and their languages; every pass gives the same."""
        sampler = Sampler(self.quota, self.available)
        for batch in self.corpus.batches():
            lengths = pc.utf8_length(batch["text"]).to_pylist()
            languages = batch["lang"].to_pylist()
            taken = [sampler.take(*pair) for pair in zip(languages, lengths, strict=True)]
            if any(taken):
                kept = [lang for lang, one in zip(languages, taken, strict=True) if one]
                yield batch["text"].filter(pa.array(taken)), kept

    def by_language(self) -> dict[str, list[pa.StringArray]]:
        """Returns the sample in memory, by language."""
        return _by_language(self.texts())


def take_sample(corpus: Corpus, mix: Mix) -> Sample:
    """Returns the sample of a corpus, after a pass that counts characters by language.

    Raises:
        ConfigError: no text at all, or weights that do not fit the corpus.
    """
    available: dict[str, int] = {}
    for batch in corpus.batches():
        table = pa.table({"lang": batch["lang"], "n": pc.utf8_length(batch["text"])}).group_by("lang")
        for row in table.aggregate([("n", "sum")]).to_pylist():
            available[row["lang"]] = available.get(row["lang"], 0) + row["n_sum"]
    if not sum(available.values()):
        raise ConfigError("the input holds no text to train on; check --text-field and --format")
    weights = shares(available, mix.temperature) if mix.weights is None else mix.weights
    return Sample(corpus, available, quotas(available, weights, mix.characters))


def train_on(recipe: Recipe, sample: Sample, parallel: Corpus | None) -> tuple[bytes, dict[str, Any]]:
    """Returns the tokenizer.json, and what it was trained on.

    Args:
        recipe: what to train.
        sample: what on.
        parallel: the same content in every language, for parity.

    Raises:
        ConfigError: an empty sample, or parity without parallel text of all languages.
    """
    facts = _facts(sample)
    if recipe.kind == "parity-bpe":
        if parallel is None:
            raise ConfigError("kind parity-bpe needs --parallel: the same content in every language, to balance by")
        held = _by_language((batch["text"], batch["lang"].to_pylist()) for batch in parallel.batches())
        data = train_parity(recipe, sample.by_language(), held)
    elif recipe.kind in BYTE_KINDS:
        data = train(recipe, (texts for texts, _ in sample.texts()))
    else:
        counts = np.zeros(0x110000, np.int64)
        for texts, _ in sample.texts():
            counts += count_characters(texts)
        alphabet = common_characters(counts, recipe)
        data = train(recipe, (texts for texts, _ in sample.texts()), alphabet)
    return data, facts


def _facts(sample: Sample) -> dict[str, Any]:
    documents, taken = 0, dict.fromkeys(sample.quota, 0)
    for texts, languages in sample.texts():
        documents += len(texts)
        for lang, n_codepoints in zip(languages, pc.utf8_length(texts).to_pylist(), strict=True):
            taken[lang] += n_codepoints
    if not documents:
        raise ConfigError(
            f"--characters gives none of {len(taken)} languages enough for one document: give more, or fewer languages"
        )
    return {"documents": documents, "characters": sum(taken.values()), "by_language": taken}


def _by_language(batches: Iterator[tuple[pa.StringArray, list[str]]]) -> dict[str, list[pa.StringArray]]:
    found: dict[str, list[pa.StringArray]] = {}
    for texts, languages in batches:
        column = pa.array(languages)
        for lang in dict.fromkeys(languages):
            found.setdefault(lang, []).append(texts.filter(pc.equal(column, lang)))
    return found
