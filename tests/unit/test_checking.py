"""The consistency gate. Each case is one that users of other tools have been caught by in public."""

import json
from typing import Any

import pytest

from byteroute_ops import checking
from byteroute_ops.checking import Finding, TokenizerFacts
from byteroute_ops.errors import ConfigError

FACTS = TokenizerFacts(
    ids={"a": 0, "b": 1, "<s>": 2, "</s>": 3, "<pad>": 4}, special={"<s>": 2, "</s>": 3, "<pad>": 4}, size=5
)


def codes(findings: list[Finding], level: str = "error") -> list[str]:
    """The codes of the findings of a level."""
    return [finding.code for finding in findings if finding.level == level]


@pytest.mark.parametrize("vocab", [{"a": 0, "b": 1}, [["a", -1.0], ["b", -2.0]]], ids=["BPE or WordPiece", "Unigram"])
def test_facts_of_a_file(vocab: Any) -> None:
    """Size counts added tokens (where the model's own vocabulary does not), whatever the model."""
    added = [{"content": "<s>", "id": 5, "special": True}, {"content": "x", "id": 2, "special": False}]
    facts = TokenizerFacts.from_json(json.dumps({"model": {"vocab": vocab}, "added_tokens": added}))
    assert (facts.size, facts.special) == (6, {"<s>": 5})
    assert facts.ids == {"a": 0, "b": 1, "x": 2, "<s>": 5}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model": {"vocab": 3}}', '{"model": {"vocab": [3]}}', "null"])
def test_no_tokenizer_file(text: str) -> None:
    """What is not a tokenizer.json is a configuration error and shows no content."""
    with pytest.raises(ConfigError, match=r"not a tokenizer\.json"):
        TokenizerFacts.from_json(text)


@pytest.mark.parametrize(("token", "number"), [("</s>", 3), ("id:0", 0), ("none", None)])
def test_looking_up_a_delimiter(token: str, number: int | None) -> None:
    """A delimiter is a token, a number, or none."""
    assert FACTS.look_up(token, "--eos") == number


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (
            "<|endoftext|>",
            r"--eos: the vocabulary has no token '<\|endoftext\|>'; its special tokens: .*'</s>'.*--eos none",
        ),
        ("id:5", "--eos id:5: the vocabulary has 5 ids, the largest is 4"),
        ("id:x", "no token 'id:x'"),
    ],
)
def test_absent_delimiter_names_the_remedy(token: str, message: str) -> None:
    """A delimiter that is not there is answered with those that are."""
    with pytest.raises(ConfigError, match=message):
        FACTS.look_up(token, "--eos")


def test_files_agree() -> None:
    """Configuration that says the same in numbers, strings, mappings and lists has no findings."""
    configs = {
        "config.json": {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 4, "vocab_size": 8},
        "generation_config.json": {"eos_token_id": [3, 1], "pad_token_id": 4},
        "tokenizer_config.json": {
            "bos_token": "<s>",
            "eos_token": {"content": "</s>"},
            "added_tokens_decoder": {"2": {"content": "<s>"}},
        },
    }
    assert checking.check_special_ids(FACTS, configs) == []
    assert checking.check_pad(FACTS, configs) == []
    assert checking.check_embedding(FACTS, configs) == []


def test_bos_of_config_and_tokenizer_differ() -> None:
    """Transformers 17431: OPT's config.json had bos_token_id 0, its tokenizer 2."""
    configs = {"config.json": {"bos_token_id": 0}, "tokenizer_config.json": {"bos_token": "<s>"}}
    (finding,) = checking.check_special_ids(FACTS, configs)
    assert finding.code == "special-ids-differ"
    assert "bos: config.json: 0, tokenizer_config.json: 2" in finding.message


def test_pad_of_config_and_tokenizer_differ() -> None:
    """SELFormer 19: pad is 1 for the model and another id for the tokenizer."""
    configs = {"config.json": {"pad_token_id": 1}, "special_tokens_map.json": {"pad_token": {"content": "<pad>"}}}
    assert codes(checking.check_special_ids(FACTS, configs)) == ["special-ids-differ"]


def test_special_token_without_id() -> None:
    """A special token that only the configuration knows has no id: it would be split into pieces."""
    assert codes(checking.check_special_ids(FACTS, {"tokenizer_config.json": {"unk_token": "<unk>"}})) == [
        "special-token-absent"
    ]


