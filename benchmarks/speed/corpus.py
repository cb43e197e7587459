"""The documents of a benchmark: found, copied with salt, cut into batches."""

import os
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import zstandard

from byteroute_ops.files import LocalFiles
from byteroute_ops.formats import ReadOptions, read_range
from byteroute_ops.settings import Settings

_WORD = re.compile(r"\w{4,}")


def shared_folder() -> Path | None:
    """Returns the folder of shared development data: BYTEROUTE_SHARED, or `shared` beside the checkout."""
    folder = Path(os.environ.get("BYTEROUTE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    return folder if (folder / "corpus").is_dir() else None


def corpus_files() -> list[Path]:
    """Returns the files of the large corpus, or those of the bundled one that every contender can read."""
    shared = shared_folder()
    if shared is not None:
        return sorted((shared / "corpus").glob("multi-*.jsonl.zst"))
    demo = Path(str(resources.files("byteroute.pipelines"))) / "demo_data"
    return sorted([*demo.glob("*.jsonl"), *demo.glob("*.jsonl.zst")])


def records(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yields (id, language, text) of every record."""
    with path.open("rb") as stream:
        plain = zstandard.ZstdDecompressor().stream_reader(stream) if path.suffix == ".zst" else stream
        rest = b""
        while data := plain.read(1 << 22):
            *lines, rest = (rest + data).split(b"\n")
            yield from map(_record, filter(None, lines))
        if rest.strip():
            yield _record(rest)


def _record(line: bytes) -> tuple[str, str, str]:
    row = orjson.loads(line)
    return str(row.get("id", "")), row.get("lang") or "und", row["text"]


def salted(text: str, copy: int) -> str:
    """Returns a text in which every word of four letters or more is rotated by `copy` letters.

    So a copy has other words than the original, which no cache has seen, in the same scripts and of the same lengths.

    >>> salted("one four seven", 1)
    'one ourf evens'
    """

    def rotated(found: re.Match[str]) -> str:
        word = found.group()
        at = copy % len(word)
        return word[at:] + word[:at]

    return _WORD.sub(rotated, text) if copy else text


def copies(files: list[Path], folder: Path, n_copies: int) -> Path:
    """Returns a folder with the files `n_copies` times over, each copy salted; made once."""
    folder.mkdir(parents=True, exist_ok=True)
    for copy in range(n_copies):
        for path in files:
            target = folder / f"copy{copy:02d}-{path.name.split('.')[0]}.jsonl.zst"
            if target.exists():
                continue
            draft = target.with_suffix(".draft")
            with draft.open("wb") as stream, zstandard.ZstdCompressor(level=3).stream_writer(stream) as out:
                for name, lang, text in records(path):
                    row = {"id": f"{name}-{copy}", "lang": lang, "text": salted(text, copy)}
                    out.write(orjson.dumps(row) + b"\n")
            draft.rename(target)
    return folder


def batches(files: list[Path]) -> list[pa.StringArray]:
    """Returns the texts of some files in batches, as the pipeline forms them."""
    from byteroute.pipelines.plan import find_inputs, make_ranges

    local = LocalFiles()
    inputs = find_inputs([str(path) for path in files], local)
    found = []
    for one in make_ranges(inputs, Settings(), local):
        for read in read_range(one, ReadOptions(), lambda name: local.open(inputs.root + name)):
            if read.documents is not None:
                found.append(read.documents["text"])
    return found


def n_utf8_bytes(texts: list[pa.StringArray]) -> int:
    """Returns the bytes of all texts."""
    return sum(int(np.sum(pa.compute.binary_length(batch).to_numpy(zero_copy_only=False))) for batch in texts)


def bundled_tokenizer() -> Path:
    """Returns the tokenizer that byteroute ships."""
    return Path(str(resources.files("byteroute_ops.tokenization"))) / "data" / "default.json.zst"
