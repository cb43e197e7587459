"""Documentation that a test can hold to the code."""

import json
import re

import pytest
from source_tree import ROOT, needs_checkout

from byteroute_ops.errors import RejectReason
from byteroute_ops.records import TABLES, avro_schema

pytestmark = needs_checkout


def read(name: str) -> str:
    """Returns the text of a file of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_reject_reason_is_documented() -> None:
    """docs/rejects.md has one row for each reason code, in the order of the code, and no other."""
    rows = re.findall(r"^\| `(\w+)` \|", read("docs/rejects.md").partition("## Reasons")[2], re.MULTILINE)
    assert rows == [reason.value for reason in RejectReason]


def test_make_targets_in_documents_exist() -> None:
    """Each `make something` that a document tells to type is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.MULTILINE))
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")]
    named = {
        name
        for document in documents
        for name in re.findall(r"(?:^|`|&& )make ([a-z][a-z-]*)", document.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {"run", "test"} <= named
    assert named - targets == set()


def test_help_lists_every_target() -> None:
    """`make help` names each target that a person would type."""
    makefile = read("Makefile")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE)) - {"help", "setup"}
    assert targets == set(re.findall(r"make ([a-z][a-z-]*) ", "\n".join(re.findall(r"@echo (.*)", makefile))))


def test_links_between_documents_resolve() -> None:
    """A relative link in a Markdown file leads to a file of the checkout."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md"), *(ROOT / "schemas").glob("**/*.md")]
    broken = []
    for document in documents:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", target) and not (document.parent / target).exists():
                broken.append(f"{document.relative_to(ROOT)}: {target}")
    assert broken == []


def test_docs_index_lists_every_page() -> None:
    """docs/README.md links each page of docs/."""
    linked = set(re.findall(r"\]\(([^)#\s]+\.md)", read("docs/README.md")))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").glob("**/*.md")} - {"README.md"}
    assert pages - linked == set()


def test_architecture_names_every_module() -> None:
    """ARCHITECTURE.md names each top-level module and folder of library and pipelines, or the one it is a part of.

    `export_work` is a part of `export`.
    """
    named = set(re.findall(r"\w+", read("ARCHITECTURE.md")))
    paths = [path for folder in ("byteroute_ops", "pipelines") for path in (ROOT / folder).iterdir()]
    modules = {path.stem for path in paths if path.suffix == ".py" or (path / "__init__.py").is_file()}
    known = {name for name in modules if name in named or name.split("_")[0] in named}
    assert modules - known - {"__init__", "__main__", "_version"} == set()


def test_changelog_is_ready_for_the_next_change() -> None:
    """The changelog has an Unreleased section at the top, with headings that Keep a Changelog knows, or Format."""
    changelog = read("CHANGELOG.md")
    assert re.findall(r"^## (.*)$", changelog, re.MULTILINE)[0] == "[Unreleased]"
    headings = set(re.findall(r"^### (.*)$", changelog, re.MULTILINE))
    assert headings <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Format"}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_schema_files_equal_the_code(name: str) -> None:
    """schemas/ holds the Avro form of each row type, as the code derives it."""
    assert json.loads(read(f"schemas/{name}.avsc")) == avro_schema(TABLES[name], name)
