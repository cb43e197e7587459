"""`byteroute export DIR --to FORMAT --output DIR`: finished runs to what trainers read."""

import os
from typing import Any, cast

import click

from byteroute_ops.checking import TokenizerFacts
from byteroute_ops.errors import ConfigError
from byteroute_ops.export import EXPORTERS
from byteroute_ops.export.ids import ID_KINDS, IdKind, IdSpace
from byteroute_ops.export.job import ExportJob
from byteroute_ops.loading.runs import FinishedRun, open_run

from .check import BYTES, read_tokenizer
from .export_driver import plan_export, write_export

NONE = "none"
NEW = "new"


def id_space(
    run: FinishedRun,
    kind: IdKind,
    *,
    to: str,
    eos: str,
    bos: str = NONE,
    tokenizer: str | None = None,
    drop_inner: bool = False,
) -> IdSpace:
    """Returns the ids of an export, its delimiters looked up in the tokenizer.

    Args:
        run: the run whose shards are exported.
        kind: which ids.
        to: the format; one that carries text has the vocabulary of bytes.
        eos: a token of the vocabulary, `id:NUMBER`, `none`, or `new`: an id of its own behind the vocabulary, for
            which the model needs one more row.
        bos: likewise.
        tokenizer: tokenizer.json of the ids; None takes the one that the run names.
        drop_inner: as in `IdSpace`.

    Raises:
        ConfigError: a delimiter is not in the vocabulary, or the vocabulary is not known.
    """
    facts = BYTES if EXPORTERS[to].carries_text else _facts(run, kind, tokenizer)
    size = facts.size
    numbers: dict[str, int | None] = {}
    for flag, token in (("--bos", bos), ("--eos", eos)):
        if token == NEW:
            numbers[flag], size = size, size + 1
        else:
            numbers[flag] = facts.look_up(token, flag)
    return IdSpace(kind=kind, size=size, bos=numbers["--bos"], eos=numbers["--eos"], drop_inner=drop_inner)


def _facts(run: FinishedRun, kind: IdKind, tokenizer: str | None) -> TokenizerFacts:
    if kind == "raw-bytes":
        return TokenizerFacts(ids={}, special={}, size=256)
    if kind == "bytes" or (kind == "routed" and run.settings["routed_engine"] == "bytes"):
        return BYTES
    try:
        return read_tokenizer(tokenizer or run.settings["tokenizers"][0])
    except ConfigError as error:
        raise ConfigError(f"{error}; the tokenizer of the run's ids is given with --tokenizer") from None


def export_job(
    run_dir: str,
    output: str,
    *,
    to: str,
    eos: str,
    bos: str = NONE,
    ids: IdKind = "text",
    drop_inner: bool = False,
    tokenizer: str | None = None,
    validation_fraction: float = 0.0,
    split_seed: int = 0,
    shuffle: int | None = None,
    parts: int | None = None,
    name: str = "byteroute",
    entropies: str = "clusters",
) -> ExportJob:
    """Returns what the workers of an export need; the arguments are the command's options, under the same names.

    Nothing is written: `export_run` does all of an export, `prepare_export` and `ExportShards` do it on Beam.

    Raises:
        ConfigError: the run, the tokenizer and the format do not fit together.
    """
    run = open_run(run_dir)
    space = id_space(run, ids, to=to, eos=eos, bos=bos, tokenizer=tokenizer, drop_inner=drop_inner)
    return plan_export(
        run,
        output,
        to=to,
        space=space,
        name=name,
        entropies=entropies,
        validation_fraction=validation_fraction,
        split_seed=split_seed,
        shuffle_seed=shuffle,
        parts=parts,
    )


def export_run(
    run_dir: str, output: str, *, workers: int = 1, overwrite: bool = False, **options: Any
) -> dict[str, Any]:
    """Exports a finished run and returns the export's manifest; what the command does, under the same names.

    Args:
        run_dir: output folder of the run.
        output: folder of the export.
        workers: processes.
        overwrite: whether an export in the folder is replaced.
        options: as `export_job` has them.

    Raises:
        ConfigError: the run, the tokenizer, the format or the output folder do not fit together.
        WorkerDiedError: a worker was killed; call again to resume.
    """
    job = export_job(run_dir, output, **options)
    return write_export(job, open_run(run_dir), workers=workers, overwrite=overwrite)


@click.command("export")
@click.argument("run_dir", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--to", required=True, type=click.Choice(list(EXPORTERS)), help="Format of the trainer.")
@click.option(
    "--output", required=True, type=click.Path(file_okay=False), help="Folder of the export, new or unfinished."
)
@click.option(
    "--ids",
    type=click.Choice(ID_KINDS),
    default="text",
    show_default=True,
    help="text, routed: the shards' token ids. bytes: routed bytes as byte + 4, vocabulary 260. raw-bytes: 0..255.",
)
@click.option("--eos", required=True, help="Token behind each document: its text, id:NUMBER, new, or none.")
@click.option(
    "--bos", default=NONE, show_default=True, help="Token before each document: its text, id:NUMBER, new, or none."
)
@click.option(
    "--inner-eos",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="What to do with a document that holds the EOS or BOS inside.",
)
@click.option("--tokenizer", type=click.Path(), help="tokenizer.json of the ids; default: the one that the run names.")
@click.option(
    "--validation-fraction",
    type=float,
    default=0.0,
    show_default=True,
    help="Share of documents, by stable hash of doc_id.",
)
@click.option("--split-seed", type=int, default=0, show_default=True, help="Another seed, another validation split.")
@click.option("--shuffle", type=int, metavar="SEED", help="Documents in random order over all parts.")
@click.option("--parts", type=click.IntRange(min=1), help="Parts of a shuffled export; default: by size.")
@click.option("--name", default="byteroute", show_default=True, help="Base name of files where the format has one.")
@click.option(
    "--entropies",
    type=click.Choice(["clusters", "whitespace"]),
    default="clusters",
    show_default=True,
    help="blt: where the entropies column makes patches begin.",
)
@click.option(
    "--workers", type=click.IntRange(min=1), default=lambda: os.cpu_count() or 1, help="Processes.  [default: cores]"
)
@click.option("--overwrite", is_flag=True, help="Replace an export in the output folder.")
def export_command(run_dir: str, **options: Any) -> None:
    """Write the shards of the run in DIR in the format of a trainer.

    An export that was killed is finished by the same command. Every file appears under its name complete or
    not at all; manifest.json comes last.
    """
    options["ids"], options["drop_inner"] = cast(IdKind, options["ids"]), options.pop("inner_eos") == "drop"
    output = options.pop("output")
    manifest = export_run(run_dir, output, **options)
    for split, counts in manifest["splits"].items():
        click.echo(
            f"{split}: {counts['documents']} documents, {counts['tokens']} ids"
            f" ({counts['n_empty']} empty and {counts['n_inner']} with an inner delimiter left out)"
        )
    click.echo(f"{len(manifest['files'])} files in {output}")
