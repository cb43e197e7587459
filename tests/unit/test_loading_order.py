"""Who reads which documents, in which order; runs that cannot be read."""

import json
from pathlib import Path

import pytest
from export_fixtures import VOCABULARY, make_documents, toy_ids, write_run

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.ids import IdSpace
from byteroute_ops.loading import FinishedRun, open_run
from byteroute_ops.loading.order import Share, epoch_units, stream

DOCUMENTS = make_documents(50)
SPACE = IdSpace(kind="text", size=VOCABULARY, eos=VOCABULARY - 1)
EXPECTED = [[*toy_ids(text), VOCABULARY - 1] if text else [] for _, text in DOCUMENTS]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run of 50 documents in 14 row groups."""
    return write_run(tmp_path_factory.mktemp("run"), DOCUMENTS)


def read(run: FinishedRun, share: Share, *, seed: int | None = None, epoch: int = 0, skip: int = 0) -> list[list[int]]:
    """All documents of a share."""
    units = epoch_units(run.units(), share, seed=seed, epoch=epoch)
    return [ids.tolist() for ids in stream(run, units, SPACE, seed=seed, epoch=epoch, skip=skip)]


def test_order_of_the_run(run: FinishedRun) -> None:
    """Without a seed one worker reads all documents in the run's order, left-out ones as empty."""
    assert read(run, Share()) == EXPECTED


def test_avro_shards(tmp_path: Path) -> None:
    """An Avro shard is one unit, and gives the same documents."""
    run = write_run(tmp_path, DOCUMENTS, kind="avro")
    assert [unit.group for unit in run.units()] == [-1, -1, -1]
    assert read(run, Share()) == EXPECTED


@pytest.mark.parametrize("count", [1, 2, 3, 13])
@pytest.mark.parametrize("seed", [None, 7])
def test_shares_cover_all_without_overlap(run: FinishedRun, count: int, seed: int | None) -> None:
    """The shares of any number of workers together are all documents, each once."""
    together = [ids for index in range(count) for ids in read(run, Share(index, count), seed=seed)]
    assert sorted(together) == sorted(EXPECTED)


def test_seed_and_epoch_decide_the_order(run: FinishedRun) -> None:
    """Seed and epoch each change the order; equal ones repeat it."""
    orders = [read(run, Share(), seed=seed, epoch=epoch) for seed, epoch in ((1, 0), (1, 1), (2, 0), (1, 0))]
    assert orders[0] == orders[3]
    assert all(order != EXPECTED for order in orders)
    assert orders[0] != orders[1] != orders[2] != orders[0]


@pytest.mark.parametrize("seed", [None, 7])
def test_skipping_is_reading_on(run: FinishedRun, seed: int | None) -> None:
    """From any document on, the stream is the rest of the whole one."""
    whole = read(run, Share(1, 3), seed=seed)
    assert all(read(run, Share(1, 3), seed=seed, skip=n) == whole[n:] for n in range(len(whole) + 1))


def test_more_workers_than_row_groups(run: FinishedRun) -> None:
    """A worker that would never have a row is an error with the way out."""
    with pytest.raises(ConfigError, match="14 row groups for 16 workers: use fewer"):
        epoch_units(run.units(), Share(0, 16), seed=None, epoch=0)


def test_unfinished_run(tmp_path: Path) -> None:
    """Without a manifest the run is not complete, and the message says how to end it."""
    with pytest.raises(ConfigError, match="not complete; end it with `byteroute run --resume`"):
        open_run(str(tmp_path))


def test_export_is_no_run(tmp_path: Path) -> None:
    """The folder of an export is not taken for a run."""
    (tmp_path / "manifest.json").write_text(json.dumps({"format": "byteroute-export", "files": []}))
    with pytest.raises(ConfigError, match="output folder of `byteroute run`"):
        open_run(str(tmp_path))


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_shard_unlike_its_manifest(tmp_path: Path, damage: str) -> None:
    """A shard that is missing or has another size is named before anything is read."""
    write_run(tmp_path, DOCUMENTS)
    shard = tmp_path / "shards/part-00001-000.parquet"
    if damage == "gone":
        shard.unlink()
    else:
        shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(ConfigError, match=r"part-00001-000.parquet: .*, the manifest says \d+"):
        open_run(str(tmp_path))


def test_missing_column(run: FinishedRun) -> None:
    """A column that the shards lack is named together with those they have."""
    with pytest.raises(ConfigError, match="no column tokens; it has doc_id"):
        run.read_unit(run.units()[0], ("tokens",))
