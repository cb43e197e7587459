"""The schema files against the definitions that they are made from."""

import json
import re
import runpy
from pathlib import Path

import pytest

from byteroute_ops.records import TABLES

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "write_schemas.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="looks at the sources, not at a wheel")


def test_files_equal_the_definitions() -> None:
    """schemas/ holds exactly what tools/write_schemas.py writes."""
    for name, content in runpy.run_path(str(TOOL))["rendered"]().items():
        assert (ROOT / "schemas" / name).read_text(encoding="utf-8") == content, f"run {TOOL.name}: {name} is stale"


@pytest.mark.parametrize("name", TABLES)
def test_json_schema_has_the_columns_in_order(name: str) -> None:
    """Every column is required, typed, and nullable exactly where the Arrow schema says so."""
    row = json.loads((ROOT / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    assert list(row["properties"]) == row["required"] == TABLES[name].names
    for column in TABLES[name]:
        found = row["properties"][column.name]
        assert found["arrowType"] == str(column.type)
        assert ("null" in found["type"]) == column.nullable


def test_readme_explains_every_column() -> None:
    """schemas/README.md names each file and each column of each table."""
    text = (ROOT / "schemas" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.]+)`", text))
    for name, schema in TABLES.items():
        assert {f"{name}.avsc", f"{name}.json", *schema.names} - named - {"text"} == set()
