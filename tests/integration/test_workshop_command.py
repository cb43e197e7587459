"""`byteroute tokenizer train|bench|audit|prune` as they are typed, on the small UDHR."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from byteroute.pipelines.cli import main
from byteroute.pipelines.workshop import open_corpus
from byteroute.pipelines.workshop_bench import bench
from click.testing import CliRunner, Result
from tokenizers import Tokenizer as Library

from byteroute_ops.routing import Router
from byteroute_ops.settings import load_settings
from byteroute_ops.tokenization import open_tokenizer


def call(*arguments: object, code: int = 0) -> Result:
    """Runs the command and checks its exit code."""
    result = CliRunner().invoke(main, ["tokenizer", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def corpus(data_dir: Path) -> Path:
    """Articles of human rights in several scripts."""
    return data_dir / "udhr_small.jsonl"


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tokenizers of one size, on text and on routed bytes with the same pre-tokens, and a Unigram."""
    folder = tmp_path_factory.mktemp("trained")
    kinds: dict[str, tuple[str, ...]] = {
        "text": ("--cuts", "segments"),
        "routed": ("--on", "routed"),
        "unigram": ("--kind", "unigram"),
    }
    for name, options in kinds.items():
        call("train", corpus, "-o", folder / name, "--size", 800, "--temperature", 3, *options)
    return {name: folder / name for name in kinds}


def test_training_says_what_it_was_trained_on(trained: dict[str, Path], corpus: Path) -> None:
    """training.json has the languages and characters; with all of the corpus allowed, all of it is taken."""
    report = json.loads((trained["routed"] / "training.json").read_bytes())
    texts = [json.loads(line)["text"] for line in corpus.read_text("utf-8").splitlines()]
    assert (report["on"], report["cuts"], report["size"]) == ("routed", "segments", 800)
    assert report["trained_on"]["characters"] == sum(report["trained_on"]["by_language"].values())
    assert 0.95 * sum(map(len, texts)) < report["trained_on"]["characters"] <= sum(map(len, texts))


def test_characters_and_weights_bound_the_sample(corpus: Path, tmp_path: Path) -> None:
    """A weights file leaves languages out, and the sample stays within its size."""
    first = json.loads(corpus.read_text("utf-8").splitlines()[0])["lang"]
    (tmp_path / "weights.json").write_text(json.dumps({first: 2}))
    call(
        "train",
        corpus,
        "-o",
        tmp_path / "t",
        "--size",
        300,
        "--weights",
        tmp_path / "weights.json",
        "--characters",
        900,
    )
    facts = json.loads((tmp_path / "t" / "training.json").read_bytes())["trained_on"]
    assert list(facts["by_language"]) == [first]
    assert 0 < facts["characters"] <= 900


def test_too_little_text_is_said(corpus: Path, tmp_path: Path) -> None:
    """A sample that cannot fill the vocabulary gives a smaller one, and the command says so."""
    result = call("train", corpus, "-o", tmp_path / "t", "--size", 30_000, "--characters", 20_000)
    report = json.loads((tmp_path / "t" / "training.json").read_bytes())
    assert 257 < report["ids"] < report["size"]
    assert "too little" in result.output
    vocab_size = open_tokenizer(tmp_path / "t", engine="tokenizers").vocab_size
    assert vocab_size == report["ids"]


def test_an_empty_sample_is_refused(corpus: Path, tmp_path: Path) -> None:
    """A size that gives no language a document is an error, not a tokenizer without merges."""
    assert "--characters" in call("train", corpus, "-o", tmp_path / "t", "--characters", 50, code=2).output
    assert not (tmp_path / "t").exists()


def test_parallel_is_for_parity_alone(corpus: Path, tmp_path: Path) -> None:
    """A balance that would be ignored is refused."""
    assert "parity-bpe" in call("train", corpus, "-o", tmp_path, "--parallel", corpus, code=2).output


def test_parity_wants_parallel_text(corpus: Path, tmp_path: Path) -> None:
    """Without --parallel it is refused; with the corpus itself it trains."""
    options = ("train", corpus, "-o", tmp_path / "p", "--kind", "parity-bpe", "--size", 320)
    assert "--parallel" in call(*options, code=2).output
    call(*options, "--parallel", corpus)
    assert open_tokenizer(tmp_path / "p", engine="tokenizers").vocab_size == 320


