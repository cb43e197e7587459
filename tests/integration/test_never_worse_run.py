"""A whole run with `never_worse`: verified, counted as written, never longer than UTF-8."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from byteroute.pipelines.verify import verify_output

from byteroute_ops.files import LocalFiles


def rows_of(output: Path) -> list[dict[str, Any]]:
    """Returns all rows of a run's shards."""
    return [row for file in sorted((output / "shards").glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


@pytest.mark.parametrize("routed_engine", ["tokenizer", "bytes"])
def test_run_is_sound_and_never_worse(
    corpus: Path, tmp_path: Path, run_inline: Callable[..., dict[str, Any]], routed_engine: str
) -> None:
    """The output verifies, no row has more tokens or, with the bytes engine, bytes than UTF-8, and budgets add up."""
    common = {"policy": "script-b", "routed_engine": routed_engine, "range_bytes": 20_000}
    run_inline([corpus], tmp_path / "all", **common)
    manifest = run_inline([corpus], tmp_path / "best", **common, never_worse=True)
    report = verify_output(LocalFiles(), str(tmp_path / "best"))
    assert report.problems == []
    rows, plain = (rows_of(tmp_path / name) for name in ("best", "all"))
    unit = ("n_routed_bytes", "n_utf8_bytes") if routed_engine == "bytes" else ("n_routed_tokens", "n_text_tokens")
    assert all(row[unit[0]] <= row[unit[1]] for row in rows)
    assert any(row[unit[0]] > row[unit[1]] for row in plain)
    budget = pq.read_table(tmp_path / "best" / "budgets" / "scripts.parquet").to_pylist()
    for name in ("n_routed_tokens", "n_routed_bytes", "n_utf8_bytes", "n_text_tokens"):
        assert sum(row[name] for row in budget) == manifest["totals"][name] == sum(row[name] for row in rows)
    assert manifest["settings"]["never_worse"] is True
