"""Do the shards and the tokenizer that will train or serve belong together?

Each check is a function from facts to findings; reading files is the caller's work. The cases are public
ones: special ids that differ between configuration files, added tokens beyond the embedding, a pad id that is
also the EOS, a wrong pre-tokenizer shipped with a right vocabulary.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from byteroute_ops.errors import ConfigError

ROLES = ("bos", "eos", "pad", "unk")
_ROOM_FOR_NAMES = 8


@dataclass(frozen=True)
class Finding:
    """One result of a check.

    Attributes:
        code: stable name of the check.
        level: an `error` makes the gate fail, a `note` does not.
        message: what differs, and what to do.
    """

    code: str
    level: Literal["error", "note"]
    message: str


@dataclass(frozen=True)
class TokenizerFacts:
    """What a tokenizer file says, without running it.

    Attributes:
        ids: id of every token, added ones included.
        special: id of every token that is marked special.
        size: one more than the largest id: the rows that an embedding needs at least.
        saved_state: `truncation` or `padding` that were saved with the tokenizer and would change ids.
    """

    ids: Mapping[str, int]
    special: Mapping[str, int]
    size: int
    saved_state: tuple[str, ...] = field(default=())

    @staticmethod
    def from_json(text: str | bytes) -> "TokenizerFacts":
        """Returns the facts of a Hugging Face `tokenizer.json`.

        Raises:
            ConfigError: it is not one.
        """
        try:
            parsed = json.loads(text)
            vocab, added = parsed["model"]["vocab"], parsed.get("added_tokens") or []
            # Unigram has a list of (piece, score), all other models a mapping.
            ids = {p[0]: i for i, p in enumerate(vocab)} if isinstance(vocab, list) else dict(vocab)
            ids |= {token["content"]: token["id"] for token in added}
            special = {token["content"]: token["id"] for token in added if token.get("special")}
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ConfigError(
                f"not a tokenizer.json ({type(error).__name__}); name the file that `tokenizers` saves"
            ) from None
        saved = tuple(name for name in ("truncation", "padding") if parsed.get(name))
        return TokenizerFacts(ids=ids, special=special, size=max(ids.values(), default=-1) + 1, saved_state=saved)

    def look_up(self, token: str, flag: str) -> int | None:
        """Returns the id of a delimiter: a token's text, `id:NUMBER`, or `none`.

        Raises:
            ConfigError: not in the vocabulary; the special tokens there are, are named.

        >>> TokenizerFacts(ids={"</s>": 2}, special={"</s>": 2}, size=3).look_up("</s>", "--eos")
        2
        """
        if token == "none":  # noqa: S105  a delimiter, no password
            return None
        if token.startswith("id:") and token[3:].isascii() and token[3:].isdigit():
            number = int(token[3:])
            if number >= self.size:
                raise ConfigError(f"{flag} {token}: the vocabulary has {self.size} ids, the largest is {self.size - 1}")
            return number
        if token not in self.ids:
            names = sorted(self.special, key=lambda name: (-_likeness(name, token), name))[:_ROOM_FOR_NAMES]
            known = f"its special tokens: {', '.join(map(repr, names))}" if names else "it marks no token as special"
            raise ConfigError(
                f"{flag}: the vocabulary has no token {token!r:.80}; {known}. "
                f"Name one of its tokens, an id as id:NUMBER, "
                f"{flag} new for one more id behind the vocabulary, or {flag} none"
            )
        return self.ids[token]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


Configs = Mapping[str, Mapping[str, Any]]
"""Parsed JSON files that lie beside tokenizer.json, by file name."""


def role_ids(facts: TokenizerFacts, configs: Configs) -> dict[str, dict[str, int | None]]:
    """Returns {role: {file: id}} for every file that says something of a role; None: a token without an id."""
    found: dict[str, dict[str, int | None]] = {role: {} for role in ROLES}
    for name in sorted(configs):
        for role in ROLES:
            number, token = configs[name].get(f"{role}_token_id"), configs[name].get(f"{role}_token")
            if isinstance(number, int):
                found[role][name] = number
            elif isinstance(number, list) and number:
                # Chat models stop at several ids; the first one is the role.
                found[role][name] = number[0]
            content = token.get("content") if isinstance(token, Mapping) else token
            if isinstance(content, str):
                found[role][name] = facts.ids.get(content)
    return found


def check_special_ids(facts: TokenizerFacts, configs: Configs) -> list[Finding]:
    """Returns an error for each of BOS, EOS, PAD, UNK on which the files disagree or which has no id."""
    findings = []
    for role, ids in role_ids(facts, configs).items():
        said = ", ".join(f"{name}: {number}" for name, number in ids.items())
        if None in ids.values():
            findings.append(
                Finding("special-token-absent", "error", f"{role}: a token that tokenizer.json lacks ({said})")
            )
        elif len(set(ids.values())) > 1:
            findings.append(
                Finding(
                    "special-ids-differ",
                    "error",
                    f"{role}: {said}; the model will wait for an id that never comes, make them equal",
                )
            )
    for name in sorted(configs):
        for number, token in configs[name].get("added_tokens_decoder", {}).items():
            own = facts.ids.get(token.get("content"))
            if own != int(number):
                findings.append(
                    Finding(
                        "added-token-differs",
                        "error",
                        f"{name} has an added token at {number}, tokenizer.json has it at {own}",
                    )
                )
    return findings


def check_pad(facts: TokenizerFacts, configs: Configs, *, explanation: str | None = None) -> list[Finding]:
    """Returns an error where pad and EOS are one id and nobody says why that is fine.

    With one id for both, code that masks the loss by pad id never teaches the model to stop, and code that
    infers the attention mask from ids cannot. Masks of `byteroute_ops.loading` come from lengths.
    """
    roles = role_ids(facts, configs)
    pads, ends = set(roles["pad"].values()) - {None}, set(roles["eos"].values()) - {None}
    if not pads & ends:
        return []
    shared = sorted(number for number in pads & ends if number is not None)
    if explanation:
        return [Finding("pad-is-eos", "note", f"pad and EOS are both {shared[0]}; explained: {explanation}")]
    return [
        Finding(
            "pad-is-eos",
            "error",
            f"pad and EOS are both {shared[0]}: set another pad token, or say "
            "why masks do not depend on it with --pad-is-eos REASON",
        )
    ]


def check_embedding(facts: TokenizerFacts, configs: Configs) -> list[Finding]:
    """Returns an error where the model has fewer embedding rows than the tokenizer has ids."""
    findings = []
    for name in sorted(configs):
        rows = configs[name].get("vocab_size")
        if isinstance(rows, int) and rows < facts.size:
            message = (
                f"{name} has vocab_size {rows}, the tokenizer's largest id is {facts.size - 1}; resize the embedding"
            )
            findings.append(Finding("ids-beyond-embedding", "error", message))
    return findings


def check_saved_state(facts: TokenizerFacts) -> list[Finding]:
    """Returns an error for truncation or padding that was saved into the tokenizer: it would change ids."""
    return [
        Finding("saved-" + name, "error", f"tokenizer.json has {name} switched on; save it again without")
        for name in facts.saved_state
    ]


IDENTITY = ("kind", "vocab_size", "add_special_tokens", "structural", "behavioural", "offset", "bos", "eos")
"""What decides ids in a tokenizer's entry of a manifest; its name and the engine do not."""
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "added_tokens")


