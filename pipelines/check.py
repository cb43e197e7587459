"""`byteroute check TOKENIZER DIR`: do these shards and this tokenizer belong together?"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import orjson
import pyarrow.compute as pc
import zstandard

from byteroute_ops import checking
from byteroute_ops.checking import Finding, TokenizerFacts
from byteroute_ops.errors import ConfigError
from byteroute_ops.loading.runs import open_run, read_rows
from byteroute_ops.tokenization import open_tokenizer

CONFIGS = ("config.json", "generation_config.json", "special_tokens_map.json", "tokenizer_config.json")


def tokenizer_file(path: str) -> Path:
    """Returns the tokenizer.json that a path means: the file itself, or the one in a model's folder.

    Raises:
        ConfigError: there is none.
    """
    found = Path(path, "tokenizer.json") if Path(path).is_dir() else Path(path)
    if not found.is_file():
        raise ConfigError(f"{found}: no such file; name a tokenizer.json or a folder that holds one")
    return found


def read_tokenizer(path: str) -> TokenizerFacts:
    """Returns the facts of a tokenizer.json, plain or .zst, or of the one in a folder."""
    file = tokenizer_file(path)
    data = file.read_bytes()
    if file.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return TokenizerFacts.from_json(data.decode())


def read_configs(path: str) -> dict[str, dict[str, Any]]:
    """Returns the model's configuration files beside a tokenizer.json; those that are absent are left out."""
    folder = tokenizer_file(path).parent
    return {name: orjson.loads((folder / name).read_bytes()) for name in CONFIGS if (folder / name).is_file()}


def largest_id(folder: str, shards: Iterator[str]) -> int | None:
    """Returns the largest token id in some shards, or None where there are no ids."""
    best: int | None = None
    for shard in shards:
        for rows in read_rows(f"{folder}/{shard}", ("token_ids",)):
            value = pc.max(rows.column("token_ids").flatten()).as_py()
            best = value if best is None or (value is not None and value > best) else best
    return best


def check(tokenizer: str, folder: str, *, pad_is_eos: str | None = None) -> list[Finding]:
    """Returns all findings on a tokenizer and the run or export in a folder; none: they belong together.

    Args:
        tokenizer: tokenizer.json, or a model's folder with the files that go with it.
        folder: output of `byteroute run` or `byteroute export`.
        pad_is_eos: why one id for pad and EOS is fine, if it is.

    Raises:
        ConfigError: no tokenizer, or the folder is incomplete.
    """
    facts, configs = read_tokenizer(tokenizer), read_configs(tokenizer)
    findings = checking.check_saved_state(facts)
    findings += checking.check_special_ids(facts, configs)
    findings += checking.check_pad(facts, configs, explanation=pad_is_eos)
    findings += checking.check_embedding(facts, configs)
    path = Path(folder, "manifest.json")
    manifest = orjson.loads(path.read_bytes()) if path.is_file() else {}
    if manifest.get("kind") == "export":
        findings += checking.check_delimiters(manifest, facts, configs)
        return findings + _check_entry(manifest["tokenizer"], tokenizer)
    run = open_run(folder)
    if run.settings.get("ids", "text") == "text":
        findings += checking.check_largest_id(largest_id(folder, (shard.name for shard in run.shards)), facts)
    return findings + _check_entry(
        run.tokenizer, tokenizer, add_special_tokens=run.settings.get("add_special_tokens", True)
    )


def _check_entry(entry: Mapping[str, Any], tokenizer: str, *, add_special_tokens: bool = True) -> list[Finding]:
    if "fingerprint" not in entry:
        return [
            Finding("no-fingerprint", "error", "the manifest has no tokenizer fingerprint: run again with this version")
        ]
    opened = open_tokenizer(str(tokenizer_file(tokenizer)), engine="tokenizers", add_special_tokens=add_special_tokens)
    return checking.check_fingerprint(entry["fingerprint"], opened.fingerprint())


@click.command("check")
@click.argument("tokenizer", type=click.Path(exists=True))
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--pad-is-eos", metavar="REASON", help="Why one id for pad and EOS is fine.")
@click.pass_context
def check_command(context: click.Context, tokenizer: str, folder: str, pad_is_eos: str | None) -> None:
    """Compare the shards or the export in DIR with the TOKENIZER that will train or serve.

    TOKENIZER is a tokenizer.json, or a model's folder; config.json and its like are checked when they are
    there. Exits with 1 when something differs, and says what.
    """
    findings = check(tokenizer, folder, pad_is_eos=pad_is_eos)
    for finding in findings:
        click.echo(f"{finding.level}: {finding.code}: {finding.message}")
    if any(finding.level == "error" for finding in findings):
        context.exit(1)
    click.echo("the shards and the tokenizer belong together")
