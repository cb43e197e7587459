"""The streaming graph under test streams: lateness, panes, empty windows, retries, accounts."""

from pathlib import Path

import pytest
from integration_support import digests
from stream_support import SETTINGS, at, events, ids, message, run_events, shards, windows

from byteroute_ops.beam.streaming import Windowing, WritePanes
from byteroute_ops.budgets import Budget
from byteroute_ops.errors import ConfigError

MINUTE = Windowing(seconds=60, lateness=600)


def test_documents_go_to_the_window_of_their_event_time(tmp_path: Path) -> None:
    """Each window holds the documents of its time and no other, even when one bundle brings several windows."""
    run_events(
        events(at(1, message("m1", "a")) + at(61, message("m2", "b")) + at(59, message("m3", "c"))), tmp_path, MINUTE
    )
    found = windows(tmp_path)
    assert {start: ids(tmp_path, one) for start, one in found.items()} == {"00:00:00": ["a", "c"], "00:01:00": ["b"]}


def test_a_late_document_makes_a_pane_of_its_own(tmp_path: Path) -> None:
    """A late pane has a name of its own: what was written on time stays, and both count."""
    run_events(events(at(1, message("m1", "a")), 61, at(2, message("m2", "late")), 300), tmp_path, MINUTE)
    window = windows(tmp_path)["00:00:00"]
    assert ids(tmp_path, window) == ["a", "late"]
    assert [path.rsplit("-", 2)[1] for path in shards(window)] == ["p00000", "p00001"]


def test_a_document_later_than_allowed_is_dropped(tmp_path: Path) -> None:
    """After the allowed lateness a window is closed: what comes then changes nothing."""
    run_events(events(at(1, message("m1", "a")), 700, at(2, message("m2", "too late"))), tmp_path, MINUTE)
    assert {start: ids(tmp_path, one) for start, one in windows(tmp_path).items()} == {"00:00:00": ["a"]}


def test_empty_windows_leave_nothing(tmp_path: Path) -> None:
    """Windows without documents have no files and no record."""
    run_events(events(at(1, message("m1", "a")), 600, at(601, message("m2", "b"))), tmp_path, MINUTE)
    assert list(windows(tmp_path)) == ["00:00:00", "00:10:00"]


def test_a_stream_without_documents_writes_nothing(tmp_path: Path) -> None:
    """A source that ends without a document is no error."""
    run_events(events(600), tmp_path, MINUTE)
    assert windows(tmp_path) == {}


def test_an_accumulating_pane_repeats_the_earlier_ones(tmp_path: Path) -> None:
    """With accumulation the last pane alone counts, and it holds everything."""
    windowing = Windowing(seconds=60, lateness=600, accumulating=True)
    run_events(events(at(1, message("m1", "a")), 61, at(2, message("m2", "late")), 300), tmp_path, windowing)
    window = windows(tmp_path, accumulating=True)["00:00:00"]
    assert ids(tmp_path, window) == ["a", "late"]
    assert len(list(shards(window))) == 1
    assert window.totals.documents == 2


def test_budgets_of_a_window_equal_those_of_its_documents_alone(tmp_path: Path) -> None:
    """However a window's documents came, its budget is that of the documents together."""
    run_events(events(at(1, message("m1", "a", "b")), 61, at(2, message("m2", "c")), 300), tmp_path / "late", MINUTE)
    run_events(events(at(1, message("m", "a", "b", "c"))), tmp_path / "once", MINUTE)
    late, once = (windows(tmp_path / name)["00:00:00"] for name in ("late", "once"))
    assert late.budget == once.budget
    assert late.budget != Budget.zero()
    assert late.totals.documents == once.totals.documents == 3


def test_rejects_are_committed_with_their_pane(tmp_path: Path) -> None:
    """Records that are no documents are in the accounts and the reject file of their window."""
    bad = ("m2", b'{"id": "x"}\n{broken')
    run_events(events(at(1, message("m1", "a"), bad)), tmp_path, MINUTE)
    window = windows(tmp_path)["00:00:00"]
    assert dict(window.totals.rejects) == {"invalid_json": 1, "missing_field": 1}
    assert window.totals.balanced
    assert [one["rows"] for one in window.files if one["kind"] == "rejects"] == [2]


def test_a_window_of_rejects_alone_is_committed(tmp_path: Path) -> None:
    """A window in which nothing was usable has accounts and no shard."""
    run_events(events(at(1, ("m", b"{broken"))), tmp_path, MINUTE)
    window = windows(tmp_path)["00:00:00"]
    assert window.totals.records == 1
    assert shards(window) == []


def test_the_same_stream_gives_the_same_bytes(tmp_path: Path) -> None:
    """Neither the order within a bundle nor the run decides a byte."""
    messages = [message(f"m{i}", f"d{i}") for i in range(12)]
    windowing = Windowing(seconds=60, shards=3)
    run_events(events(at(1, *messages)), tmp_path / "one", windowing)
    run_events(events(at(1, *reversed(messages))), tmp_path / "two", windowing)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert len(list(shards(windows(tmp_path / "one")["00:00:00"]))) == 3


def test_bundles_done_twice_change_nothing(tmp_path: Path) -> None:
    """When every bundle is executed twice, as after a lost worker, the output is the same."""
    stream = [at(1, message("m1", "a")), 61, at(2, message("m2", "late")), 300]
    run_events(events(*stream), tmp_path / "once", MINUTE)
    run_events(events(*stream), tmp_path / "twice", MINUTE, SETTINGS, "--direct_runner_bundle_repeat=1")
    assert digests(tmp_path / "once") == digests(tmp_path / "twice")


def test_sampling_is_accounted_for(tmp_path: Path) -> None:
    """Documents that the sample leaves out are counted as such, also when it takes none of a batch."""
    settings = SETTINGS.model_copy(update={"sample": 1e-9})
    run_events(events(at(1, message("m1", "a", "b"))), tmp_path, MINUTE, settings)
    totals = windows(tmp_path)["00:00:00"].totals
    assert (totals.records, totals.documents, totals.not_sampled) == (2, 0, 2)


@pytest.mark.parametrize("field", ["seconds", "shards", "early_seconds"])
def test_windowing_refuses_what_makes_no_sense(field: str) -> None:
    """Lengths and counts below one are errors that name the field."""
    with pytest.raises(ConfigError, match=field):
        Windowing(**{field: 0})


def test_a_stream_has_no_limit() -> None:
    """`limit` means the first documents, which a stream does not have."""
    with pytest.raises(ConfigError, match="limit"):
        WritePanes(SETTINGS.model_copy(update={"limit": 5}), MINUTE, "out")
