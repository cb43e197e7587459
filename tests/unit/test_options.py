"""Flags come from the settings: each has one, with the words of its documentation."""

from pathlib import Path

import click
import pytest
from byteroute.pipelines.options import Size, gather_settings, parse_threshold, setting_help

from byteroute_ops.errors import ConfigError
from byteroute_ops.settings import Settings


def test_every_setting_is_documented() -> None:
    """The help of a flag is the attribute's line in `Settings`; no setting lacks one and none is left over."""
    assert list(setting_help()) == list(Settings.model_fields)


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("0", 0), ("1048576", 1 << 20), ("64MiB", 64 << 20), ("500kB", 500_000), ("2 g", 2 * 10**9)]
)
def test_sizes(text: str, n_bytes: int) -> None:
    """Decimal and binary units, with or without B, in any case."""
    assert Size().convert(text, None, None) == n_bytes


@pytest.mark.parametrize("text", ["", "64X", "-1", "1.5MiB", "MiB"])
def test_no_sizes(text: str) -> None:
    """Whatever is no size is a usage error."""
    with pytest.raises(click.BadParameter, match="write bytes or a unit"):
        Size().convert(text, None, None)


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    """Order: defaults, file, flags; flags that were not given do not count."""
    for name, content in (
        ("c.toml", 'framing = "bom"\nlimit = 5\nkeep = ["url"]\n'),
        ("c.json", '{"framing": "bom", "limit": 5, "keep": ["url"]}'),
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
        flags = {"limit": 7, "framing": None, "keep": None, "tokenizers": ()}
        settings = gather_settings(str(tmp_path / name), flags)
        assert (settings.framing, settings.limit, settings.keep) == ("bom", 7, ("url",))
        assert settings.tokenizers == ("default",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.toml", None, "absent.toml: No such file"),
        ("bad.toml", "framing = ", "bad.toml: not a TOML file"),
        ("bad.json", "{", "bad.json: not a JSON file"),
        ("list.json", "[1]", "list.json: holds a list, not a table of settings"),
        ("unknown.toml", "frame = 1", "frame: no such setting; did you mean framing?"),
    ],
)
def test_config_files_that_cannot_be_used(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    """The message names the file and what is wrong with it."""
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        gather_settings(str(tmp_path / name), {})
    assert message in str(caught.value)


@pytest.mark.parametrize(("text", "value"), [("100", 100), ("0", 0), ("1%", 0.01), ("0.5", 0.5)])
def test_thresholds(text: str, value: float) -> None:
    """Counts are integers, fractions are floats."""
    found = parse_threshold(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["", "many", "1.5.2", "-1", "101%", "1.5", "nan%", "-0.5"])
def test_no_thresholds(text: str) -> None:
    """Neither a count nor a fraction between 0 and 1: an error that shows both forms."""
    with pytest.raises(ConfigError, match=r"count \(100\)"):
        parse_threshold(text)
