"""Names inside an output folder. Every name comes from the plan alone, so a retry writes the same names.

manifest.json  summary.json  run.json
shards/part-00007-000.parquet
budgets/scripts.parquet  budgets/scripts.avro  budgets/languages.parquet  budgets/languages.avro
rejects/part-00007.avro
_plan.json  _ranges/00007.json …  _temporary/…      only while a run is unfinished
"""

import posixpath

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
RUN = "run.json"
PLAN = "_plan.json"
RANGES = "_ranges"
TEMPORARY = "_temporary"
SHARDS = "shards"
REJECTS = "rejects"
BUDGETS = "budgets"

OWNED = (MANIFEST, SUMMARY, RUN, PLAN, RANGES, TEMPORARY, SHARDS, REJECTS, BUDGETS)
"""All that a run may write, and so all that `--overwrite` may delete."""

SHARD_SUFFIX = {"parquet": "parquet", "avro": "avro"}


def shard(range_index: int, roll: int, shard_format: str) -> str:
    """Returns the name of a range's shard file.

    >>> shard(7, 0, "parquet")
    'shards/part-00007-000.parquet'
    """
    return f"{SHARDS}/part-{range_index:05d}-{roll:03d}.{SHARD_SUFFIX[shard_format]}"


def rejects(range_index: int) -> str:
    """Returns the name of a range's dead-letter file."""
    return f"{REJECTS}/part-{range_index:05d}.avro"


def range_record(range_index: int) -> str:
    """Returns the name of the record that says a range is done; it is written last."""
    return f"{RANGES}/{range_index:05d}.json"


def range_budget(range_index: int, table: str) -> str:
    """Returns the name of a range's part of a budget table."""
    return f"{RANGES}/{range_index:05d}-{table}.parquet"


def temporary(attempt: str, name: str) -> str:
    """Returns the name under which an attempt writes what will be called `name`."""
    return posixpath.join(TEMPORARY, attempt, name.replace("/", "-"))


def join(output: str, name: str) -> str:
    """Returns a name inside an output folder as a path or URI."""
    return posixpath.join(output, name)
