"""What both writers ask of a batch."""

import pyarrow as pa


def check_rows(batch: pa.RecordBatch, schema: pa.Schema) -> None:
    """Refuses rows that the file's schema does not describe: an encoder would write something else for them.

    Raises:
        ValueError: other columns or types, or a null where none may be.
    """
    if not batch.schema.equals(schema):
        found = {f.name: str(f) for f in batch.schema}
        wanted = {f.name: str(f) for f in schema}
        differ = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)] or ["order of columns"]
        raise ValueError(f"a batch does not have the schema of the file: {', '.join(differ)}")
    for column, f in zip(batch.columns, schema, strict=True):
        if column.null_count and not f.nullable:
            raise ValueError(f"column {f.name} has {column.null_count} nulls, and the file allows none")