def test_added_token_at_another_id() -> None:
    """Lightning 12612: saved and loaded again, an added token has another id."""
    decoder = {"3": {"content": "</s>"}, "7": {"content": "<pad>"}}
    (finding,) = checking.check_special_ids(FACTS, {"tokenizer_config.json": {"added_tokens_decoder": decoder}})
    assert finding.code == "added-token-differs"
    assert "at 7, tokenizer.json has it at 4" in finding.message


def test_added_tokens_beyond_the_embedding() -> None:
    """InternLM 715: added tokens have ids for which the model has no row."""
    (finding,) = checking.check_embedding(FACTS, {"config.json": {"vocab_size": 4}})
    assert finding.code == "ids-beyond-embedding"
    assert "vocab_size 4, the tokenizer's largest id is 4" in finding.message


def test_pad_is_eos() -> None:
    """One id for pad and EOS is an error until somebody explains it; then it is a note with the reason."""
    configs = {"config.json": {"pad_token_id": 3, "eos_token_id": 3}}
    assert codes(checking.check_pad(FACTS, configs)) == ["pad-is-eos"]
    explained = checking.check_pad(FACTS, configs, explanation="masks come from lengths")
    assert codes(explained) == []
    assert "masks come from lengths" in explained[0].message


@pytest.mark.parametrize("name", ["truncation", "padding"])
def test_saved_state(name: str) -> None:
    """Truncation or padding that was saved into the file changes ids of long or short texts."""
    config = {"model": {"vocab": {"a": 0}}, name: {"max_length": 512}}
    assert codes(checking.check_saved_state(TokenizerFacts.from_json(json.dumps(config)))) == [f"saved-{name}"]


ENTRY = {"name": "x", "engine": "gigatoken", "kind": "BPE", "vocab_size": 5, "structural": "s", "behavioural": "b"}


def test_same_tokenizer_under_another_name() -> None:
    """Name and engine do not decide ids."""
    assert checking.check_fingerprint(ENTRY, ENTRY | {"name": "y", "engine": "tokenizers"}) == []


@pytest.mark.parametrize("key", ["vocab_size", "structural", "behavioural", "add_special_tokens", "offset"])
def test_another_tokenizer(key: str) -> None:
    """Whatever decides ids is compared, and named where it differs."""
    (finding,) = checking.check_fingerprint(ENTRY, ENTRY | {key: "other"}, parts=["pre_tokenizer"])
    assert f"different: {key}, pre_tokenizer;" in finding.message


def test_parts_that_differ() -> None:
    """Of two files, the parts that decide ids are compared one by one."""
    one = {"model": {"vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"pattern": "1"}, "decoder": 1}
    other = {"model": {"vocab": {"a": 0}, "merges": ["a a"]}, "pre_tokenizer": {"pattern": "2"}, "decoder": 2}
    assert checking.different_parts(one, other) == ["model.merges", "pre_tokenizer"]


@pytest.mark.parametrize(("largest", "expected"), [(None, []), (4, []), (5, ["id-beyond-vocabulary"])])
def test_largest_id_of_the_shards(largest: int | None, expected: list[str]) -> None:
    """An id that the tokenizer does not have cannot be its own."""
    assert codes(checking.check_largest_id(largest, FACTS)) == expected


@pytest.mark.parametrize(
    ("export", "expected"),
    [
        ({"eos": 3, "bos": 2, "vocab_size": 5}, []),
        ({"eos": None, "bos": None, "vocab_size": 6}, []),
        ({"eos": 1, "bos": 2, "vocab_size": 5}, ["export-eos-differs"]),
        ({"eos": 3, "bos": 0, "vocab_size": 5}, ["export-bos-differs"]),
        ({"eos": 3, "bos": 2, "vocab_size": 7}, ["export-vocabulary-differs"]),
    ],
)
def test_delimiters_of_an_export(export: dict[str, Any], expected: list[str]) -> None:
    """Datatrove 489: documents delimited by another model's EOS. Ids must have rows in the model, too."""
    configs = {"config.json": {"eos_token_id": 3, "bos_token_id": 2, "vocab_size": 6}}
    assert codes(checking.check_delimiters(export, FACTS, configs)) == expected
