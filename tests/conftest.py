"""Fixtures that every folder of tests shares."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from byteroute_ops import compiled

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The small files that travel with the tests."""
    return ROOT / "tests" / "data"


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The development corpus and tokenizers; the test is skipped where they are absent."""
    place = Path(os.environ.get("BYTEROUTE_SHARED", ROOT.parent / "shared"))
    if not (place / "corpus").is_dir():
        pytest.skip(f"needs the development corpus (BYTEROUTE_SHARED or {place.name}/ beside the checkout)")
    return place


@pytest.fixture(scope="module", params=["compiled", "numpy"])
def kernel_form(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs the tests of a module on both forms of the kernel; the compiled one needs a C compiler at installation."""
    names = ("runs", "streams", "tokens")
    if request.param == "compiled" and not compiled.is_complete():
        pytest.skip("byteroute was installed without its compiled modules")
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setattr(compiled, name, getattr(compiled, name) if request.param == "compiled" else None)
        yield request.param
