"""Cost weights and budget targets, from files and by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest
from byteroute.pipelines.report.costs import Weight, price, read_weights, weight_of
from byteroute.pipelines.report.rows import Row, make_row
from byteroute.pipelines.report.targets import OTHERS, Target, read_targets, weigh
from report_support import budget_row

from byteroute_ops.errors import ConfigError

Save = Callable[[str], str]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Returns a function that writes a table and returns its path."""

    def write(text: str) -> str:
        path = tmp_path / ("table.json" if text.startswith(("[", "{")) else "table.csv")
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def row(key: str, tokens: int, routed: int | None = None) -> Row:
    """Returns a budget row with so many tokens."""
    raw = budget_row("t", "lang", key, 2) | {"n_text_tokens": tokens, "n_routed_tokens": routed}
    return make_row(raw, key, tokens=tokens, characters=1)


def test_weights_from_csv_and_json(save: Save) -> None:
    """Both forms give the same weights; empty cells and absent keys name everything; a byte order mark is no column."""
    expected = [
        Weight(weight=0.5),
        Weight(weight=2.0, tokenizer="cl100k", lang="my"),
        Weight(weight=3e-6, script="Latn"),
    ]
    assert read_weights(save("\ufefftokenizer,lang,script,weight\n,,,0.5\ncl100k,my,,2\n,,Latn,3e-6\n")) == expected
    assert read_weights(save(
        '[{"weight": 0.5}, {"tokenizer": "cl100k", "lang": "my", "weight": 2}, {"script": "Latn", "weight": 3e-6}]'
    )) == expected  # fmt: skip


def test_most_specific_weight_wins() -> None:
    """A row that names the language goes before one that names the tokenizer; both before either; order is nothing."""
    rows = [
        Weight(weight=1),
        Weight(weight=2, tokenizer="t"),
        Weight(weight=3, lang="my"),
        Weight(weight=4, tokenizer="t", lang="my"),
        Weight(weight=5, script="Mymr"),
    ]
    for given in (rows, rows[::-1]):
        assert weight_of(given, "t", "lang", "my") == 4
        assert weight_of(given, "u", "lang", "my") == 3
        assert weight_of(given, "t", "lang", "en") == 2
        assert weight_of(given, "u", "lang", "en") == 1
        assert weight_of(given, "u", "script", "Mymr") == 5
    assert weight_of([rows[2]], "t", "script", "my") is None


def test_cost_is_tokens_times_weight() -> None:
    """Dearest first; shares are of what has a weight; no routed ids, no routed cost."""
    weights = [Weight(weight=2, lang="a"), Weight(weight=10, lang="b")]
    found = price(weights, "t", "lang", [row("a", 30, 20), row("b", 14), row("c", 1000, 1)])
    assert [(one.key, one.cost, one.routed_cost) for one in found] == [("b", 140, None), ("a", 60, 40)]
    assert [one.share for one in found] == [0.7, 0.3]


def test_weights_of_nothing_are_no_error() -> None:
    """All weights 0: costs of 0, shares undefined."""
    found = price([Weight(weight=0)], "t", "lang", [row("a", 3)])
    assert (found[0].cost, found[0].share) == (0, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lang,wieght\nen,1\n", "row 1: unknown column 'wieght'"),
        ("lang,weight\nen,\n", "row 1: no weight"),
        ("lang,weight\nen,1\nde,-1\n", "row 2: weight is '-1'"),
        ("lang,weight\nen,nan\n", "weight is 'nan'"),
        ("lang,weight\nen,inf\n", "weight is 'inf'"),
        ("lang,weight\nen,cheap\n", "weight is 'cheap'"),
        ("lang,script,weight\nen,Latn,1\n", "a language and a script"),
        ("lang,weight\nen,1\nen,2\n", "two rows name the same"),
        ("lang,weight\n", "no rows"),
        ("lang,weight\nen,1,2\n", "unknown column"),
        ("{}", "no rows"),
        ("[1]", "no rows"),
        ('[{"lang": 3, "weight": 1}]', "lang is 3, not text"),
        ("[", "not a table"),
    ],
)
def test_bad_weights(save: Save, text: str, says: str) -> None:
    """The message has the file, the row and the value."""
    with pytest.raises(ConfigError) as caught:
        read_weights(save(text))
    assert says in str(caught.value)


def test_absent_file(tmp_path: Path) -> None:
    """A table that is not there is named."""
    with pytest.raises(ConfigError, match=r"none\.csv: No such file"):
        read_weights(str(tmp_path / "none.csv"))


def test_wanted_tokens() -> None:
    """Missing is wanted less there; the weight multiplies; where there is nothing, no weight would do."""
    wanted = {"a": 300, "b": 5, "z": 9}
    targets = [Target(kind="lang", key=key, tokens=n) for key, n in wanted.items()]
    found = weigh(targets, "lang", [row("a", 100), row("b", 50)])
    assert [(one.key, one.there, one.missing, one.weight) for one in found] == [
        ("a", 100, 200, 3.0),
        ("b", 50, -45, 0.1),
        ("z", 0, 9, None),
    ]


def test_wanted_shares_are_met() -> None:
    """Drawing by the weights gives the wanted shares, and leaves the others in proportion."""
    rows = [row("a", 600), row("b", 300), row("c", 60), row("d", 40)]
    found = weigh([Target(kind="lang", key="a", share=0.2), Target(kind="lang", key="d", share=0.5)], "lang", rows)
    weight = {one.key: one.weight or 0.0 for one in found}
    drawn = {one.key: one.n_text_tokens * weight.get(one.key, weight[OTHERS]) for one in rows}
    total = sum(drawn.values())
    assert {key: n / total for key, n in drawn.items()} == pytest.approx({"a": 0.2, "b": 0.25, "c": 0.05, "d": 0.5})


def test_targets_keep_to_their_kind() -> None:
    """Targets by script say nothing of languages."""
    assert weigh([Target(kind="script", key="Latn", tokens=1)], "lang", [row("Latn", 3)]) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lang,tokens\nen,1\n,2\n", "row 2: needs one of lang and script"),
        ("lang,tokens,share\nen,1,0.1\n", "one of tokens and share"),
        ("lang,share\nen,0.6\nde,0.5\n", "more than 1 together"),
        ("lang,tokens,share\nen,1,\nde,,0.5\n", "mix tokens and shares"),
        ("lang,tokens\nen,1\nen,2\n", "two targets for the same lang"),
    ],
)
def test_bad_targets(save: Save, text: str, says: str) -> None:
    """What cannot be met, or is said twice, is refused."""
    with pytest.raises(ConfigError) as caught:
        read_targets(save(text))
    assert says in str(caught.value)


def test_shares_by_language_and_by_script_are_apart(save: Save) -> None:
    """Each kind may come to 1."""
    found = read_targets(save("lang,script,share\nen,,1\n,Latn,1\n"))
    assert [(one.kind, one.key, one.share) for one in found] == [("lang", "en", 1.0), ("script", "Latn", 1.0)]
