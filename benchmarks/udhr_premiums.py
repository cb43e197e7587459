"""What the same text costs in every language: premiums of tokenizers over the Universal Declaration of Human Rights.

    python benchmarks/udhr_premiums.py ../shared/corpus/udhr.jsonl.zst ../shared/tokenizers/*.json.zst

Of each language and script one complete declaration (`primary`), keyed by `code`, articles 1 to 30; tokens that the
post-processor adds are not counted. Prints the two tables of docs/measures.md.
"""

import argparse
import io
from pathlib import Path

import orjson
import zstandard
from tokenizers import Tokenizer

from byteroute_ops.budgets.disparity import Disparity, align, disparity

SHOWN = {
    "eng": "English", "spa": "Spanish", "deu_1996": "German", "vie": "Vietnamese", "yor": "Yoruba", "rus": "Russian",
    "ell_monotonic": "Greek", "hye": "Armenian", "kat": "Georgian", "arb": "Arabic", "heb": "Hebrew", "hin": "Hindi",
    "ben": "Bengali", "tam": "Tamil", "tha": "Thai", "lao": "Lao", "khm": "Khmer", "mya": "Burmese", "shn": "Shan",
    "bod": "Tibetan", "amh": "Amharic", "cmn_hans": "Chinese, simplified", "jpn": "Japanese", "kor": "Korean",
    "div": "Dhivehi",
}  # fmt: skip
REFERENCE = "eng"


def declarations(path: str) -> dict[str, dict[str, str]]:
    """Returns code → article → text of the primary declarations, preambles left out."""
    found: dict[str, dict[str, str]] = {}
    with open(path, "rb") as stream:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(stream), encoding="utf-8"):
            row = orjson.loads(line)
            if row["primary"] and row["unit"] != "art00":
                found.setdefault(row["code"], {})[row["unit"]] = row["text"]
    return found


def measure(tokenizer: Tokenizer, texts: dict[str, list[str]]) -> tuple[Disparity, float]:
    """Returns the disparity of tokens, and the share of tokens that are the unknown token."""
    model = orjson.loads(tokenizer.to_str())["model"]
    unknown = model.get("unk_id")
    if unknown is None and model.get("unk_token") is not None:
        unknown = tokenizer.token_to_id(model["unk_token"])
    costs, n_unknown = {}, 0
    for code, articles in texts.items():
        ids = [one.ids for one in tokenizer.encode_batch(articles, add_special_tokens=False)]
        costs[code] = sum(map(len, ids))
        n_unknown += sum(one.count(unknown) for one in ids)
    found = disparity(costs, REFERENCE)
    return found, n_unknown / found.total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("tokenizers", nargs="+")
    arguments = parser.parse_args()
    texts = declarations(arguments.corpus)
    grid = align({code: units.keys() for code, units in texts.items()}, REFERENCE)
    print(f"{len(grid.languages)} languages, {len(grid.units)} units\n")
    aligned = {code: [texts[code][unit] for unit in grid.units] for code in grid.languages}
    found = {}
    print("| tokenizer | Gini | total | max | p90 | median | min | max / min | dearest | unknown |")
    print("|---" * 10 + "|")
    for path in arguments.tokenizers:
        name = Path(path).name.split(".")[0]
        packed = Path(path).read_bytes()
        tokenizer = Tokenizer.from_str(zstandard.ZstdDecompressor().decompressobj().decompress(packed).decode())
        one, unknown = found[name] = measure(tokenizer, aligned)
        figures = " | ".join(f"{value:.2f}" for value in (one.maximum, one.p90, one.median, one.minimum, one.spread))
        figures += f" | {', '.join(list(one.premium)[:3])} | {100 * unknown:.1f} %"
        print(f"| {name} | {one.gini:.3f} | {one.total:,.0f} | {figures} |", flush=True)
    print("\n| language | " + " | ".join(found) + " |\n" + "|---" * (len(found) + 1) + "|")
    for code, name in SHOWN.items():
        print(f"| {name} | " + " | ".join(f"{one.premium[code]:.2f}" for one, _ in found.values()) + " |")


if __name__ == "__main__":
    main()
