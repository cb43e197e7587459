"""Parquet: column types, nested paths, bad rows, row groups and slices."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reader_harness import Result, read_files

from byteroute_ops.formats.columns import kept_column, utf8_column


def read_table(table: pa.Table, *, row_group_size: int = 1000, range_bytes: int = 1 << 30, **options: Any) -> Result:
    """Writes a table and reads it back."""
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=row_group_size)
    return read_files({"a.parquet": out.getvalue()}, range_bytes=range_bytes, **options)


def broken_utf8(values: list[bytes | None]) -> pa.StringArray:
    """Returns a string column that is not UTF-8, as writers that do not check make it."""
    raw = pa.array(values, pa.binary())
    return pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2], raw.buffers()[0])


TEXTS = ["one", "", "drei €", "four"]
COLUMNS = {
    "string": pa.array(TEXTS),
    "large_string": pa.array(TEXTS, pa.large_string()),
    "string_view": pa.array(TEXTS, pa.string_view()),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "large dictionary": pa.array(TEXTS, pa.large_string()).dictionary_encode(),
    "binary": pa.array([t.encode() for t in TEXTS]),
    "large_binary": pa.array([t.encode() for t in TEXTS], pa.large_binary()),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("few_rows", [True, False])
def test_text_columns_of_any_string_type(kind: str, few_rows: bool) -> None:
    """Every way that Arrow stores text is read; positions are row numbers in the file."""
    copies = 1 if few_rows else 100
    column = pa.concat_arrays([COLUMNS[kind]] * copies)
    result = read_table(pa.table({"text": column, "id": pa.array(range(len(column)))}), row_group_size=300)
    assert result.texts == TEXTS * copies
    assert [row["position"] for row in result.documents] == list(range(len(column)))
    assert [row["doc_id"] for row in result.documents] == [str(i) for i in range(len(column))]
    assert {row["lang"] for row in result.documents} == {"und"}


def test_nested_paths() -> None:
    """`a.b` is a field of a struct; a null struct is a null text; a column named `a.b` comes first."""
    rows = [{"b": "x", "l": "en"}, None, {"b": None, "l": "en"}]
    result = read_table(pa.table({"a": pa.array(rows)}), text_field="a.b", lang_field="a.l", id_field="a.nothing")
    assert result.texts == ["x"]
    assert result.documents[0]["lang"] == "en"
    assert result.documents[0]["doc_id"] == "a.parquet:0"
    assert result.reasons == ["missing_field"] * 2
    named = pa.table({"a": pa.array([{"b": "x"}]), "a.b": pa.array(["y"])})
    assert read_table(named, text_field="a.b").texts == ["y"]


@pytest.mark.parametrize("n_copies", [1, 200])
def test_a_bad_row_costs_itself_alone(n_copies: int) -> None:
    """Nulls, invalid UTF-8 in any used column and long texts are row rejects, in order."""
    table = pa.table(
        {
            "text": broken_utf8([b"ok", None, b"a\xff", b"x" * 200, b"fine", b"last"] * n_copies),
            "lang": broken_utf8([b"de", b"de", b"de", b"de", b"\xfe", b""] * n_copies),
            "id": broken_utf8([b"1", b"", b"", b"", b"", None] * n_copies),
        }
    )
    result = read_table(table, max_document_bytes=100)
    assert result.texts == ["ok", "last"] * n_copies
    assert result.reasons == ["missing_field", "invalid_utf8", "document_too_large", "invalid_utf8"] * n_copies
    assert [row["position"] for row in result.rejects[:4]] == [1, 2, 3, 4]
    assert result.documents[1] == {
        "doc_id": "a.parquet:5", "source": "a.parquet", "position": 5, "lang": "und", "text": "last"
    }  # fmt: skip
    assert "column 'lang'" in result.rejects[3]["detail"]


def test_kept_columns() -> None:
    """Strings as they are, other values as JSON text, absent columns null."""
    table = pa.table({"text": ["t", "u"], "n": [1, None], "f": [0.5, 1.5], "l": [["a"], None], "s": ["x", None]})
    rows = read_table(table, keep=("n", "f", "l", "s", "none")).documents
    assert [rows[0][k] for k in ("n", "f", "l", "s", "none")] == ["1", "0.5", '["a"]', "x", None]
    assert [rows[1][k] for k in ("n", "f", "l", "s", "none")] == [None, "1.5", None, None, None]


@pytest.mark.parametrize("range_bytes", [1 << 30, 120_000, 70_000])
def test_unusable_columns_are_one_reject_of_the_file(range_bytes: int) -> None:
    """No text column, or one of numbers: one reject, whatever the number of slices."""
    table = pa.table({"n": list(range(5000)), "body": [str(i) * 9 for i in range(5000)]})
    for field, reason in (("text", "missing_field"), ("n", "wrong_type"), ("n.x", "missing_field")):
        result = read_table(table, row_group_size=500, range_bytes=range_bytes, text_field=field)
        assert result.reasons == [reason]
        assert (result.n_records, result.documents) == (0, [])


@pytest.mark.parametrize("range_bytes", [66_000, 80_000, 150_000, 1 << 30])
def test_slices_own_every_row_group_once(range_bytes: int) -> None:
    """However the file is cut, every row is read once, in order."""
    table = pa.table({"text": [f"{i} " + "abc" * (i % 50) for i in range(4000)]})
    result = read_table(table, row_group_size=170, range_bytes=range_bytes)
    assert result.texts == table.column("text").to_pylist()
    assert [row["position"] for row in result.documents] == list(range(4000))


def test_batches_are_cut_by_bytes() -> None:
    """A dictionary makes a row group small and its text large: batches stay within the limit."""
    big = "x" * (3 << 20)
    table = pa.table({"text": [big, big + "y"] * 6})
    out = io.BytesIO()
    pq.write_table(table, out)
    result = read_files({"a.parquet": out.getvalue()})
    assert [batch.num_rows for batch in result.batches] == [2] * 6


def test_long_documents_are_split_when_asked() -> None:
    """Splitting works as it does for other formats."""
    result = read_table(pa.table({"text": ["short", "word " * 100]}), max_document_bytes=100, split_long=True)
    assert "".join(result.texts[1:]) == "word " * 100
    assert result.n_records == 2


def test_a_damaged_row_group_costs_its_own_rows() -> None:
    """Row groups after the damaged one are read; the reject says how many rows there were."""
    table = pa.table({"text": [f"text {i} {i * 7919}" for i in range(1000)]})
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=100, compression="zstd", use_dictionary=False, write_page_checksum=True)
    data = bytearray(out.getvalue())
    column = pq.ParquetFile(io.BytesIO(bytes(data))).metadata.row_group(4).column(0)
    data[column.data_page_offset + column.total_compressed_size // 2] ^= 0xFF
    result = read_files({"a.parquet": bytes(data)})
    assert result.texts == table.column("text").to_pylist()[:400] + table.column("text").to_pylist()[500:]
    assert result.reasons == ["corrupt"]
    assert result.rejects[0]["position"] == 400
    assert "0 of its 100 rows" in result.rejects[0]["detail"]


def test_compressed_parquet_is_named_as_what_it_is() -> None:
    """Parquet inside gzip cannot be read in parts: one reject that says what to do."""
    import gzip

    out = io.BytesIO()
    pq.write_table(pa.table({"text": ["a"]}), out)
    result = read_files({"a.parquet.gz": gzip.compress(out.getvalue())})
    assert result.reasons == ["unreadable_file"]
    assert "unpack it" in result.rejects[0]["detail"]


def test_columns_say_which_rows_are_bad() -> None:
    """The column functions name row and byte."""
    assert utf8_column(broken_utf8([b"ok", b"\xe2\x82", None])).bad == {1: 0}
    assert kept_column(pa.array([{"a": "x"}, None])).values.to_pylist() == ['{"a":"x"}', None]
    nested = pa.StructArray.from_arrays([broken_utf8([b"z\xff"])], ["s"])
    assert kept_column(nested).bad == {0: 1}
