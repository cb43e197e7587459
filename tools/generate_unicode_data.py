"""Writes byteroute_ops/unicode_data.py: the Unicode properties that cleaning and segmentation need.

Usage: python tools/generate_unicode_data.py UCD_DIR [OUTPUT]

UCD_DIR holds three files of the Unicode Character Database, unchanged: GraphemeBreakProperty.txt,
DerivedCoreProperties.txt, emoji-data.txt. They travel in the folder `unicode-data` of the source
distribution of the PyPI package graphemeu (0.11.0 has those of Unicode 18.0.0):

    pip download --no-deps --no-binary :all: graphemeu==0.11.0

Script and Script_Extensions come from fontTools.unicodedata (4.68.0 has Unicode 18.0.0). All sources
must state the same version, or nothing is written. The oracles of the tests (`regex`, ICU, the npm
package @unicode/unicode-18.0.0) are never a source.
"""

import base64
import re
import sys
import textwrap
import zlib
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
from fontTools.unicodedata import ScriptExtensions, Scripts

N_CODEPOINTS = 0x110000
GRAPHEME_VALUES = (
    "Other", "CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark",
    "L", "V", "T", "LV", "LVT",
)  # fmt: skip
INCB_VALUES = ("None", "Linker", "Consonant", "Extend")
EMOJI_PROPERTIES = ("Emoji", "Emoji_Presentation", "Emoji_Modifier", "Emoji_Modifier_Base", "Extended_Pictographic")

HEADER = '''"""Unicode {version} properties as compressed runs. GENERATED: edit tools/generate_unicode_data.py.

Sources, all of Unicode {version}:
    Script                   {scripts}, from fontTools {fonttools}
    Script_Extensions        {extensions}, from fontTools {fonttools}
    Grapheme_Cluster_Break   {grapheme}
    Indic_Conjunct_Break     {derived}
    Emoji properties         {emoji}
    (the last three as they are in the source distribution of the PyPI package graphemeu 0.11.0)
Unicode data files: Copyright 1991-2026 Unicode, Inc., Unicode License V3, https://www.unicode.org/license.txt

Every *_RUNS value is base85 of zlib of: uint32 count n, n lengths of runs (uint32, little-endian), n values (uint8).
`byteroute_ops.unicode_tables` expands them.
"""

'''


