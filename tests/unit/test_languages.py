"""Language tags from records, paths and texts."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byteroute_ops import languages
from byteroute_ops.errors import ConfigError
from byteroute_ops.language_codes import LANGUAGES, TWO_LETTERS
from byteroute_ops.languages import canonical_tag, resolve_languages, tag_from_path

CANONICAL = [
    "MN-cYRL-mn",
    "mn-Cyrl-MN",
    "de",
    "de",
    "zh-HANT",
    "zh-Hant",
    "sl-rozaj-BISKE",
    "sl-rozaj-biske",
    "de-ch-1901",
    "de-CH-1901",
    "hy-latn-it-AREVELA",
    "hy-Latn-IT-arevela",
    "es-419",
    "es-419",
    "de-CH-x-PHONEBK",
    "de-CH-x-phonebk",
    "x-WHATEVER",
    "x-whatever",
    "qaa-Qaaa-QM-x-southern",
    "qaa-Qaaa-QM-x-southern",
    "en-u-islamcal-a-myext",
    "en-a-myext-u-islamcal",
    "zh-CN-a-myext-x-private",
    "zh-CN-a-myext-x-private",
    "i-klingon",
    "tlh",
    "art-lojban",
    "jbo",
    "zh-min-nan",
    "nan",
    "en-GB-oed",
    "en-GB-oxendict",
    "i-default",
    "i-default",
    "zh-cmn-Hans-CN",
    "cmn-Hans-CN",
    "zh-yue-HK",
    "yue-HK",
    "sgn-ase",
    "ase",
    "ar-arb",
    "arb",
    "iw",
    "he",
    "in-ID",
    "id-ID",
    "ji",
    "yi",
    "jw",
    "jv",
    "mo",
    "ro",
    "de-DD",
    "de-DE",
    "my-BU",
    "my-MM",
    "eng",
    "en",
    "zho_Hans",
    "zh-Hans",
    "ger",
    "de",
    "tgl",
    "tl",
    "twi",
    "tw",
    "en-UK",
    "en-GB",
    "pt_BR.UTF-8",
    "pt-BR",
    "sr_RS@latin",
    "sr-Latn-RS",
    "ca_ES.UTF-8@valencia",
    "ca-ES",
    "cmn",
    "cmn",
    "yue",
    "yue",
    "nb",
    "nb",
    "no",
    "no",
    "sh",
    "sh",
    "mul",
    "mul",
    "zxx",
    "zxx",
]
"""Pairs: examples of RFC 5646 (§2.1.1, appendix A); extensions, ordered (§4.5); grandfathered and redundant tags and
extended language subtags; deprecated ones; codes of ISO 639-2 and -3 longer than need be; POSIX locales; unchanged."""

NONSENSE = [
    "-",
    "e",
    "en-",
    "-en",
    "en--US",
    "English",
    "null",
    "n/a",
    "xx",
    "en-abc",
    "abcd",
    "12",
    "a-b-c",
    "en-a",
    "en-x",
    "de-1901-1901",
    "en-a-bbb-a-ccc",
    "<script>",
    "en;drop",
    "français",
]


@pytest.mark.parametrize(("tag", "canonical"), [*zip(CANONICAL[::2], CANONICAL[1::2], strict=True), (" fr ", "fr")])
def test_canonical_form(tag: str, canonical: str) -> None:
    """Case, order and replacements are those of RFC 5646 and the registry."""
    assert canonical_tag(tag) == canonical


@pytest.mark.parametrize("tag", [None, "", " ", "en-US\x00", "x" * 300, "en-" + "a" * 70, *NONSENSE])
def test_nonsense_is_undetermined(tag: str | None) -> None:
    """What is no tag, or names a language of two letters that does not exist, is `und`."""
    assert canonical_tag(tag) == "und"


@given(st.text(max_size=80))
def test_result_is_canonical(tag: str) -> None:
    """Any string gives a tag of ASCII letters, digits and hyphens, which canonicalizing leaves as it is."""
    canonical = canonical_tag(tag)
    assert canonical_tag(canonical) == canonical
    assert set(canonical) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


def test_tables_lead_to_the_end() -> None:
    """No replacement is itself replaced, and those of two letters exist."""
    assert not set(LANGUAGES.values()) & set(LANGUAGES)
    assert {code for code in LANGUAGES.values() if len(code) == 2} <= TWO_LETTERS


@pytest.mark.parametrize(
    ("source", "pattern", "tag"),
    [
        ("c4/multilingual/c4-pt.tfrecord-00001.json.gz", r"c4-(?P<lang>[\w-]+)\.", "pt"),
        ("data/zho_Hans/000.parquet", r"^data/([^/]+)/", "zh-Hans"),
        ("wiki/20260101.iw/train.jsonl", r"(\d{8})\.(?P<lang>\w+)", "he"),
        ("data/other/000.parquet", r"lang=(\w+)", "und"),
        ("data/lang=/000.parquet", r"lang=(\w+)?/", "und"),
    ],
)
def test_tag_from_path(source: str, pattern: str, tag: str) -> None:
    """The group `lang`, else the first one, is the tag; without a match there is none."""
    assert tag_from_path(source, pattern) == tag


@pytest.mark.parametrize(("pattern", "says"), [("[", "regular expression"), (r"\w+", "no group")])
def test_bad_patterns(pattern: str, says: str) -> None:
    """A pattern that cannot work is the caller's fault, also where there is no document."""
    with pytest.raises(ConfigError, match=says):
        tag_from_path("a", pattern)
    with pytest.raises(ConfigError, match=says):
        resolve_languages(*[pa.array([], pa.string())] * 3, pattern=pattern)


