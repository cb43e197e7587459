"""What must not be in the repository, and what must be in the wheel."""

import fnmatch
import re
import tomllib

from source_tree import ROOT, needs_checkout, tracked_files

pytestmark = needs_checkout

# Every pattern has a gap (a bracket or a joint), so that this file does not match itself.
UNWANTED = {
    "host of a package index": r"py[p]i\.org|files\.python[h]osted|registry\.npm[j]s|crates[.]io|proxy\.gola[n]g|"
    r"repo1?\.maven[.]|[d]eb\.debian\.org",
    "path of one machine": r"/tm[p]/dev\b|(?<![\w.-])/[w]ork/(main|shared|\.library)|/root/\.[p]yenv|/opt/[w]heels",
    "word about how it was written": r"(?i)\bhelper [a]gent|\bsub[a]gent|\bas an [A]I\b|\blanguage model [a]ssistant|"
    r"\b[C]laude\b|\b[A]nthropic\b|\bworking [a]greement\b",
    "unfinished business": r"\b(TO[D]O|FIX[M]E|X[X]X)\b",
}
MAX_FILE_BYTES = 1_500_000


def texts() -> dict[str, str]:
    """Returns the tracked files that are text, by path."""
    found = {}
    for path in tracked_files():
        data = (ROOT / path).read_bytes()
        if b"\0" not in data[:8192]:
            found[path] = data.decode("utf-8", "replace")
    return found


def test_nothing_unwanted_is_tracked() -> None:
    """No index hosts, no machine's paths, no traces of authoring, no notes to self in tracked text."""
    wrong = []
    for path, text in texts().items():
        for what, pattern in UNWANTED.items():
            for match in re.finditer(pattern, text):
                wrong.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1} {what}: {match[0]!r}")
    assert wrong == []


def test_patterns_match_what_they_are_for() -> None:
    """Each pattern finds the plain form that it stands for."""
    plain = {
        "host of a package index": "py" + "pi.org",
        "path of one machine": "/tm" + "p/dev/x",
        "word about how it was written": "Sub" + "agent",
        "unfinished business": "TO" + "DO",
    }
    assert all(re.search(UNWANTED[what], text) for what, text in plain.items())
    assert plain.keys() == UNWANTED.keys()


def test_tracked_files_are_small() -> None:
    """No tracked file is larger than 1.5 MB, and the demo corpus is not larger as a whole."""
    sizes = {path: (ROOT / path).stat().st_size for path in tracked_files()}
    assert {path: size for path, size in sizes.items() if size > MAX_FILE_BYTES} == {}
    assert sum(size for path, size in sizes.items() if path.startswith("pipelines/demo_data/")) <= MAX_FILE_BYTES


def test_package_data_reaches_the_wheel() -> None:
    """Every data file of an importable folder lies in a package and has a suffix that pyproject.toml lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    lost = [
        path
        for path in tracked_files()
        if path.startswith(("byteroute_ops/", "pipelines/", "schemas/")) and not path.endswith(".py")
        if not (ROOT / path).with_name("__init__.py").is_file()
        or not any(fnmatch.fnmatch(path.rsplit("/", 1)[1], pattern) for pattern in patterns)
    ]
    assert lost == []


def test_license_files_exist() -> None:
    """The licence files that pyproject.toml names are there, and LICENSE is the whole Apache License 2.0."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert all((ROOT / name).is_file() for name in project["license-files"])
    license_text = (ROOT / "LICENSE").read_text(encoding="ascii")
    assert "Version 2.0, January 2004" in license_text
    assert "END OF TERMS AND CONDITIONS" in license_text
