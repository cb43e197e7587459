"""Policies: the builtin ones, files, the article's dictionary, and what is refused."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byteroute_ops import unicode_data
from byteroute_ops.encoders import ENCODING_NAMES
from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import BUILTIN_POLICIES, load_policy, parse_policy

TABLE = {"name": "mine", "kind": "scripts", "default": "utf-8", "scripts": {"Thai": "utf-16-le"}}
ARTICLE = {
    "latin": {"ranges": [[0x0000, 0x024F]], "encoding": "utf-8"},
    "han": {"ranges": [(0x4E00, 0x9FFF), (0x3400, 0x4DBF)], "encoding": "utf-16-be"},
    "default": "utf-16-le",
}


def encodings(name: str, *scripts: str) -> list[str]:
    """Returns the encodings that a builtin policy gives some scripts."""
    table = load_policy(name).encoding_of_scripts()
    return [ENCODING_NAMES[table[unicode_data.SCRIPTS.index(script)]] for script in scripts]


@pytest.mark.parametrize("name", BUILTIN_POLICIES)
def test_builtin_policies_load(name: str) -> None:
    """Every builtin policy loads under its own name, and its file has the keys of the schema."""
    assert load_policy(name).name == name
    schema = json.loads(resources.files("byteroute.schemas").joinpath("policy.schema.json").read_text("utf-8"))
    content = json.loads(resources.files("byteroute_ops.policies").joinpath(f"{name}.json").read_text("utf-8"))
    form = schema["$defs"][content["kind"]]
    assert set(form["required"]) <= set(content) <= set(form["properties"])


def test_script_a_is_the_articles_group_a() -> None:
    """script-a: Latin UTF-8; Han, kana, Hangul, emoji BE; all others LE."""
    assert encodings("script-a", "Latn", "Hani", "Hira", "Kana", "Hang", "Emoji") == ["utf-8"] + ["utf-16-be"] * 5
    assert encodings("script-a", "Cyrl", "Arab", "Thai", "Bopo", "Mong") == ["utf-16-le"] * 5


def test_script_b_is_the_articles_group_b() -> None:
    """script-b: whatever is not Latin is BE."""
    assert encodings("script-b", "Latn", "Hani", "Cyrl", "Emoji") == ["utf-8"] + ["utf-16-be"] * 3


def test_script_c_is_script_a_with_a_minimum() -> None:
    """script-c has the table of script-a and routes from 5 code points on."""
    a, c = load_policy("script-a"), load_policy("script-c")
    assert (a.scripts, a.default, a.min_codepoints) == (c.scripts, c.default, 1)
    assert c.min_codepoints == 5


@pytest.mark.parametrize("name", ["utf-8", "script-a", "script-b", "script-c"])
def test_common_and_unknown_are_never_routed(name: str) -> None:
    """Zyyy, Zinh and Zzzz are UTF-8 whatever the default says."""
    assert encodings(name, "Zyyy", "Zinh", "Zzzz") == ["utf-8"] * 3


def test_article_dictionary() -> None:
    """The article's dictionary gives each code point the encoding of its range, else the default."""
    policy = load_policy(ARTICLE)
    found = policy.encoding_of_codepoints(np.array([0x41, 0x24F, 0x250, 0x3400, 0x9FFF, 0xA000], np.uint32))
    assert [ENCODING_NAMES[e] for e in found] == ["utf-8", "utf-8", "utf-16-le", "utf-16-be", "utf-16-be", "utf-16-le"]
    assert load_policy({**ARTICLE, "default": {"encoding": "utf-16-le"}}) == policy


def test_ranges_in_our_form_and_first_match() -> None:
    """Kind `ranges` reads the same, and the first range that holds a code point decides."""
    rows = [[0x4E00, 0x4EFF, "utf-16-le"], [0x4E00, 0x9FFF, "utf-16-be"]]
    policy = load_policy({"name": "r", "kind": "ranges", "default": "utf-8", "ranges": rows})
    assert policy.encoding_of_codepoints(np.array([0x4E00, 0x5000, 0x41], np.uint32)).tolist() == [2, 1, 0]
    assert policy.fingerprint()["ranges"] == rows


