"""Parallel documents found by a pattern on their ids, and what is left out of the comparison."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from byteroute.pipelines.report.load import Run
from byteroute.pipelines.report.parallel import ParallelKey, measure_parallel
from report_support import document, made_up_run

from byteroute_ops.errors import ConfigError
from byteroute_ops.records import SHARD, with_columns

Document = tuple[str, str, int]


class Shards(Run):
    """A run whose shard holds the given documents."""

    documents: list[dict[str, Any]]

    def batches(self, path: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields one row a batch, so that units come from several."""
        for row in self.documents:
            yield pa.RecordBatch.from_pylist([row], schema=with_columns(SHARD, ("primary",))).select(list(columns))


def run_of(*documents: tuple[str, str, int], routed: int | None = 1, primary: Sequence[str] = ()) -> Run:
    """Returns a run of documents (id, language, text tokens)."""
    made = made_up_run(3)
    run = Shards(**{field.name: getattr(made, field.name) for field in dataclasses.fields(made)})
    rows = []
    for i, (doc_id, lang, tokens) in enumerate(documents):
        counts = {"n_text_tokens": tokens, "n_routed_tokens": routed, "n_codepoints": 2 * tokens}
        kept = primary[i] if primary else None
        rows.append(document(lang, "Latn") | counts | {"doc_id": doc_id, "primary": kept})
    object.__setattr__(run, "documents", rows)
    return run


DOCUMENTS: tuple[Document, ...] = (
    ("en/1", "en", 10),
    ("en/2", "en", 20),
    ("de/1", "de", 15),
    ("de/2", "de", 30),
    ("my/2", "my", 100),
    ("my/1", "my", 80),
    ("readme", "en", 5000),
)
KEY = ParallelKey(pattern=r"/(?P<unit>\d+)$")


def test_premiums_of_aligned_units() -> None:
    """Units are joined by name, whatever their order; documents without a unit take no part."""
    found = measure_parallel(run_of(*DOCUMENTS), KEY)
    assert [(one.lang, one.costs["n_text_tokens"], one.premiums["n_text_tokens"]) for one in found.premiums] == [
        ("my", 180, 6.0),
        ("de", 45, 1.5),
        ("en", 30, 1.0),
    ]
    assert (found.n_units, found.n_languages, found.reference) == (2, 3, "en")
    assert found.measures["n_text_tokens"].total == 255


def test_language_from_the_id() -> None:
    """A group `lang` goes before the column, so that one tag may stand for several languages."""
    documents = [(f"udhr:{code}:{unit}", "fr", 7) for code in ("fra", "wln") for unit in "12"]
    key = ParallelKey(pattern=r":(?P<lang>\w+):(?P<unit>\d)", reference="fra")
    assert measure_parallel(run_of(*documents), key).n_languages == 2


def test_a_unit_twice_leaves_its_language_out() -> None:
    """Two documents for one unit would be a double bill: the language is listed, not compared."""
    found = measure_parallel(run_of(*DOCUMENTS, ("other/1", "de", 3)), KEY)
    assert found.repeated_languages == ["de"]
    assert [one.lang for one in found.premiums] == ["my", "en"]


def test_missing_units_leave_their_language_out() -> None:
    """A language without one of the units is listed with how many it lacks."""
    many = [(f"l{i}/{unit}", f"l{i}", 5) for i in range(20) for unit in "12"]
    found = measure_parallel(run_of(*DOCUMENTS, *many, ("fr/1", "fr", 3)), KEY)
    assert found.dropped_languages == {"fr": 1}
    assert found.n_languages == 23


def test_condition_on_a_kept_column() -> None:
    """Only documents with the wanted value take part; null is not it."""
    documents = [*DOCUMENTS[:4], ("de-1901/1", "de", 99)]
    run = run_of(*documents, primary=["true", "true", "true", "true", "false"])
    found = measure_parallel(run, dataclasses.replace(KEY, where=("primary", "true")))
    assert found.repeated_languages == []
    assert found.measures["n_text_tokens"].premium["de"] == 1.5
    with pytest.raises(ConfigError, match="matches no document id"):
        measure_parallel(run_of(*documents), dataclasses.replace(KEY, where=("primary", "true")))


def test_without_routed_ids_there_is_no_routed_premium() -> None:
    """A tokenizer that has no routed ids is compared by its text tokens, and by bytes, alone."""
    found = measure_parallel(run_of(*DOCUMENTS, routed=None), KEY)
    assert list(found.measures) == ["n_text_tokens", "n_utf8_bytes", "n_routed_bytes", "n_codepoints"]


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (ParallelKey(pattern="("), "--parallel-key"),
        (ParallelKey(pattern=r"(\d)"), r"no group \(\?P<unit>"),
        (ParallelKey(pattern="(?P<unit>zzz)"), "matches no document id"),
        (ParallelKey(pattern=KEY.pattern, reference="fr"), "reference language 'fr'.*de, en, my"),
        (ParallelKey(pattern="^(?P<unit>.)"), "the reference 'en' has units more than once"),
    ],
)
def test_keys_that_do_not_fit(key: ParallelKey, says: str) -> None:
    """The message says what is wrong and what there is."""
    with pytest.raises(ConfigError, match=says):
        measure_parallel(run_of(*DOCUMENTS), key)
