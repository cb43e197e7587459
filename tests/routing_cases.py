"""Texts and settings that the routing tests share."""

from hypothesis import strategies as st

from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router

ARTICLE_POLICY = {
    "cjk": {"ranges": [[0x4E00, 0x9FFF], [0x0E00, 0x0EFF], [0xE000, 0xFFFF]], "encoding": "utf-16-be"},
    "indic": {
        "ranges": [[0x0900, 0x0FFF], [0xA4D0, 0xA4FF], [0x20, 0x20], [0x1F300, 0x1FFFF]],
        "encoding": "utf-16-le",
    },
    "default": "utf-8",
}
ALL_LITTLE = {"name": "all-little", "kind": "scripts", "default": "utf-16-le", "scripts": {}}

POLICIES = [
    *map(load_policy, ("utf-8", "script-a", "script-b", "script-c", "min-bytes")),
    load_policy(ARTICLE_POLICY),
    load_policy(ALL_LITTLE),
]
SETTINGS = [
    ("control", "bytes", False),
    ("control", "bytes", True),
    ("bom", "bytes", False),
    ("bom", "bytes", True),
    ("control", "text", False),
]
ROUTERS = [Router(policy, *settings) for policy in POLICIES for settings in SETTINGS]
MIN_BYTES = [Router(load_policy("min-bytes"), *settings) for settings in SETTINGS]

# Scripts of each width, marks, joiners, emoji parts, the literals of both framings, the code units that
# no segment holds (with and without a script of their own), supplementary letters, controls.
TRICKY = (
    "aZ 1.\n\r\x00éЖבא你あ가ไกकมဘខ\u0e33\u0301\u093f\u17d2\u200d\u200b\ufeff、ー\u0600\u070f"
    "😀👍\U0001f3fd❤\ufe0f\u20e3🇩🇪\uf900\uf901\uf902\uf903\uf904\uf905\uefa4\ua4ef\ua4d0\uffff\ufffe\U00020000\U0001e900"
)

pieces = st.builds(lambda char, n: char * n, st.sampled_from(TRICKY), st.sampled_from([1, 1, 1, 2, 3, 7]))
tricky_texts = st.lists(pieces, max_size=24).map("".join)
any_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
texts = st.one_of(tricky_texts, any_texts, st.tuples(tricky_texts, any_texts).map("".join))
routers = st.sampled_from(ROUTERS)


def options(router: Router) -> dict[str, object]:
    """Returns what the decoder has to be told about a router's streams."""
    return {"framing": router.framing, "profile": router.profile, "barrier": router.barrier}
