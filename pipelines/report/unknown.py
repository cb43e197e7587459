"""How many tokens are the unknown token: what they stand for is lost, and cheap where it should be dear."""

from dataclasses import dataclass
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from byteroute_ops.errors import ConfigError
from byteroute_ops.tokenization.source import Source, file_name, read_source

from .load import Run
from .rows import ratio

_NEVER = frozenset({"bytes", "byte-level BPE"})
# Kinds that have an id for every byte, and so for every text.


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Tokens of a tokenizer that stand for what its vocabulary lacks.

    Attributes:
        tokenizer: its name.
        n_unknown: of the text tokens; None where they were not counted.
        rate: n_unknown / text tokens.
        reason: how it is known, or why it is not.
    """

    tokenizer: str
    n_unknown: int | None
    rate: float | None
    reason: str


def count_unknown(run: Run, n_tokens: dict[str, int], tokenizer_file: str | None) -> list[Unknown]:
    """Returns what is known of every tokenizer, in the order of the run.

    Args:
        run: a finished run.
        n_tokens: text tokens by tokenizer.
        tokenizer_file: of the first tokenizer, whose ids are in the shards; None: nothing is counted there.

    Raises:
        ConfigError: a file that is not the first tokenizer's, or that cannot be read.
    """
    found = []
    for number, facts in enumerate(run.manifest["tokenizers"]):
        name, counted = facts["name"], run.manifest["totals"].get("unknown_tokens", {})
        n_unknown: int | None = None
        if name in counted:
            n_unknown, reason = counted[name], "counted by the run"
        elif facts["kind"] in _NEVER:
            n_unknown, reason = 0, "every byte has an id"
        elif number:
            reason = "not counted: the shards hold the first tokenizer's ids"
        elif run.manifest["settings"]["ids"] != "text":
            reason = "not counted: the shards do not hold the ids of the texts (setting ids)"
        elif tokenizer_file is None:
            reason = "not counted: needs the tokenizer's file (--tokenizer)"
        else:
            unknown = _unknown_id(_source(tokenizer_file, facts))
            n_unknown = 0 if unknown is None else _occurrences(run, unknown)
            reason = "it has no unknown token" if unknown is None else f"counted in the shards, id {unknown}"
        rate = ratio(n_unknown, n_tokens[name])
        found.append(Unknown(tokenizer=name, n_unknown=n_unknown, rate=rate, reason=reason))
    return found


def _source(path: str, facts: dict[str, str]) -> Source:
    try:
        source = read_source(Path(path).read_bytes(), file_name(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    if source.digest != facts["structural"]:
        raise ConfigError(
            f"{path} is not the run's tokenizer {facts['name']!r:.80}: other contents (structural digest)"
        )
    return source


def _unknown_id(source: Source) -> int | None:
    """Returns the id of the unknown token: Unigram models have its id, the others its text."""
    config = orjson.loads(source.json)
    model = config["model"]
    if model.get("unk_id") is not None:
        return int(model["unk_id"])
    token = model.get("unk_token")
    if token is None or isinstance(model["vocab"], list):
        return None
    added = {one["content"]: one["id"] for one in config.get("added_tokens") or []}
    found = added.get(token, model["vocab"].get(token))
    return None if found is None else int(found)


def _occurrences(run: Run, unknown: int) -> int:
    wanted = pa.scalar(unknown, pa.int32())
    return sum(
        int(pc.sum(pc.equal(batch.column("token_ids").flatten(), wanted)).as_py() or 0)
        for shard in run.shards
        for batch in run.batches(shard["path"], ["token_ids"])
    )
