"""Policies: which encoding each stretch of text gets, as small declarative files.

A policy is a JSON object (`schemas/policy.schema.json`) of one of three kinds: `scripts` is a table by
script class, `ranges` the article's `SCRIPT_POLICY` dictionary, `optimal` leaves the choice to
`min_bytes`. Files are checked on load: whatever is unknown is an error that names the nearest known thing.
"""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from . import unicode_data
from .encoders import ENCODING_NAMES, UTF8_ID
from .errors import ConfigError

BUILTIN_POLICIES: Final = ("utf-8", "script-a", "script-b", "script-c", "min-bytes")
AUTO: Final = "auto"

_REPORT_ONLY: Final = tuple(unicode_data.SCRIPTS[i] for i in (unicode_data.JPAN, unicode_data.KORE, unicode_data.HANB))
_NEVER_ROUTED: Final = ("Zyyy", "Zinh", "Zzzz")
_SCRIPT_IDS: Final = {code: i for i, code in enumerate(unicode_data.SCRIPTS) if code not in _REPORT_ONLY}

_COMMON_KEYS: Final = ("name", "kind", "description")
_KEYS: Final = {
    "scripts": (*_COMMON_KEYS, "default", "scripts", "min_codepoints", "evidence"),
    "ranges": (*_COMMON_KEYS, "default", "ranges"),
    "optimal": _COMMON_KEYS,
}
_MAX_CODEPOINT: Final = 0x10FFFF

