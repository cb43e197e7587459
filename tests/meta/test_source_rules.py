"""The limits and habits of the house, checked on the syntax trees."""

import ast
import statistics
import sys
from pathlib import PurePosixPath

import pytest
from source_tree import GENERATED, PACKAGES, ROOT, functions, n_lines, needs_checkout, python_files, syntax

pytestmark = needs_checkout

MAX_MODULE, MAX_TEST_MODULE, MAX_FUNCTION, P90_FUNCTION = 300, 500, 60, 40


def written_by_hand(*folders: str) -> list[str]:
    """Returns the Python files below the folders that no tool generates."""
    return [path for path in python_files(*folders) if path not in GENERATED]


@pytest.mark.parametrize(
    ("folders", "limit"), [((*PACKAGES, "tools", "benchmarks"), MAX_MODULE), (("tests",), MAX_TEST_MODULE)]
)
def test_modules_are_short(folders: tuple[str, ...], limit: int) -> None:
    """No module is longer than its limit of lines."""
    sizes = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in written_by_hand(*folders)}
    assert {path: size for path, size in sizes.items() if size > limit} == {}


def test_functions_are_short() -> None:
    """No function has more than 60 lines, and nine of ten have at most 40."""
    sizes = {
        f"{path}:{function.lineno} {function.name}": n_lines(function)
        for path in written_by_hand(*PACKAGES, "tools", "benchmarks")
        for function in functions(path)
    }
    assert {place: size for place, size in sizes.items() if size > MAX_FUNCTION} == {}
    assert statistics.quantiles(sizes.values(), n=10)[-1] <= P90_FUNCTION


def test_no_name_of_the_standard_library() -> None:
    """No module or folder of ours, and no script, can shadow a module of the standard library."""
    names = {
        PurePosixPath(part).stem
        for path in python_files(*PACKAGES, "tools", "benchmarks", "tests")
        for part in path.split("/")
    }
    assert names & (sys.stdlib_module_names - {"__init__", "__main__"}) == set()


def test_test_modules_have_unique_names() -> None:
    """Test folders are no packages, so two test files of one name would hide each other."""
    names = [PurePosixPath(path).name for path in python_files("tests")]
    assert sorted({name for name in names if names.count(name) > 1} - {"conftest.py"}) == []


def test_every_test_states_its_claim() -> None:
    """Each test function has a docstring."""
    silent = [
        f"{path}:{function.lineno} {function.name}"
        for path in python_files("tests")
        for function in functions(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def public_functions(body: list[ast.stmt], prefix: str = "") -> list[tuple[str, ast.FunctionDef]]:
    """Returns (qualified name, node) of the public functions and methods among the statements."""
    found = []
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found += public_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found.append((prefix + node.name, node))
    return found


def raises_itself(function: ast.FunctionDef) -> bool:
    """Returns whether the body, nested functions aside, names an exception to raise (a bare `raise` passes one on)."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Raise) and node.exc is not None:
            return "NotImplementedError" not in ast.unparse(node.exc)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    return False


def test_public_functions_say_what_they_raise() -> None:
    """A public function of the library that raises has a `Raises:` section in its docstring."""
    silent = [
        f"{path}:{function.lineno} {name}"
        for path in written_by_hand("byteroute_ops")
        for name, function in public_functions(syntax(path).body)
        if raises_itself(function) and "Raises:" not in (ast.get_docstring(function) or "")
    ]
    assert silent == []


def test_public_names_are_documented() -> None:
    """Every public class and function of the library has a docstring; ruff can be told to look away, this cannot."""
    silent = []
    for path in written_by_hand("byteroute_ops"):
        tree = syntax(path)
        if tree.body and not ast.get_docstring(tree):
            silent.append(path)
        classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")]
        silent += [f"{path}:{node.lineno} {node.name}" for node in classes if not ast.get_docstring(node)]
        silent += [
            f"{path}:{node.lineno} {name}"
            for name, node in public_functions(tree.body)
            if not ast.get_docstring(node) and not node.decorator_list
        ]
    assert silent == []


def test_library_prints_nothing() -> None:
    """Standard output belongs to the command line: the library never calls `print`."""
    calls = [
        f"{path}:{node.lineno}"
        for path in written_by_hand("byteroute_ops", "schemas")
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert calls == []
