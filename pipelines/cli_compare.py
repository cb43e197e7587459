"""Commands that weigh policies: compare, calibrate."""

from pathlib import Path
from typing import Any

import click
import orjson

from byteroute_ops.comparison import CONFIDENCE, REPLICATES, SEED
from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.processing import tokenizer_names
from byteroute_ops.settings import Settings
from byteroute_ops.tokenization import Tokenizer, open_tokenizer
from byteroute_ops.trial import Variant

from .calibrate import calibrate
from .compare import Bootstrap, compare
from .compare_documents import Corpus
from .compare_show import N_ROWS, print_calibration, print_comparison
from .options import gather_settings, some_settings
from .tables import wide_console

_READING = (
    "format", "text_field", "id_field", "lang_field", "lang_pattern", "identify_languages", "lang_threshold",
    "separator", "max_document_bytes", "split_long", "limit", "sample", "zwsp", "tokenizers", "engine",
    "add_special_tokens",
)  # fmt: skip
_POLICIES = ("script-a", "script-b", "script-c", "min-bytes")

_replicates = click.option(
    "--replicates", type=click.IntRange(min=100), default=REPLICATES, show_default=True, help="Of the bootstrap."
)
_confidence = click.option(
    "--confidence", type=click.FloatRange(0.5, 0.9999), default=CONFIDENCE, show_default=True, help="Of the intervals."
)
_seed = click.option("--seed", type=click.IntRange(min=0), default=SEED, show_default=True, help="Of the bootstrap.")
_barrier = click.option("--barrier", is_flag=True, help="Put C0 80 before every opening marker, and count it.")


@click.command("compare")
@click.argument("inputs", nargs=-1, required=True)
@some_settings(*_READING)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    help=f"Built-in name or policy file; may be repeated.  [default: {', '.join(_POLICIES)}]",
)
@click.option(
    "--framing",
    "framings",
    multiple=True,
    type=click.Choice(["control", "bom", "none", "text"]),
    default=["control"],
    show_default=True,
    help="Markers of segments; may be repeated. none: markers are not counted. text: control, in the text profile.",
)
@_barrier
@click.option("--held-back", is_flag=True, help="Take the documents that --sample leaves out.")
@_replicates
@_confidence
@_seed
@click.option("--top", type=click.IntRange(min=1), default=N_ROWS, show_default=True, help="Rows of a printed table.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False), help="Write everything as JSON.")
@click.option("--csv", "csv_file", type=click.Path(dir_okay=False), help="Write the rows as CSV.")
@click.option("--quiet", is_flag=True, help="Print no tables.")
def compare_command(
    *,
    inputs: tuple[str, ...],
    config_file: str | None,
    policies: tuple[str, ...],
    framings: tuple[Any, ...],
    barrier: bool,
    held_back: bool,
    replicates: int,
    confidence: float,
    seed: int,
    top: int,
    json_file: str | None,
    csv_file: str | None,
    quiet: bool,
    **flags: Any,
) -> None:
    """Say what policies would change, for tokenizers as they are and for byte models.

    INPUTS are files, folders or quoted globs. Every script and language gets its tokens, what each policy saves
    against UTF-8, and an interval over documents.
    """
    settings = gather_settings(config_file, flags)
    variants = [
        Variant(load_policy(policy), framing=framing, barrier=barrier)
        for policy in policies or _POLICIES
        for framing in framings
    ]
    _check_names(variants)
    bootstrap = Bootstrap(replicates=replicates, confidence=confidence, seed=seed)
    corpus = Corpus(settings, inputs, held_back=held_back)
    result = compare(corpus, open_all(settings), variants, bootstrap)
    if not result.documents:
        raise ConfigError("no document to compare; check the inputs, --sample and --limit")
    if json_file:
        Path(json_file).write_bytes(result.to_json())
    if csv_file:
        Path(csv_file).write_bytes(result.to_csv())
    if not quiet:
        print_comparison(wide_console(), result, n_rows=top)


def open_all(settings: Settings) -> dict[str, Tokenizer]:
    """Returns the tokenizers by name; says once why a faster engine is not in use.

    Raises:
        ConfigError: one of them cannot be used.
    """
    found = {}
    for name, spec in zip(tokenizer_names(settings.tokenizers), settings.tokenizers, strict=True):
        found[name] = open_tokenizer(
            spec, engine=settings.engine, add_special_tokens=settings.add_special_tokens, parallel=True
        )
        if found[name].note is not None:
            click.echo(f"byteroute: {found[name].note}", err=True)
    return found


def _check_names(variants: list[Variant]) -> None:
    names = [one.name for one in variants]
    double = sorted({name for name in names if names.count(name) > 1})
    if double:
        raise ConfigError(f"policies: two are called {', '.join(double)}; give each file a name of its own")


@click.command("calibrate")
@click.argument("inputs", nargs=-1, required=True)
@some_settings(*_READING, "framing", "profile", "barrier", "routed_engine")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Policy file to write.")
@click.option("--name", help="Name of the policy.  [default: auto-TOKENIZER]")
@_replicates
@_confidence
@_seed
@click.option("--quiet", is_flag=True, help="Print no table.")
def calibrate_command(
    *,
    inputs: tuple[str, ...],
    config_file: str | None,
    output: str,
    name: str | None,
    replicates: int,
    confidence: float,
    seed: int,
    quiet: bool,
    **flags: Any,
) -> None:
    """Find the policy `auto` of a tokenizer: per script the route with the fewest tokens.

    INPUTS are files, folders or quoted globs, read several times. One half of the documents chooses, the other must
    confirm. The policy file carries its evidence, and works with this tokenizer and these markers only.
    """
    settings = gather_settings(config_file, flags)
    if len(settings.tokenizers) > 1:
        raise ConfigError("calibrate takes one --tokenizer: a policy that suits one may cost another more")
    spec = "bytes" if settings.routed_engine == "bytes" else settings.tokenizers[0]
    [(tokenizer_name, tokenizer)] = open_all(settings.model_copy(update={"tokenizers": (spec,)})).items()
    if tokenizer.routed_reason is not None:
        raise ConfigError(f"tokenizer {tokenizer_name!r:.80} has no routed ids: {tokenizer.routed_reason}")
    found = calibrate(
        Corpus(settings, inputs),
        tokenizer,
        name=name or f"auto-{tokenizer_name}",
        tokenizer_name=tokenizer_name,
        framing="text" if settings.profile == "text" else settings.framing,
        barrier=settings.barrier,
        bootstrap=Bootstrap(replicates=replicates, confidence=confidence, seed=seed),
    )
    if not found.findings:
        raise ConfigError("no document to calibrate on; check the inputs, --sample and --limit")
    Path(output).write_bytes(orjson.dumps(found.policy, option=orjson.OPT_INDENT_2))
    if not quiet:
        print_calibration(wide_console(), found)