PolicyKind = Literal["scripts", "ranges", "optimal"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A checked policy.

    Attributes:
        name: for tables and manifests.
        kind: "scripts", "ranges" or "optimal".
        default: encoding id of scripts or code points that the table does not name.
        scripts: (script id, encoding id) by id; kind "scripts".
        min_codepoints: shorter segments stay UTF-8; kind "scripts".
        ranges: (first, last, encoding id), last inclusive, the first range that holds a code point
            decides; kind "ranges".
        evidence: what a calibrated table rests on: JSON text of an object with the key
            `tokenizer_fingerprint`; None for tables that no calibration made.
    """

    name: str
    kind: PolicyKind
    default: int = UTF8_ID
    scripts: tuple[tuple[int, int], ...] = ()
    min_codepoints: int = 1
    ranges: tuple[tuple[int, int, int], ...] = ()
    evidence: str | None = None

    def encoding_of_scripts(self) -> npt.NDArray[np.uint8]:
        """Returns the encoding id of every script class: uint8[len(SCRIPTS)]; Zyyy, Zinh and Zzzz are UTF-8."""
        table = np.full(len(unicode_data.SCRIPTS), self.default, np.uint8)
        for script, encoding in self.scripts:
            table[script] = encoding
        table[[_SCRIPT_IDS[code] for code in _NEVER_ROUTED]] = UTF8_ID
        return table

    def encoding_of_codepoints(self, codepoints: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
        """Returns the encoding id that the ranges give code points: uint8[n] for uint32[n]."""
        table = np.full(_MAX_CODEPOINT + 1, self.default, np.uint8)
        for first, last, encoding in reversed(self.ranges):
            table[first : last + 1] = encoding
        return table[codepoints]

    def fingerprint(self) -> dict[str, Any]:
        """Returns what the routed bytes depend on, as a JSON-able object with a fixed order of keys."""
        found: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind != "optimal":
            found["default"] = ENCODING_NAMES[self.default]
        if self.kind == "scripts":
            found["scripts"] = {unicode_data.SCRIPTS[s]: ENCODING_NAMES[e] for s, e in self.scripts}
            found["min_codepoints"] = self.min_codepoints
        if self.kind == "ranges":
            found["ranges"] = [[first, last, ENCODING_NAMES[encoding]] for first, last, encoding in self.ranges]
        return found

    def check_tokenizer(self, fingerprint: str) -> None:
        """Passes when the policy may be used with a tokenizer: it has no evidence, or evidence for this one.

        Raises:
            ConfigError: the policy was calibrated for another tokenizer.
        """
        evidence = json.loads(self.evidence) if self.evidence else {"tokenizer_fingerprint": fingerprint}
        expected = evidence["tokenizer_fingerprint"]
        if expected != fingerprint:
            name = f"{evidence['tokenizer']!s:.40} " if "tokenizer" in evidence else ""
            raise ConfigError(
                f"policy {self.name!r} was calibrated for the tokenizer {name}{expected[:16]!r}, this one is "
                f"{fingerprint[:16]!r}: run `byteroute calibrate` for it, or take another policy"
            )

    def check_stream(self, framing: str, profile: str, *, barrier: bool) -> None:
        """Passes when the policy may be used for a form of stream: it has no evidence, or evidence for this one.

        Raises:
            ConfigError: the policy was calibrated with other markers, so what it knows of costs is not true here.
        """
        here = {"framing": framing, "profile": profile, "barrier": barrier}
        expected = json.loads(self.evidence).get("stream", here) if self.evidence else here
        if expected != here:
            raise ConfigError(
                f"policy {self.name!r} was calibrated for streams with {expected}, this one is {here}: "
                "run `byteroute calibrate` with the same settings, or take another policy"
            )


def load_policy(spec: str | Path | Mapping[str, Any]) -> Policy:
    """Returns a builtin policy by name, the policy in a JSON file, or the one that a dictionary describes.

    Raises:
        ConfigError: no such name or file, or the content is no policy.

    >>> load_policy("script-c").min_codepoints
    5
    >>> load_policy({"greek": {"ranges": [[0x370, 0x3FF]], "encoding": "utf-16-le"}, "default": "utf-8"}).kind
    'ranges'
    """
    if isinstance(spec, Mapping):
        return parse_policy(spec)
    name = str(spec)
    if name in BUILTIN_POLICIES:
        text = resources.files("byteroute_ops.policies").joinpath(f"{name}.json").read_text("utf-8")
        return parse_policy(json.loads(text), where=f"builtin policy {name}")
    if name == AUTO:
        raise ConfigError(
            "policy 'auto' depends on the tokenizer: run `byteroute calibrate` and give the file it writes"
        )
    path = Path(spec)
    if not path.is_file():
        raise ConfigError(f"no policy and no file {_shown(name)}{_nearest(name, (*BUILTIN_POLICIES, AUTO))}")
    try:
        content = json.loads(path.read_text("utf-8"), object_pairs_hook=_without_duplicates)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ConfigError(f"policy file {name}: not JSON: {error}") from None
    return parse_policy(content, where=f"policy file {name}")


def parse_policy(content: object, *, where: str = "policy") -> Policy:
    """Returns the policy that a JSON object describes, in our form or as the article's dictionary.

    Args:
        content: the object.
        where: what error messages call it.

    Raises:
        ConfigError: a key, a script, an encoding or a value that cannot be.
    """
    if not isinstance(content, Mapping):
        raise ConfigError(f"{where}: {_shown(content)} is no JSON object")
    if "kind" not in content and any(isinstance(value, Mapping) and "ranges" in value for value in content.values()):
        return _article_policy(content, where)
    kind = _one_of(content.get("kind"), tuple(_KEYS), f"{where}: kind")
    _check_keys(content, _KEYS[kind], where)
    name = content.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{where}: name is {_shown(name)}: give the policy a name")
    if kind == "optimal":
        return Policy(name=name, kind="optimal")
    default = _encoding(content.get("default"), f"{where}: default")
    if kind == "ranges":
        return Policy(name=name, kind="ranges", default=default, ranges=_ranges(content.get("ranges"), where))
    return Policy(
        name=name,
        kind="scripts",
        default=default,
        scripts=_scripts(content.get("scripts"), where),
        min_codepoints=_positive(content.get("min_codepoints", 1), f"{where}: min_codepoints"),
        evidence=_evidence(content.get("evidence"), where),
    )


def _article_policy(content: Mapping[str, Any], where: str) -> Policy:
    """Reads `{"han": {"ranges": [[first, last], ...], "encoding": ...}, ..., "default": ...}`."""
    rows: list[tuple[int, int, int]] = []
    for key, value in content.items():
        if key == "default":
            continue
        place = f"{where}: {key}"
        if not isinstance(value, Mapping):
            raise ConfigError(f"{place} is {_shown(value)}: use an object with ranges and encoding")
        _check_keys(value, ("ranges", "encoding"), place)
        encoding = value.get("encoding")
        pairs = value.get("ranges")
        if not isinstance(pairs, list | tuple):
            raise ConfigError(f"{place}: ranges is {_shown(pairs)}: use a list of [first, last]")
        rows += _ranges([[*pair, encoding] if isinstance(pair, list | tuple) else pair for pair in pairs], place)
    default = content.get("default")
    if isinstance(default, Mapping):
        _check_keys(default, ("encoding",), f"{where}: default")
        default = default.get("encoding")
    return Policy(name="ranges", kind="ranges", default=_encoding(default, f"{where}: default"), ranges=tuple(rows))


def _ranges(value: object, where: str) -> tuple[tuple[int, int, int], ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{where}: ranges is {_shown(value)}: use a list of [first, last, encoding]")
    rows = []
    for row in value:
        if not isinstance(row, list | tuple) or len(row) != 3 or not all(type(bound) is int for bound in row[:2]):
            raise ConfigError(f"{where}: range {_shown(row)}: use [first, last] in code points, last inclusive")
        first, last, encoding = row
        if not 0 <= first <= last <= _MAX_CODEPOINT:
            raise ConfigError(f"{where}: range {_shown(row)}: bounds must rise and lie in 0..0x10FFFF")
        rows.append((first, last, _encoding(encoding, where)))
    return tuple(rows)


def _scripts(value: object, where: str) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: scripts is {_shown(value)}: use an object from script codes to encodings")
    rows = {}
    for code, name in value.items():
        place = f"{where}: scripts: {code}"
        if code in _REPORT_ONLY:
            raise ConfigError(f"{place} is a class of reports only: name Hani, Hira, Kana, Hang or Bopo instead")
        script = _SCRIPT_IDS[_one_of(code, tuple(_SCRIPT_IDS), f"{where}: script")]
        rows[script] = _encoding(name, place)
        if code in _NEVER_ROUTED and rows[script] != UTF8_ID:
            raise ConfigError(f"{place} is {_shown(name)}: {', '.join(_NEVER_ROUTED)} are utf-8 under every policy")
    return tuple(sorted(rows.items()))


def _evidence(value: object, where: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not isinstance(value.get("tokenizer_fingerprint"), str):
        raise ConfigError(f"{where}: evidence must be an object with a tokenizer_fingerprint: calibrate again")
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _encoding(value: object, where: str) -> int:
    return ENCODING_NAMES.index(_one_of(value, ENCODING_NAMES, f"{where}: encoding"))


def _positive(value: object, where: str) -> int:
    if type(value) is not int or value < 1:
        raise ConfigError(f"{where} is {_shown(value)}: use a whole number from 1 on")
    return value


def _check_keys(content: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in content:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {_shown(key)}{_nearest(str(key), known)}")


def _one_of(value: object, known: tuple[str, ...], where: str) -> str:
    if isinstance(value, str) and value in known:
        return value
    raise ConfigError(f"{where} {_shown(value)} is unknown{_nearest(str(value), known)}")


def _nearest(value: str, known: Iterable[str]) -> str:
    """Returns the end of a message: the known name nearest to `value`, and all of them where they are few."""
    names = sorted(known)
    folded = {name.lower(): name for name in names}
    near = difflib.get_close_matches(value.lower(), list(folded), 1, 0.0)
    listed = f" (known: {', '.join(names)})" if len(names) <= 12 else ""
    return f": did you mean {folded[near[0]]!r}?{listed}" if near else listed


def _shown(value: object) -> str:
    return f"{value!r:.80}"


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ConfigError(f"policy file: key {_shown(key)} stands twice: keep one")
    return dict(pairs)
