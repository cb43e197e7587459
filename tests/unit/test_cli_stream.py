"""The commands for streams: sources, durations, whose folder it is, what is shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.cli import main
from byteroute.pipelines.cli_stream import open_source
from byteroute.pipelines.stream import claim_output, make_stream, run_stream, seal, windows_of
from byteroute.pipelines.verify import verify_output
from click.testing import CliRunner
from stream_support import SETTINGS, at, events, message, run_events

from byteroute_ops.beam.sources import Kafka, PubSub, WatchFolder
from byteroute_ops.beam.streaming import Windowing
from byteroute_ops.errors import ConfigError
from byteroute_ops.files import LocalFiles


def run(*words: str | Path) -> Any:
    """Runs the command line in this process; returns its result."""
    return CliRunner().invoke(main, [*map(str, words)])


def stream_at(output: Path, **windowing: Any) -> Any:
    """Returns a checked streaming run."""
    return make_stream(SETTINGS, windowing, str(output), on_note=lambda _: None)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("pubsub:projects/some-project/subscriptions/name", PubSub),
        ("kafka:localhost:9092/one,two", Kafka),
        ("gs://bucket/folder", WatchFolder),
    ],
)
def test_sources_by_their_specification(spec: str, kind: type) -> None:
    """Each kind of source is recognized by its spelling."""
    assert isinstance(open_source(spec, SETTINGS, interval=1, until=None), kind)


@pytest.mark.parametrize("spec", ["pubsub:name", "kafka:localhost:9092", "no/such/folder"])
def test_a_source_that_is_none_says_how_to_write_one(spec: str) -> None:
    """The message repeats what was given."""
    with pytest.raises(ConfigError, match=spec):
        open_source(spec, SETTINGS, interval=1, until=None)


def test_a_subscription_has_no_end() -> None:
    """--stop-after is for folders."""
    with pytest.raises(ConfigError, match="stop-after"):
        open_source("pubsub:projects/p/subscriptions/s", SETTINGS, interval=1, until=1.0)


def test_runners_without_unbounded_input_are_refused(tmp_path: Path) -> None:
    """The message lists the runners that can, and nothing is written."""
    (tmp_path / "in").mkdir()
    done = run("stream", tmp_path / "in", "-o", tmp_path / "out", "--runner", "local", "--tokenizer", "bytes")
    assert done.exit_code == 2
    assert "portable, prism, flink, dataflow" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", ["10x", "-1", "", "1.5h"])
def test_durations_that_are_none(tmp_path: Path, value: str) -> None:
    """A duration that cannot be read is wrong use, and the message shows some that can."""
    done = run("stream", tmp_path, "-o", tmp_path / "out", f"--window={value}")
    assert done.exit_code == 2
    assert "10m" in done.output


def test_a_window_of_no_length_is_wrong_use(tmp_path: Path) -> None:
    """The setting is named."""
    options = ["--window=0", "--tokenizer", "bytes", "--runner", "portable", "--job_endpoint=localhost:9"]
    done = run("stream", tmp_path, "-o", tmp_path / "out", *options)
    assert done.exit_code == 2
    assert "seconds: 0 is too small" in done.output


def test_a_folder_belongs_to_one_configuration(tmp_path: Path) -> None:
    """The same stream may go on; another one, or another kind of content, is refused."""
    claim_output(stream_at(tmp_path / "out", seconds=60))
    claim_output(stream_at(tmp_path / "out", seconds=60))
    with pytest.raises(ConfigError, match="windowing"):
        claim_output(stream_at(tmp_path / "out", seconds=30))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_bytes(b"x")
    with pytest.raises(ConfigError, match="not empty"):
        claim_output(stream_at(tmp_path / "other", seconds=60))


def test_windows_of_another_folder_is_wrong_use(tmp_path: Path) -> None:
    """A folder that is no stream's output is named."""
    done = run("windows", tmp_path)
    assert done.exit_code == 2
    assert "stream.json" in done.output


def test_a_sealed_stream_is_an_ordinary_output(tmp_path: Path) -> None:
    """Sealing writes a manifest that verifies; sealing again after more panes replaces it."""
    stream = stream_at(tmp_path, seconds=60, lateness=600)
    claim_output(stream)
    windowing = Windowing(**stream.windowing)
    run_events(events(at(1, message("m1", "a", "b"))), tmp_path, windowing, stream.settings)
    assert seal(str(tmp_path))["totals"]["documents"] == 2
    run_events(events(at(61, message("m2", "c"))), tmp_path, windowing, stream.settings)
    done = run("windows", tmp_path, "--seal")
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    assert manifest["totals"]["documents"] == 3
    assert [one["documents"] for one in manifest["windows"]] == [2, 1]
    assert verify_output(LocalFiles(), str(tmp_path), unique=True).problems == []
    assert [one.totals.documents for one in windows_of(str(tmp_path))] == [2, 1]


def test_an_engine_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the job is built the missing binary is said, with the command that gets it."""
    monkeypatch.setenv("BYTEROUTE_ENGINES", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GOBIN", raising=False)
    with pytest.raises(ConfigError, match="go install"):
        run_stream(stream_at(tmp_path / "out"), None, runner="prism", extra=())
