"""Names inside an output folder. Every name comes from the plan alone, so a retry writes the same names.

manifest.json  summary.json  run.json
shards/part-00007-000.parquet
budgets/scripts.parquet  budgets/scripts.avro  budgets/languages.parquet  budgets/languages.avro
rejects/part-00007.avro
duplicates/part-00007.avro
_plan.json  _ranges/00007.json …  _temporary/…      only while a run is unfinished
"""

import posixpath

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
RUN = "run.json"
PLAN = "_plan.json"
PLAN_DRAFT = "_plan.draft"
RANGES = "_ranges"
TEMPORARY = "_temporary"
SHARDS = "shards"
REJECTS = "rejects"
DUPLICATES = "duplicates"
BUDGETS = "budgets"

OWNED = (MANIFEST, SUMMARY, RUN, PLAN, PLAN_DRAFT, RANGES, TEMPORARY, SHARDS, REJECTS, DUPLICATES, BUDGETS)
"""All that a run may write, and so all that `--overwrite` may delete."""

WORKING = (RANGES, TEMPORARY, PLAN)
"""What only an unfinished run needs, in the order in which it is removed."""

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


def duplicates(range_index: int) -> str:
    """Returns the name of the file that names a range's documents whose id an earlier one has."""
    return f"{DUPLICATES}/part-{range_index:05d}.avro"


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


STREAM = "stream.json"
PANES = "panes"


def pane(window: str, shard_index: int, pane_index: int) -> str:
    """Returns what the names of one pane of one shard have in common.

    >>> pane("20260101T000000Z-20260101T000100Z", 3, 0)
    '20260101T000000Z-20260101T000100Z/part-00003-p00000'
    """
    return f"{window}/part-{shard_index:05d}-p{pane_index:05d}"


def pane_shard(pane_name: str, roll: int, shard_format: str) -> str:
    """Returns the name of a pane's shard file."""
    return f"{SHARDS}/{pane_name}-{roll:03d}.{SHARD_SUFFIX[shard_format]}"


def pane_rejects(pane_name: str) -> str:
    """Returns the name of a pane's dead-letter file."""
    return f"{REJECTS}/{pane_name}.avro"


def pane_record(pane_name: str) -> str:
    """Returns the name of the record that says a pane is committed; it is written last."""
    return f"{PANES}/{pane_name}.json"


def pane_budget(pane_name: str, table: str) -> str:
    """Returns the name of a pane's part of a budget table."""
    return f"{PANES}/{pane_name}-{table}.parquet"
