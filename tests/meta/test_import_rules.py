"""Imports point one way: base <- kernel <- formats, budgets, shards <- job <- byteroute_ops.beam <- pipelines."""

import importlib.util
import subprocess
import sys

import pytest
from source_tree import INSTALLED, PACKAGES, imports, needs_checkout, python_files, within

pytestmark = needs_checkout

TIERS = (
    {"errors", "records", "_version", "unicode_data"},
    set(),  # the kernel: every module that no other tier names, so a new module has to keep the kernel's rules
    {"formats", "budgets", "shards"},
    {
        "export",
        "files",
        "jobs",
        "layout",
        "loading",
        "panes",
        "parts",
        "processing",
        "range_worker",
        "settings",
        "stages",
        "workshop",
    },
    {"beam"},
)
BASE, KERNEL, BEAM = 0, 1, 4

IMPURE = frozenset(
    {"asyncio", "datetime", "http", "logging", "random", "secrets", "socket", "subprocess", "tempfile", "time"}
)
"""Clocks, chance, logs and the world outside: a kernel function's result depends on its arguments alone."""


def tier(name: str) -> int:
    """Returns the tier of a dotted name below byteroute_ops."""
    top = name.split(".")[1]
    return next((level for level, tops in enumerate(TIERS) if top in tops), KERNEL)


def ops_modules() -> list[tuple[str, str]]:
    """Returns (path, dotted name) of every module below byteroute_ops; the package's own `__init__` is not one."""
    paths = [path for path in python_files("byteroute_ops") if path != "byteroute_ops/__init__.py"]
    return [(path, path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")) for path in paths]


def test_tiers_point_one_way() -> None:
    """No module of byteroute_ops imports one of a higher tier, or the package's export list."""
    wrong = []
    for path, module in ops_modules():
        for line, name in imports(path):
            if name == "byteroute_ops" or (within(name, "byteroute_ops") and tier(name) > tier(module)):
                wrong.append(f"{path}:{line} imports {name}")
    assert wrong == []


def test_only_the_rim_imports_beam() -> None:
    """In byteroute_ops only the folder `beam` imports apache_beam; schemas never do."""
    below = [path for path, module in ops_modules() if tier(module) != BEAM]
    wrong = [
        f"{path}:{line}"
        for path in ["byteroute_ops/__init__.py", *below, *python_files("schemas")]
        for line, name in imports(path)
        if within(name, "apache_beam")
    ]
    assert wrong == []


def test_kernel_is_pure() -> None:
    """Kernel modules import no clock, no chance, no log, no network, no subprocess."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path, module in ops_modules()
        if tier(module) in {BASE, KERNEL}
        for line, name in imports(path)
        if name.split(".")[0] in IMPURE
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("byteroute_ops", ("byteroute.pipelines", "byteroute.schemas", "byteroute.runners")),
        ("schemas", ("byteroute_ops", "byteroute.pipelines", "byteroute.runners")),
        ("pipelines", ("byteroute.runners",)),
    ],
)
def test_packages_point_one_way(folder: str, forbidden: tuple[str, ...]) -> None:
    """The library knows no pipeline, the schemas know nothing of ours, pipelines find runners by name only."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path in python_files(folder)
        for line, name in imports(path)
        if any(within(name, package) for package in forbidden)
    ]
    assert wrong == []


def test_runners_are_handed_what_they_run() -> None:
    """A runner profile imports errors and its siblings, and nothing else of ours."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path in python_files("runners")
        for line, name in imports(path)
        if any(within(name, package) for package in ("byteroute_ops", "byteroute.pipelines", "byteroute.schemas"))
        and name != "byteroute_ops.errors"
    ]
    assert wrong == []


def test_folders_are_imported_by_their_installed_names() -> None:
    """Nothing imports `pipelines`, `schemas` or `runners` bare: elsewhere these are other projects' modules."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path in python_files(*PACKAGES, "tests", "tools", "benchmarks")
        for line, name in imports(path)
        if name.split(".")[0] in INSTALLED
    ]
    assert wrong == []


def test_import_without_beam() -> None:
    """With apache_beam blocked, byteroute_ops and all its modules outside `beam` can be imported."""
    modules = sorted(module for _, module in ops_modules() if tier(module) != BEAM)
    if importlib.util.find_spec("torch") is None:
        modules.remove("byteroute_ops.loading.torch_datasets")
    code = (
        "import importlib, sys\n"
        "sys.modules['apache_beam'] = None\n"
        f"for name in {['byteroute_ops', *modules]!r}: importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_import_is_light() -> None:
    """`import byteroute_ops` loads neither Beam nor a tokenizer library."""
    code = (
        "import byteroute_ops, sys\n"
        "print(sorted({'apache_beam', 'tokenizers', 'gigatoken', 'fastavro', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
