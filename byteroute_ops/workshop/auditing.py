"""What a vocabulary wastes: ids that a corpus never uses, junk merges, parts of characters, rows of an embedding."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.errors import ConfigError
from byteroute_ops.segmentation import Segmentation, segment_batch
from byteroute_ops.unicode_data import SCRIPTS
from byteroute_ops.workshop.vocabulary import Vocabulary

Int64 = npt.NDArray[np.int64]

DTYPE_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}

FRAGMENT, SPECIAL, NONE = "fragment", "special", "no script"
"""Rows of the script table that are no scripts: parts of characters, added tokens, tokens without a letter."""

JUNK: Final[Mapping[str, str]] = {
    "space + punctuation": r"[ \u00A0]+[,.;:!?)\]}%\u00BB\u2019\u201D\u3001\u3002\uFF0C\uFF1A\uFF1B\uFF01\uFF1F]+",
    "repeated character": r"(.)\1{3,}",
    "white space run": r"\s{2,}",
    "long number": r" ?\d{4,}",
    "punctuation + word": r"[,.;:!?)\]}\u3001\u3002\uFF0C]+[^\W\d_]{2,}",
}
"""Kind of junk → what all of a token must match; the first kind that fits counts."""

_JUNK: Final = {name: re.compile(pattern, re.DOTALL) for name, pattern in JUNK.items()}
MIXED: Final = "mixed scripts"
"""Letters of several scripts in one token, Han, kana and Hangul of one language aside: the last kind of junk."""


@dataclass(frozen=True, kw_only=True)
class ScriptShare:
    """Ids whose text is of one script (report class), and what the corpus does with them."""

    script: str
    n_ids: int
    n_unused: int
    n_tokens: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """What a vocabulary wastes on a corpus.

    Attributes:
        n_ids: ids that there are.
        n_tokens: of the corpus.
        unused: int64[k], ids that never occur; added tokens are not among them.
        junk: kind → int64[k], ids.
        fragments: int64[k], ids that hold parts of characters, single bytes aside.
        scripts: most ids first.
        counts: int64[n_ids], how often each id occurs.
    """

    n_ids: int
    n_tokens: int
    unused: Int64
    junk: Mapping[str, Int64]
    fragments: Int64
    scripts: tuple[ScriptShare, ...]
    counts: Int64

    def embedding_bytes(self, width: int, dtype: str, *, tied: bool) -> tuple[int, int]:
        """Returns the bytes of embedding and output head, and those of them that unused ids take.

        Args:
            width: of the model.
            dtype: a key of `DTYPE_BYTES`.
            tied: whether one matrix serves as both.

        Raises:
            ConfigError: an unknown dtype.
        """
        if dtype not in DTYPE_BYTES:
            raise ConfigError(f"dtype {dtype!r:.80} is not known; known are {', '.join(DTYPE_BYTES)}")
        row = width * DTYPE_BYTES[dtype] * (1 if tied else 2)
        return self.n_ids * row, int(self.unused.size) * row


def audit(vocabulary: Vocabulary, counts: Int64) -> Audit:
    """Returns what a vocabulary wastes.

    Args:
        vocabulary: of the tokenizer.
        counts: int64[n_ids], how often each id occurs in a corpus.
    """
    content = vocabulary.content
    texts = {i: token.decode() for i, token in enumerate(content) if token and not vocabulary.is_fragment[i]}
    strong, report = _scripts_of(texts)
    junk: dict[str, list[int]] = {name: [] for name in (*JUNK, MIXED)}
    for index, text in texts.items():
        kind = junk_kind(text, len(strong[index]))
        if kind is not None:
            junk[kind].append(index)
    held = [i for i, token in enumerate(content) if token is not None]
    unused = np.array([i for i in held if not counts[i]], np.int64)
    many = [i for i in held if vocabulary.is_fragment[i] and len(content[i] or b"") > 1]
    return Audit(
        n_ids=vocabulary.size,
        n_tokens=int(counts.sum()),
        unused=unused,
        junk={name: np.array(ids, np.int64) for name, ids in junk.items()},
        fragments=np.array(many, np.int64),
        scripts=_shares(vocabulary, report, counts),
        counts=counts,
    )


def junk_kind(text: str, n_scripts: int = 1) -> str | None:
    """Returns which junk the text of a token is; None: none.

    Args:
        text: of the token.
        n_scripts: of how many scripts its letters are.

    >>> junk_kind(" ,"), junk_kind("===="), junk_kind(" ("), junk_kind("2024")
    ('space + punctuation', 'repeated character', None, 'long number')
    """
    for name, pattern in _JUNK.items():
        if pattern.fullmatch(text):
            return name
    return MIXED if n_scripts > 1 else None


def _scripts_of(texts: Mapping[int, str]) -> tuple[dict[int, set[str]], dict[int, str]]:
    """Returns the scripts of the letters of each text, and the one that it counts for: that of its first letter."""
    seg = segment_batch(pa.array(texts.values(), pa.string()))
    found: dict[int, set[str]] = {index: set() for index in texts}
    first = dict.fromkeys(texts, NONE)
    ids = list(texts)
    for doc, script in _strong_runs(seg):
        index = ids[doc]
        if not found[index]:
            first[index] = script
        found[index].add(script)
    return found, first


def _strong_runs(seg: Segmentation) -> Iterator[tuple[int, str]]:
    """Yields (document, report class) of the runs that hold a letter of their script."""
    own = seg.run_strong_end > seg.run_strong_start
    for doc, script in zip(seg.run_doc[own].tolist(), seg.run_report[own].tolist(), strict=True):
        yield doc, SCRIPTS[script]


def _shares(vocabulary: Vocabulary, report: Mapping[int, str], counts: Int64) -> tuple[ScriptShare, ...]:
    rows: dict[str, list[int]] = {}
    for index in sorted(vocabulary.spelling.keys() | vocabulary.added.keys()):
        if vocabulary.content[index] is None:
            script = SPECIAL
        elif vocabulary.is_fragment[index]:
            script = FRAGMENT
        else:
            script = report.get(index, NONE)
        rows.setdefault(script, []).append(index)
    found = [
        ScriptShare(
            script=script,
            n_ids=len(ids),
            n_unused=sum(not counts[index] for index in ids),
            n_tokens=int(counts[ids].sum()),
        )
        for script, ids in rows.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.n_ids, one.script)))
