"""Time and memory of runs over inputs of awkward sizes: many tiny documents, one large file, many tiny files.

    python benchmarks/large_inputs.py SHARED_CORPUS WORK_FOLDER [--only words,file,files] [--workers 2]

SHARED_CORPUS is a folder of `.jsonl.zst` files; they are repeated, each time with a prefix that makes ids and first
words new, until the one large file has 500 MB. Prints one line for each input: documents, shards, seconds,
seconds of CPU (which a busy machine changes little), and the largest resident memory of the command and of any worker.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import zstandard


def records(corpus: Path) -> Iterator[dict[str, str]]:
    """Yields the corpus again and again, salted by the number of the round."""
    for salt in range(1 << 30):
        for path in sorted(corpus.glob("*.jsonl.zst")):
            with zstandard.open(path, "rt", encoding="utf-8") as stream:
                for line in stream:
                    row = json.loads(line)
                    yield {
                        "id": f"{salt}-{row['id']}",
                        "lang": row.get("lang") or "und",
                        "text": f"{salt} {row['text']}",
                    }


def make_words(folder: Path, corpus: Path) -> None:
    """Writes 200,000 documents of one word."""
    words = (word for row in records(corpus) for word in row["text"].split())
    with (folder / "words.jsonl").open("w", encoding="utf-8") as out:
        for i, word in zip(range(200_000), words, strict=False):
            out.write(json.dumps({"id": str(i), "text": word}, ensure_ascii=False) + "\n")


def make_file(folder: Path, corpus: Path) -> None:
    """Writes one plain file of 500 MB."""
    n_bytes = 0
    with (folder / "large.jsonl").open("wb") as out:
        for row in records(corpus):
            n_bytes += out.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            if n_bytes >= 500_000_000:
                return


def make_files(folder: Path, corpus: Path) -> None:
    """Writes 5,000 files of one document each."""
    for i, row in zip(range(5000), records(corpus), strict=False):
        place = folder / f"{i // 100:02d}"
        place.mkdir(exist_ok=True)
        (place / f"{i:04d}.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")


INPUTS = {"words": make_words, "file": make_file, "files": make_files}


def cpu_seconds() -> float:
    """Returns what ended child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(name: str, corpus: Path, work: Path, workers: int) -> str:
    """Makes an input, runs over it in a process of its own, and returns the line about it."""
    source, output = work / name, work / f"{name}-out"
    shutil.rmtree(output, ignore_errors=True)
    if not source.exists():
        source.mkdir(parents=True)
        INPUTS[name](source, corpus)
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    begun, cpu = time.monotonic(), cpu_seconds()
    command = ["run", str(source), "-o", str(output), "--quiet", "--workers", str(workers), "--max-rejected", "100%"]
    subprocess.run([sys.executable, "-m", "byteroute.pipelines", *command], check=True)
    seconds, cpu = time.monotonic() - begun, cpu_seconds() - cpu
    totals = json.loads((output / "manifest.json").read_bytes())["totals"]
    # ru_maxrss of children: the largest single process among the command and its workers, in KiB on Linux.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return (
        f"{name}: {size / 1e6:,.1f} MB, {totals['documents']:,} documents, {sum(totals['rejects'].values())} rejects, "
        f"{totals['n_shards']} shards, {seconds:,.1f} s ({cpu:,.1f} s of CPU) with {workers} workers, "
        f"largest process so far {peak:,.0f} MiB"
    )


def main() -> None:
    """Reads the command line and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--only", default=",".join(INPUTS))
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    for name in args.only.split(","):
        print(measure(name, args.corpus, args.work, args.workers), flush=True)


if __name__ == "__main__":
    main()
