"""Panes: what a retry writes, and which panes count after an engine fell back to a checkpoint."""

from pathlib import Path

import pyarrow as pa
import pytest
from integration_support import digests

from byteroute_ops.files import LocalFiles
from byteroute_ops.panes import Pane, Window, read_windows, write_pane
from byteroute_ops.parts import document_part
from byteroute_ops.processing import Processor
from byteroute_ops.records import DOCUMENTS
from byteroute_ops.settings import Settings

SETTINGS = Settings(tokenizers=("bytes",))
PROCESSOR = Processor(SETTINGS)


def part(*names: str) -> pa.RecordBatch:
    """Returns a part with a document for each name."""
    rows = [{"doc_id": one, "source": one, "position": 0, "lang": "und", "text": f"text {one}"} for one in names]
    documents = pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)
    return document_part(documents, PROCESSOR.process(documents), documents.num_rows)


def write(output: Path, index: int, *parts: pa.RecordBatch, files: LocalFiles | None = None) -> None:
    """Writes pane `index` of shard 0 of the window `w`."""
    write_pane(Pane("w", 0, index), parts, SETTINGS, str(output), files or LocalFiles())


def read(output: Path, *, accumulating: bool = False) -> Window:
    """Returns the one window of an output."""
    (window,) = read_windows(LocalFiles(), str(output), accumulating=accumulating)
    return window


class Breaking(LocalFiles):
    """Fails at the n-th rename, as a disk or a killed worker would."""

    def __init__(self, after: int) -> None:
        self.left = after

    def rename(self, source: str, target: str) -> None:
        """Renames, until it does not."""
        if self.left == 0:
            raise OSError("no more")
        self.left -= 1
        super().rename(source, target)


def test_writing_a_pane_again_changes_nothing(tmp_path: Path) -> None:
    """A retried bundle writes the same names with the same bytes."""
    write(tmp_path, 0, part("a"), part("b"))
    before = digests(tmp_path)
    write(tmp_path, 0, part("b"), part("a"))
    assert digests(tmp_path) == before
    assert len(before) == 4


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_pane_that_failed_half_way_does_not_count(tmp_path: Path, after: int) -> None:
    """Until the record is there the pane does not exist; the retry then gives what no failure gives."""
    with pytest.raises(OSError, match="no more"):
        write(tmp_path / "broken", 0, part("a"), files=Breaking(after))
    assert read_windows(LocalFiles(), str(tmp_path / "broken"), accumulating=False) == []
    write(tmp_path / "broken", 0, part("a"))
    write(tmp_path / "whole", 0, part("a"))
    assert digests(tmp_path / "broken") == digests(tmp_path / "whole")


def test_panes_add_up(tmp_path: Path) -> None:
    """Discarding panes that follow each other all count."""
    write(tmp_path, 0, part("a"))
    write(tmp_path, 1, part("b"))
    assert read(tmp_path).totals.documents == 2
    assert read(tmp_path).stale == []


def test_a_pane_of_a_history_that_was_rolled_back_does_not_count(tmp_path: Path) -> None:
    """Where pane 0 is fired anew and holds what was pane 1 before, the old pane 1 is stale."""
    write(tmp_path, 0, part("a"))
    write(tmp_path, 1, part("b"))
    write(tmp_path, 0, part("a"), part("b"))
    window = read(tmp_path)
    assert window.totals.documents == 2
    assert window.stale == ["w/part-00000-p00001"]


def test_a_worker_that_was_given_up_on_harms_nothing(tmp_path: Path) -> None:
    """A late writer of an old pane, with the same parts, leaves the later panes in force."""
    write(tmp_path, 0, part("a"))
    write(tmp_path, 1, part("b"))
    write(tmp_path, 0, part("a"))
    assert read(tmp_path).totals.documents == 2


def test_panes_may_be_written_in_any_order(tmp_path: Path) -> None:
    """Engines give no order to the panes of a key: which one is committed first does not matter."""
    for index in (2, 0, 1):
        write(tmp_path, index, part(f"d{index}"))
    assert read(tmp_path).totals.documents == 3


def test_a_part_that_was_delivered_twice_counts_once(tmp_path: Path) -> None:
    """Within a pane and in a later pane alike."""
    write(tmp_path, 0, part("a"), part("a"), part("b"))
    write(tmp_path, 1, part("a"))
    assert read(tmp_path).totals.documents == 2


def test_of_accumulating_panes_the_last_counts(tmp_path: Path) -> None:
    """An accumulating pane replaces those before it."""
    write(tmp_path, 0, part("a"))
    write(tmp_path, 1, part("a"), part("b"))
    assert read(tmp_path, accumulating=True).totals.documents == 2


def test_a_stale_accumulating_pane_does_not_hide_a_larger_one(tmp_path: Path) -> None:
    """After a roll-back pane 0 may hold more than the old pane 1 did: then it counts."""
    write(tmp_path, 1, part("a"), part("b"))
    write(tmp_path, 0, part("a"), part("b"), part("c"))
    assert read(tmp_path, accumulating=True).totals.documents == 3


def test_nothing_temporary_is_left(tmp_path: Path) -> None:
    """A committed pane leaves no temporary file, and neither does a failed one."""
    write(tmp_path, 0, part("a"))
    with pytest.raises(OSError, match="no more"):
        write(tmp_path, 1, part("b"), files=Breaking(1))
    assert list((tmp_path / "_temporary").rglob("*")) == []
