"""Container files and the Flex Template: versions, user, parameters that the launcher knows."""

import json
import re
from pathlib import Path

import apache_beam
import byteroute.runners.container
import pytest
from byteroute.pipelines.cli import main
from byteroute.runners.container.launch_template import OURS, command_line
from worker_site import ROOT

from byteroute_ops import __version__

PLACE = Path(byteroute.runners.container.__file__).parent
DOCKERFILES = sorted((ROOT / "runners" / "container").glob("Dockerfile*"))


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_dockerfiles_keep_the_rules(path: Path) -> None:
    """Not root at the end, no ADD, no cache left behind, the packages checked, the entry point as a list."""
    steps = [step for step in re.split(r"(?<!\\)\n", path.read_text(encoding="utf-8")) if step and step[0] != "#"]
    verbs = [step.split()[0] for step in steps]
    assert "ADD" not in verbs
    assert [step for step in steps if step.startswith("USER")] == ["USER 10001"]
    assert not any("pip install" in step or "useradd" in step for step in steps[verbs.index("USER") :])
    installing = [step for step in steps if "pip install" in step]
    assert installing
    assert all("--no-cache-dir" in step and "pip check" in step and "rm -r /tmp/wheels" in step for step in installing)
    assert steps[-1].startswith("ENTRYPOINT [")


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_the_image_has_the_beam_that_is_tested(path: Path) -> None:
    """Workers run the version of Beam that these tests ran with, and this byteroute."""
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^ARG BEAM=(\S+)$", text, re.MULTILINE) == [apache_beam.__version__]
    assert re.findall(r"^ARG BYTEROUTE=(\S+)$", text, re.MULTILINE) == [__version__]


def test_template_parameters_are_those_of_the_launcher() -> None:
    """Each parameter of the template reaches the command line, and each pattern is a regular expression."""
    template = json.loads((PLACE / "flex_template.json").read_text(encoding="utf-8"))
    parameters = template["metadata"]["parameters"]
    assert {one["name"] for one in parameters} == {*OURS, "mode", "input"}
    assert all(one["helpText"] and one["label"] for one in parameters)
    for pattern in (pattern for one in parameters for pattern in one.get("regexes", [])):
        re.compile(pattern)


def test_the_launcher_makes_commands_that_exist() -> None:
    """Mode and flags are ones that the command line has; the rest goes to Beam untouched."""
    words = command_line(["--mode=stream", "--input=gs://b/in", "--output=gs://b/out", "--window=10s", "--project=p"])
    assert words == [
        "stream", "gs://b/in", "-o", "gs://b/out", "--window", "10s", "--runner", "dataflow", "--quiet", "--project=p",
    ]  # fmt: skip
    flags = {flag for name in ("run", "stream") for one in main.commands[name].params for flag in one.opts}
    assert set(OURS.values()) <= flags
