"""What holds for budgets of any batches: they agree with counting one document at a time, and they merge."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from byteroute_ops.budgets import BatchCounts, Budget, TokenCounts
from byteroute_ops.budgets.histogram import bucket_of
from byteroute_ops.records import ADDED
from byteroute_ops.unicode_data import SCRIPTS

numbers = st.one_of(st.integers(0, 5), st.integers(0, 1 << 40))
run = st.tuples(st.integers(0, 4), st.integers(1, 1 << 40), numbers, numbers, numbers, numbers, numbers)
"""(script, code points, UTF-8 bytes, routed bytes, text tokens of a, of b, routed tokens of a)"""
document = st.tuples(st.sampled_from(["en", "ru", "und"]), st.lists(run, max_size=5), st.integers(0, 2))
"""(language, runs, added tokens)"""
documents = st.lists(document, max_size=6)

Document = tuple[str, list[tuple[int, ...]], int]


def count(docs: list[Document]) -> Budget:
    """Returns the budget of the documents as one batch. Tokenizer `a` has routed ids, `b` has none."""
    runs = [(number, *one) for number, (_, pieces, _) in enumerate(docs) for one in pieces]
    table = np.array(runs, np.int64).reshape(-1, 8)
    added = np.array([extra for _, _, extra in docs], np.int64)
    budget = Budget.zero()
    doc, script = table[:, 0], table[:, 1].astype(np.uint8)
    budget.add(
        BatchCounts(
            lang=pa.array([lang for lang, _, _ in docs], pa.string()), run_doc=doc, run_script=script,
            n_codepoints=table[:, 2], n_utf8_bytes=table[:, 3], row_doc=doc, row_script=script,
            n_routed_bytes=table[:, 4],
        ),
        {
            "a": TokenCounts(text=table[:, 5], text_added=added, routed=table[:, 7], routed_added=2 * added),
            "b": TokenCounts(text=table[:, 6], text_added=added),
        },
    )  # fmt: skip
    return budget


def plain(docs: list[Document], tokenizer: str, by: str) -> dict[str, dict[str, Any]]:
    """Returns the rows of a budget, counted one document at a time."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    values: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for lang, runs, added in docs:
        mine: dict[str, Counter[str]] = defaultdict(Counter)
        if by == "lang":
            mine[lang].update(text=added, routed=2 * added)
        elif added:
            mine[ADDED].update(text=added, routed=2 * added)
        for script, codepoints, utf8, routed_bytes, text_a, text_b, routed in runs:
            mine[lang if by == "lang" else SCRIPTS[script]].update(
                codepoints=codepoints, utf8=utf8, bytes=routed_bytes, text=text_a if tokenizer == "a" else text_b,
                routed=routed,
            )  # fmt: skip
        for key, measured in mine.items():
            sums[key].update(measured)
            values[key].append((measured["text"], measured["routed"]))
    has_routed = tokenizer == "a"

    def histogram(found: list[int]) -> list[dict[str, int]]:
        counts = Counter(bucket_of(np.array(found, np.int64)).tolist())
        return [{"bucket": bucket, "documents": counts[bucket]} for bucket in sorted(counts)]

    return {
        key: {
            "tokenizer": tokenizer,
            by: key,
            "documents": len(values[key]),
            "n_codepoints": sums[key]["codepoints"],
            "n_utf8_bytes": sums[key]["utf8"],
            "n_routed_bytes": sums[key]["bytes"],
            "n_text_tokens": sums[key]["text"],
            "n_routed_tokens": sums[key]["routed"] if has_routed else None,
            "text_token_histogram": histogram([text for text, _ in values[key]]),
            "routed_token_histogram": histogram([routed for _, routed in values[key]]) if has_routed else [],
        }
        for key in sorted(sums)
    }


@given(documents)
def test_tables_agree_with_plain_counting(docs: list[Document]) -> None:
    """Every column of both tables equals what counting document by document gives."""
    budget = count(docs)
    for by, table in (("script", budget.script_table()), ("lang", budget.language_table())):
        expected = [row for tokenizer in "ab" for row in plain(docs, tokenizer, by).values()]
        assert table.to_pylist() == expected


@given(documents, documents, documents)
def test_merge_is_associative_and_commutative(a: list[Document], b: list[Document], c: list[Document]) -> None:
    """Any cut into batches and any order of merges gives the budget of all documents."""
    whole = count(a + b + c)
    one, two, three = count(a), count(b), count(c)
    assert one.merge(two).merge(three) == whole
    assert three.merge(one.merge(two)) == whole
    assert Budget.merged([two, Budget.zero(), three, one]) == whole


@given(documents)
def test_tables_round_trip(docs: list[Document]) -> None:
    """A budget is its tables, and its tables are a budget."""
    budget = count(docs)
    assert Budget.from_tables(budget.script_table(), budget.language_table()) == budget


@given(documents)
def test_scripts_and_languages_have_equal_sums(docs: list[Document]) -> None:
    """Script rows, the added row included, add up to the language rows in every measure."""
    budget = count(docs)
    for name in ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens"):
        scripts, languages = budget.script_table(), budget.language_table()
        assert sum(scripts[name].to_pylist()) == sum(languages[name].to_pylist())
