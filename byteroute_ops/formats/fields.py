"""Documents out of parsed records (JSON objects, Avro records): one place for what a field may be."""

import functools
import json
from typing import Any

import orjson

from byteroute_ops.errors import RejectReason
from byteroute_ops.formats.batching import Collector


def as_kept(value: object) -> str | None:
    """Returns a kept value: a string as it is, null as null, anything else as JSON text.

    Dates become ISO 8601 text, bytes hexadecimal, other types their `str`.

    >>> as_kept("x"), as_kept(None), as_kept([1, {"a": None}]), as_kept(1 << 70)
    ('x', None, '[1,{"a":null}]', '1180591620717411303424')
    """
    if value is None or isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, default=_odd_value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        # Integers beyond 64 bits, nesting beyond 254 levels, unpaired surrogates.
        return json.dumps(value, default=_odd_value, ensure_ascii=False, separators=(",", ":"))


def _odd_value(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


class RowFields:
    """Takes documents out of mappings, by the field settings of a collector."""

    def __init__(self, collector: Collector) -> None:
        options = collector.options
        self._collector = collector
        self._text = options.text_field
        self._id = options.id_field
        self._lang = options.lang_field
        self._keep = options.keep
        # No dots, no nesting: then a field is what dict.get finds.
        self._is_flat = not any("." in name for name in (self._text, self._id or "", self._lang or "", *self._keep))

    def take(
        self, position: int, row: Any, n_bytes: int, raw: bytes | None = None, *, ill_formed: RejectReason | None = None
    ) -> None:
        """Adds the document of a record to the collector, or its reject.

        Args:
            position: of the record.
            row: the parsed record.
            n_bytes: bound from above of its text and kept values in UTF-8 bytes.
            raw: its bytes, for the reject.
            ill_formed: strings must be checked for surrogate code points; the reason to give where there are some.
        """
        if not isinstance(row, dict):
            self._reject(position, RejectReason.INVALID_JSON, "the line is JSON, but not an object", raw)
            return
        get = row.get if self._is_flat else functools.partial(field_of, row)
        text = get(self._text)
        doc_id = get(self._id) if self._id else None
        lang = get(self._lang) if self._lang else None
        # bool is an int to Python, but no id to anyone.
        if not isinstance(text, str):
            self._reject_field(position, self._text, text, "a string", raw)
            return
        if not (isinstance(doc_id, str) or doc_id is None):
            if not isinstance(doc_id, int) or isinstance(doc_id, bool):
                self._reject_field(position, self._id, doc_id, "a string or an integer", raw)
                return
            doc_id = str(doc_id)
        if not (isinstance(lang, str) or lang is None):
            self._reject_field(position, self._lang, lang, "a string", raw)
            return
        try:
            kept = tuple([as_kept(get(name)) for name in self._keep]) if self._keep else ()
        except RecursionError:
            self._reject(position, RejectReason.WRONG_TYPE, "a kept field is nested too deeply", raw)
            return
        if ill_formed is not None and (bad := self._ill_formed(text, doc_id, lang, kept)):
            self._reject(position, ill_formed, bad, raw)
            return
        self._collector.add(position, doc_id or "", lang or "", text, kept=kept, n_record_bytes=n_bytes)

    def _reject(self, position: int, reason: RejectReason, detail: str, raw: bytes | None) -> None:
        self._collector.reject(position, reason, detail, raw)

    def _reject_field(self, position: int, name: str | None, value: object, allowed: str, raw: bytes | None) -> None:
        if value is None:
            self._reject(position, RejectReason.MISSING_FIELD, f"field {name!r} is absent or null", raw)
        else:
            detail = f"field {name!r} is {type(value).__name__}, not {allowed}"
            self._reject(position, RejectReason.WRONG_TYPE, detail, raw)

    def _ill_formed(self, text: str, doc_id: str | None, lang: str | None, kept: tuple[str | None, ...]) -> str:
        """Returns the detail for the first field with a surrogate code point, "" where there is none."""
        names = (self._text, self._id, self._lang, *self._keep)
        for name, value in zip(names, (text, doc_id, lang, *kept), strict=True):
            try:
                (value or "").encode()
            except UnicodeEncodeError as error:
                return f"field {name!r} is not well-formed at code point {error.start}"
        return ""


def field_of(row: dict[str, Any], name: str) -> Any:
    """Returns a field, None where it is absent; `a.b` goes into nested objects unless a field has that very name.

    >>> field_of({"a": {"b": 1}}, "a.b"), field_of({"a.b": 2, "a": {"b": 1}}, "a.b"), field_of({"a": 3}, "a.b")
    (1, 2, None)
    """
    if name in row:
        return row[name]
    if "." in name:
        value: Any = row
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value
    return None
