"""Command-line options made from the settings: one definition gives the flag, its help and its check."""

import inspect
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

import click
import orjson

from byteroute_ops.errors import ConfigError
from byteroute_ops.settings import Settings, load_settings

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_FLAGS = {"tokenizers": "--tokenizer"}
_SIZES = {"max_document_bytes", "shard_bytes", "range_bytes"}


class Size(click.ParamType[int]):
    """A number of bytes: `64MiB`, `500kB`, `1048576`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the number of bytes."""
        match = re.fullmatch(r"(\d+)\s*([kmg]i?|)b?", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is no size; write bytes or a unit, such as 1048576, 500kB or 64MiB", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:  # noqa: ARG002 - click's signature
        """Returns the names in the order given."""
        return value if isinstance(value, tuple) else tuple(name.strip() for name in value.split(",") if name.strip())


def setting_help() -> dict[str, str]:
    """Returns what the documentation of `Settings` says of each setting."""
    entries = re.findall(r"^ {4}(\w+): ((?:.|\n {8})+)", inspect.getdoc(Settings) or "", flags=re.MULTILINE)
    return {name: " ".join(text.split()).replace("`", "") for name, text in entries}


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds an option for every setting, and `--config`, to a click command."""
    return some_settings(*Settings.model_fields)(command)


def some_settings(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that adds options for the named settings, and `--config`."""
    return lambda command: _with_settings(command, names)


def _with_settings(command: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    helps = setting_help()
    for name, field in reversed(Settings.model_fields.items()):
        if name not in names:
            continue
        flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
        kwargs: dict[str, Any] = {"default": None, "help": _help(name, helps[name], field.default)}
        if field.annotation is bool:
            flag = f"{flag}/--no-{flag[2:]}"
        elif name == "tokenizers":
            kwargs["multiple"] = True
        elif name in _SIZES:
            kwargs["type"] = Size()
        elif name == "keep":
            kwargs["type"] = Names()
        else:
            kwargs["type"] = _click_type(field.annotation)
        command = click.option(flag, name, **kwargs)(command)
    return click.option(
        "--config",
        "config_file",
        type=click.Path(dir_okay=False),
        help="TOML or JSON file of settings; flags win over it.",
    )(command)


def _help(name: str, text: str, default: Any) -> str:
    text = text[0].upper() + text[1:].rstrip(".") + "."
    if default is None or default in ((), False):
        return text
    shown = f"{default >> 20}MiB" if name in _SIZES else " ".join(default) if isinstance(default, tuple) else default
    return f"{text} [default: {shown}]"


def _click_type(annotation: Any) -> Any:
    arguments = get_args(annotation)
    if arguments and all(isinstance(a, str) for a in arguments):
        return click.Choice(arguments)
    kinds = [a for a in arguments if a is not type(None)] if get_origin(annotation) is not None else [annotation]
    return next((kind for kind in (int, float) if kind in kinds), str)


def gather_settings(config_file: str | None, flags: dict[str, Any]) -> Settings:
    """Returns the settings of a command: defaults, then the file, then the flags that were given.

    Raises:
        ConfigError: a file that cannot be read, or settings that do not fit.
    """
    values = _read_config(Path(config_file)) if config_file else {}
    values.update({name: value for name, value in flags.items() if value is not None and value != ()})
    if isinstance(policy := values.get("policy"), str) and Path(policy).suffix == ".json":
        values["policy"] = _read_config(Path(policy))
    return load_settings(values)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        values = orjson.loads(data) if path.suffix == ".json" else tomllib.loads(data.decode())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not a {'JSON' if path.suffix == '.json' else 'TOML'} file ({error})") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: holds a {type(values).__name__}, not a table of settings")
    return values


def parse_threshold(text: str) -> float | int:
    """Returns a reject threshold: a count (`100`) or a fraction of the records (`1%`, `0.01`).

    Raises:
        ConfigError: neither of the two.

    >>> parse_threshold("1%"), parse_threshold("100"), parse_threshold("0.5")
    (0.01, 100, 0.5)
    """
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text) if "." in text else int(text)
        if value < 0 or (isinstance(value, float) and not value <= 1):
            raise ValueError
        return value
    except ValueError:
        raise ConfigError(f"--max-rejected: {text!r} is neither a count (100) nor a fraction (1%, 0.01)") from None
