"""How often language identification agrees with known labels, by confidence and by language.

    python benchmarks/language_identification.py ../shared/corpus/multi-*.jsonl.zst

Input: JSON lines (zstd) with the fields text and lang. Only the primary language subtag is compared, and names of
one language are taken together: no, nb and nn; tl and fil; and, as CLD2 tells them by script, zh and its regions.
"""

import argparse
import io
import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import orjson
import pyarrow as pa
import zstandard

from byteroute_ops.languages import canonical_tag
from byteroute_ops.lid import identify_languages

SAME = {"nn": "no", "nb": "no", "fil": "tl", "sh": "sr", "cmn": "zh"}
BANDS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)
BATCH = 4096


def documents(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Yields (language, text) of every record."""
    for path in paths:
        with open(path, "rb") as stream:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(stream), encoding="utf-8"):
                row = orjson.loads(line)
                yield language(row["lang"]), row["text"]


def language(tag: str) -> str:
    """Returns the primary subtag under which a tag is compared."""
    primary = canonical_tag(tag).partition("-")[0]
    return SAME.get(primary, primary)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    rows = list(documents(parser.parse_args().paths))
    labels = np.array([label for label, _ in rows])
    found, confidence, seconds = [], [], 0.0
    for start in range(0, len(rows), BATCH):
        texts = pa.array([text for _, text in rows[start : start + BATCH]])
        began = time.perf_counter()
        tags, sure = identify_languages(texts, threshold=0)
        seconds += time.perf_counter() - began
        found += [language(tag) for tag in tags.to_pylist()]
        confidence.append(sure)
    guesses, sure = np.array(found), np.concatenate(confidence)
    right = guesses == labels
    print(f"{len(rows):,} documents, {len(set(labels))} languages, {len(rows) / seconds:,.0f} documents/s")
    known = {lang for lang, n in Counter(labels).items() if right[labels == lang].sum() >= n / 5}
    in_known = np.isin(labels, list(known))
    print(f"{len(known)} languages that CLD2 knows (a fifth or more right), {in_known.sum():,} documents")
    print("\n| confidence from | documents | agree | agree, languages it knows |\n|---|---|---|---|")
    for low, high in itertools.pairwise(BANDS):
        band = (sure >= low) & (sure < high)
        print(f"| {low} | {band.sum():,} | {share(right[band])} | {share(right[band & in_known])} |")
    print("\n| threshold | identified | of these agree | agree, languages it knows |\n|---|---|---|---|")
    for threshold in (0.0, 0.5, 0.6, 0.7, 0.8, 0.9):
        kept = (sure >= threshold) & (guesses != "und")
        print(f"| {threshold} | {share(kept)} | {share(right[kept])} | {share(right[kept & in_known])} |")
    wrong: defaultdict[tuple[str, str], int] = defaultdict(int)
    for label, guess in zip(labels[~right & (sure >= 0.6)], guesses[~right & (sure >= 0.6)], strict=True):
        wrong[label, guess] += 1
    most = sorted(wrong.items(), key=lambda item: -item[1])[:20]
    print("\nmost frequent at 0.6:", ", ".join(f"{label} as {guess} {n:,}" for (label, guess), n in most))


def share(values: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> str:
    """Returns the share of true values."""
    return f"{100 * values.mean():.1f} %" if values.size else "–"


if __name__ == "__main__":
    main()
