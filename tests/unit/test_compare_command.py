"""The command `byteroute compare` on small corpora: figures equal a run's, files and tables say the same."""

import csv
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from byteroute.pipelines.cli import main
from byteroute.pipelines.compare_documents import Batch
from byteroute.pipelines.compare_measure import Bench, document_values
from byteroute.pipelines.plan import find_inputs, make_ranges
from click.testing import CliRunner, Result
from integration_support import do_ranges

from byteroute_ops.comparison import expanded_tail, poisson_weights
from byteroute_ops.files import LocalFiles
from byteroute_ops.jobs import Job
from byteroute_ops.policy import load_policy
from byteroute_ops.range_worker import read_range_record
from byteroute_ops.routing import route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.settings import Settings
from byteroute_ops.tokenization import open_tokenizer
from byteroute_ops.trial import Variant

ENOUGH = ("--replicates", "100")


def invoke(*arguments: str | Path) -> Result:
    """Returns what a command did."""
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def corpus(data_dir: Path) -> Path:
    """UDHR articles in a few scripts."""
    return data_dir / "udhr_small.jsonl"


@pytest.fixture(scope="module")
def compared(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two policies, with and without markers."""
    file = tmp_path_factory.mktemp("compared") / "all.json"
    policies = ("--policy", "script-b", "--policy", "min-bytes", "--framing", "control", "--framing", "none")
    done = invoke("compare", corpus, *policies, *ENOUGH, "--json", file, "--csv", file.with_suffix(".csv"))
    assert (done.exit_code, done.exception) == (0, None)
    return json.loads(file.read_bytes()) | {"csv": file.with_suffix(".csv").read_text("utf-8"), "shown": done.stdout}


def rows(compared: dict[str, Any], **wanted: Any) -> dict[str, dict[str, Any]]:
    """Returns the rows with these values, by name."""
    found = [row for row in compared["rows"] if all(row[key] == value for key, value in wanted.items())]
    assert len({row["name"] for row in found}) == len(found) > 0
    return {row["name"]: row for row in found}


def budget_of(corpus: Path, output: Path, policy: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the script and language budgets of a run."""
    settings = Settings(policy=policy)
    inputs = find_inputs([str(corpus)], LocalFiles())
    ranges = make_ranges(inputs, settings, LocalFiles())
    do_ranges(Job(settings=settings, input_root=inputs.root, output=str(output)), ranges)
    assert len(ranges) == 1
    record = read_range_record(LocalFiles(), str(output), 0)
    assert record is not None
    return record.budget.script_table().to_pylist(), record.budget.language_table().to_pylist()


@pytest.mark.parametrize("policy", ["script-b", "min-bytes"])
def test_figures_are_those_of_a_run(corpus: Path, compared: dict[str, Any], policy: str, tmp_path: Path) -> None:
    """Every count of a script or language equals the budget of a run; of scripts, edges aside."""
    scripts, languages = budget_of(corpus, tmp_path, policy)
    common = {"tokenizer": "default", "policy": policy, "framing": "control"}
    counts = ("documents", "n_codepoints", "n_utf8_bytes", "n_routed_bytes", "n_text_tokens")
    by_lang = rows(compared, kind="lang", **common)
    assert by_lang.keys() == {row["lang"] for row in languages}
    for row in languages:
        found = by_lang[row["lang"]]
        assert {name: found[name] for name in (*counts, "n_routed_tokens")} == {
            name: row[name] for name in (*counts, "n_routed_tokens")
        }
    by_script = rows(compared, kind="script", **common)
    assert by_script.keys() == {row["script"] for row in scripts}
    for row in scripts:
        found = by_script[row["script"]]
        assert {name: found[name] for name in counts} == {name: row[name] for name in counts}
        assert found["n_routed_tokens"] - found["n_edge_tokens"] == row["n_routed_tokens"]
    assert sum(row["n_edge_tokens"] for row in by_script.values()) == 0


def test_byte_models_are_compared_without_being_asked_for(compared: dict[str, Any]) -> None:
    """The rows of byte models count bytes, and their savings are the byte savings of every other row."""
    common = {"kind": "script", "policy": "script-b", "framing": "control"}
    in_bytes, in_tokens = rows(compared, tokenizer="bytes", **common), rows(compared, tokenizer="default", **common)
    for name, row in in_bytes.items():
        assert row["world"] == "byte"
        assert (row["n_text_tokens"], row["n_routed_tokens"]) == (row["n_utf8_bytes"], row["n_routed_bytes"])
        assert row["saving"] == row["byte_saving"] == in_tokens[name]["byte_saving"]


def test_markers_cost(compared: dict[str, Any]) -> None:
    """Without markers every script that is routed costs less than with them."""
    common = {"kind": "script", "policy": "script-b", "tokenizer": "default"}
    with_markers, without = (rows(compared, framing=framing, **common) for framing in ("control", "none"))
    routed = [name for name, row in with_markers.items() if row["n_routed_bytes"] != row["n_utf8_bytes"]]
    assert routed
    for name in routed:
        assert without[name]["n_routed_tokens"] < with_markers[name]["n_routed_tokens"]


def test_csv_and_tables_have_the_rows(compared: dict[str, Any]) -> None:
    """The CSV has the rows of the JSON; the tables name tokenizers, policies and what the signs mean."""
    table = list(csv.DictReader(compared["csv"].splitlines()))
    assert [row["name"] for row in table] == [row["name"] for row in compared["rows"]]
    assert [row["n_routed_tokens"] for row in table] == [str(row["n_routed_tokens"]) for row in compared["rows"]]
    for words in ("tokenizer default, frozen: tokens by script", "byte models", "min-bytes (none)", "within the noise"):
        assert words in compared["shown"]


def test_batches_and_order_of_reading_change_nothing(corpus: Path, compared: dict[str, Any], tmp_path: Path) -> None:
    """In many batches, compressed or not, the rows are the same to the last digit."""
    texts = [json.loads(line) for line in corpus.read_text("utf-8").splitlines()]
    langs = pa.array([one["lang"] for one in texts])
    keys = np.arange(len(texts)).astype(np.uint64)
    variant = Variant(load_policy("script-b"))
    bench = Bench({"default": open_tokenizer("default")}, [variant])
    batch = Batch(pa.array([one["text"] for one in texts]), langs, keys)
    whole = document_values(bench.measure(batch))
    parts = [document_values(bench.measure(batch.take(np.array([doc])))) for doc in range(len(texts))]
    assert np.array_equal(whole, np.concatenate(parts, axis=1))
    shutil.copy(corpus, tmp_path / corpus.name)
    again = tmp_path / "again.json"
    arguments = ("--policy", "script-b", "--policy", "min-bytes", "--framing", "control", "--framing", "none")
    assert invoke("compare", tmp_path / corpus.name, *arguments, *ENOUGH, "--json", again, "--quiet").exit_code == 0
    assert json.loads(again.read_bytes())["rows"] == compared["rows"]


def test_interval_recomputed(corpus: Path, compared: dict[str, Any]) -> None:
    """The interval of the total equals a plain recomputation, one document at a time."""
    tokenizer, router = open_tokenizer("default"), Variant(load_policy("script-b")).router()
    [row] = rows(compared, kind="total", tokenizer="default", policy="script-b", framing="control").values()
    keys: list[int] = []
    counts: list[tuple[int, int]] = []
    position = 0
    for line in corpus.read_bytes().splitlines(keepends=True):
        texts = pa.array([json.loads(line)["text"]])
        stream = tokenizer.routed(route_segmentation(segment_batch(texts), router))
        assert stream is not None
        counts.append((int(tokenizer.text(texts).counts[0]), int(stream.counts[0])))
        digest = hashlib.blake2b(f"{corpus.name}\0{position}".encode(), digest_size=8).digest()
        keys.append(int.from_bytes(digest, "big"))
        position += len(line)
    weights = poisson_weights(np.array(keys, np.uint64), 100).astype(np.int64)
    base, other = np.array(counts).T @ weights
    tail = expanded_tail(0.95, len(keys))
    low, high = np.quantile(1 - other / base, [tail, 1 - tail])
    assert (row["saving_low"], row["saving_high"]) == pytest.approx((low, high))


def test_held_back_takes_the_rest(corpus: Path, tmp_path: Path) -> None:
    """A sample and what is held back are all documents, each once."""
    counts = []
    for extra in ((), ("--sample", "0.4"), ("--sample", "0.4", "--held-back")):
        file = tmp_path / "found.json"
        done = invoke("compare", corpus, "--policy", "utf-8", *ENOUGH, *extra, "--json", file, "--quiet")
        assert done.exit_code == 0
        counts.append(json.loads(file.read_bytes())["documents"])
    assert counts[0] == counts[1] + counts[2]
    assert min(counts) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--held-back",), "--held-back needs --sample"),
        (("--policy", "auto"), "run `byteroute calibrate`"),
        (("--policy", "script-a", "--policy", "script-a"), "two are called script-a"),
        (("--barrier", "--framing", "text"), "barrier C0 80 is not valid UTF-8"),
    ],
)
def test_wrong_use(corpus: Path, arguments: tuple[str, ...], message: str) -> None:
    """What cannot be compared is exit 2 with a message that says what to do."""
    done = invoke("compare", corpus, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_parquet_input(corpus: Path, tmp_path: Path) -> None:
    """Inputs are those of a run: here Parquet, with a limit."""
    records = [json.loads(line) for line in corpus.read_text("utf-8").splitlines()]
    pq.write_table(
        pa.Table.from_pylist([{k: one[k] for k in ("id", "text", "lang")} for one in records]), tmp_path / "a.parquet"
    )
    done = invoke("compare", tmp_path / "a.parquet", "--limit", "7", *ENOUGH, "--json", tmp_path / "o.json")
    assert done.exit_code == 0
    assert json.loads((tmp_path / "o.json").read_bytes())["documents"] == 7
