"""Arrow columns to UTF-8 string columns, with the rows that are not well-formed named instead of failing the batch."""

from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from byteroute_ops.formats.fields import as_kept

_TEXT_TYPES: Final = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
    pa.types.is_null,
)


@dataclass(frozen=True)
class Utf8Column:
    """A column of text.

    Attributes:
        values: StringArray; null where the row had null or is in `bad`.
        bad: row → byte offset of the first byte that is not well-formed UTF-8.
    """

    values: pa.StringArray
    bad: dict[int, int] = field(default_factory=dict)


def is_text(kind: pa.DataType) -> bool:
    """Returns whether a type holds text: strings, bytes (old writers mark no column as UTF-8), dictionaries of them."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(test(kind) for test in _TEXT_TYPES)


def utf8_column(values: pa.Array) -> Utf8Column:
    r"""Returns a text column as checked UTF-8. Parquet and Avro do not enforce the encoding of their strings.

    >>> utf8_column(pa.array([b"a", None, b"b\xff"])).bad
    {2: 1}
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    as_bytes = values.cast(pa.binary()) if not pa.types.is_binary(values.type) else values
    try:
        return Utf8Column(as_bytes.cast(pa.string()))
    except pa.ArrowInvalid:
        good: list[str | None] = []
        bad: dict[int, int] = {}
        for row, value in enumerate(as_bytes.to_pylist()):
            try:
                good.append(None if value is None else value.decode())
            except UnicodeDecodeError as error:
                good.append(None)
                bad[row] = error.start
        return Utf8Column(pa.array(good, pa.string()), bad)


def kept_column(values: pa.Array) -> Utf8Column:
    """Returns any column as text: strings as they are, other values as JSON text."""
    if is_text(values.type):
        return utf8_column(values)
    if pa.types.is_integer(values.type) or pa.types.is_boolean(values.type):
        return Utf8Column(values.cast(pa.string()))
    texts: list[str | None] = []
    bad: dict[int, int] = {}
    for row, scalar in enumerate(values):
        try:
            texts.append(as_kept(scalar.as_py()))
        except UnicodeDecodeError as error:
            texts.append(None)
            bad[row] = error.start
    return Utf8Column(pa.array(texts, pa.string()), bad)


def or_else(values: pa.StringArray, default: pa.StringArray | pa.Scalar) -> pa.StringArray:
    """Returns `values` with `default` where they are null or empty."""
    return pc.if_else(pc.fill_null(pc.equal(values, ""), True), default, values)