def test_bench_compares_text_and_routed(trained: dict[str, Path], corpus: Path, tmp_path: Path) -> None:
    """The table names each tokenizer; figures agree with tokens counted one text at a time."""
    out = tmp_path / "bench.json"
    specs = ("-t", trained["text"], "-t", f"routed:{trained['routed']}", "-t", trained["unigram"])
    result = call("bench", corpus, *specs, "--json", out, "--limit", 40)
    assert "routed (routed)" in result.output
    report = json.loads(out.read_bytes())
    texts = [json.loads(line)["text"] for line in corpus.read_text("utf-8").splitlines()][:40]
    library = Library.from_file(str(trained["unigram"] / "tokenizer.json"))
    row = report["tokenizers"][2]
    assert row["documents"] == 40
    assert row["tokens"] == sum(len(library.encode(text).ids) for text in texts)
    assert report["cpu"]
    assert report["threads"] == 1
    assert all(0 < one["utilisation"] <= 1 and 0 < one["renyi_efficiency"] < 1 for one in report["tokenizers"])


def test_cut_at_segments_is_at_least_as_long(trained: dict[str, Path], corpus: Path) -> None:
    """Pre-tokens cut at segments too never give fewer tokens than the expression's own, and premiums are there."""

    def run(cuts: Any) -> list[dict[str, Any]]:
        opened = open_corpus([str(corpus)], load_settings({}))
        specs = [str(trained["text"]), f"routed:{trained['routed']}"]
        key = {"parallel_key": r"(?P<unit>art\d+)$", "reference": "en"}
        return list(bench(opened, specs, router=Router(), cuts=cuts, **key)["tokenizers"])

    served, cut = run("served"), run("segments")
    assert cut[0]["tokens"] >= served[0]["tokens"]
    assert cut[0]["sentences_per_second"] is None
    for row in (*served, *cut):
        assert row["parallel"]["premium"]["en"] == 1
        assert 0 <= row["parallel"]["gini"] < 1
        assert row["parallel"]["total"] <= row["tokens"]


def test_bench_refuses_routed_ids_of_other_models(trained: dict[str, Path], corpus: Path) -> None:
    """A Unigram has no ids for routed bytes: exit 2, and why."""
    assert "no routed ids" in call("bench", corpus, "-t", f"routed:{trained['unigram']}", code=2).output


def test_audit_prints_and_writes(trained: dict[str, Path], corpus: Path, tmp_path: Path) -> None:
    """The report sums to the vocabulary, and the wasted bytes follow from the unused ids."""
    out = tmp_path / "audit.json"
    result = call("audit", trained["text"], corpus, "--width", 64, "--dtype", "float32", "--json", out)
    assert "never used" in result.output
    report = json.loads(out.read_bytes())
    assert sum(row["n_ids"] for row in report["scripts"]) == report["ids"] == 800
    assert report["unused_bytes"] == len(report["unused"]) * 64 * 4 * 2
    assert report["embedding_and_head_bytes"] == 800 * 64 * 4 * 2


@pytest.mark.parametrize("name", ["text", "unigram", "default"])
def test_prune_keeps_ids_where_nothing_was_pruned(
    name: str, trained: dict[str, Path], corpus: Path, tmp_path: Path
) -> None:
    """Every document without a pruned token has equal ids through the written map, on both halves."""
    spec = "default" if name == "default" else trained[name]
    call("prune", spec, corpus, "-o", tmp_path / "small", "--min-count", 2)
    report = json.loads((tmp_path / "small" / "report.json").read_bytes())
    kept = json.loads((tmp_path / "small" / "id_map.json").read_bytes())["kept"]
    assert report["new_size"] == len(kept) < report["old_size"]
    for half in ("counted", "held_back"):
        assert report[half]["equal"] == report[half]["untouched"]
        assert report[half]["documents"] > 0
    assert report["counted"]["change"] >= 0
    old = open_tokenizer(spec, engine="tokenizers", add_special_tokens=False)
    new = open_tokenizer(tmp_path / "small", engine="tokenizers", add_special_tokens=False)
    place = {old_id: new_id for new_id, old_id in enumerate(kept)}
    texts = pa.array([json.loads(line)["text"] for line in corpus.read_text("utf-8").splitlines()])
    before, after = old.text(texts, spans=False), new.text(texts, spans=False)
    n_same = 0
    for d in range(len(texts)):
        ids = before.ids[before.doc_offsets[d] : before.doc_offsets[d + 1]].tolist()
        if all(one in place for one in ids):
            n_same += 1
            assert [place[one] for one in ids] == after.ids[after.doc_offsets[d] : after.doc_offsets[d + 1]].tolist()
    assert n_same == report["counted"]["untouched"] + report["held_back"]["untouched"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--where", "lang"), "FIELD=VALUE"),
        (("--match", "("), "no regular expression"),
        (("--match", "no such id"), "holds no document"),
        (("--parallel-key", "x"), "no group"),
        (("--parallel-key", "(?P<unit>zzz)"), "matches no document"),
        (("--parallel-key", "(?P<unit>art)"), "more than once"),
    ],
)
def test_wrong_use_is_exit_2(options: tuple[str, ...], message: str, corpus: Path) -> None:
    """What cannot be meant is refused with what to do."""
    assert message in call("bench", corpus, "-t", "default", *options, code=2).output
