"""Language tags: one canonical spelling, from the record, the file path, or the text itself.

Implements the syntax of RFC 5646 §2.1, its case conventions (§2.1.1) and its canonical form (§4.5), with two
habits of corpora on top: `_` for `-` (`pt_BR`, `zho_Hans`), and POSIX locale names (`sr_RS.UTF-8@latin`).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .errors import ConfigError
from .language_codes import EXTENDED, LANGUAGES, REGIONS, TWO_LETTERS, WHOLE_TAGS
from .lid import DEFAULT_THRESHOLD, identify_languages
from .records import UND

MAX_TAG_CHARACTERS: Final = 64
"""Longer strings are no tag that a corpus would use (RFC 5646 §4.4.1 asks for room for 35)."""

_TAG: Final = re.compile(
    r"(?P<language>[a-z]{2,3})"
    r"(?:-(?P<extlang>[a-z]{3}))?"
    r"(?:-(?P<script>[a-z]{4}))?"
    r"(?:-(?P<region>[a-z]{2}|[0-9]{3}))?"
    r"(?P<variants>(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*)"
    r"(?P<extensions>(?:-[a-wy-z0-9](?:-[a-z0-9]{2,8})+)*)"
    r"(?P<private>-x(?:-[a-z0-9]{1,8})+)?"
)
_PRIVATE: Final = re.compile(r"x(?:-[a-z0-9]{1,8})+")
_IRREGULAR: Final = frozenset({"i-default", "i-enochian", "i-mingo", "zh-min", "cel-gaulish"})
# Valid by RFC 5646 §2.2.8 although they fit no rule; the registry prefers nothing else.
_POSIX_SCRIPTS: Final = {"latin": "latn", "cyrillic": "cyrl", "devanagari": "deva", "arabic": "arab"}


@lru_cache(maxsize=1 << 16)
def canonical_tag(tag: str | None) -> str:
    """Returns the canonical form of a language tag; `und` for None and for what is no tag.

    Deprecated and too long codes are replaced (`iw`, `heb` → `he`), an extended language subtag becomes the
    language (`zh-yue` → `yue`). A script that the language implies is kept, and no language is folded into its
    macrolanguage: `cmn` stays `cmn`. Codes of three letters are not looked up: `qqq` passes.

    >>> [canonical_tag(tag) for tag in ("zh_hant_tw", "iw", "deu_Latn", "zh-yue-HK", "i-klingon", "sr_RS@latin")]
    ['zh-Hant-TW', 'he', 'de-Latn', 'yue-HK', 'tlh', 'sr-Latn-RS']
    >>> [canonical_tag(tag) for tag in (None, "", "English", "xx", "<b>", "en--US")]
    ['und', 'und', 'und', 'und', 'und', 'und']
    """
    text = _unposix(tag or "")
    if len(text) > MAX_TAG_CHARACTERS or not text.isascii():
        return UND
    text = WHOLE_TAGS.get(text, text).lower()
    if text in _IRREGULAR or _PRIVATE.fullmatch(text):
        return text
    match = _TAG.fullmatch(text)
    if match is None:
        return UND
    variants = [part for part in match["variants"].split("-") if part]
    extensions = sorted(re.findall(r"-([a-wy-z0-9](?:-[a-z0-9]{2,8})+)", match["extensions"]))
    singletons = [extension[0] for extension in extensions]
    language = _language(match["language"], match["extlang"])
    if not language or len(set(variants)) < len(variants) or len(set(singletons)) < len(singletons):
        return UND
    script = (match["script"] or "").capitalize()
    region = (match["region"] or "").upper()
    parts = (language, script, REGIONS.get(region, region), *variants, *extensions, (match["private"] or "")[1:])
    return "-".join(part for part in parts if part)


def _unposix(tag: str) -> str:
    """Returns a tag in lower case, with `-` as the only joint and a POSIX modifier as a script."""
    name, _, modifier = tag.strip().lower().replace("_", "-").partition("@")
    name = name.partition(".")[0]
    script = _POSIX_SCRIPTS.get(modifier)
    if script:
        language, _, rest = name.partition("-")
        return "-".join(part for part in (language, script, rest) if part)
    return name


def _language(language: str, extended: str | None) -> str:
    """Returns the canonical primary subtag, or nothing where no registry knows it."""
    language = LANGUAGES.get(language, language)
    if extended is not None:
        # RFC 5646 §4.5: a language with an extended one is written as the extended one alone.
        return extended if language in EXTENDED else ""
    return language if len(language) == 3 or language in TWO_LETTERS else ""


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"language pattern {pattern!r:.80}: {error}; it is a Python regular expression") from None
    if not compiled.groups:
        raise ConfigError(f"language pattern {pattern!r:.80} has no group; write (?P<lang>...) around the tag")
    return compiled


def tag_from_path(source: str, pattern: str) -> str:
    r"""Returns the canonical tag that a pattern finds in a path; `und` where it finds none.

    Args:
        source: a file's path or URI.
        pattern: a regular expression, searched for; the tag is its group `lang`, else its first group.

    Raises:
        ConfigError: no regular expression, or one without a group.

    >>> tag_from_path("dumps/wiki.pt_BR/part-3.jsonl.zst", r"\.(?P<lang>[A-Za-z_]+)/")
    'pt-BR'
    """
    compiled = _compiled(pattern)
    match = compiled.search(source)
    return UND if match is None else canonical_tag(match["lang" if "lang" in compiled.groupindex else 1])


@dataclass(frozen=True)
class ResolvedLanguages:
    """Languages of a batch and where they come from.

    Attributes:
        tags: StringArray[n], canonical, never null.
        confidence: float32[n], of the identification; NaN where nothing was identified.
        n_record: documents whose record names a language.
        n_path: documents whose path does.
        n_identified: documents identified by their text, with enough confidence.
    """

    tags: pa.StringArray
    confidence: npt.NDArray[np.float32]
    n_record: int
    n_path: int
    n_identified: int

    @property
    def n_undetermined(self) -> int:
        """Documents that stay `und`."""
        return len(self.tags) - self.n_record - self.n_path - self.n_identified


def resolve_languages(
    langs: pa.StringArray,
    sources: pa.StringArray,
    texts: pa.StringArray,
    *,
    pattern: str | None = None,
    identify: bool = False,
    threshold: float = DEFAULT_THRESHOLD,
) -> ResolvedLanguages:
    """Returns the language of every document: the record's, else the path's, else what the text looks like.

    Args:
        langs: StringArray[n], as the records have it; null and nonsense count as absent.
        sources: StringArray[n], the files.
        texts: StringArray[n], clean texts; looked at only with `identify`.
        pattern: see `tag_from_path`; None leaves paths alone.
        identify: whether to identify what neither record nor path tells.
        threshold: see `identify_languages`.

    Raises:
        ConfigError: a bad pattern or threshold, or `identify` without the extra `lid`.
    """
    tags = _mapped(langs, canonical_tag)
    n_record = _known(tags)
    if pattern is not None:
        _compiled(pattern)
        tags = pc.if_else(
            pc.equal(tags, UND), _mapped(sources, lambda source: tag_from_path(source or "", pattern)), tags
        )
    n_path = _known(tags) - n_record
    confidence = np.full(len(tags), np.nan, np.float32)
    if identify:
        places = np.flatnonzero(pc.equal(tags, UND).to_numpy(zero_copy_only=False))
        found, confidence[places] = identify_languages(texts.take(pa.array(places)), threshold=threshold)
        mask = np.zeros(len(tags), bool)
        mask[places] = True
        tags = pc.replace_with_mask(tags, pa.array(mask), found)
    return ResolvedLanguages(tags, confidence, n_record, n_path, _known(tags) - n_record - n_path)


def _known(tags: pa.StringArray) -> int:
    return int(pc.sum(pc.not_equal(tags, UND)).as_py() or 0)


def _mapped(values: pa.StringArray, function: Callable[[str | None], str]) -> pa.StringArray:
    """Returns `function` of every value; called once for each different one."""
    encoded = values.dictionary_encode()
    distinct: Iterable[str | None] = [*encoded.dictionary.to_pylist(), None]
    mapped = pa.array([function(value) for value in distinct], pa.string())
    return mapped.take(encoded.indices.fill_null(len(mapped) - 1))