def test_file_and_mapping_are_the_same(tmp_path: Path) -> None:
    """A policy loads from a JSON file as from a dictionary."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(TABLE))
    assert load_policy(path) == load_policy(str(path)) == load_policy(TABLE)


def test_fingerprint_is_what_the_bytes_depend_on() -> None:
    """The fingerprint is JSON, does not change with description or order, and changes with the table."""
    policy = parse_policy({**TABLE, "description": "words"})
    assert json.loads(json.dumps(policy.fingerprint())) == policy.fingerprint()
    assert policy.fingerprint() == load_policy(TABLE).fingerprint()
    assert policy.fingerprint() != load_policy({**TABLE, "min_codepoints": 2}).fingerprint()
    assert policy.fingerprint() != load_policy({**TABLE, "scripts": {"Thai": "utf-16-be"}}).fingerprint()
    assert load_policy("min-bytes").fingerprint() == {"name": "min-bytes", "kind": "optimal"}
    forward, backward = {"Thai": "utf-16-le", "Laoo": "utf-16-be"}, {"Laoo": "utf-16-be", "Thai": "utf-16-le"}
    one, other = (json.dumps(load_policy({**TABLE, "scripts": s}).fingerprint()) for s in (forward, backward))
    assert one == other


def test_evidence_binds_to_a_tokenizer() -> None:
    """A calibrated policy is refused for another tokenizer; others pass with any."""
    calibrated = load_policy({**TABLE, "evidence": {"tokenizer_fingerprint": "abc", "sample": {"documents": 3}}})
    calibrated.check_tokenizer("abc")
    load_policy(TABLE).check_tokenizer("anything")
    with pytest.raises(ConfigError, match=r"calibrated for the tokenizer 'abc', this one is 'def': run `byteroute cal"):
        calibrated.check_tokenizer("def")


REFUSED: list[tuple[Any, str]] = [
    ("script-d", "no policy and no file 'script-d': did you mean 'script-c'"),
    ("auto", "run `byteroute calibrate`"),
    ([], "is no JSON object"),
    ({}, "kind None is unknown"),
    ({"name": "x", "kind": "script"}, "did you mean 'scripts'"),
    ({**TABLE, "defualt": "utf-8"}, "unknown key 'defualt': did you mean 'default'"),
    ({**TABLE, "name": ""}, "name is ''"),
    ({**TABLE, "default": "utf8"}, "encoding 'utf8' is unknown: did you mean 'utf-8'"),
    ({**TABLE, "scripts": {"Cyrillic": "utf-8"}}, "script 'Cyrillic' is unknown: did you mean 'Cyrl'"),
    ({**TABLE, "scripts": {"Thai": "utf-16"}}, "scripts: Thai: encoding 'utf-16' is unknown"),
    ({**TABLE, "scripts": {"Zyyy": "utf-16-be"}}, "Zyyy, Zinh, Zzzz are utf-8 under every policy"),
    ({**TABLE, "scripts": {"Jpan": "utf-16-be"}}, "Jpan is a class of reports only"),
    ({**TABLE, "scripts": []}, "scripts is \\[\\]"),
    ({**TABLE, "min_codepoints": 0}, "min_codepoints is 0: use a whole number from 1 on"),
    ({**TABLE, "min_codepoints": True}, "min_codepoints is True"),
    ({**TABLE, "evidence": {"tokenizer": "x"}}, "tokenizer_fingerprint: calibrate again"),
    ({"name": "x", "kind": "optimal", "default": "utf-8"}, "unknown key 'default'"),
    ({"name": "x", "kind": "ranges", "default": "utf-8"}, "ranges is None"),
    ({"name": "x", "kind": "ranges", "default": "utf-8", "ranges": [[5, 1, "utf-8"]]}, "bounds must rise"),
    ({"name": "x", "kind": "ranges", "default": "utf-8", "ranges": [[0, 0x110000, "utf-8"]]}, "0..0x10FFFF"),
    ({"name": "x", "kind": "ranges", "default": "utf-8", "ranges": [["a", "z", "utf-8"]]}, "use \\[first, last\\]"),
    ({"han": {"ranges": [[1, 2]], "encoding": "utf-16-be"}}, "default: encoding None is unknown"),
    ({"han": {"ranges": [[1, 2]], "encodings": "utf-16-be"}, "default": "utf-8"}, "did you mean 'encoding'"),
    ({"han": {"ranges": 5, "encoding": "utf-16-be"}, "default": "utf-8"}, "han: ranges is 5"),
    ({"han": {"ranges": [7], "encoding": "utf-16-be"}, "default": "utf-8"}, "han: range 7"),
    ({**ARTICLE, "thai": "utf-8"}, "thai is 'utf-8': use an object with ranges and encoding"),
    ({**ARTICLE, "default": {"codec": "utf-8"}}, "default: unknown key 'codec'"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused(content: Any, message: str) -> None:
    """Whatever is wrong is a ConfigError that says where, what, and the nearest known thing."""
    with pytest.raises(ConfigError, match=message):
        parse_policy(content) if isinstance(content, list) else load_policy(content)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not JSON"), (b"\xff", "not JSON"), ('{"name": "a", "name": "b"}', "key 'name' stands twice")],
)
def test_files_that_are_no_policy(tmp_path: Path, text: str | bytes, message: str) -> None:
    """A file that is not JSON, or holds a key twice, is a ConfigError."""
    path = tmp_path / "policy.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=message):
        load_policy(path)
