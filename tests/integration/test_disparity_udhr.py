"""Known disparity of real tokenizers over the Universal Declaration of Human Rights."""

import io
import json
from pathlib import Path

import pytest
import zstandard
from tokenizers import Tokenizer

from byteroute_ops.budgets.disparity import align, disparity

pytestmark = pytest.mark.shared

ARTICLES = [f"art{number:02d}" for number in range(1, 31)]


@pytest.fixture(scope="module")
def declarations(shared_dir: Path) -> dict[str, dict[str, str]]:
    """One complete declaration for each language and script: code → article → text."""
    found: dict[str, dict[str, str]] = {}
    with (shared_dir / "corpus" / "udhr.jsonl.zst").open("rb") as stream:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(stream), encoding="utf-8"):
            row = json.loads(line)
            if row["primary"] and row["unit"] in ARTICLES:
                found.setdefault(row["code"], {})[row["unit"]] = row["text"]
    return found


@pytest.mark.parametrize(("name", "gini"), [("cl100k", 0.313), ("o200k", 0.276), ("gpt2", 0.347), ("xlmr_e5", 0.189)])
def test_gini(shared_dir: Path, declarations: dict[str, dict[str, str]], name: str, gini: float) -> None:
    """460 languages, 30 aligned articles: the Gini coefficient of tokens is the one measured before, within .01."""
    grid = align({code: units.keys() for code, units in declarations.items()}, "eng")
    assert (len(grid.units), len(grid.languages)) == (30, 460)
    packed = (shared_dir / "tokenizers" / f"{name}.json.zst").read_bytes()
    tokenizer = Tokenizer.from_str(zstandard.ZstdDecompressor().decompressobj().decompress(packed).decode())
    costs = {}
    for code in grid.languages:
        texts = [declarations[code][unit] for unit in grid.units]
        costs[code] = sum(len(one.ids) for one in tokenizer.encode_batch(texts, add_special_tokens=False))
    found = disparity(costs, "eng")
    assert found.gini == pytest.approx(gini, abs=0.01)
    print(name, found.gini, found.total, found.maximum, found.p90, found.median, found.minimum)
