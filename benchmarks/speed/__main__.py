"""Command line of the benchmark."""

import argparse
from pathlib import Path

from . import corpus
from .measure import Table, write_report

PARTS = ("kernels", "engines", "end-to-end", "scaling")


def main() -> None:
    """Measures the parts that are asked for and writes the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--turns", type=int, default=3, help="how often each contender runs; medians are shown")
    parser.add_argument("--copies", type=int, default=4, help="salted copies of the corpus in end-to-end")
    parser.add_argument("--scaling", default="1,4,16", help="copies of the corpus in scaling")
    parser.add_argument("--files", type=int, default=None, help="the first so many files of the corpus")
    parser.add_argument("--workers", type=int, default=2, help="processes in end-to-end")
    parser.add_argument("--tokenizers", default="cl100k,o200k", help="files of the shared folder, or paths")
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="where tables and copies go")
    asked = parser.parse_args()
    tables = _tables(asked, corpus.corpus_files()[: asked.files])
    print(write_report(tables, asked.output).read_text(encoding="utf-8"))


def _tables(asked: argparse.Namespace, files: list[Path]) -> list[Table]:
    parts, tables = asked.parts.split(","), list[Table]()
    tokenizers = [_tokenizer(name) for name in asked.tokenizers.split(",")]
    if "kernels" in parts:
        from .kernels import kernel_tables

        tables += kernel_tables(files, 2 * asked.turns + 1)
    if "engines" in parts:
        from .engines import engine_tables

        tables += engine_tables(files, tokenizers, asked.turns)
    if "end-to-end" in parts or "scaling" in parts:
        from .end_to_end import end_to_end, scaling

        asked.output.mkdir(parents=True, exist_ok=True)
        if "end-to-end" in parts:
            source = corpus.copies(files, asked.output / f"corpus-x{asked.copies}", asked.copies)
            for path in tokenizers:
                tables.append(end_to_end(source, path, asked.output, workers=asked.workers, turns=asked.turns))
        if "scaling" in parts:
            copies = tuple(int(one) for one in asked.scaling.split(","))
            tables.append(scaling(files, tokenizers[0], asked.output, copies=copies, turns=asked.turns))
    return tables


def _tokenizer(name: str) -> Path:
    """Returns a tokenizer file by path, by name in the shared folder, or the bundled one in its place."""
    shared = corpus.shared_folder()
    if Path(name).exists() or shared is None:
        return Path(name) if Path(name).exists() else corpus.bundled_tokenizer()
    return shared / "tokenizers" / f"{name}.json.zst"


main()
