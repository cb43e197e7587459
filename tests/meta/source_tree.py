"""What the tests on the sources share: which files there are, and what they import."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = {folder: f"byteroute.{folder}" for folder in ("pipelines", "schemas", "runners")}
"""Folders that setup.py installs under another name."""
PACKAGES = ("byteroute_ops", *INSTALLED)
GENERATED = frozenset({"byteroute_ops/unicode_data.py"})
"""Exempt from limits of size: no one reads these line by line."""

needs_checkout = pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="looks at the sources, not at a wheel")


def python_files(*folders: str) -> list[str]:
    """Returns the Python files below the folders, as sorted paths from the root of the checkout."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@cache
def syntax(path: str) -> ast.Module:
    """Returns the syntax tree of a file of the checkout."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), path)


def functions(path: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yields every function of a file, nested ones and methods too."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def n_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Returns the lines from `def` to the end of the body, docstring included."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def tracked_files() -> list[str]:
    """Returns the files that git tracks, as sorted paths from the root of the checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    return sorted(name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())


def imports(path: str) -> Iterator[tuple[int, str]]:
    """Yields (line, dotted name) of each import of a file, wherever in it it stands.

    Relative imports are resolved to installed names (`byteroute.pipelines.cli`). `from package import name` gives
    `package.name` if that is a module of ours, else `package`.
    """
    folder, *inside = path.split("/")
    package = [*INSTALLED.get(folder, folder).split("."), *inside[:-1]]
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{name}.{alias.name}"
                yield node.lineno, inner if _is_module(inner) else name


def _is_module(name: str) -> bool:
    place = ROOT / name.removeprefix("byteroute.").replace(".", "/")
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def within(name: str, package: str) -> bool:
    """Returns whether a dotted name is the package or something in it."""
    return name == package or name.startswith(f"{package}.")
