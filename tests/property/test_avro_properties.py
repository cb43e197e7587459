"""Our Avro encoder against fastavro's, an independent one, on any values."""

import io
from typing import Any

import fastavro
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from byteroute_ops.records import SHARD, avro_schema
from byteroute_ops.shards.avro_encoding import encode_long, encode_rows

int64 = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-200, 200))
int32 = st.one_of(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(-200, 200))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def values(kind: pa.DataType, *, nullable: bool) -> st.SearchStrategy[Any]:
    """Returns values of an Arrow type."""
    result: st.SearchStrategy[Any]
    if pa.types.is_int64(kind):
        result = int64
    elif pa.types.is_int32(kind):
        result = int32
    elif pa.types.is_string(kind):
        result = words
    elif pa.types.is_fixed_size_binary(kind):
        result = st.binary(min_size=kind.byte_width, max_size=kind.byte_width)
    elif pa.types.is_binary(kind):
        result = st.binary(max_size=200)
    elif pa.types.is_list(kind):
        result = st.lists(values(kind.value_type, nullable=False), max_size=5)
    else:
        result = st.fixed_dictionaries(
            {kind.field(i).name: values(kind.field(i).type, nullable=False) for i in range(kind.num_fields)}
        )
    return st.none() | result if nullable else result


rows = st.lists(
    st.fixed_dictionaries({f.name: values(f.type, nullable=f.nullable) for f in SHARD}), max_size=6
)  # fmt: skip


@given(rows, st.integers(0, 3), st.integers(0, 6))
def test_rows_are_the_bytes_of_fastavro(documents: list[dict[str, Any]], skip: int, n: int) -> None:
    """Each row of a batch, or of a slice of one, is what fastavro writes for it."""
    batch = pa.RecordBatch.from_pylist(documents, schema=SHARD).slice(skip, n)
    schema = avro_schema(SHARD, "shard")
    expected = []
    for row in batch.to_pylist():
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, row)
        expected.append(stream.getvalue())
    assert encode_rows(batch).to_pylist() == expected


@given(int64)
def test_integers_are_zigzag_varints(value: int) -> None:
    """The varint by the specification, a byte at a time."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    plain = bytearray()
    while rest >= 128:
        plain.append(rest & 127 | 128)
        rest >>= 7
    plain.append(rest)
    assert encode_long(value) == bytes(plain)
