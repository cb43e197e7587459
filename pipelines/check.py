"""`byteroute check TOKENIZER DIR`: do these shards and this tokenizer belong together?"""

import gzip
import io
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import click
import orjson
import pyarrow.compute as pc
import zstandard

from byteroute_ops import checking
from byteroute_ops.checking import Finding, TokenizerFacts
from byteroute_ops.errors import ConfigError
from byteroute_ops.export.finish import FORMAT
from byteroute_ops.export.ids import BYTE_VOCABULARY
from byteroute_ops.loading.runs import FinishedRun, open_run, read_rows
from byteroute_ops.tokenization import open_tokenizer
from byteroute_ops.tokenization.registry import DEFAULT_FILE

BYTES = TokenizerFacts(ids=BYTE_VOCABULARY, special=BYTE_VOCABULARY, size=260)
CONFIGS = ("config.json", "generation_config.json", "special_tokens_map.json", "tokenizer_config.json")


def tokenizer_file(spec: str) -> Path:
    """Returns the tokenizer.json that a path means: the file itself, or the one in a model's folder.

    Raises:
        ConfigError: there is none.
    """
    path = Path(spec, "tokenizer.json") if Path(spec).is_dir() else Path(spec)
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; name a tokenizer.json (plain, .gz, .zst) or a folder that holds one")
    return path


def tokenizer_json(spec: str) -> bytes:
    """Returns the JSON of a tokenizer: a file, plain or packed, a folder that holds one, or `default`."""
    if spec == "default":
        data = resources.files("byteroute_ops.tokenization").joinpath("data", DEFAULT_FILE).read_bytes()
    else:
        data = tokenizer_file(spec).read_bytes()
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    return data


def read_tokenizer(spec: str) -> TokenizerFacts:
    """Returns the facts of a tokenizer: as `tokenizer_json`, or `bytes`."""
    return BYTES if spec == "bytes" else TokenizerFacts.from_json(tokenizer_json(spec))


def read_configs(spec: str) -> dict[str, dict[str, Any]]:
    """Returns the model's configuration files beside a tokenizer.json; those that are absent are left out."""
    if spec in ("bytes", "default"):
        return {}
    folder = tokenizer_file(spec).parent
    return {name: orjson.loads((folder / name).read_bytes()) for name in CONFIGS if (folder / name).is_file()}


def largest_id(run: FinishedRun) -> int | None:
    """Returns the largest token id in a run's shards, or None where there are no ids."""
    best: int | None = None
    for shard in run.shards:
        for rows in read_rows(str(Path(run.folder, shard.name)), ("token_ids",)):
            value = pc.max(rows.column("token_ids").flatten()).as_py()
            best = value if best is None or (value is not None and value > best) else best
    return best


def check(tokenizer: str, folder: str, *, pad_is_eos: str | None = None) -> list[Finding]:
    """Returns all findings on a tokenizer and the run or export in a folder; none: they belong together.

    Args:
        tokenizer: tokenizer.json, a model's folder with the files that go with it, `default` or `bytes`.
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
    if manifest.get("format") == FORMAT:
        findings += checking.check_delimiters(manifest, facts, configs)
        return findings + _check_entry(manifest["tokenizer"], tokenizer, made_with=None)
    run = open_run(folder)
    if run.settings["ids"] == "text":
        findings += checking.check_largest_id(largest_id(run), facts)
    return findings + _check_entry(run.tokenizer, tokenizer, made_with=run.settings["tokenizers"][0])


def _check_entry(entry: Mapping[str, Any], tokenizer: str, *, made_with: str | None) -> list[Finding]:
    opened = open_tokenizer(tokenizer, engine="tokenizers", add_special_tokens=entry.get("add_special_tokens", True))
    fingerprint = opened.fingerprint()
    parts: list[str] = []
    at_hand = made_with == "default" or (made_with is not None and Path(made_with).exists())
    if made_with is not None and at_hand and tokenizer != "bytes":
        # The run's own file still lies there: what differs can be named, if it is still the one that was used.
        original = open_tokenizer(made_with, engine="tokenizers").fingerprint()
        if original.get("structural") == entry.get("structural"):
            configs = (orjson.loads(tokenizer_json(spec)) for spec in (made_with, tokenizer))
            parts = checking.different_parts(*configs)
    return checking.check_fingerprint(entry, fingerprint, parts=parts)


@click.command("check")
@click.argument("tokenizer")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--pad-is-eos", metavar="REASON", help="Why one id for pad and EOS is fine.")
@click.pass_context
def check_command(context: click.Context, tokenizer: str, folder: str, pad_is_eos: str | None) -> None:
    """Compare the shards or the export in DIR with the TOKENIZER that will train or serve.

    TOKENIZER is a tokenizer.json, or a model's folder (config.json and its like are checked when they are
    there), default or bytes. Exits with 1 when something differs, and says what.
    """
    findings = check(tokenizer, folder, pad_is_eos=pad_is_eos)
    for finding in findings:
        click.echo(f"{finding.level}: {finding.code}: {finding.message}")
    if any(finding.level == "error" for finding in findings):
        context.exit(1)
    click.echo("the shards and the tokenizer belong together")
