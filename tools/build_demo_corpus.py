"""Builds the bundled demo corpus and the small test corpus from the Universal Declaration of Human Rights.

    python tools/build_demo_corpus.py udhr.jsonl.zst

writes `pipelines/demo_data/` and `tests/data/udhr_small.jsonl`. The rows are a function of the input file
alone. The compressed bytes also depend on the versions of the compressors, so tests compare decoded rows.
"""

import argparse
import gzip
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from demo_sentences import BAD_LINES, BREAK_WORDS, SENTENCES

ROOT = Path(__file__).resolve().parent.parent
BOM, ZWSP = "\ufeff", "\u200b"
LICENSE_UDHR = "LicenseRef-UDHR-public-domain"

SHARDS = {
    "europe.jsonl": "eng fra spa deu_1996 por_PT pol tur vie ell_monotonic rus ukr bul",
    "africa-and-middle-east.jsonl.gz": "arb pes_1 urd heb aii amh tir zgh vai fuf_adlm yor swh zul",
    "south-asia.jsonl.zst": "hin mar ben pan guj tam tel kan mal sin san_gran ccp div",
    "south-east-asia.parquet": "tha lao mya mnw shn khm bod dzo jav_java kkh_lana blt ind tgl_tglg",
    "east-asia.jsonl.zst": "cmn_hans cmn_hant yue jpn kor iii khk khk_mong",
    "caucasus-and-americas.jsonl.gz": "hye kat chr_cased ike ojb quy",
}
"""Shard -> UDHR codes. Formats differ on purpose, so that one glob meets every reader."""

SMALL_CODES = (
    "eng vie rus ell_monotonic arb pes_1 heb aii amh zgh vai fuf_adlm hin ben pan guj tam tel kan mal sin san_gran "
    "ccp div tha lao mya khm bod jav_java cmn_hans jpn kor iii khk_mong hye kat chr_cased ike tgl_tglg"
)
SMALL_UNITS = ("art01", "art03", "art06", "art15")


def read_udhr(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Returns the records of each declaration, in the file's order, by its code."""
    by_code: dict[str, list[dict[str, Any]]] = {}
    with path.open("rb") as raw:
        text = zstandard.ZstdDecompressor().stream_reader(raw).read().decode("utf-8")
    for line in text.splitlines():
        record = json.loads(line)
        by_code.setdefault(record["code"], []).append(record)
    return by_code


def with_word_breaks(text: str, words: Iterable[str]) -> str:
    """Returns `text` with U+200B between a listed word and a letter that follows it.

    The UDHR collection lost the zero-width spaces that such texts carry in the wild; the listed words put some back
    where a writer would. A following combining mark means that the word goes on, so nothing is put there.
    """
    longest_first = sorted(words, key=lambda w: (-len(w), w))
    pattern = re.compile("(?:" + "|".join(map(re.escape, longest_first)) + ")(?=.)", re.DOTALL)

    def add(match: re.Match[str]) -> str:
        follows = unicodedata.category(text[match.end()])
        return match[0] + ZWSP if follows == "Lo" else match[0]

    return pattern.sub(add, text)


def with_noise(text: str, code: str, number: int) -> str:
    """Returns `text` with what real files carry by accident: BOMs, and zero-width spaces in the middle of words."""
    if code in BREAK_WORDS:
        text = with_word_breaks(text, BREAK_WORDS[code])
    if number == 1:  # as from a file per article, each saved with a BOM
        text = BOM + text
    if code in {"eng", "fra", "rus"} and number % 7 == 2:  # as from a web page that offers line breaks
        text = text.replace("ion", f"i{ZWSP}on").replace("ав", f"а{ZWSP}в")
    if code in {"eng", "arb"} and number == 3:  # as from files pasted together
        middle = text.index(" ") + 1
        text = text[:middle] + BOM + text[middle:]
    return text


def shard_rows(by_code: dict[str, list[dict[str, Any]]], codes: str) -> Iterator[dict[str, str]]:
    """Yields the demo rows of the declarations, article by article across languages."""
    units = sorted({record["unit"] for code in codes.split() for record in by_code[code]})
    for unit in units:
        for code in codes.split():
            for record in by_code[code]:
                if record["unit"] == unit:
                    text = with_noise(record["text"], code, int(unit.removeprefix("art")))
                    yield {"id": record["id"], "text": text, "lang": record["lang"], "license": LICENSE_UDHR}


def sentence_lines() -> Iterator[str]:
    """Yields the lines of `messages.jsonl`: emoji sentences, every other one with JSON escapes, then the bad rows."""
    for n, (lang, text) in enumerate(SENTENCES):
        row = {"id": f"message:{n:02}", "text": text, "lang": lang, "license": "CC0-1.0"}
        yield json.dumps(row, ensure_ascii=n % 2 == 1)
    yield from BAD_LINES


def write_shard(path: Path, rows: list[dict[str, str]]) -> None:
    """Writes the rows in the format that the name of the file says."""
    if path.suffix == ".parquet":
        table = pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in rows[0]]))
        pq.write_table(table, path, compression="zstd", compression_level=19, row_group_size=100)
        return
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, 9, mtime=0)
    elif path.suffix == ".zst":
        data = zstandard.ZstdCompressor(level=19, write_content_size=True).compress(data)
    path.write_bytes(data)


def build_demo(by_code: dict[str, list[dict[str, Any]]], target: Path) -> None:
    """Writes the shards of the demo corpus and `SHA256SUMS.txt` over them into `target`."""
    target.mkdir(parents=True, exist_ok=True)
    for name, codes in SHARDS.items():
        write_shard(target / name, list(shard_rows(by_code, codes)))
    (target / "messages.jsonl").write_text("".join(f"{line}\n" for line in sentence_lines()), encoding="utf-8")
    names = sorted([*SHARDS, "messages.jsonl"])
    sums = [f"{hashlib.sha256((target / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (target / "SHA256SUMS.txt").write_text("".join(sums), encoding="ascii")


def build_small(by_code: dict[str, list[dict[str, Any]]], target: Path) -> None:
    """Writes the test corpus: four short articles (or the preamble) of forty declarations, as they are."""
    lines = []
    for code in SMALL_CODES.split():
        units = {record["unit"] for record in by_code[code]}
        wanted = set(SMALL_UNITS) if units & set(SMALL_UNITS) else units
        for record in by_code[code]:
            if record["unit"] in wanted:
                row = {"id": record["id"], "text": record["text"], "lang": record["lang"], "script": record["script"]}
                lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("udhr", type=Path, help="udhr.jsonl.zst")
    parser.add_argument("--demo", type=Path, default=ROOT / "pipelines" / "demo_data", help="folder to write")
    parser.add_argument(
        "--small", type=Path, default=ROOT / "tests" / "data" / "udhr_small.jsonl", help="file to write"
    )
    arguments = parser.parse_args()
    by_code = read_udhr(arguments.udhr)
    build_demo(by_code, arguments.demo)
    build_small(by_code, arguments.small)


if __name__ == "__main__":
    main()