def parse_ucd(lines: Iterable[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Yields (first, last, fields) for every data line of a UCD file."""
    for line in lines:
        fields = [field.strip() for field in line.split("#")[0].split(";")]
        if len(fields) > 1:
            first, _, last = fields[0].partition("..")
            yield int(first, 16), int(last or first, 16), fields[1:]


def stated_version(text: str, name: str) -> tuple[str, str]:
    """Version and first line (with date) of a UCD file."""
    head = "\n".join(text.splitlines()[:14])
    found = re.search(r"-(\d+\.\d+\.\d+)\.txt|Version: (\d+\.\d+\.\d+)", head)
    date = re.search(r"Date: (\S+)", head)
    if found is None or date is None:
        raise SystemExit(f"{name}: no version and date in its first lines; is this a UCD file?")
    number = found[1] or found[2]
    return number, f"{name} {number} of {date[1].rstrip(',')}"


def expand(ranges: list[int], values: list[object], codes: dict[object, int]) -> np.ndarray:
    """Flat table of 0x110000 from fontTools' range starts and values."""
    lengths = np.diff([*ranges, N_CODEPOINTS])
    return np.repeat(np.array([codes[value] for value in values], np.uint8), lengths)


def encode_runs(table: np.ndarray) -> str:
    """Compressed runs of a uint8 table, in the form that the header of the output describes."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(table)) + 1])
    lengths = np.diff(np.concatenate([starts, [len(table)]])).astype("<u4")
    raw = np.uint32(len(starts)).astype("<u4").tobytes() + lengths.tobytes() + table[starts].tobytes()
    return base64.b85encode(zlib.compress(raw, 9)).decode()


def script_tables() -> tuple[list[str], np.ndarray, list[tuple[str, ...]], np.ndarray]:
    """Script codes, Script table, distinct Script_Extensions sets (0 = none stated) and their table."""
    codes = sorted(set(Scripts.VALUES))
    script = expand(Scripts.RANGES, Scripts.VALUES, {code: i for i, code in enumerate(codes)})
    stated = [None if value is None else tuple(sorted(value)) for value in ScriptExtensions.VALUES]
    sets = sorted({value for value in stated if value is not None})
    ids: dict[object, int] = {None: 0} | {value: i for i, value in enumerate(sets, 1)}
    return codes, script, sets, expand(ScriptExtensions.RANGES, list(stated), ids)


def grapheme_table(grapheme_text: str, derived_text: str) -> np.ndarray:
    """Grapheme_Cluster_Break in bits 0-3, Indic_Conjunct_Break in bits 4-5."""
    table = np.zeros(N_CODEPOINTS, np.uint8)
    for first, last, fields in parse_ucd(grapheme_text.splitlines()):
        table[first : last + 1] |= GRAPHEME_VALUES.index(fields[0])
    for first, last, fields in parse_ucd(derived_text.splitlines()):
        if fields[0] == "InCB":
            table[first : last + 1] |= INCB_VALUES.index(fields[1]) << 4
    return table


def emoji_table(text: str) -> np.ndarray:
    """One bit per property of EMOJI_PROPERTIES, in that order."""
    table = np.zeros(N_CODEPOINTS, np.uint8)
    for first, last, fields in parse_ucd(text.splitlines()):
        if fields[0] in EMOJI_PROPERTIES:
            table[first : last + 1] |= 1 << EMOJI_PROPERTIES.index(fields[0])
    return table


def literal(name: str, value: str) -> str:
    """A module constant as a parenthesised, wrapped string."""
    body = "\n".join(f"    {line!r}" for line in textwrap.wrap(value, 110))
    return f"{name} = (\n{body}\n)\n"


def words(name: str, items: Iterable[str]) -> str:
    """A module constant that is a tuple of strings, wrapped; the separator is a blank, so it must not occur in them."""
    body = "\n".join(f"    {line + ' '!r}" for line in textwrap.wrap(" ".join(items), 110, break_long_words=False))
    return f"{name}: tuple[str, ...] = tuple(\n(\n{body}\n    ).split()\n)\n"


def main(ucd: Path, output: Path) -> None:
    """Reads the sources, checks that their versions agree, writes the module."""
    names = ("GraphemeBreakProperty.txt", "DerivedCoreProperties.txt", "emoji-data.txt")
    texts = {name: (ucd / name).read_text(encoding="utf-8") for name in names}
    for module, name in ((Scripts, "Scripts.txt"), (ScriptExtensions, "ScriptExtensions.txt")):
        texts[name] = Path(str(module.__file__)).read_text(encoding="utf-8")
    stated = {name: stated_version(text, name) for name, text in texts.items()}
    versions = {number for number, _ in stated.values()}
    if len(versions) != 1:
        raise SystemExit(f"sources of different Unicode versions: {sorted(stated.values())}; take all of one version")
    codes, script, sets, extensions = script_tables()
    # Report-only classes and Emoji follow the Script values, so that one uint8 serves all of them.
    classes = [*codes, "Emoji", "Jpan", "Kore", "Hanb"]
    out = HEADER.format(
        version=versions.pop(), fonttools=version("fonttools"), scripts=stated["Scripts.txt"][1],
        extensions=stated["ScriptExtensions.txt"][1], grapheme=stated[names[0]][1], derived=stated[names[1]][1],
        emoji=stated[names[2]][1],
    )  # fmt: skip
    out += f'UNICODE_VERSION = "{stated[names[0]][0]}"\n\n'
    out += "# ISO 15924 codes; the index is the script id.\n"
    out += words("SCRIPTS", classes)
    out += f"N_SCRIPT_VALUES = {len(codes)}  # ids below are Script property values\n"
    out += "".join(f"{code.upper()} = {classes.index(code)}\n" for code in ("Zyyy", "Zinh", "Zzzz", *classes[-4:]))
    out += "\n# Script_Extensions sets, codes joined by +; value v of SCX_RUNS is SCX_SETS[v - 1], 0 is none stated.\n"
    out += words("SCX_SETS", ("+".join(value) for value in sets))
    out += f"\nGRAPHEME_VALUES = {GRAPHEME_VALUES!r}\nINCB_VALUES = {INCB_VALUES!r}\n"
    out += f"EMOJI_PROPERTIES = {EMOJI_PROPERTIES!r}\n\n"
    tables = (
        ("SCRIPT_RUNS", script),
        ("SCX_RUNS", extensions),
        ("GRAPHEME_RUNS", grapheme_table(texts[names[0]], texts[names[1]])),
        ("EMOJI_RUNS", emoji_table(texts[names[2]])),
    )
    out += "".join(literal(name, encode_runs(table)) for name, table in tables)
    output.write_text(out, encoding="utf-8")


if __name__ == "__main__":
    default = Path(__file__).resolve().parent.parent / "byteroute_ops" / "unicode_data.py"
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else default)
