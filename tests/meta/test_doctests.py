"""Every example in a docstring of an installed package gives what it shows."""

import doctest
import importlib
import importlib.util
from pathlib import Path

import pytest


def modules(package: str) -> list[str]:
    """Returns the dotted names of all modules of an installed package, without importing them."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    top = Path(next(iter(spec.submodule_search_locations)))
    paths = sorted(path.relative_to(top).with_suffix("") for path in top.rglob("*.py") if path.stem != "__main__")
    parts = [[part for part in path.parts if part != "__init__"] for path in paths]
    return [".".join([package, *names]) for names in parts]


@pytest.mark.parametrize("name", [*modules("byteroute_ops"), *modules("byteroute.pipelines")])
def test_examples_in_docstrings(name: str) -> None:
    """The module can be imported, and each of its examples holds."""
    if name.endswith(".torch_datasets"):
        pytest.importorskip("torch", reason="needs the extra torch")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
