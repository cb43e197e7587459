"""Writes the schema files of `schemas/` from the definitions in `byteroute_ops/records.py`.

    python tools/write_schemas.py

For each table: `NAME.avsc`, the Avro schema that files carry, and `NAME.json`, a JSON Schema (draft 2020-12)
of one row written as JSON, with each column's Arrow type. A test compares the files with the definitions.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from byteroute_ops.records import TABLES, avro_schema

FOLDER = Path(__file__).resolve().parent.parent / "schemas"


def json_type(kind: pa.DataType, *, nullable: bool = False) -> dict[str, Any]:
    """Returns the JSON Schema of a value of an Arrow type."""
    result: dict[str, Any]
    if pa.types.is_integer(kind):
        limit = 1 << (kind.bit_width - 1)
        result = {"type": "integer", "minimum": -limit, "maximum": limit - 1}
    elif pa.types.is_string(kind):
        result = {"type": "string"}
    elif pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        result = {"type": "string", "contentEncoding": "base64"}
    elif pa.types.is_list(kind):
        result = {"type": "array", "items": json_type(kind.value_type, nullable=kind.value_field.nullable)}
    elif pa.types.is_struct(kind):
        result = json_object([kind.field(i) for i in range(kind.num_fields)])
    else:
        raise TypeError(f"no JSON form for Arrow type {kind}")
    if nullable:
        result["type"] = [result["type"], "null"]
    return result


def json_object(fields: list[pa.Field]) -> dict[str, Any]:
    """Returns the JSON Schema of an object with these columns and no others."""
    return {
        "type": "object",
        "properties": {f.name: json_type(f.type, nullable=f.nullable) for f in fields},
        "required": [f.name for f in fields],
        "additionalProperties": False,
    }


def json_schema(name: str, schema: pa.Schema) -> dict[str, Any]:
    """Returns the JSON Schema of a row of a table; `arrowType` is an annotation of ours."""
    row = json_object(list(schema))
    for f in schema:
        row["properties"][f.name]["arrowType"] = str(f.type)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **row}


def rendered() -> dict[str, str]:
    """Returns the content of every schema file by its name."""
    files = {}
    for name, schema in TABLES.items():
        files[f"{name}.avsc"] = json.dumps(avro_schema(schema, name), indent=2) + "\n"
        files[f"{name}.json"] = json.dumps(json_schema(name, schema), indent=2) + "\n"
    return files


if __name__ == "__main__":
    for name, content in rendered().items():
        (FOLDER / name).write_text(content, encoding="utf-8", newline="\n")
