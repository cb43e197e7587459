"""`never_worse`: no document has more tokens routed than as UTF-8."""

from typing import Any

import pyarrow as pa
import pytest

from byteroute_ops.errors import ConfigError
from byteroute_ops.fingerprints import tokenizer_digest
from byteroute_ops.processing import Processor
from byteroute_ops.records import DOCUMENTS
from byteroute_ops.settings import Settings
from byteroute_ops.stream_codec import decode
from byteroute_ops.tokenization import open_tokenizer

TEXTS = (
    "Plain text.",
    "",
    "Все люди рождаются свободными",
    "ሁሉም ሰዎች ነጻ ሆነው ተወልደዋል",
    "ሁሉም and ሰዎች and ነጻ and ሆነው",
    "人人生而自由 \uf900 人人",
    "\uf900\uf901\uf902",
    "latin \uf904 only",
)


def documents(texts: tuple[str, ...] = TEXTS) -> pa.RecordBatch:
    """Returns the texts as a batch of documents."""
    rows = [{"doc_id": str(i), "source": "s", "position": i, "lang": "und", "text": t} for i, t in enumerate(texts)]
    return pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)


def rows(texts: tuple[str, ...] = TEXTS, **settings: Any) -> list[dict[str, Any]]:
    """Returns the shard rows of the texts."""
    return Processor(Settings(**settings)).process(documents(texts)).rows.to_pylist()


@pytest.mark.parametrize("policy", ["script-a", "script-b", "min-bytes"])
@pytest.mark.parametrize("engine", ["tokenizer", "bytes"])
def test_each_document_has_the_better_of_its_two_forms(policy: str, engine: str) -> None:
    """Every count is the smaller one of routed and UTF-8, literals' escapes included, ties going to the routed form."""
    common: dict[str, Any] = {"routed_engine": engine, "ids": "routed"}
    plain, routed, best = (
        rows(**common, policy="utf-8"),
        rows(**common, policy=policy),
        rows(**common, policy=policy, never_worse=True),
    )
    for one, other, found in zip(plain, routed, best, strict=True):
        expected = one if other["n_routed_tokens"] > one["n_routed_tokens"] else other
        assert found == expected


def test_it_changes_something_and_keeps_something() -> None:
    """In the texts above there is a document that stays UTF-8 because of it, and one that is routed all the same."""
    common: dict[str, Any] = {"policy": "script-b", "routed_engine": "bytes"}
    without, with_it = rows(**common), rows(**common, never_worse=True)
    same = [one["routed"] == other["routed"] for one, other in zip(without, with_it, strict=True)]
    assert not same[2]
    assert same[3]
    assert with_it[3]["n_routed_bytes"] < with_it[3]["n_utf8_bytes"]


def test_streams_decode_and_budgets_are_of_what_was_written() -> None:
    """Rows decode to their texts, and the budget counts the routed tokens and bytes that the rows hold."""
    done = Processor(Settings(policy="script-b", never_worse=True)).process(documents())
    found = done.rows.to_pylist()
    streams = [decode(one["routed"], framing="control", profile="bytes", barrier=False) for one in found]
    assert streams == list(TEXTS)
    totals = done.budget.totals("default")
    assert totals["n_routed_tokens"] == sum(one["n_routed_tokens"] for one in found)
    assert totals["n_routed_bytes"] == sum(one["n_routed_bytes"] for one in found)
    for one in found:
        covered = [(part["text_start"], part["text_end"]) for part in one["segments"]]
        assert [end for _, end in covered[:-1]] == [start for start, _ in covered[1:]]


def test_documents_do_not_depend_on_their_batch() -> None:
    """Alone, each document has the row that it has among others."""
    together = rows(policy="min-bytes", never_worse=True)
    for index, text in enumerate(TEXTS):
        [alone] = rows((text,), policy="min-bytes", never_worse=True)
        assert alone["routed"] == together[index]["routed"]
        assert alone["n_routed_tokens"] == together[index]["n_routed_tokens"]


def test_a_tokenizer_without_routed_ids_is_refused(tmp_path: Any) -> None:
    """Where the first tokenizer counts no routed tokens, the setting is an error, but not with the bytes engine."""
    import json

    import plain_tokenization as plain

    file = tmp_path / "wordpiece.json"
    file.write_text(json.dumps(plain.wordpiece()))
    with pytest.raises(ConfigError, match="never_worse counts routed tokens"):
        Processor(Settings(tokenizers=(str(file),), never_worse=True))
    Processor(Settings(tokenizers=(str(file),), never_worse=True, routed_engine="bytes"))


def calibrated(**evidence: Any) -> dict[str, Any]:
    """Returns a calibrated policy with such evidence."""
    return {"name": "auto", "kind": "scripts", "default": "utf-8", "scripts": {}, "evidence": evidence}


def test_calibrated_policy_is_bound_to_what_counts() -> None:
    """A policy with evidence for the first tokenizer is taken; with the bytes engine, that engine must fit."""
    default, plain_bytes = (tokenizer_digest(open_tokenizer(name).fingerprint()) for name in ("default", "bytes"))
    Processor(Settings(policy=calibrated(tokenizer_fingerprint=default)))
    Processor(Settings(policy=calibrated(tokenizer_fingerprint=default), add_special_tokens=False))
    Processor(Settings(policy=calibrated(tokenizer_fingerprint=plain_bytes), routed_engine="bytes"))
    with pytest.raises(ConfigError, match="was calibrated for the tokenizer"):
        Processor(Settings(policy=calibrated(tokenizer_fingerprint=plain_bytes)))
    with pytest.raises(ConfigError, match="byteroute calibrate"):
        Processor(Settings(policy=calibrated(tokenizer_fingerprint=default), tokenizers=("bytes", "default")))


def test_calibrated_policy_is_bound_to_its_markers() -> None:
    """What was calibrated with one framing is refused with another."""
    default = tokenizer_digest(open_tokenizer("default").fingerprint())
    stream = {"framing": "bom", "profile": "bytes", "barrier": False}
    policy = calibrated(tokenizer_fingerprint=default, stream=stream)
    Processor(Settings(policy=policy, framing="bom"))
    with pytest.raises(ConfigError, match="calibrated for streams with"):
        Processor(Settings(policy=policy))


def test_empty_batch() -> None:
    """No documents, no rows."""
    assert rows((), never_worse=True) == []
