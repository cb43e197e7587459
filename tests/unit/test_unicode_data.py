"""The generated tables against sources that they were not made from."""

import subprocess
import sys

import numpy as np
import pytest
import regex
from plain_segmentation import property_ranges

from byteroute_ops import unicode_data as data
from byteroute_ops import unicode_tables as tables

PROPERTIES = property_ranges()


def expected(name: str, value: str) -> np.ndarray:
    """bool[0x110000]: where the independent source states this value."""
    found = np.zeros(tables.N_CODEPOINTS, np.bool_)
    for first, last in PROPERTIES[name, value]:
        found[first : last + 1] = True
    return found


def values(name: str) -> list[str]:
    """All values of a property in the independent source."""
    return sorted(value for prop, value in PROPERTIES if prop == name)


def test_version_and_sources_are_stated() -> None:
    """The header names the version of every source, and the constant is that version."""
    assert data.UNICODE_VERSION == "18.0.0"
    assert data.__doc__.count(f" {data.UNICODE_VERSION} of 2026-") == 5


def test_script_of_every_code_point() -> None:
    """Script agrees with the independent source for all 1,114,112 code points."""
    table = tables.script_table()
    for value in values("Script"):
        assert np.array_equal(table == data.SCRIPTS.index(value), expected("Script", value)), value
    stated = sum(expected("Script", value) for value in values("Script") if value != "Zzzz")
    assert np.array_equal(table == data.ZZZZ, stated == 0)
    assert {*values("Script"), "Zzzz"} == set(data.SCRIPTS[: data.N_SCRIPT_VALUES])


def test_script_extensions_of_every_code_point() -> None:
    """Explicit extensions, and the Script where none are stated, agree with the independent source."""
    holds = tables.scx_matrix()[tables.scx_table()]
    implicit = tables.scx_table() == 0
    holds[np.flatnonzero(implicit), tables.script_table()[implicit]] = True
    for value in set(values("Script_Extensions")) - {"Zzzz"}:
        want = expected("Script_Extensions", value)
        assert np.array_equal(holds[:, data.SCRIPTS.index(value)], want), value


def test_grapheme_classes_of_every_code_point() -> None:
    """Grapheme_Cluster_Break, Indic_Conjunct_Break and Extended_Pictographic agree with independent sources."""
    table = tables.grapheme_table()
    for value in set(values("Grapheme_Cluster_Break")) - {"Other"}:
        want = expected("Grapheme_Cluster_Break", value)
        assert np.array_equal(table & tables.GCB_MASK == tables.GCB[value], want), value
    for value in values("InCB"):
        assert np.array_equal(table >> tables.INCB_SHIFT & 3 == tables.INCB[value], expected("InCB", value)), value
    assert np.array_equal(table & tables.EXT_PICT != 0, expected("Extended_Pictographic", ""))


@pytest.mark.parametrize("name", data.EMOJI_PROPERTIES)
def test_emoji_properties_of_every_code_point(name: str) -> None:
    """Every emoji property agrees with the independent source."""
    bit = 1 << data.EMOJI_PROPERTIES.index(name)
    assert np.array_equal(tables.emoji_table() & bit != 0, expected(name, ""))


def test_word_break_scripts_are_those_of_uax14() -> None:
    """The cleaning list is the scripts with Line_Break SA, AK, AS or AP, and Tibetan."""
    from byteroute_ops.cleaning import WORD_BREAK_SCRIPTS

    letter = regex.compile(r"[\p{Line_Break=SA}\p{Line_Break=AK}\p{Line_Break=AS}\p{Line_Break=AP}]")
    scalars = [cp for cp in range(0x20000) if not 0xD800 <= cp < 0xE000]
    found = {data.SCRIPTS[tables.script_table()[cp]] for cp in scalars if letter.match(chr(cp))}
    assert set(WORD_BREAK_SCRIPTS) == (found - {"Zyyy", "Zinh", "Zzzz"}) | {"Tibt"}


def test_property_words_take_any_uint32() -> None:
    """Words come for every value, in chunks of any size; what no code point can be counts as U+10FFFF."""
    codepoints = np.append(np.arange(tables.N_CODEPOINTS, dtype=np.uint32), np.uint32(0xFFFFFFFF))
    words = tables.property_words(codepoints)
    assert np.array_equal(words[:-1], tables.property_table())
    assert words[-1] == tables.property_table()[-1]
    assert tables.property_words(codepoints[:0]).shape == (0,)


def test_tables_are_read_only() -> None:
    """No caller can change what every other caller sees."""
    for table in (tables.property_table(), tables.grapheme_table(), tables.script_table(), tables.scx_matrix()):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0


def test_import_expands_nothing() -> None:
    """Importing the segmentation leaves the tables compressed: a command line that only prints help stays fast."""
    code = (
        "import byteroute_ops.segmentation, byteroute_ops.cleaning, byteroute_ops.unicode_tables as t;"
        "print(t.property_table.cache_info().misses, t.grapheme_table.cache_info().misses)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["0", "0"]
