"""Cleaning against its plain twin, and its idempotence."""

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plain_segmentation import script_of

from byteroute_ops.cleaning import WORD_BREAK_SCRIPTS, ZwspMode, clean_batch, clean_text

MODES: list[ZwspMode] = ["script-aware", "strip", "keep"]
ATOMS = [*"aé漢 .ខ្កไไ\u0301\u200c\u200d\u00adЯ😀\ue000\u0e33", *["\ufeff", "\u200b"] * 6, "\u200b\ufeff\u200b"]
TEXTS = st.one_of(st.lists(st.sampled_from(ATOMS), max_size=16).map("".join), st.text(max_size=8))


def plain_clean(text: str, zwsp: ZwspMode) -> tuple[str, int, int, int]:
    """One text, one character after the other."""
    n_bom = int(text.startswith("\ufeff"))
    bare = text.replace("\ufeff", "")

    def word_break(side: str) -> bool:
        decides = next((char for char in side if script_of(char) not in ("Zyyy", "Zinh")), "a")
        return script_of(decides) in WORD_BREAK_SCRIPTS

    def kept(i: int) -> bool:
        return zwsp == "keep" or (zwsp != "strip" and (word_break(bare[:i][::-1]) or word_break(bare[i + 1 :])))

    clean = "".join(char for i, char in enumerate(bare) if char != "\u200b" or kept(i))
    return clean, n_bom, len(text) - len(bare) - n_bom, len(bare) - len(clean)


@given(st.lists(TEXTS, max_size=6), st.sampled_from(MODES))
@example(["ខ", "\u200b", "ខ"], "script-aware")
@settings(max_examples=600, deadline=None)
def test_batch_equals_the_plain_twin(texts: list[str], zwsp: ZwspMode) -> None:
    """Texts and counts of a batch are those of the twin, document by document."""
    cleaned, counts = clean_batch(pa.array(texts, pa.string()), zwsp=zwsp)
    found = [(text, *row) for text, row in zip(cleaned.to_pylist(), counts.tolist(), strict=True)]
    assert found == [plain_clean(text, zwsp) for text in texts]


@given(TEXTS, st.sampled_from(MODES))
@settings(max_examples=500, deadline=None)
def test_cleaning_twice_is_cleaning_once(text: str, zwsp: ZwspMode) -> None:
    """Nothing is left to remove in a clean text."""
    once = clean_text(text, zwsp=zwsp)
    assert clean_text(once.text, zwsp=zwsp) == (once.text, 0, 0, 0)
    assert len(text) == len(once.text) + once.n_bom + once.n_feff + once.n_zwsp