def resolve(langs: list[str | None], sources: list[str], **options: object) -> languages.ResolvedLanguages:
    """Returns the languages of documents with no text to speak of."""
    texts = pa.array([f"text {i}" for i in range(len(langs))])
    return resolve_languages(pa.array(langs, pa.string()), pa.array(sources), texts, **options)  # type: ignore[arg-type]


def test_record_goes_before_path() -> None:
    """The path is asked only where the record has no usable tag."""
    found = resolve(["EN", None, "nonsense", "de"], ["x/fr.txt", "x/fr.txt", "x/ja.txt", "y"], pattern=r"(\w+)\.txt")
    assert found.tags.to_pylist() == ["en", "fr", "ja", "de"]
    assert (found.n_record, found.n_path, found.n_identified, found.n_undetermined) == (2, 2, 0, 0)
    assert np.isnan(found.confidence).all()


def test_text_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what neither record nor path tells is identified, and its confidence comes along."""
    asked = []

    def identify(texts: pa.StringArray, *, threshold: float) -> tuple[pa.StringArray, np.ndarray]:
        asked.append((texts.to_pylist(), threshold))
        return pa.array(["sv", "und"]), np.array([0.9, 0.1], np.float32)

    monkeypatch.setattr(languages, "identify_languages", identify)
    sources = ["a/fr.txt", "b", "c", "d"]
    found = resolve([None, None, "fi", ""], sources, pattern=r"(\w+)\.txt", identify=True, threshold=0.7)
    assert asked == [(["text 1", "text 3"], 0.7)]
    assert found.tags.to_pylist() == ["fr", "sv", "fi", "und"]
    np.testing.assert_array_equal(found.confidence, np.array([np.nan, 0.9, np.nan, 0.1], np.float32))
    assert (found.n_record, found.n_path, found.n_identified, found.n_undetermined) == (1, 1, 1, 1)


def test_empty_batch() -> None:
    """No documents, no languages."""
    found = resolve_languages(*[pa.array([], pa.string())] * 3)
    assert (len(found.tags), found.tags.type, found.n_undetermined) == (0, pa.string(), 0)


@given(st.lists(st.sampled_from([None, "en", "EN", "eng", "x!", "fr_FR"]), max_size=30))
def test_batch_equals_one_by_one(tags: list[str | None]) -> None:
    """A batch gives what each document gives alone."""
    assert resolve(tags, ["s"] * len(tags)).tags.to_pylist() == [canonical_tag(tag) for tag in tags]
