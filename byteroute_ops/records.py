"""Row types: one definition a table; Arrow, Avro and Beam forms are derived from it.

Every schema that leaves the process is listed in `TABLES`; `schemas/` holds the same as files, and a
test keeps the two equal.
"""

from typing import Any, Final

import pyarrow as pa

MAX_BATCH_ROWS: Final = 4096
MAX_BATCH_BYTES: Final = 8 << 20
"""A batch holds at most this many rows and bytes of text; one longer document travels alone."""


def _field(name: str, kind: pa.DataType, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable)


SEGMENT: Final = pa.struct(
    [
        _field("report_script", pa.string()),
        _field("encoding_script", pa.string()),
        _field("encoding", pa.string()),
        _field("text_start", pa.int32()),
        _field("text_end", pa.int32()),
        _field("start", pa.int32()),
        _field("end", pa.int32()),
    ]
)
"""One script run. `text_*`: code points of the clean text; `start`, `end`: payload bytes of the routed stream."""

DOCUMENTS: Final = pa.schema(
    [
        _field("doc_id", pa.string()),
        _field("source", pa.string()),
        _field("position", pa.int64()),
        _field("lang", pa.string()),
        _field("text", pa.string()),
    ]
)
"""What readers emit. Columns that `--keep` asks for follow these five, each a nullable string."""

SHARD: Final = pa.schema(
    [
        _field("doc_id", pa.string()),
        _field("source", pa.string()),
        _field("position", pa.int64()),
        _field("lang", pa.string()),
        _field("routed", pa.binary()),
        _field("segments", pa.list_(_field("item", SEGMENT))),
        _field("n_codepoints", pa.int64()),
        _field("n_utf8_bytes", pa.int64()),
        _field("n_routed_bytes", pa.int64()),
        _field("n_text_tokens", pa.int64()),
        _field("n_routed_tokens", pa.int64(), nullable=True),
        _field("token_ids", pa.list_(_field("item", pa.int32())), nullable=True),
        _field("text_digest", pa.binary(16)),
    ]
)
"""What shards hold. `text` follows with `--keep-text`, then the kept columns."""

REJECTS: Final = pa.schema(
    [
        _field("source", pa.string()),
        _field("position", pa.int64(), nullable=True),
        _field("stage", pa.string()),
        _field("reason", pa.string()),
        _field("detail", pa.string()),
        _field("raw", pa.binary(), nullable=True),
    ]
)
"""The dead-letter rows. `position` is as in `DOCUMENTS`; `raw` is null unless raw bytes were asked for."""

DUPLICATES: Final = pa.schema(
    [
        _field("doc_id", pa.string()),
        _field("source", pa.string()),
        _field("position", pa.int64()),
    ]
)
"""Documents whose id an earlier document of the same range has. They are in the shards too: nothing is dropped."""

_COUNTS: Final = [
    _field("documents", pa.int64()),
    _field("n_codepoints", pa.int64()),
    _field("n_utf8_bytes", pa.int64()),
    _field("n_routed_bytes", pa.int64()),
    _field("n_text_tokens", pa.int64()),
    _field("n_routed_tokens", pa.int64(), nullable=True),
    _field(
        "text_token_histogram",
        pa.list_(_field("item", pa.struct([_field("bucket", pa.int32()), _field("documents", pa.int64())]))),
    ),
    _field(
        "routed_token_histogram",
        pa.list_(_field("item", pa.struct([_field("bucket", pa.int32()), _field("documents", pa.int64())]))),
    ),
]

SCRIPT_BUDGET: Final = pa.schema([_field("tokenizer", pa.string()), _field("script", pa.string()), *_COUNTS])
LANGUAGE_BUDGET: Final = pa.schema([_field("tokenizer", pa.string()), _field("lang", pa.string()), *_COUNTS])

TABLES: Final = {
    "documents": DOCUMENTS,
    "shard": SHARD,
    "rejects": REJECTS,
    "duplicates": DUPLICATES,
    "script_budget": SCRIPT_BUDGET,
    "language_budget": LANGUAGE_BUDGET,
}

UND: Final = "und"
"""BCP-47 for an undetermined language."""

ADDED: Final = "(added)"
"""Budget row of the tokens that a tokenizer's post-processor adds; they belong to no script."""


def with_columns(schema: pa.Schema, keep: tuple[str, ...], *, text: bool = False) -> pa.Schema:
    """Returns `schema` with the optional columns of a run: the clean text, then the kept columns."""
    extra = [_field("text", pa.string())] if text else []
    extra += [_field(name, pa.string(), nullable=True) for name in keep]
    return pa.schema([*schema, *extra])


def avro_schema(schema: pa.Schema, name: str) -> dict[str, Any]:
    """Returns the Avro record schema (Apache Avro 1.11 specification) of an Arrow schema.

    Raises:
        TypeError: a column type that no table of ours uses.
    """
    counter = iter(range(1 << 30))

    def convert(kind: pa.DataType, nullable: bool) -> Any:
        result: Any
        if pa.types.is_string(kind):
            result = "string"
        elif pa.types.is_int64(kind):
            result = "long"
        elif pa.types.is_int32(kind):
            result = "int"
        elif pa.types.is_fixed_size_binary(kind):
            result = {"type": "fixed", "name": f"{name}_fixed{next(counter)}", "size": kind.byte_width}
        elif pa.types.is_binary(kind):
            result = "bytes"
        elif pa.types.is_list(kind):
            result = {"type": "array", "items": convert(kind.value_type, kind.value_field.nullable)}
        elif pa.types.is_struct(kind):
            result = record([kind.field(i) for i in range(kind.num_fields)], f"{name}_record{next(counter)}")
        else:
            raise TypeError(f"no Avro form for Arrow type {kind}")
        return ["null", result] if nullable else result

    def record(fields: list[pa.Field], record_name: str) -> dict[str, Any]:
        columns = []
        for f in fields:
            column: dict[str, Any] = {"name": f.name, "type": convert(f.type, f.nullable)}
            if f.nullable:
                column["default"] = None
            columns.append(column)
        return {"type": "record", "name": record_name, "fields": columns}

    return record(list(schema), name) | {"namespace": "byteroute"}
