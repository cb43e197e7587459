"""Commands that look at things: inspect, policies, decode."""

import sys
from collections.abc import Iterator
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table

from byteroute_ops import layout
from byteroute_ops.cleaning import clean_text
from byteroute_ops.encoders import ENCODING_NAMES
from byteroute_ops.errors import InputError
from byteroute_ops.policy import BUILTIN_POLICIES, Policy, load_policy
from byteroute_ops.routing import Router
from byteroute_ops.shards import read_shard
from byteroute_ops.stream_codec import decode as decode_stream
from byteroute_ops.unicode_data import SCRIPTS

from .dump import dump_text, render
from .preprocess import files_for
from .verify import open_manifest


@click.command()
@click.argument("text", required=False)
@click.option("--policy", default="min-bytes", show_default=True, help="A built-in policy or a policy file.")
@click.option("--framing", type=click.Choice(["control", "bom"]), default="control", show_default=True)
@click.option("--profile", type=click.Choice(["bytes", "text"]), default="bytes", show_default=True)
@click.option("--barrier", is_flag=True, help="Put C0 80 before every opening marker.")
@click.option("--clean/--no-clean", default=True, show_default=True, help="Clean the text first, as a run does.")
def inspect(*, text: str | None, policy: str, framing: Any, profile: Any, barrier: bool, clean: bool) -> None:
    """Show the routed stream of a text as an annotated hex dump.

    Without TEXT, standard input is read as UTF-8.
    """
    if text is None:
        try:
            text = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError as error:
            raise click.UsageError(f"standard input is not UTF-8 at byte {error.start}") from None
    router = Router(load_policy(policy), framing=framing, profile=profile, barrier=barrier)
    try:
        dump = dump_text(clean_text(text).text if clean else text, router)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    console = Console(highlight=False, soft_wrap=True)
    console.print(render(dump), end="")
    change = dump.n_routed_bytes - dump.n_utf8_bytes
    console.print(
        f"{dump.n_codepoints:,} code points, {dump.n_utf8_bytes:,} bytes of UTF-8, {dump.n_routed_bytes:,} routed "
        f"({change:+,})"
    )


@click.command()
@click.argument("policy", required=False)
def policies(*, policy: str | None) -> None:
    """List the built-in policies, or check a policy file and show what it does.

    POLICY is a file (JSON) or a built-in name.
    """
    console = Console(highlight=False)
    if policy is not None:
        found = load_policy(policy)
        console.print(f"{found.name}: {_rule(found)}", markup=False)
        for code, name in _routes(found):
            console.print(f"  {code:<6} {name}")
        return
    table = Table("policy", "rule", header_style="bold")
    for name in BUILTIN_POLICIES:
        table.add_row(name, _rule(load_policy(name)))
    table.add_row("auto", "per script the encoding with the fewest tokens: a file that calibration writes")
    console.print(table)


def _rule(policy: Policy) -> str:
    if policy.kind == "optimal":
        return "the segmentation with the fewest bytes, framing counted; never more than UTF-8 plus escapes"
    if policy.kind == "ranges":
        return f"by code point: {len(policy.ranges)} ranges, else {ENCODING_NAMES[policy.default]}"
    least = f", segments of at least {policy.min_codepoints} code points" if policy.min_codepoints > 1 else ""
    groups: dict[str, list[str]] = {}
    for script, encoding in policy.scripts:
        groups.setdefault(ENCODING_NAMES[encoding], []).append(SCRIPTS[script])
    parts = [f"{' '.join(codes)} {name}" for name, codes in groups.items()]
    return "; ".join([*parts, f"others {ENCODING_NAMES[policy.default]}"]) + least


def _routes(policy: Policy) -> Iterator[tuple[str, str]]:
    if policy.kind == "scripts":
        yield from ((SCRIPTS[script], ENCODING_NAMES[encoding]) for script, encoding in policy.scripts)
    elif policy.kind == "ranges":
        yield from ((f"{lo:04X}..{hi:04X}", ENCODING_NAMES[encoding]) for lo, hi, encoding in policy.ranges)


@click.command()
@click.argument("output", type=click.Path(exists=True))
@click.option("--limit", type=click.IntRange(min=1), help="Stop after so many documents.")
def decode(*, output: str, limit: int | None) -> None:
    """Write the clean texts of a finished run to standard output, as JSON lines with id, lang and text.

    OUTPUT is the folder of a run.
    """
    files = files_for(output)
    manifest = open_manifest(files, output)
    settings = manifest["settings"]
    written = 0
    for one in manifest["files"]:
        if one["kind"] != "shard":
            continue
        with files.open(layout.join(output, one["path"])) as stream:
            for batch in read_shard(stream, ["doc_id", "lang", "routed"]):
                for row in batch.to_pylist():
                    text = decode_stream(
                        row["routed"],
                        framing=settings["framing"],
                        profile=settings["profile"],
                        barrier=settings["barrier"],
                    )
                    line = orjson.dumps({"id": row["doc_id"], "lang": row["lang"], "text": text})
                    sys.stdout.buffer.write(line + b"\n")
                    written += 1
                    if written == limit:
                        return
