"""A finished run's output as the report reads it. Whatever is missing or damaged is said before anything is shown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from byteroute_ops import layout
from byteroute_ops.errors import ConfigError, InputError
from byteroute_ops.files import Files
from byteroute_ops.shards import read_shard

from ..verify import open_manifest


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        output: its folder, a path or URI.
        files: what serves the folder.
        manifest: what it wrote.
        facts: the contents of run.json (runner, times); empty where that file is gone.
        scripts: rows of `records.SCRIPT_BUDGET` as dictionaries.
        languages: rows of `records.LANGUAGE_BUDGET`.
    """

    output: str
    files: Files
    manifest: dict[str, Any]
    facts: dict[str, Any]
    scripts: list[dict[str, Any]]
    languages: list[dict[str, Any]]

    @property
    def tokenizers(self) -> list[str]:
        """Names of the tokenizers; the first one's counts are in the shards."""
        return [one["name"] for one in self.manifest["tokenizers"]]

    @property
    def shards(self) -> list[dict[str, Any]]:
        """Manifest entries of the shards, in order of their names."""
        return [one for one in self.manifest["files"] if one["kind"] == "shard"]

    def batches(self, path: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a shard.

        Raises:
            ConfigError: a column that the shards do not have, or a shard that cannot be read.
        """
        try:
            with self.files.open(layout.join(self.output, path)) as stream:
                yield from read_shard(stream, columns)
        except InputError as error:
            raise ConfigError(f"{path}: {error.detail}; `byteroute verify` tells what is wrong") from None


def load_run(output: str, files: Files) -> Run:
    """Returns a finished run.

    Raises:
        ConfigError: no manifest, or a budget that cannot be read.
    """
    manifest = open_manifest(files, output)
    tables = []
    for name in ("scripts", "languages"):
        path = f"{layout.BUDGETS}/{name}.parquet"
        try:
            with files.open(layout.join(output, path)) as stream:
                tables.append([row for batch in read_shard(stream) for row in batch.to_pylist()])
        except FileNotFoundError:
            raise ConfigError(f"{output} has no {path}; `byteroute verify` tells what else is wrong") from None
        except InputError as error:
            raise ConfigError(f"{path}: {error.detail}; `byteroute verify` tells what is wrong") from None
    return Run(output, files, manifest, _facts(files, output), *tables)


def _facts(files: Files, output: str) -> dict[str, Any]:
    try:
        with files.open(layout.join(output, layout.RUN)) as stream:
            facts = orjson.loads(stream.read())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return facts if isinstance(facts, dict) else {}
