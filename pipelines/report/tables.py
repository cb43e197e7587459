"""Tables that a user hands to the report: cost weights and budget targets, as CSV or JSON files."""

import csv
from pathlib import Path
from typing import Any

import orjson

from byteroute_ops.errors import ConfigError


def read_rows(path: str, allowed: tuple[str, ...]) -> list[dict[str, Any]]:
    """Returns the rows of a table; empty cells and absent keys are left out.

    Args:
        path: a `.json` file (a list of objects), else CSV with a header line (UTF-8).
        allowed: column names.

    Raises:
        ConfigError: a file that cannot be read, no row, or an unknown column.
    """
    try:
        data = Path(path).read_bytes().decode("utf-8-sig")
        rows = orjson.loads(data) if path.endswith(".json") else list(csv.DictReader(data.splitlines()))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, orjson.JSONDecodeError, csv.Error) as error:
        raise ConfigError(f"{path}: not a table ({error})") from None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path}: holds no rows; columns are {', '.join(allowed)}")
    for number, row in enumerate(rows, start=1):
        unknown = [name for name in row if name not in allowed]
        if unknown:
            raise ConfigError(f"{path}, row {number}: unknown column {unknown[0]!r:.80}; known: {', '.join(allowed)}")
    return [{name: value for name, value in row.items() if value not in (None, "")} for row in rows]


def number_of(path: str, number: int, row: dict[str, Any], name: str) -> float:
    """Returns a cell as a finite number that is not negative.

    Raises:
        ConfigError: it is none.
    """
    try:
        value = float(row[name])
    except (TypeError, ValueError):
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigError(f"{path}, row {number}: {name} is {row[name]!r:.80}, not a number from 0 on")
    return value


def text_of(path: str, number: int, row: dict[str, Any], name: str) -> str | None:
    """Returns a cell as text; None where it is absent.

    Raises:
        ConfigError: it is not text.
    """
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{path}, row {number}: {name} is {value!r:.80}, not text")
    return value
