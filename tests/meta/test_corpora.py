"""The bundled corpora are what their README says and what their build gives."""

import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import regex
import zstandard
from source_tree import ROOT, needs_checkout

DEMO = Path(str(files("byteroute.pipelines.demo_data")))

SCRIPTS = re.findall(
    r"\w+",
    "Latin Greek Cyrillic Arabic Hebrew Syriac Ethiopic Tifinagh Vai Adlam Devanagari Bengali Gurmukhi Gujarati Tamil "
    "Telugu Kannada Malayalam Sinhala Grantha Chakma Thaana Thai Lao Myanmar Khmer Tibetan Javanese Tai_Tham Tai_Viet "
    "Tagalog Han Hiragana Katakana Hangul Yi Mongolian Armenian Georgian Cherokee Canadian_Aboriginal",
)


def lines(path: Path) -> list[str]:
    """Returns the lines of a shard, decompressed; a Parquet row counts as the line that JSON would give."""
    data = path.read_bytes()
    if path.suffix == ".parquet":
        return [json.dumps(row, ensure_ascii=False) for row in pq.read_table(io.BytesIO(data)).to_pylist()]
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompress(data)
    return data.decode("utf-8").split("\n")[:-1]


def shards(folder: Path) -> list[Path]:
    """Returns the shards of a demo folder, sorted by name."""
    return sorted(path for path in folder.iterdir() if ".jsonl" in path.name or path.suffix == ".parquet")


def good_rows() -> list[dict[str, str]]:
    """Returns the rows of the demo corpus that are meant to be used."""
    every = [line for path in shards(DEMO) for line in lines(path)]
    return [json.loads(line) for line in every if '"bad:' not in line]


def test_demo_shards_have_their_digests() -> None:
    """SHA256SUMS.txt lists every shard with the digest of its bytes."""
    listed = (DEMO / "SHA256SUMS.txt").read_text(encoding="ascii")
    assert listed == "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in shards(DEMO))


def test_demo_readme_counts_are_true() -> None:
    """The table of the README has each shard with its number of rows, and the totals above it are right."""
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    table = {name: int(n) for name, n in re.findall(r"^\| `([^`]+)` \| (\d+) \|", readme, re.MULTILINE)}
    assert table == {path.name: len(lines(path)) for path in shards(DEMO)}
    rows = good_rows()
    n_languages, n_bytes = len({row["lang"] for row in rows} - {"und"}), sum(len(row["text"].encode()) for row in rows)
    total = f"{len(rows) + 5:,} rows, one of them not even JSON: {n_languages} languages"
    assert total in readme
    assert f"{n_bytes / 1e6:.2f} MB of text" in readme
    assert f"{len(SCRIPTS)} scripts" in readme


def test_demo_has_what_it_is_to_show() -> None:
    """All listed scripts, BOMs, zero-width spaces in and outside scripts that use them, emoji sequences, bad lines."""
    rows = good_rows()
    text = "\n".join(row["text"] for row in rows)
    assert [script for script in SCRIPTS if not regex.search(rf"\p{{Script={script}}}", text)] == []
    assert sum(row["text"].startswith("\ufeff") for row in rows) >= len(SCRIPTS)
    assert regex.search(r"\p{Thai}\u200b\p{Thai}", text)
    assert regex.search(r"\p{Latin}\u200b\p{Latin}", text)
    for sequence in ("\U0001f469\U0001f3fd\u200d\U0001f680", "\U0001f1f0\U0001f1ea", "1\ufe0f\u20e3", "\U000e007f"):
        assert sequence in text
    assert "\uf900" in text
    assert len([line for line in lines(DEMO / "messages.jsonl") if '"bad:' in line]) == 5


def test_small_corpus_is_as_described(data_dir: Path) -> None:
    """154 rows in 40 languages and 38 scripts, none empty, ids unique, at most 150 kB."""
    path = data_dir / "udhr_small.jsonl"
    rows = [json.loads(line) for line in lines(path)]
    assert path.stat().st_size <= 150_000
    assert (len(rows), len({r["lang"] for r in rows}), len({r["script"] for r in rows})) == (154, 40, 38)
    assert len({row["id"] for row in rows}) == len(rows)
    assert all(row["text"] for row in rows)


@needs_checkout
@pytest.mark.shared
def test_corpora_are_as_built(shared_dir: Path, data_dir: Path, tmp_path: Path) -> None:
    """A new build from the source file gives the committed rows: nobody has edited them by hand."""
    source = shared_dir / "corpus" / "udhr.jsonl.zst"
    command = [sys.executable, ROOT / "tools" / "build_demo_corpus.py", source]
    subprocess.run([*command, "--demo", tmp_path, "--small", tmp_path / "small"], check=True)
    assert (tmp_path / "small").read_bytes() == (data_dir / "udhr_small.jsonl").read_bytes()
    assert [path.name for path in shards(tmp_path)] == [path.name for path in shards(DEMO)]
    for built, committed in zip(shards(tmp_path), shards(DEMO), strict=True):
        assert lines(built) == lines(committed), committed.name
