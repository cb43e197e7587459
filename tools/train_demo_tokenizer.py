"""Trains the bundled default tokenizer: a byte-level BPE over multilingual text.

    python tools/train_demo_tokenizer.py TEXTS.jsonl[.zst] [byteroute_ops/tokenization/data/default.json.zst]

The pre-tokenizer is the expression of GPT-4o's o200k: a word holds its letters and its marks (category M) together, so
Indic and South-East Asian words are not cut at every vowel sign. Training is deterministic for one version of
`tokenizers`: the same input gives the same file.
"""

import argparse
import json
from pathlib import Path

import zstandard
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from byteroute_ops.workshop.pretokens import PATTERN

VOCABULARY = 12_288
LATIN_SHARE = 4
"""Latin has most languages of the UDHR; one in so many of its texts keeps other scripts from drowning."""


def read_texts(path: Path) -> list[str]:
    """Returns the texts to train on: all that are not Latin, and every `LATIN_SHARE`th that is."""
    raw = path.read_bytes()
    if path.suffix == ".zst":
        raw = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
    records = [json.loads(line) for line in raw.decode().splitlines()]
    latin = [record["text"] for record in records if record.get("script", "Latn") == "Latn"]
    return [record["text"] for record in records if record.get("script", "Latn") != "Latn"] + latin[::LATIN_SHARE]


def train(texts: list[str]) -> Tokenizer:
    """Returns the trained tokenizer; all 256 bytes are in its vocabulary, so nothing is unknown to it."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="JSON lines with `text` and perhaps `script`, plain or .zst")
    default = root / "byteroute_ops/tokenization/data/default.json.zst"
    parser.add_argument("output", type=Path, nargs="?", default=default)
    arguments = parser.parse_args()
    tokenizer = train(read_texts(arguments.texts))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    packed = zstandard.ZstdCompressor(level=19).compress(tokenizer.to_str().encode())
    arguments.output.write_bytes(packed)
    print(f"{arguments.output}: {tokenizer.get_vocab_size()} tokens, {len(packed)} bytes")


if __name__ == "__main__":
    main()
