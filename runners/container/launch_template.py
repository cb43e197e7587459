"""What a Flex Template's launcher runs: turns the template's parameters into a `byteroute` command.

Dataflow passes parameters as `--name=value`, together with Beam options such as --project and --region.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

OURS = {
    "output": "-o",
    "window": "--window",
    "lateness": "--lateness",
    "policy": "--policy",
    "tokenizer": "--tokenizer",
}
"""Parameters of the template, and the flags that they become. `input` is the argument, all else goes to Beam."""


def command_line(parameters: Sequence[str]) -> list[str]:
    """Returns the arguments of `byteroute` for a template's parameters.

    >>> command_line(["--mode=run", "--input=gs://b/in", "--output=gs://b/out", "--region=x"])
    ['run', 'gs://b/in', '-o', 'gs://b/out', '--runner', 'dataflow', '--quiet', '--region=x']
    """
    mode, source, flags, beam = "run", "", list[str](), list[str]()
    for parameter in parameters:
        name, _, value = parameter.removeprefix("--").partition("=")
        if name == "mode":
            mode = value
        elif name == "input":
            source = value
        elif name in OURS:
            flags += [OURS[name], value]
        elif name != "runner":
            beam.append(parameter)
    return [mode, source, *flags, "--runner", "dataflow", "--quiet", *beam]


if __name__ == "__main__":
    import_module("byteroute.pipelines.cli").main(command_line(sys.argv[1:]))
