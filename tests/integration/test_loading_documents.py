"""The Python blocks of docs/loading.md do what they say. Needs the extra torch."""

import re
from pathlib import Path

import pytest
from export_fixtures import make_documents, write_run


def test_blocks_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each block runs after the ones before it, and prints the text block that follows it."""
    pytest.importorskip("torch", reason="needs the extra torch")
    page = Path(__file__).resolve().parents[2] / "docs/loading.md"
    if not page.is_file():
        pytest.skip("needs the documents of a checkout")
    write_run(tmp_path / "out/run", make_documents(300))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block, _, shown in re.findall(r"```python\n(.*?)```\n(\n```text\n(.*?)```)?", page.read_text(), re.DOTALL):
        exec(compile(block, str(page), "exec"), names)  # noqa: S102
        assert capsys.readouterr().out == shown
