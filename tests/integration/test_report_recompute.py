"""Every number of one report, computed a second time straight from the shards in plain Python."""

import csv
import io
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import regex
import zstandard
from byteroute.pipelines.report.costs import read_weights
from byteroute.pipelines.report.load import load_run
from byteroute.pipelines.report.model import build_report
from byteroute.pipelines.report.output import write_report
from byteroute.pipelines.report.parallel import ParallelKey
from byteroute.pipelines.report.targets import read_targets

from byteroute_ops.files import LocalFiles

Tables = dict[str, list[dict[str, Any]]]

WINDOWS = (2048, 4096, 8192, 32768, 131072)
ZERO = "\ufeff\u200b"
WEAK = regex.compile(r"[\p{Script=Common}\p{Script=Inherited}]")
KEY = r"^udhr:(?P<lang>[^:]+):(?P<unit>art\d\d)$"
WEIGHTS = "tokenizer,lang,script,weight\n,,,0.5\ndefault,,,2\n,my,,3\n,,Latn,0.25\n"
TARGETS = "lang,script,tokens,share\nen,,,0.2\nmy,,,0.1\n,Latn,50000,\n,Mymr,100,\n"


@pytest.fixture(scope="module")
def reported(
    tmp_path_factory: pytest.TempPathFactory, data_dir: Path, run_inline: Callable[..., Any]
) -> dict[str, Any]:
    """A run over the small corpus with text ids, its twin with routed ids, and the tables of the first one's report."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "weights.csv").write_text(WEIGHTS)
    (folder / "targets.csv").write_text(TARGETS)
    rows = (data_dir / "udhr_small.jsonl").read_text(encoding="utf-8").splitlines()
    # A byte order mark and zero-width spaces for cleaning to count, one row to reject, one document of many tokens.
    rows += [
        '{"id": "a", "lang": "en", "text": "\ufeffa\u200bb\u200bc \U0001f600 d"}',
        "{",
        json.dumps({"id": "b", "text": "one two " * 3000}),
    ]
    (folder / "in.jsonl").write_text("\n".join(rows), encoding="utf-8")
    common = {"keep_text": True, "range_bytes": 20_000, "policy": "min-bytes"}
    manifest = run_inline([folder / "in.jsonl"], folder / "text", tokenizers=("default", "bytes"), **common)
    run_inline([folder / "in.jsonl"], folder / "routed", ids="routed", **common)
    report = build_report(
        load_run(str(folder / "text"), LocalFiles()),
        parallel=ParallelKey(pattern=KEY, reference="eng"),
        weights=read_weights(str(folder / "weights.csv")),
        targets=read_targets(str(folder / "targets.csv")),
    )
    written: dict[str, io.BytesIO] = defaultdict(Kept)
    write_report(report, lambda name: written[name])
    tables = {
        name.removeprefix("tables/").removesuffix(".csv"): list(csv.DictReader(io.StringIO(data.getvalue().decode())))
        for name, data in written.items()
        if name.endswith(".csv")
    }
    return {
        "manifest": manifest,
        "tables": tables,
        "texts": [json.loads(row)["text"] for row in rows if row != "{"],
        "page": written["report.html"].getvalue().decode(),
        "model": json.loads(written["report.json"].getvalue()),
        "rows": list(shard_rows(folder / "text")),
        "routed_ids": {row["position"]: row["token_ids"] for row in shard_rows(folder / "routed")},
    }


class Kept(io.BytesIO):
    """A file whose bytes stay when it is closed."""

    def close(self) -> None:
        """Keeps the bytes."""


def shard_rows(output: Path) -> Iterator[dict[str, Any]]:
    """Yields the rows of all shards, in order."""
    for path in sorted((output / "shards").iterdir()):
        yield from pq.read_table(path).to_pylist()


def token_bytes() -> list[int]:
    """Returns how many bytes each id of the bundled tokenizer stands for."""
    packed = resources.files("byteroute_ops.tokenization").joinpath("data", "default.json.zst").read_bytes()
    config = json.loads(zstandard.ZstdDecompressor().decompress(packed))
    return [len(token) for token, _ in sorted(config["model"]["vocab"].items(), key=lambda item: item[1])]


def byte_map(row: dict[str, Any], *, routed: bool) -> list[tuple[str, bool]]:
    """Returns (script, whether it is of a strong character) of every byte of a text or its routed stream."""
    marks: list[tuple[str, bool]] = []
    segments = row["segments"]
    for i, one in enumerate(segments):
        script = one["report_script"]
        if routed:
            before = segments[i - 1] if i else None
            gap = one["start"] - (before["end"] if before else 0)
            # The closing marker (three bytes) counts for the run before, the rest of the framing for this one.
            closing = 3 if gap and before and before["encoding"] != "utf-8" else 0
            marks += [(before["report_script"] if before else "", False)] * closing + [(script, False)] * (
                gap - closing
            )
        width = {"utf-8": "utf-8", "utf-16-be": "utf-16-be", "utf-16-le": "utf-16-le"}[
            one["encoding"] if routed else "utf-8"
        ]
        for char in row["text"][one["text_start"] : one["text_end"]]:
            strong = script == "Emoji" or WEAK.match(char) is None
            marks += [(script, strong)] * len(char.encode(width))
    if routed and segments:
        marks += [(segments[-1]["report_script"], False)] * (row["n_routed_bytes"] - len(marks))
    return marks


def tokens_by_script(ids: list[int], marks: list[tuple[str, bool]], lengths: list[int]) -> Counter[str]:
    """Returns tokens by the script of their first strong character, else of their first byte."""
    counts: Counter[str] = Counter()
    place = 0
    for one in ids:
        span = marks[place : place + lengths[one]]
        counts[next((script for script, strong in span if strong), span[0][0])] += 1
        place += lengths[one]
    assert place == len(marks)
    return counts


def per_script(reported: dict[str, Any], tokenizer: str) -> dict[str, list[dict[str, int]]]:
    """Returns the counts of every document in every script that it has."""
    lengths = token_bytes()
    found: dict[str, list[dict[str, int]]] = defaultdict(list)
    for row in reported["rows"]:
        text, routed = byte_map(row, routed=False), byte_map(row, routed=True)
        points = Counter[str]()
        for one in row["segments"]:
            points[one["report_script"]] += one["text_end"] - one["text_start"]
        utf8, stream = Counter(script for script, _ in text), Counter(script for script, _ in routed)
        tokens, routed_tokens = utf8, stream
        if tokenizer == "default":
            tokens = tokens_by_script(row["token_ids"], text, lengths)
            routed_tokens = tokens_by_script(reported["routed_ids"][row["position"]], routed, lengths)
        for script, n in points.items():
            found[script].append(
                {"n_codepoints": n, "n_utf8_bytes": utf8[script], "n_routed_bytes": stream[script],
                 "n_text_tokens": tokens[script], "n_routed_tokens": routed_tokens[script]}
            )  # fmt: skip
        if tokenizer == "bytes":
            added = dict.fromkeys(("n_codepoints", "n_utf8_bytes", "n_routed_bytes"), 0)
            found["(added)"].append(added | {"n_text_tokens": 2, "n_routed_tokens": 2})
    return found


def per_language(reported: dict[str, Any], tokenizer: str) -> dict[str, list[dict[str, int]]]:
    """Returns the counts of every document by language."""
    found: dict[str, list[dict[str, int]]] = defaultdict(list)
    for row in reported["rows"]:
        counts = dict(row)
        if tokenizer == "bytes":
            counts |= {"n_text_tokens": row["n_utf8_bytes"] + 2, "n_routed_tokens": row["n_routed_bytes"] + 2}
        found[row["lang"]].append(counts)
    return found


def quantile(values: list[int], q: float) -> int:
    """Returns the smallest value that at least the share `q` of the values do not exceed."""
    return sorted(values)[max(math.ceil(q * len(values)), 1) - 1]


def divided(part: float, whole: float) -> float | None:
    """Returns part / whole, or None."""
    return part / whole if whole else None


def check(shown: dict[str, str], name: str, expected: float | None) -> None:
    """Compares a cell of a table with a number."""
    cell = shown.pop(name)
    if expected is None:
        assert cell == "", name
    else:
        assert float(cell) == pytest.approx(expected, rel=1e-12), name


def check_budget(table: list[dict[str, str]], key: str, found: dict[str, list[dict[str, int]]]) -> None:
    """Compares a table of scripts or languages with the counts of the documents, column by column."""
    assert {row[key] for row in table} == set(found)
    names = ("n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens", "n_routed_tokens")
    everything = {name: sum(one[name] for documents in found.values() for one in documents) for name in names}
    for shown in (dict(row) for row in table):
        documents = found[shown.pop(key)]
        sums = {name: sum(one[name] for one in documents) for name in names}
        check(shown, "documents", len(documents))
        for name in names:
            check(shown, name, sums[name])
        check(shown, "token_share", sums["n_text_tokens"] / everything["n_text_tokens"])
        check(shown, "character_share", sums["n_codepoints"] / everything["n_codepoints"])
        check(shown, "tokens_per_character", divided(sums["n_text_tokens"], sums["n_codepoints"]))
        check(shown, "routed_tokens_per_character", divided(sums["n_routed_tokens"], sums["n_codepoints"]))
        check(shown, "bytes_per_character", divided(sums["n_utf8_bytes"], sums["n_codepoints"]))
        check(shown, "bytes_change", divided(sums["n_routed_bytes"] - sums["n_utf8_bytes"], sums["n_utf8_bytes"]))
        check(shown, "tokens_change", divided(sums["n_routed_tokens"] - sums["n_text_tokens"], sums["n_text_tokens"]))
        tokens = [one["n_text_tokens"] for one in documents]
        for name, q in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)):
            exact = quantile(tokens, q)
            assert float(shown.pop(name)) == pytest.approx(exact, rel=0 if exact < 128 else 1 / 128)
        for window in WINDOWS:
            check(shown, f"documents_from_{window}", sum(n >= window for n in tokens) / len(tokens))
        shown.pop("script", None)
        assert shown == {}


@pytest.mark.parametrize(("number", "tokenizer"), [(1, "default"), (2, "bytes")])
def test_budgets(reported: dict[str, Any], number: int, tokenizer: str) -> None:
    """All columns of the tables by script and by language follow from the documents, under both tokenizers."""
    check_budget(reported["tables"][f"scripts-{number}"], "script", per_script(reported, tokenizer))
    check_budget(reported["tables"][f"languages-{number}"], "lang", per_language(reported, tokenizer))


@pytest.mark.parametrize(("number", "tokenizer"), [(1, "default"), (2, "bytes")])
def test_document_lengths(reported: dict[str, Any], number: int, tokenizer: str) -> None:
    """The histogram and the context lengths count each document once, text and routed."""
    documents = [one for each in per_language(reported, tokenizer).values() for one in each]
    text, routed = ([one[name] for one in documents] for name in ("n_text_tokens", "n_routed_tokens"))
    bins = reported["tables"][f"document-lengths-{number}"]
    for one in bins:
        low, high = int(one["from"]), int(one["below"])
        assert int(one["documents"]) == sum(low <= n < high for n in text)
        assert int(one["routed_documents"]) == sum(low <= n < high for n in routed)
    assert (
        sum(int(one["documents"]) for one in bins)
        == sum(int(one["routed_documents"]) for one in bins)
        == len(documents)
    )
    windows = reported["tables"][f"context-lengths-{number}"]
    assert [int(one["tokens"]) for one in windows] == list(WINDOWS)
    for one in (dict(row) for row in windows):
        window = int(one.pop("tokens"))
        for values, prefix in ((text, ""), (routed, "routed_")):
            reached = sum(n >= window for n in values)
            check(one, f"{prefix}documents", reached)
            check(one, f"{prefix}share", reached / len(documents))
        assert one == {}
    assert int(windows[0]["documents"]) > 0


def test_tokenizers_records_and_cleaning(reported: dict[str, Any]) -> None:
    """Totals of the tokenizers add up; records are documents and rejects; removed characters are those of the input."""
    tables, rows = reported["tables"], reported["rows"]
    for shown, tokenizer in zip(map(dict, tables["tokenizers"]), ("default", "bytes"), strict=True):
        documents = [one for each in per_language(reported, tokenizer).values() for one in each]
        text, routed = (sum(one[name] for one in documents) for name in ("n_text_tokens", "n_routed_tokens"))
        assert shown.pop("tokenizer") == tokenizer
        check(shown, "n_text_tokens", text)
        check(shown, "n_routed_tokens", routed)
        check(shown, "tokens_change", (routed - text) / text)
        check(shown, "tokens_per_character", text / sum(row["n_codepoints"] for row in rows))
        check(shown, "bytes_per_token", sum(row["n_utf8_bytes"] for row in rows) / text)
        assert shown == {"n_unknown": "0", "unknown_rate": "0.0", "unknown_reason": "every text has ids of its own"}
    records = {one["what"]: (int(one["count"]), float(one["share"])) for one in tables["records"]}
    n = len(rows) + 1
    assert records == {
        "records in": (n, 1.0), "documents out": (n - 1, pytest.approx((n - 1) / n)), "not sampled": (0, 0.0),
        "rejected: invalid_json": (1, pytest.approx(1 / n)),
    }  # fmt: skip
    gone = {
        char: "".join(reported["texts"]).count(char) - "".join(row["text"] for row in rows).count(char) for char in ZERO
    }
    removed = {one["kind"]: int(one["count"]) for one in tables["removed"]}
    assert removed == {"bom": 1, "feff": gone["\ufeff"] - 1, "zwsp": gone["\u200b"]}
    assert removed["zwsp"] >= 2
    for one in tables["removed"]:
        n_characters = sum(row["n_codepoints"] for row in rows)
        assert float(one["share"]) == pytest.approx(int(one["count"]) / (n_characters + int(one["count"])))


def test_disparity(reported: dict[str, Any]) -> None:
    """Premiums and all measures follow from the aligned units: pairwise Gini, sorted ranks, sums."""
    by_language: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for row in reported["rows"]:
        if match := regex.match(KEY, row["doc_id"]):
            by_language[match["lang"]][match["unit"]] = row
    needed = {u for u in by_language["eng"] if sum(u in own for own in by_language.values()) >= 0.9 * len(by_language)}
    complete = {lang: units for lang, units in by_language.items() if needed <= set(units)}
    assert len(complete) > 30
    names = {"text tokens": "n_text_tokens", "routed tokens": "n_routed_tokens", "UTF-8 bytes": "n_utf8_bytes",
             "routed bytes": "n_routed_bytes", "characters": "n_codepoints"}  # fmt: skip
    costs = {n: {lang: sum(u[k][n] for k in needed) for lang, u in complete.items()} for n in names.values()}
    for shown in map(dict, reported["tables"]["disparity"]):
        cost = costs[names[shown.pop("measure")]]
        values, n = sorted(cost.values()), len(cost)
        premiums = [value / cost["eng"] for value in values]
        pairs = sum(abs(a - b) for a in values for b in values)
        check(shown, "gini", pairs / (2 * n * sum(values)))
        check(shown, "total", sum(values))
        check(shown, "maximum", premiums[-1])
        check(shown, "minimum", premiums[0])
        check(shown, "p90", premiums[math.ceil(0.9 * n) - 1])
        check(shown, "median", (premiums[(n - 1) // 2] + premiums[n // 2]) / 2)
        check(shown, "spread", values[-1] / values[0])
        assert shown == {}
    for shown in map(dict, reported["tables"]["premiums"]):
        lang = shown.pop("lang")
        check(shown, "tokens", costs["n_text_tokens"][lang])
        for name, cost in costs.items():
            check(shown, f"premium_{name}", cost[lang] / cost["eng"])
        assert shown == {}
    parallel = reported["model"]["parallel"]
    assert parallel["dropped_languages"] == {
        lang: len(needed - set(units)) for lang, units in by_language.items() if lang not in complete
    }
    assert (parallel["n_units"], parallel["n_languages"]) == (len(needed), len(complete))


def main_script(rows: list[dict[str, Any]]) -> str | None:
    """Returns the script of most characters, those of no script and emoji aside."""
    counts: Counter[str] = Counter()
    for row in rows:
        for one in row["segments"]:
            counts[one["report_script"]] += one["text_end"] - one["text_start"]
    strong = {s: n for s, n in counts.items() if s not in ("Zyyy", "Zinh", "Zzzz", "Emoji")}
    return min(strong, key=lambda script: (-strong[script], script)) if strong else None


def test_main_scripts_and_compression(reported: dict[str, Any]) -> None:
    """Main scripts, and sizes before and after compression in shard order, are those of the texts and streams."""
    rows = reported["rows"]
    by_lang: dict[str, list[dict[str, Any]]] = defaultdict(list)
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_lang[row["lang"]].append(row)
        groups["all"].append(row)
        groups[main_script([row]) or "none"].append(row)
    groups.pop("none", None)
    for shown in reported["tables"]["languages-1"]:
        assert shown["script"] == main_script(by_lang[shown["lang"]])
    pack = zstandard.ZstdCompressor(level=3)
    assert {one["script"] for one in reported["tables"]["compression"]} == set(groups)
    for shown in map(dict, reported["tables"]["compression"]):
        own = groups[shown.pop("script")]
        utf8, routed = b"".join(row["text"].encode() for row in own), b"".join(row["routed"] for row in own)
        sizes = len(utf8), len(routed), len(pack.compress(utf8)), len(pack.compress(routed))
        assert len(utf8) < 1 << 20  # one block
        for name, size in zip(("utf8", "routed", "utf8_compressed", "routed_compressed"), sizes, strict=True):
            check(shown, name, size)
        check(shown, "documents", len(own))
        check(shown, "change", (sizes[1] - sizes[0]) / sizes[0])
        check(shown, "compressed_change", (sizes[3] - sizes[2]) / sizes[2])
        assert shown == {}


def weight_for(tokenizer: str, kind: str, key: str) -> float:
    """Returns the weight that the table above gives, worked out by hand."""
    if (kind, key) == ("lang", "my"):
        return 3
    if (kind, key) == ("script", "Latn"):
        return 0.25
    return 2 if tokenizer == "default" else 0.5


@pytest.mark.parametrize(("number", "tokenizer"), [(1, "default"), (2, "bytes")])
def test_costs(reported: dict[str, Any], number: int, tokenizer: str) -> None:
    """Cost is tokens times the most specific weight, and shares are of all costs by language or by script."""
    for kind, found in (("lang", per_language(reported, tokenizer)), ("script", per_script(reported, tokenizer))):
        table = [dict(row) for row in reported["tables"][f"costs-{number}"] if row["kind"] == kind]
        tokens = {key: sum(one["n_text_tokens"] for one in own) for key, own in found.items()}
        routed = {key: sum(one["n_routed_tokens"] for one in own) for key, own in found.items()}
        total = sum(n * weight_for(tokenizer, kind, key) for key, n in tokens.items())
        assert {row["key"] for row in table} == set(tokens)
        for shown in table:
            key = shown.pop("key")
            weight = weight_for(tokenizer, kind, key)
            check(shown, "weight", weight)
            check(shown, "n_text_tokens", tokens[key])
            check(shown, "cost", tokens[key] * weight)
            check(shown, "share", tokens[key] * weight / total)
            check(shown, "routed_cost", routed[key] * weight)
            assert shown == {"kind": kind}


def test_targets(reported: dict[str, Any]) -> None:
    """Sampling by the weights gives the wanted shares; tokens wanted divided by those there is the other weight."""
    found = {key: sum(one["n_text_tokens"] for one in own) for key, own in per_language(reported, "default").items()}
    total = sum(found.values())
    there = {"en": found["en"], "my": found["my"], "(all others)": total - found["en"] - found["my"]}
    shown = {row["key"]: row for row in reported["tables"]["targets"] if row["kind"] == "lang"}
    drawn = {key: n * float(shown[key]["weight"]) for key, n in there.items()}
    assert sum(drawn.values()) == pytest.approx(total)
    shares = {key: n / total for key, n in drawn.items()}
    assert shares == pytest.approx({"en": 0.2, "my": 0.1, "(all others)": 0.7})
    scripts = per_script(reported, "default")
    for row in reported["tables"]["targets"]:
        if row["kind"] == "script":
            n, wanted = (
                sum(one["n_text_tokens"] for one in scripts[row["key"]]),
                {"Latn": 50000, "Mymr": 100}[row["key"]],
            )
            assert (int(row["there"]), float(row["wanted"]), float(row["missing"])) == (n, wanted, wanted - n)
            assert float(row["weight"]) == pytest.approx(wanted / n)


class Cells(HTMLParser):
    """The tables of a page: caption → rows of cell texts."""

    def __init__(self, page: str) -> None:
        """Reads a page."""
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] = []
        self._open = ""
        self._caption = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins a table, a row or a cell."""
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        if tag in ("td", "th", "caption"):
            self._open = tag

    def handle_endtag(self, tag: str) -> None:
        """Ends a table or a cell."""
        if tag == "table":
            self.tables.setdefault(self._caption, self._rows[1:])
        if tag == self._open:
            self._open = ""

    def handle_data(self, data: str) -> None:
        """Adds to the cell or caption that is open."""
        if self._open == "caption":
            self._caption += data
        elif self._open:
            self._rows[-1][-1] += data


