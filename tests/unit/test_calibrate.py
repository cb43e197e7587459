"""The command `byteroute calibrate`: routes what saves in both halves, and nothing that a script pays for."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import plain_tokenization as plain
import pytest
from byteroute.pipelines.cli import main
from byteroute.pipelines.options import gather_settings
from click.testing import CliRunner, Result

from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.processing import Processor
from byteroute_ops.settings import Settings

ENOUGH = ("--replicates", "200")
SENTENCES = {
    "Ethi": "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።",
    "Tfng": "ⴰⵔ ⴷ ⵜⵜⵍⴰⵍⵏ ⵎⵉⴷⴷⵏ ⴳⴰⵏ ⵉⵍⴻⵍⵍⵉⵜⵏ ⵎⴳⴰⴷⴷⴰⵏ ⵖ ⵡⴰⴷⴷⵓⵔ",
    "Cyrl": "Все люди рождаются свободными и равными в своем достоинстве и правах",
    "Latn": "All human beings are born free and equal in dignity and rights",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักด",
    "Hani": "人人生而自由在尊严和权利上一律平等他们赋有理性和良心",
    "Yiii": "ꊿꂷꃅꄿꐨꐥꌅꅍꂱꀕꏡꀗꏦꐥꐊꊨꏦꏢꆹꃅꌋꆀ",
}


def invoke(*arguments: str | Path) -> Result:
    """Returns what a command did."""
    return CliRunner().invoke(main, [str(one) for one in arguments])


def write(file: Path, texts: Iterable[tuple[str, str]]) -> Path:
    """Writes documents as JSON lines."""
    lines = [json.dumps({"id": f"{lang}-{i}", "text": text, "lang": "und"}) for i, (lang, text) in enumerate(texts)]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For each script 80 documents, one in three of them with English words between."""
    texts = []
    for i in range(80):
        for script, sentence in SENTENCES.items():
            words = sentence.split()
            turned = words[i % len(words) :] + words[: i % len(words)]
            texts.append((script, (" and so on " if i % 3 == 0 else " ").join(turned * (1 + i % 2))))
    return write(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", texts)


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level BPE that has learnt one English word: every other byte is a token."""
    config = plain.byte_level(added_tokens=[])
    vocab = {char: byte for byte, char in enumerate(BYTE_ALPHABET)}
    merges = [["a", "n"], ["an", "d"], ["Ġ", "and"]]
    vocab |= {"".join(pair): 256 + i for i, pair in enumerate(merges)}
    config["model"] |= {"vocab": vocab, "merges": merges}
    file = tmp_path_factory.mktemp("tokenizer") / "small.json"
    file.write_text(json.dumps(config), "utf-8")
    return file


@pytest.fixture(scope="module")
def policy(corpus: Path, untrained: Path) -> Path:
    """What was found for it on half of the documents."""
    file = untrained.with_name("auto.json")
    done = invoke("calibrate", corpus, "--tokenizer", untrained, "--sample", "0.5", *ENOUGH, "-o", file)
    assert (done.exit_code, done.exception) == (0, None)
    assert "policy auto-small" in done.stdout
    return file


def test_three_byte_scripts_are_routed_and_others_are_not(policy: Path) -> None:
    """Where each byte is a token, scripts of three bytes a character save in UTF-16, and those of one or two do not."""
    found = load_policy(json.loads(policy.read_bytes()))
    routed = json.loads(policy.read_bytes())["scripts"]
    assert {"Ethi", "Tfng", "Thai", "Hani", "Yiii"} == routed.keys()
    assert found.name == "auto-small"
    assert found.evidence is not None


def test_evidence_is_complete(policy: Path) -> None:
    """The file says on what it rests: sample, halves, tokenizer, markers, and figures of every script."""
    evidence = json.loads(policy.read_bytes())["evidence"]
    sample = evidence["sample"]
    assert sample["documents"] == sample["choose"] + sample["confirm"] > 200
    assert len(sample["sha256"]) == len(evidence["tokenizer_fingerprint"]) == 64
    assert evidence["stream"] == {"framing": "control", "profile": "bytes", "barrier": False}
    findings = {one["script"]: one for one in evidence["findings"]}
    assert SENTENCES.keys() <= findings.keys()
    for script, one in findings.items():
        if one["routed"]:
            assert min(one["choose"]["low"], one["confirm"]["low"]) > 0, script
        else:
            assert one["reason"]


def test_nothing_gets_worse_on_documents_held_back(corpus: Path, policy: Path, untrained: Path, tmp_path: Path) -> None:
    """On the other half nothing costs more beyond the interval, and what is routed saves."""
    file = tmp_path / "held.json"
    arguments = ("--tokenizer", untrained, "--sample", "0.5", "--held-back", "--policy", policy, *ENOUGH)
    assert invoke("compare", corpus, *arguments, "--json", file, "--quiet").exit_code == 0
    rows = [row for row in json.loads(file.read_bytes())["rows"] if row["tokenizer"] == "small"]
    assert [row["name"] for row in rows if row["verdict"] == "more"] == []
    verdicts = {row["name"]: row["verdict"] for row in rows if row["kind"] == "script"}
    assert {name for name, verdict in verdicts.items() if verdict == "fewer"} == {
        "Ethi",
        "Tfng",
        "Thai",
        "Hani",
        "Yiii",
    }


def test_the_file_works_with_its_tokenizer_only(policy: Path, untrained: Path, tmp_path: Path) -> None:
    """A run takes the file for the tokenizer it was made for, under any name, and refuses others and other markers."""
    renamed = tmp_path / "renamed.json"
    renamed.write_bytes(untrained.read_bytes())
    settings = gather_settings(None, {"policy": str(policy), "tokenizers": (str(renamed),)})
    assert Processor(settings).router.policy.name == "auto-small"
    with pytest.raises(ConfigError, match="calibrated for the tokenizer"):
        Processor(settings.model_copy(update={"tokenizers": ("default",)}))
    with pytest.raises(ConfigError, match="calibrated for streams with"):
        Processor(settings.model_copy(update={"framing": "bom"}))


def test_calibration_is_reproducible(corpus: Path, policy: Path, untrained: Path, tmp_path: Path) -> None:
    """The same command writes the same bytes."""
    again = tmp_path / "again.json"
    arguments = ("--tokenizer", untrained, "--sample", "0.5", *ENOUGH, "--name", "auto-small")
    assert invoke("calibrate", corpus, *arguments, "-o", again, "--quiet").exit_code == 0
    assert again.read_bytes() == policy.read_bytes()


def test_a_script_that_loses_inside_another_report_class_is_not_routed(untrained: Path, tmp_path: Path) -> None:
    """Han that saves in Chinese is left alone where it would make Japanese cost more."""
    chinese = [("zh", "人人生而自由在尊严和权利上一律平等" * (1 + i % 3)) for i in range(60)]
    # Short stretches of Han between Latin letters, inside a Japanese whole: markers cost more than they save.
    japanese = [("ja", "かaな人aかbな権cか" * (3 + i % 3)) for i in range(60)]
    file = write(tmp_path / "mixed.jsonl", [*chinese, *japanese])
    out = tmp_path / "auto.json"
    assert invoke("calibrate", file, "--tokenizer", untrained, *ENOUGH, "-o", out).exit_code == 0
    compared = tmp_path / "c.json"
    assert (
        invoke("compare", file, "--tokenizer", untrained, "--policy", out, *ENOUGH, "--json", compared).exit_code == 0
    )
    rows = json.loads(compared.read_bytes())["rows"]
    assert [row["name"] for row in rows if row["tokenizer"] == "small" and row["verdict"] == "more"] == []


def test_byte_models_can_be_calibrated_for(corpus: Path, tmp_path: Path) -> None:
    """With the bytes engine, bytes are what counts, and the policy is bound to it."""
    out = tmp_path / "auto.json"
    done = invoke("calibrate", corpus, "--routed-engine", "bytes", *ENOUGH, "-o", out, "--quiet")
    assert done.exit_code == 0
    content: dict[str, Any] = json.loads(out.read_bytes())
    assert content["scripts"].keys() == {"Ethi", "Tfng", "Thai", "Hani", "Yiii"}
    Processor(Settings(policy=content, routed_engine="bytes"))
    with pytest.raises(ConfigError, match="calibrated for the tokenizer"):
        Processor(Settings(policy=content))


def test_wrong_use(corpus: Path, tmp_path: Path) -> None:
    """Several tokenizers, or one without routed ids, are exit 2 with what to do."""
    out = tmp_path / "auto.json"
    done = invoke("calibrate", corpus, "--tokenizer", "default", "--tokenizer", "bytes", "-o", out)
    assert (done.exit_code, "one --tokenizer" in done.stderr) == (2, True)
    file = tmp_path / "wordpiece.json"
    file.write_text(json.dumps(plain.wordpiece()), "utf-8")
    done = invoke("calibrate", corpus, "--tokenizer", file, "-o", out)
    assert (done.exit_code, "no routed ids" in done.stderr) == (2, True)
    assert not out.exists()