def check_fingerprint(
    shards: Mapping[str, Any], tokenizer: Mapping[str, Any], *, parts: Sequence[str] = ()
) -> list[Finding]:
    """Returns an error that lists all in which two tokenizers differ.

    Args:
        shards: entry of the manifest.
        tokenizer: fingerprint of the tokenizer that is compared.
        parts: parts of tokenizer.json that differ, where both files are at hand.
    """
    known, found = ({key: one[key] for key in IDENTITY if key in one} for one in (shards, tokenizer))
    names = differences(known, found)
    if not names:
        return []
    names += parts
    listed = ", ".join(names[:_ROOM_FOR_NAMES]) + (
        f" and {len(names) - _ROOM_FOR_NAMES} more" if len(names) > _ROOM_FOR_NAMES else ""
    )
    return [
        Finding(
            "fingerprint-differs",
            "error",
            f"the shards were made with another tokenizer; different: {listed}; use that one, or run again",
        )
    ]


def different_parts(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Returns the parts of two parsed tokenizer.json files that differ: of the model each of its keys.

    >>> different_parts({"model": {"vocab": {}, "merges": []}}, {"model": {"vocab": {}, "merges": ["a b"]}})
    ['model.merges']
    """
    models = [config.get("model", {}) for config in (one, other)]
    keys = sorted(set(models[0]) | set(models[1]))
    changed = [f"model.{key}" for key in keys if models[0].get(key) != models[1].get(key)]
    return changed + [part for part in PARTS if one.get(part) != other.get(part)]


def differences(one: Any, other: Any, prefix: str = "") -> list[str]:
    """Returns the dotted names of all leaves in which two JSON-able values differ, sorted.

    >>> differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}, "d": 4})
    ['a.c', 'd']
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = sorted(set(one) | set(other))
        return [
            name
            for key in keys
            for name in differences(
                one.get(key, _ABSENT), other.get(key, _ABSENT), f"{prefix}.{key}" if prefix else str(key)
            )
        ]
    return [] if one == other else [prefix or "all"]


_ABSENT = object()


def check_largest_id(largest: int | None, facts: TokenizerFacts) -> list[Finding]:
    """Returns an error where the shards hold an id that the tokenizer does not have. None: no ids."""
    if largest is None or largest < facts.size:
        return []
    return [
        Finding(
            "id-beyond-vocabulary",
            "error",
            f"the shards hold id {largest}, the tokenizer's largest is {facts.size - 1}",
        )
    ]


def check_delimiters(export: Mapping[str, Any], facts: TokenizerFacts, configs: Configs) -> list[Finding]:
    """Returns an error where an export's EOS or BOS is not the configuration's, or its ids need more rows."""
    findings = []
    roles = role_ids(facts, configs)
    for role in ("bos", "eos"):
        written, said = export.get(role), {number for number in roles[role].values() if number is not None}
        if written is not None and said and written not in said:
            message = f"the export delimits documents with {role} {written}, the model's files say {sorted(said)}"
            findings.append(
                Finding(f"export-{role}-differs", "error", message + "; export again, or correct the files")
            )
    rows = max([facts.size, *(c["vocab_size"] for c in configs.values() if isinstance(c.get("vocab_size"), int))])
    if export.get("vocab_size", 0) > rows:
        message = f"the export has ids below {export['vocab_size']}, the model {rows} rows; resize its embedding"
        findings.append(Finding("export-vocabulary-differs", "error", message))
    return findings
