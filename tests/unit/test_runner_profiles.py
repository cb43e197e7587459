"""Runner profiles: what they set, what they refuse, and what they say when something is missing."""

import importlib
from pathlib import Path

import pytest
from byteroute.runners import PROFILES, find_profile
from byteroute.runners.launch import explain
from byteroute.runners.protocol import check_known, require_module, value_of

from byteroute_ops.errors import ConfigError

FLINK = ["--flink_job_server_jar=x.jar", "--job_server_java_launcher=true", "--flink_master=localhost:8081"]
ENOUGH = {
    "local": [],
    "portable": ["--job_endpoint=localhost:8099"],
    "prism": ["--prism_location=prism"],
    "flink": FLINK,
}


@pytest.mark.parametrize("name", sorted(PROFILES))
@pytest.mark.parametrize(
    "option", ["--direct_running_mode=multi_threading", "--experiments=data_buffer_time_limit_ms=1000"]
)
def test_what_corrupts_data_is_refused(name: str, option: str) -> None:
    """No runner takes the options that cut elements in two, and the message says why."""
    with pytest.raises(ConfigError, match="corrupts data"):
        PROFILES[name].options("job", [*ENOUGH.get(name, []), option])


@pytest.mark.parametrize("name", sorted(ENOUGH))
def test_options_of_the_user_win(name: str) -> None:
    """A default does not override what was given, and what was given comes through."""
    options = PROFILES[name].options("job", [*ENOUGH[name], "--environment_type=EXTERNAL", "--environment_config=h:1"])
    assert value_of(options, "environment_type") == "EXTERNAL"
    assert value_of(options, "job_name") == "job"
    assert value_of(options, "runner")


@pytest.mark.parametrize("name", ["portable", "prism", "flink"])
def test_a_job_may_take_as_long_as_it_takes(name: str) -> None:
    """Beam's deadline for reaching a service also ends the stream of a job's states: it must not be minutes."""
    timeout = value_of(PROFILES[name].options("job", ENOUGH[name]), "job_server_timeout")
    assert timeout is not None
    assert int(timeout) > 10**7


@pytest.mark.parametrize("name", ["portable", "prism", "flink"])
def test_an_external_pool_needs_its_address(name: str) -> None:
    """The message has the command that starts a worker pool."""
    with pytest.raises(ConfigError, match="worker_pool_main"):
        PROFILES[name].options("job", [*ENOUGH[name], "--environment_type=EXTERNAL"])


@pytest.mark.parametrize(
    ("name", "fix"), [("prism", "go install github.com/apache/beam"), ("flink", "mvn dependency:copy")]
)
def test_a_missing_engine_names_the_command_that_gets_it(
    name: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without binary or jar the message is what to type."""
    monkeypatch.setenv("BYTEROUTE_ENGINES", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GOBIN", raising=False)
    with pytest.raises(ConfigError, match=fix):
        PROFILES[name].options("job", [])


def test_engines_are_found_in_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A binary in the engines' folder is used without an option."""
    (tmp_path / "prism").write_bytes(b"")
    monkeypatch.setenv("BYTEROUTE_ENGINES", str(tmp_path))
    assert value_of(PROFILES["prism"].options("job", []), "prism_location") == str(tmp_path / "prism")


def test_flink_without_java_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A jar without Java is of no use."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="needs Java"):
        PROFILES["flink"].options("job", ["--flink_job_server_jar=x.jar"])


def test_a_portable_job_needs_an_endpoint() -> None:
    """The portable runner submits to a service; which one must be said."""
    with pytest.raises(ConfigError, match="job_endpoint"):
        PROFILES["portable"].options("job", [])


def test_local_processes_take_no_beam_option() -> None:
    """The default runner refuses what it would have to ignore."""
    with pytest.raises(ConfigError, match="no such option"):
        PROFILES["local-mp"].options("job", ["--region=x"])


def test_unknown_runners_list_the_known() -> None:
    """A misspelt runner is an error with the names."""
    with pytest.raises(ConfigError, match="local-mp, local, portable, prism, flink, dataflow"):
        find_profile("flnk")


def test_unknown_options_name_the_nearest() -> None:
    """Beam would only log a misspelt option."""
    with pytest.raises(ConfigError, match="did you mean --region"):
        check_known(["--regoin=x"], {"region", "project"})


def test_a_missing_package_names_the_extra() -> None:
    """A runner whose package is not installed says what to install."""
    with pytest.raises(ConfigError, match=r"pip install 'byteroute\[gcp\]'"):
        require_module("no_such_package.part", "gcp", "dataflow")


@pytest.mark.parametrize(
    ("missing", "given"),
    [
        ("--project", ["--region=r", "--temp_location=gs://b/t"]),
        ("--sdk_container_image", ["--project=p", "--region=r", "--temp_location=gs://b/t"]),
    ],
)
def test_dataflow_names_what_is_missing(missing: str, given: list[str]) -> None:
    """A missing option, or nothing that brings byteroute to the workers, is said before anything is built."""
    pytest.importorskip("google.cloud.dataflow_v1beta3", reason="needs byteroute[gcp]")
    with pytest.raises(ConfigError, match=missing):
        PROFILES["dataflow"].options("job", given)


def test_an_engines_message_is_told_without_the_data() -> None:
    """Of a worker's traceback only our own errors are repeated; of others the type."""
    own = 'Traceback\n  x\nbyteroute_ops.errors.WorkError: range 3: No space left on device [while running "x"]\n'
    assert explain(RuntimeError(own)) == "range 3: No space left on device"
    foreign = "Traceback\n  x\nValueError: cannot parse 'secret text'\n"
    assert "secret" not in explain(RuntimeError(foreign))
    assert "ValueError" in explain(RuntimeError(foreign))
    lost = RuntimeError("Pipeline job-001 failed in state FAILED: worker said 'secret text'")
    assert explain(lost) == "the engine ended the job in state FAILED, as when a worker is lost; its log says why"


def test_profiles_are_files_of_their_name() -> None:
    """Each profile is a module of its own, named as the runner."""
    for name, one in PROFILES.items():
        assert type(one).__module__ == f"byteroute.runners.{name.replace('-', '_')}"
        assert importlib.import_module(type(one).__module__).__doc__.startswith(f"`{name}`")
