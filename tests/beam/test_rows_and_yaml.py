"""Transforms over rows, and their use from Beam YAML: the worked example of docs/runners.md."""

from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to

from byteroute_ops.beam.rows import CleanRows, RouteRows
from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_text

SPEC = """
type: chain
transforms:
  - type: Create
    config:
      elements:
        - {id: 1, text: "\\ufeffпривет мир"}
        - {id: 2, text: "plain"}
  - type: CleanRows
    config: {field: text}
  - type: RouteRows
    config: {field: text, policy: min-bytes}
"""


def options() -> PipelineOptions:
    """Returns the options of the runner that tests use."""
    return PipelineOptions(["--runner=FnApiRunner"])


def test_rows_keep_their_fields() -> None:
    """What a row had passes through, beside what the stages add."""
    router = Router(load_policy("min-bytes"))
    with beam.Pipeline(options=options()) as pipeline:
        rows = pipeline | beam.Create([beam.Row(id=7, text="\ufeffслово")])
        found = rows | CleanRows() | RouteRows() | beam.Map(lambda row: row._asdict())
        routed = route_text("слово", router)
        expected = {
            "id": 7, "text": "слово", "n_removed": 1, "routed": routed, "n_utf8_bytes": 10,
            "n_routed_bytes": len(routed), "n_runs": 1,
        }  # fmt: skip
        assert_that(found, equal_to([expected]))


def test_a_missing_field_is_found_while_the_pipeline_is_built() -> None:
    """The message has the field and those that there are."""
    with pytest.raises(ConfigError, match=r"'body'.*id, text"):
        _ = beam.Pipeline(options=options()) | beam.Create([beam.Row(id=7, text="x")]) | CleanRows("body")


def test_from_beam_yaml() -> None:
    """The transforms work in a YAML pipeline, without an expansion service."""
    pytest.importorskip("docstring_parser", reason="needs byteroute[yaml]")
    from apache_beam.yaml import yaml_provider
    from apache_beam.yaml.yaml_transform import YamlTransform

    ours = yaml_provider.InlineProvider({"CleanRows": CleanRows, "RouteRows": RouteRows})
    providers: dict[str, Any] = {**yaml_provider.standard_providers(), "CleanRows": [ours], "RouteRows": [ours]}
    with beam.Pipeline(options=options()) as pipeline:
        rows = pipeline | YamlTransform(SPEC, providers=providers)
        found = rows | beam.Map(lambda row: (row.id, row.text, row.n_removed, row.n_utf8_bytes))
        assert_that(found, equal_to([(1, "привет мир", 1, 19), (2, "plain", 0, 5)]))
