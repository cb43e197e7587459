"""`byteroute export` and `byteroute check` as they are typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.check import check_command
from byteroute.pipelines.export import export_command
from click.testing import CliRunner, Result
from export_fixtures import make_documents, write_run
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

from byteroute_ops.errors import ByteRouteError, ConfigError
from byteroute_ops.tokenization import open_tokenizer

DOCUMENTS = make_documents(30)


def make_tokenizer(folder: Path, **changes: Any) -> str:
    """Saves a byte-level BPE with a model's configuration beside it, and returns the folder."""
    alphabet = {character: i for i, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=alphabet | {"al": 256}, merges=[("a", "l")]))
    pattern = changes.get("pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.pre_tokenizer = pattern
    tokenizer.add_special_tokens(changes.get("special", ["<s>", "</s>", "<pad>"]))
    if changes.get("bos"):
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 257)])
    if changes.get("truncation"):
        tokenizer.enable_truncation(8)
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"bos_token_id": 257, "eos_token_id": 258, "pad_token_id": 259, "vocab_size": 260}
    (folder / "config.json").write_text(json.dumps(config | changes.get("config", {})))
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tokenizer of the run."""
    return make_tokenizer(tmp_path_factory.mktemp("model") / "m")


@pytest.fixture(scope="module")
def run_dir(model: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run made with that tokenizer."""
    opened = open_tokenizer(model, engine="tokenizers")
    ids = Tokenizer.from_file(f"{model}/tokenizer.json")
    return write_run(
        tmp_path_factory.mktemp("run"),
        DOCUMENTS,
        tokenize=lambda text: ids.encode(text).ids,
        settings={"tokenizers": [model]},
        tokenizer=opened.fingerprint(),
    ).folder


def call(command: Any, *arguments: object) -> Result:
    """Runs a command; our own errors come out as they are."""
    result = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if isinstance(result.exception, ByteRouteError):
        raise result.exception
    return result


def test_export_by_token_text(run_dir: str, tmp_path: Path) -> None:
    """The EOS is looked up in the run's tokenizer; the manifest says what was written."""
    result = call(
        export_command, run_dir, "--to", "megatron", "--output", tmp_path / "o", "--eos", "</s>", "--bos", "<s>"
    )
    assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "o/manifest.json").read_bytes())
    assert (manifest["eos"], manifest["bos"], manifest["vocab_size"], manifest["dtype"]) == (258, 257, 260, "uint16")
    counts = manifest["splits"]["train"]
    assert f"train: {counts['documents']} documents, {counts['tokens']} ids" in result.output


def test_new_eos(run_dir: str, tmp_path: Path) -> None:
    """An EOS of its own takes the next id and makes the vocabulary one larger."""
    call(export_command, run_dir, "--to", "olmo", "--output", tmp_path / "o", "--eos", "new")
    manifest = json.loads((tmp_path / "o/manifest.json").read_bytes())
    assert (manifest["eos"], manifest["vocab_size"]) == (260, 261)


def test_eos_is_explicit(run_dir: str, tmp_path: Path) -> None:
    """There is no default EOS: leaving it out is wrong use."""
    result = call(export_command, run_dir, "--to", "megatron", "--output", tmp_path / "o")
    assert result.exit_code == 2
    assert "--eos" in result.output


def test_absent_eos_names_the_remedy(run_dir: str, tmp_path: Path) -> None:
    """An EOS of another model is refused, with this one's special tokens."""
    with pytest.raises(ConfigError, match=r"no token '<\|endoftext\|>'; its special tokens: .*'</s>'"):
        call(export_command, run_dir, "--to", "megatron", "--output", tmp_path / "o", "--eos", "<|endoftext|>")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("ids", "eos", "vocab_size", "dtype"), [("bytes", "<eos>", 260, "uint16"), ("raw-bytes", "none", 256, "uint8")]
)
def test_export_of_bytes(run_dir: str, tmp_path: Path, ids: str, eos: str, vocab_size: int, dtype: str) -> None:
    """Byte ids need no tokenizer file."""
    call(export_command, run_dir, "--to", "megatron", "--output", tmp_path / "o", "--ids", ids, "--eos", eos)
    manifest = json.loads((tmp_path / "o/manifest.json").read_bytes())
    assert (manifest["vocab_size"], manifest["dtype"], manifest["tokenizer"]["name"]) == (vocab_size, dtype, "bytes")


