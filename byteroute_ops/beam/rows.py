"""Transforms over rows with named fields, one text a row: for Beam YAML, Beam SQL and other languages' pipelines.

Batches are faster; these fit where rows come one by one. Fields of the input pass through.
"""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.typehints.row_type import RowTypeConstraint
from apache_beam.typehints.schemas import named_fields_from_element_type

from ..cleaning import clean_text
from ..errors import ConfigError
from ..policy import load_policy
from ..routing import Router, route_text
from ..segmentation import segment_text


class _RowStage(beam.PTransform):
    """Adds fields to rows that have a text field."""

    added: tuple[tuple[str, Any], ...] = ()

    def __init__(self, field: str) -> None:
        super().__init__()
        self._field = field

    def dofn(self) -> beam.DoFn:
        """Returns what computes the fields."""
        raise NotImplementedError

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        """Applies the stage; rows without the field are an error of the pipeline, found while it is built."""
        fields = [one for one in named_fields_from_element_type(rows.element_type) if one[0] not in dict(self.added)]
        if self._field not in dict(fields):
            known = ", ".join(name for name, _ in fields)
            raise ConfigError(f"field {self._field!r}: the rows have none of that name; they have {known}")
        kind = RowTypeConstraint.from_fields([*fields, *self.added])
        return rows | type(self).__name__ >> beam.ParDo(self.dofn()).with_output_types(kind)


class CleanRows(_RowStage):
    """Takes BOMs and stray zero-width spaces out of a text field; adds n_removed."""

    added = (("n_removed", int),)

    def __init__(self, field: str = "text", zwsp: str = "script-aware") -> None:
        super().__init__(field)
        self._zwsp = zwsp

    def dofn(self) -> beam.DoFn:
        """Returns what cleans."""
        return _CleanDoFn(self._field, self._zwsp)


class RouteRows(_RowStage):
    """Adds the routed bytes of a text field, their number, and the number of UTF-8 bytes and script runs."""

    added = (("routed", bytes), ("n_utf8_bytes", int), ("n_routed_bytes", int), ("n_runs", int))

    def __init__(self, field: str = "text", policy: str = "min-bytes", framing: str = "control") -> None:
        super().__init__(field)
        self._policy, self._framing = policy, framing

    def dofn(self) -> beam.DoFn:
        """Returns what routes."""
        return _RouteDoFn(self._field, self._policy, self._framing)


class _CleanDoFn(beam.DoFn):
    def __init__(self, field: str, zwsp: Any) -> None:
        self._field, self._zwsp = field, zwsp

    def process(self, element: Any) -> Iterator[Any]:
        values = element._asdict()
        cleaned = clean_text(values[self._field], zwsp=self._zwsp)
        removed = cleaned.n_bom + cleaned.n_feff + cleaned.n_zwsp
        yield beam.Row(**values | {self._field: cleaned.text, "n_removed": removed})


class _RouteDoFn(beam.DoFn):
    def __init__(self, field: str, policy: str, framing: Any) -> None:
        self._field, self._policy, self._framing = field, policy, framing

    def setup(self) -> None:
        self._router = Router(load_policy(self._policy), framing=self._framing)

    def process(self, element: Any) -> Iterator[Any]:
        values = element._asdict()
        text = values[self._field]
        routed = route_text(text, self._router)
        sizes = {"n_utf8_bytes": len(text.encode()), "n_routed_bytes": len(routed), "n_runs": len(segment_text(text))}
        yield beam.Row(**values | {"routed": routed} | sizes)
