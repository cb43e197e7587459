"""Budgets by script and language, and the totals of a run."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

from byteroute_ops.budgets import BatchCounts, Budget, RunTotals, TokenCounts
from byteroute_ops.records import ADDED, LANGUAGE_BUDGET, SCRIPT_BUDGET
from byteroute_ops.shards import Kind, read_shard, write_table
from byteroute_ops.unicode_data import SCRIPTS

LATN, CYRL = SCRIPTS.index("Latn"), SCRIPTS.index("Cyrl")


def batch() -> BatchCounts:
    """Three documents: Latin + Cyrillic + Latin, Cyrillic alone, empty."""
    return BatchCounts(
        lang=pa.array(["en", "ru", "en"]),
        run_doc=np.array([0, 0, 0, 1]),
        run_script=np.array([LATN, CYRL, LATN, CYRL], np.uint8),
        n_codepoints=np.array([5, 3, 2, 150]),
        n_utf8_bytes=np.array([5, 6, 2, 300]),
        row_doc=np.array([0, 0, 0, 1]),
        row_script=np.array([LATN, CYRL, LATN, CYRL], np.uint8),
        n_routed_bytes=np.array([5, 12, 2, 306]),
    )


def tokens() -> dict[str, TokenCounts]:
    """One tokenizer with routed ids and one without, which adds a token to each document."""
    text = np.array([2, 3, 1, 140])
    return {
        "routes": TokenCounts(
            text=text, text_added=np.zeros(3, int), routed=np.array([2, 4, 1, 200]), routed_added=np.zeros(3, int)
        ),
        "plain": TokenCounts(text=text * 2, text_added=np.array([1, 1, 1])),
    }


def counted() -> Budget:
    """Returns the budget of the batch."""
    budget = Budget.zero()
    budget.add(batch(), tokens())
    return budget


def rows(table: pa.Table, tokenizer: str) -> dict[str, dict[str, object]]:
    """Returns the rows of one tokenizer by script or language."""
    return {row[table.column_names[1]]: row for row in table.to_pylist() if row["tokenizer"] == tokenizer}


def test_script_rows_count_runs_of_the_script() -> None:
    """A document counts once for each script it has; its runs of one script are one value of the histogram."""
    found = rows(counted().script_table(), "routes")
    assert list(found) == ["Cyrl", "Latn"]
    latin, cyrillic = found["Latn"], found["Cyrl"]
    assert (latin["documents"], latin["n_codepoints"], latin["n_utf8_bytes"], latin["n_routed_bytes"]) == (1, 7, 7, 7)
    assert (cyrillic["documents"], cyrillic["n_text_tokens"], cyrillic["n_routed_tokens"]) == (2, 143, 204)
    assert latin["text_token_histogram"] == [{"bucket": 3, "documents": 1}]
    assert cyrillic["text_token_histogram"] == [{"bucket": 3, "documents": 1}, {"bucket": 134, "documents": 1}]
    assert cyrillic["routed_token_histogram"] == [{"bucket": 4, "documents": 1}, {"bucket": 164, "documents": 1}]


def test_language_rows_count_whole_documents() -> None:
    """Empty documents and added tokens are in the language rows."""
    found = rows(counted().language_table(), "plain")
    assert found["en"]["documents"] == 2
    assert found["en"]["n_text_tokens"] == 2 * (2 + 3 + 1) + 2
    assert found["en"]["text_token_histogram"] == [{"bucket": 1, "documents": 1}, {"bucket": 13, "documents": 1}]
    assert found["ru"]["n_codepoints"] == 150


def test_added_tokens_are_a_row_of_their_own() -> None:
    """Tokens of the post-processor belong to no script, and to no characters."""
    added = rows(counted().script_table(), "plain")[ADDED]
    assert (added["documents"], added["n_text_tokens"], added["n_codepoints"]) == (3, 3, 0)
    assert added["text_token_histogram"] == [{"bucket": 1, "documents": 3}]
    assert ADDED not in rows(counted().script_table(), "routes")


def test_no_routed_ids_is_null_and_not_zero() -> None:
    """A tokenizer without routed ids has null counts and empty routed histograms in every row."""
    for table in (counted().script_table(), counted().language_table()):
        for row in rows(table, "plain").values():
            assert row["n_routed_tokens"] is None
            assert row["routed_token_histogram"] == []
    assert counted().totals("plain")["n_routed_tokens"] is None


def test_script_rows_add_up_to_document_totals() -> None:
    """Both tables of a tokenizer have the same sums."""
    budget = counted()
    for name in ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens"):
        scripts, languages = (
            sum(row[name] for row in rows(table, "plain").values())  # type: ignore[misc]
            for table in (budget.script_table(), budget.language_table())
        )
        assert scripts == languages == budget.totals("plain")[name]


def test_tokenizers_keep_their_order() -> None:
    """Rows come in the order of the tokenizers, keys sorted within each."""
    table = counted().script_table()
    assert list(dict.fromkeys(table["tokenizer"].to_pylist())) == ["routes", "plain"]
    assert counted().tokenizers == ("routes", "plain")


@pytest.mark.parametrize("kind", ["parquet", "avro"])
def test_tables_round_trip_through_files(kind: Kind) -> None:
    """Written to a file and read back, the tables give the same budget."""
    tables = []
    for name, table in (("script_budget", counted().script_table()), ("language_budget", counted().language_table())):
        stream = io.BytesIO()
        report = write_table(table, name, stream, kind, avro_name=name)
        assert (report.rows, report.n_bytes) == (table.num_rows, len(stream.getvalue()))
        stream.seek(0)
        tables.append(pa.Table.from_batches(read_shard(stream), schema=table.schema))
    assert tables[0].schema.equals(SCRIPT_BUDGET)
    assert tables[1].schema.equals(LANGUAGE_BUDGET)
    assert Budget.from_tables(*tables) == counted()


def test_nothing_counted_has_tables_without_rows() -> None:
    """The zero budget has the right schemas, and an empty batch leaves it as it is."""
    budget = Budget.zero()
    empty = batch()
    nothing = np.zeros(0, int)
    budget.add(
        BatchCounts(**{name: getattr(empty, name)[:0] for name in empty.__dataclass_fields__}),
        {"a": TokenCounts(text=nothing, text_added=nothing)},
    )
    assert budget == Budget.zero()
    assert budget.script_table().schema.equals(SCRIPT_BUDGET)
    assert Budget.from_tables(budget.script_table(), budget.language_table()) == budget


def test_merge_leaves_its_parts_alone() -> None:
    """Merging returns a new budget; adding to it does not reach into the parts."""
    one = counted()
    both = one.merge(counted())
    both.add(batch(), tokens())
    assert one == counted()
    assert both.totals("routes")["n_text_tokens"] == 3 * 146


def test_many_keys_and_documents_are_exact() -> None:
    """More keys than a ledger starts with, and more codes than it keeps unfolded."""
    n = 70_000
    lang = pa.array([f"x-{i % 100:02d}" for i in range(n)])
    none = np.zeros(0, int)
    shape = BatchCounts(
        lang=lang, run_doc=np.arange(n), run_script=np.full(n, LATN, np.uint8), n_codepoints=np.ones(n, int),
        n_utf8_bytes=np.ones(n, int), row_doc=none, row_script=none.astype(np.uint8), n_routed_bytes=none,
    )  # fmt: skip
    budget = Budget.zero()
    budget.add(shape, {"t": TokenCounts(text=np.arange(n), text_added=np.zeros(n, int))})
    budget.add(shape, {"t": TokenCounts(text=np.arange(n), text_added=np.zeros(n, int))})
    table = budget.language_table()
    assert table["documents"].to_pylist() == [2 * n // 100] * 100
    assert budget.totals("t")["n_text_tokens"] == n * (n - 1)
    assert sum(p["documents"] for row in table["text_token_histogram"].to_pylist() for p in row) == 2 * n


def test_routed_in_one_part_only_is_refused() -> None:
    """A tokenizer either has routed ids or has none; mixing the two would make a sum that means nothing."""
    budget = counted()
    with pytest.raises(ValueError, match="'plain'"):
        budget.add(batch(), {"plain": tokens()["routes"]})


def test_damaged_tables_are_refused() -> None:
    """A key that comes twice, a null among numbers, or an unknown bucket is no budget."""
    scripts, languages = counted().script_table(), counted().language_table()
    with pytest.raises(ValueError, match="twice"):
        Budget.from_tables(pa.concat_tables([scripts, scripts]), languages)
    column = scripts.schema.get_field_index("n_routed_tokens")
    holes = scripts.set_column(column, scripts.field(column), pa.array([1, *[None] * (scripts.num_rows - 1)]))
    with pytest.raises(ValueError, match="in some rows only"):
        Budget.from_tables(holes, languages)
    for wrong in ({"bucket": 3712, "documents": 1}, {"bucket": 0, "documents": 0}):
        rows = scripts.to_pylist()
        rows[0]["text_token_histogram"] = [wrong]
        with pytest.raises(ValueError, match="text_token_histogram"):
            Budget.from_tables(pa.Table.from_pylist(rows, schema=SCRIPT_BUDGET), languages)


def test_run_totals_round_trip_and_balance() -> None:
    """Totals survive JSON, add up key by key, and say whether every record is accounted for."""
    one = RunTotals(records=5, documents=3, not_sampled=1, rejects={"truncated": 1}, removed={"bom": 2})
    two = RunTotals(records=2, documents=1, rejects={"invalid_json": 1}, unknown_tokens={"wp": 4})
    both = one.merge(two)
    assert RunTotals.from_json(json.loads(json.dumps(both.to_json()))) == both
    assert both == two.merge(one)
    assert both.merge(RunTotals.zero()) == both
    assert (both.records, both.rejects, both.balanced) == (7, {"invalid_json": 1, "truncated": 1}, True)
    assert not RunTotals(records=1).balanced
    with pytest.raises(TypeError, match="colour"):
        RunTotals.from_json({"colour": 1})
