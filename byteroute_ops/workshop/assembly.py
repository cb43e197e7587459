"""Changes to the parsed JSON of a tokenizer that keep all its parts consistent."""

from collections.abc import Callable
from typing import Any, Final

_BELOW: Final = 10.0
"""Byte tokens of a Unigram score so far below all others (log probability): they are for fallback alone."""


def with_byte_tokens(config: dict[str, Any], *, after: int, unknown: str) -> None:
    """Puts the 256 tokens of byte fallback into a BPE or Unigram, in place.

    They are no added tokens: those would be searched for in texts.

    Args:
        config: the JSON of a tokenizer.
        after: the id of the first of them; ids from there on move up by 256.
        unknown: the unknown token, which falls back.
    """
    model = config["model"]
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    if model["type"] == "Unigram":
        score = min(score for _, score in model["vocab"]) - _BELOW
        model["vocab"][after:after] = [[name, score] for name in names]
    else:
        moved = {token: index + 256 * (index >= after) for token, index in model["vocab"].items()}
        vocab = moved | {name: after + byte for byte, name in enumerate(names)}
        model["vocab"] = dict(sorted(vocab.items(), key=lambda item: item[1]))
        model["unk_token"] = unknown
    model["byte_fallback"] = True
    for token in config["added_tokens"]:
        token["id"] += 256 * (token["id"] >= after)


def renumber(config: dict[str, Any], new_id: Callable[[int], int]) -> dict[str, Any]:
    """Returns the JSON of a tokenizer with other ids in everything that stands beside the model.

    Args:
        config: the JSON.
        new_id: old id → new id, for the ids of added tokens and of the post-processor.
    """
    added = [token | {"id": new_id(token["id"])} for token in config.get("added_tokens") or []]
    post = _renumbered_post(config.get("post_processor"), new_id)
    return config | {"added_tokens": sorted(added, key=lambda token: token["id"]), "post_processor": post}


def _renumbered_post(post: Any, new_id: Callable[[int], int]) -> Any:
    if post is None:
        return None
    if post["type"] == "Sequence":
        return post | {"processors": [_renumbered_post(one, new_id) for one in post["processors"]]}
    if post["type"] == "TemplateProcessing":
        special = {
            name: one | {"ids": [new_id(index) for index in one["ids"]]} for name, one in post["special_tokens"].items()
        }
        return post | {"special_tokens": special}
    # BertProcessing and RobertaProcessing hold pairs of token and id.
    pairs = {key: [post[key][0], new_id(post[key][1])] for key in ("sep", "cls") if key in post}
    return post | pairs
