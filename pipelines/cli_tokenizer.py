"""The commands of the tokenizer workshop: train, bench, audit, prune."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import orjson

from byteroute_ops.encoders import FRAMINGS
from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router
from byteroute_ops.settings import Settings, load_settings
from byteroute_ops.workshop.auditing import DTYPE_BYTES
from byteroute_ops.workshop.training import KINDS, Recipe
from byteroute_ops.workshop.vocabulary import Vocabulary

from .workshop import Corpus, open_corpus
from .workshop_bench import bench
from .workshop_prune import run_audit, run_prune
from .workshop_tables import audit_json, print_audit, print_bench, print_prune, print_training, workshop_console
from .workshop_train import Mix, take_sample, train_on

_READING = ("format", "text_field", "id_field", "lang_field", "separator", "limit", "sample")


def corpus_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say how the corpus is read, named as those of `run`."""
    formats = click.Choice(Settings.model_fields["format"].annotation.__args__)  # type: ignore[union-attr]
    options = [
        click.option("--format", type=formats, default=None, help="How records lie in the files.  [default: auto]"),
        click.option("--text-field", help="Column or key of the text.  [default: text]"),
        click.option("--id-field", help="Column or key of the document id.  [default: id]"),
        click.option("--lang-field", help="Column or key of the language.  [default: lang]"),
        click.option("--separator", help="What ends a document in the format text-separator."),
        click.option("--limit", type=click.IntRange(min=1), help="The first so many documents."),
        click.option("--sample", type=float, help="The fraction of documents to take, by a stable hash of the id."),
        click.option("--where", metavar="FIELD=VALUE", help="Only documents whose field has this value."),
        click.option("--match", metavar="REGEX", help="Only documents in whose id this is found."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def router_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of the routed streams."""
    framings = click.Choice(list(FRAMINGS))
    command = click.option("--framing", type=framings, default="control", show_default=True)(command)
    return click.option("--policy", default="min-bytes", show_default=True, help="A policy's name or file.")(command)


def _corpus(inputs: tuple[str, ...], reading: dict[str, Any]) -> Corpus:
    where, match = reading["where"], reading["match"]
    settings = load_settings({name: reading[name] for name in _READING if reading[name] is not None})
    name, equals, value = (where or "").partition("=")
    if where is not None and not (name and equals):
        raise ConfigError(f"--where {where!r:.80}: write FIELD=VALUE")
    return open_corpus(inputs, settings, where=(name, value) if where is not None else None, match=match)


@click.group()
def tokenizer() -> None:
    """Train tokenizers on text or routed bytes, compare them, find what they waste, prune them."""


@tokenizer.command("train")
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for tokenizer.json and training.json.",
)
@click.option("--kind", type=click.Choice(KINDS), default="byte-bpe", show_default=True)
@click.option("--size", type=int, default=32_768, show_default=True, help="Ids in all, specials and bytes included.")
@click.option(
    "--on",
    type=click.Choice(["text", "routed"]),
    default="text",
    show_default=True,
    help="What byte-level kinds see: UTF-8, or the bytes of routed streams.",
)
@click.option(
    "--cuts",
    type=click.Choice(["regex", "segments"]),
    default=None,
    help="Where pre-tokens end: at the expression's boundaries, or at those of routed segments too."
    "  [default: regex; segments on routed]",
)
@click.option(
    "--characters",
    type=click.IntRange(min=1),
    default=20_000_000,
    show_default=True,
    help="Characters to train on; memory follows from it.",
)
@click.option(
    "--temperature",
    type=float,
    help="Evens out the languages: a language of n characters weighs n^(1/T).  [default: 1]",
)
@click.option(
    "--weights",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="JSON object: language, weight. Others are left out.",
)
@click.option("--parallel", multiple=True, help="The same content in every language, for parity-bpe; may be repeated.")
@click.option("--special", multiple=True, default=("<|endoftext|>",), show_default=True, help="May be repeated.")
@click.option("--min-frequency", type=click.IntRange(min=1), default=2, show_default=True)
@click.option(
    "--coverage",
    type=float,
    default=0.9995,
    show_default=True,
    help="Share of the characters that get a token of their own (bpe, unigram, wordpiece).",
)
@router_options
@corpus_options
def train_command(
    *, inputs: tuple[str, ...], output: Path, kind: Any, size: int, on: Any, cuts: Any, characters: int,
    temperature: float | None, weights: Path | None, parallel: tuple[str, ...], special: tuple[str, ...],
    min_frequency: int, coverage: float, policy: str, framing: Any, **reading: Any,
) -> None:  # fmt: skip
    """Train a tokenizer on a corpus, by language mix, in bounded memory.

    INPUTS are files, folders or quoted globs, as for `run`.
    """
    if temperature is not None and weights is not None:
        raise ConfigError("--temperature and --weights exclude each other: both say how much of each language")
    if parallel and kind != "parity-bpe":
        raise ConfigError(f"--parallel is for kind parity-bpe; {kind!r} does not balance by it")
    recipe = Recipe(
        kind=kind, vocab_size=size, on=on, cuts=cuts or ("segments" if on == "routed" else "regex"), special=special,
        min_frequency=min_frequency, coverage=coverage, router=Router(load_policy(policy), framing=framing),
    )  # fmt: skip
    mix = Mix(characters, 1.0 if temperature is None else temperature, _weights(weights) if weights else None)
    corpus = _corpus(inputs, reading)
    sample = take_sample(corpus, mix)
    balance = _corpus(parallel, reading | {"limit": None, "sample": None}) if parallel else None
    data, facts = train_on(recipe, sample, balance)
    output.mkdir(parents=True, exist_ok=True)
    (output / "tokenizer.json").write_bytes(data)
    report = {
        "kind": kind, "size": size, "ids": Vocabulary.from_json(data, kind).size,
        "on": on, "cuts": recipe.cuts, "min_frequency": min_frequency,
        "coverage": coverage, "special": list(special), "router": recipe.router.fingerprint(), "trained_on": facts,
        "files": [file.uri for file in corpus.inputs.files],
    }  # fmt: skip
    (output / "training.json").write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    print_training(workshop_console(), report, str(output))


def _weights(path: Path) -> dict[str, float]:
    try:
        found = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{path}: not JSON ({error.msg}); write an object such as {{'en': 2, 'my': 1}}") from None
    if not isinstance(found, dict) or not all(type(one) in (int, float) for one in found.values()):
        raise ConfigError(f"{path}: not an object of languages and numbers")
    return found


@tokenizer.command("bench")
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "-t",
    "--tokenizer",
    "specs",
    multiple=True,
    required=True,
    help="tokenizer.json, a folder with one, or default; `routed:` before it gives it routed streams. May be repeated.",
)
@click.option(
    "--cuts",
    type=click.Choice(["served", "segments"]),
    default="served",
    show_default=True,
    help="Pre-tokens as the tokenizer is used, or the same ones for text and routed bytes.",
)
@click.option(
    "--engine", type=click.Choice(["tokenizers", "auto", "gigatoken"]), default="tokenizers", show_default=True
)
@click.option(
    "--parallel-key",
    metavar="REGEX",
    help="Premiums: a pattern on the document id with a group (?P<unit>...), and (?P<lang>...) where"
    " the language field is not it.",
)
@click.option("--reference", default="en", show_default=True, help="Language that premiums are relative to.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Also write all figures here."
)
@router_options
@corpus_options
def bench_command(
    *, inputs: tuple[str, ...], specs: tuple[str, ...], cuts: Any, engine: str, parallel_key: str | None,
    reference: str, json_file: Path | None, policy: str, framing: Any, **reading: Any,
) -> None:  # fmt: skip
    """Compare tokenizers on a corpus: vocabulary use, sequence length, unknowns, speed, premiums."""
    router = Router(load_policy(policy), framing=framing)
    corpus = _corpus(inputs, reading)
    report = bench(
        corpus, specs, router=router, cuts=cuts, engine=engine, parallel_key=parallel_key, reference=reference
    )
    print_bench(workshop_console(), report)
    _write_json(json_file, report)


@tokenizer.command("audit")
@click.argument("spec", metavar="TOKENIZER")
@click.argument("inputs", nargs=-1, required=True)
@click.option("--width", type=click.IntRange(min=1), default=4096, show_default=True, help="Of the model.")
@click.option("--dtype", type=click.Choice(list(DTYPE_BYTES)), default="bfloat16", show_default=True)
@click.option("--tied", is_flag=True, help="Embedding and output head are one matrix.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Also write all ids here.")
@corpus_options
def audit_command(
    *, spec: str, inputs: tuple[str, ...], width: int, dtype: str, tied: bool, json_file: Path | None, **reading: Any,
) -> None:  # fmt: skip
    """Say what the vocabulary of TOKENIZER wastes on a corpus."""
    vocabulary, found = run_audit(spec, _corpus(inputs, reading))
    model = {"width": width, "dtype": dtype, "tied": tied}
    print_audit(workshop_console(), vocabulary, found, **model)
    _write_json(json_file, audit_json(vocabulary, found, **model))


@tokenizer.command("prune")
@click.argument("spec", metavar="TOKENIZER")
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for tokenizer.json, id_map.json and report.json.",
)
@click.option(
    "--min-count", type=click.IntRange(min=1), default=1, show_default=True, help="Drop ids that occur less often."
)
@click.option(
    "--size", type=click.IntRange(min=1), help="Keep only so many of the most frequent ids (and what they need)."
)
@click.option(
    "--held-back",
    type=float,
    default=0.5,
    show_default=True,
    help="Share of the documents that is compared but not counted.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of that choice.")
@corpus_options
def prune_command(
    *, spec: str, inputs: tuple[str, ...], output: Path, min_count: int, size: int | None, held_back: float,
    seed: int, **reading: Any,
) -> None:  # fmt: skip
    """Write TOKENIZER without the ids that a corpus does not need, and the map from old to new ids."""
    corpus = _corpus(inputs, reading)
    report = run_prune(spec, corpus, output, min_count=min_count, size=size, held_back=held_back, seed=seed)
    print_prune(workshop_console(), report.to_json(), str(output))


def _write_json(path: Path | None, report: dict[str, Any]) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