def number(shown: str) -> float:
    """Returns the number that a cell of the page shows."""
    plain = shown.replace(",", "").replace("\u2212", "-").replace("×", "").replace("∞", "inf")
    for unit, size in ((" %", 0.01), (" kB", 1e3), (" MB", 1e6), (" B", 1.0)):
        if plain.endswith(unit.replace(" ", "\u00a0")):
            return float(plain[: -len(unit)]) * size
    return float(plain)


@pytest.mark.parametrize(
    ("caption", "name"),
    [
        ("Scripts under default, most tokens first", "scripts-1"),
        ("Languages under default, most tokens first", "languages-1"),
        ("Languages under bytes, most tokens first", "languages-2"),
        ("Disparity of the same content", "disparity"),
        ("Premium over eng, dearest first", "premiums"),
        ("Bytes of the sample, raw and compressed", "compression"),
        ("Tokenizers", "tokenizers"),
        ("Records", "records"),
        ("Characters that cleaning removed", "removed"),
        ("Budget targets", "targets"),
    ],
)
def test_page_shows_the_tables(reported: dict[str, Any], caption: str, name: str) -> None:
    """Each cell of the page shows what the CSV file has, rounded."""
    rows = Cells(reported["page"]).tables[caption]
    assert len(rows) == len(reported["tables"][name]) > 0
    for shown, exact in zip(rows, reported["tables"][name], strict=True):
        for cell, value in zip(shown, exact.values(), strict=False):
            try:
                figure = float(value)
            except ValueError:
                assert cell == (value or "–")
                continue
            if cell == "<0.01\u00a0%":
                assert 0 < figure < 0.0001
            else:
                assert number(cell) == pytest.approx(figure, rel=0.006, abs=0.0006)
