"""Fixtures that every folder of tests shares."""

import os
from pathlib import Path

import pytest

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