def test_lost_tokenizer(tmp_path: Path) -> None:
    """Where the run's tokenizer is gone, the message says how to name it."""
    run = write_run(tmp_path / "run", DOCUMENTS)
    with pytest.raises(ConfigError, match=r"toy\.json.*given with --tokenizer"):
        call(export_command, run.folder, "--to", "megatron", "--output", tmp_path / "o", "--eos", "x")


def test_check_of_run_and_export(run_dir: str, model: str, tmp_path: Path) -> None:
    """The tokenizer that made the shards belongs to them, and to their export; so does a copy saved again."""
    call(export_command, run_dir, "--to", "arrow", "--output", tmp_path / "o", "--eos", "</s>")
    again = make_tokenizer(tmp_path / "again")
    for tokenizer in (model, again):
        for folder in (run_dir, tmp_path / "o"):
            result = call(check_command, tokenizer, folder)
            assert (result.exit_code, result.output) == (0, "the shards and the tokenizer belong together\n")


OTHER = pre_tokenizers.ByteLevel(add_prefix_space=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pre_tokenizer": OTHER}, ["fingerprint-differs", "behavioural", "structural", "pre_tokenizer"]),
        ({"special": ["<s>", "<pad>", "</s>"]}, ["added_tokens", "special-ids-differ"]),
        ({"special": ["<s>", AddedToken("</s>", rstrip=True), "<pad>"]}, ["structural", "added_tokens"]),
        ({"bos": True}, ["behavioural", "post_processor"]),
        ({"truncation": True}, ["saved-truncation"]),
        ({"config": {"vocab_size": 257}}, ["ids-beyond-embedding"]),
        ({"config": {"pad_token_id": 258}}, ["pad-is-eos"]),
    ],
    ids=[
        "pre-tokenizer",
        "order of added tokens",
        "flag of an added token",
        "post-processor",
        "truncation",
        "rows",
        "pad",
    ],
)
def test_check_says_what_differs(run_dir: str, tmp_path: Path, changes: dict[str, Any], words: list[str]) -> None:
    """Public mismatches: the gate fails and names the part."""
    if "special-ids-differ" in words:
        special = {"eos_token": "</s>", "pad_token": "<pad>"}
        folder = make_tokenizer(tmp_path / "m", **changes)
        Path(folder, "tokenizer_config.json").write_text(json.dumps(special))
    else:
        folder = make_tokenizer(tmp_path / "m", **changes)
    result = call(check_command, folder, run_dir)
    assert result.exit_code == 1
    assert [word for word in words if word not in result.output] == []


def test_check_of_an_explained_pad(run_dir: str, tmp_path: Path) -> None:
    """With a reason, one id for pad and EOS passes, and the reason is shown."""
    folder = make_tokenizer(tmp_path / "m", config={"pad_token_id": 258})
    result = call(check_command, folder, run_dir, "--pad-is-eos", "masks come from lengths")
    assert result.exit_code == 0
    assert "note: pad-is-eos" in result.output
    assert "masks come from lengths" in result.output


def test_check_of_an_export_with_another_eos(run_dir: str, model: str, tmp_path: Path) -> None:
    """Documents that end with another id than the model stops at are found."""
    call(export_command, run_dir, "--to", "arrow", "--output", tmp_path / "o", "--eos", "<pad>")
    result = call(check_command, model, tmp_path / "o")
    assert result.exit_code == 1
    assert (
        "export-eos-differs: the export delimits documents with eos 259, the model's files say [258]" in result.output
    )


def test_check_of_bytes(run_dir: str, tmp_path: Path) -> None:
    """Exports of bytes belong to the tokenizer `bytes` and to no other."""
    call(export_command, run_dir, "--to", "arrow", "--output", tmp_path / "o", "--ids", "bytes", "--eos", "<eos>")
    assert call(check_command, "bytes", tmp_path / "o").exit_code == 0
    assert call(check_command, "bytes", run_dir).exit_code == 1


def test_check_without_tokenizer(run_dir: str, tmp_path: Path) -> None:
    """A path that is no tokenizer says what to give."""
    with pytest.raises(ConfigError, match=r"no such file; name a tokenizer\.json"):
        call(check_command, tmp_path / "none.json", run_dir)
