"""Which script a token counts for, on cases small enough to see."""

import numpy as np
import plain_tokenization as plain
import pytest

from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import Tokens, open_tokenizer, routed_tokens_per_row, text_tokens_per_run
from byteroute_ops.unicode_data import SCRIPTS

pytestmark = pytest.mark.usefixtures("kernel_form")


def tokens_of(spans: list[tuple[int, int]], counts: list[int], added: tuple[int, ...] = ()) -> Tokens:
    """Returns tokens with given spans; ids do not matter."""
    n = len(spans)
    starts, ends = (np.array([span[side] for span in spans], np.int64).reshape(n) for side in (0, 1))
    return Tokens(
        ids=np.zeros(n, np.int32),
        doc_offsets=np.concatenate([[0], np.cumsum(counts)]),
        added=np.isin(np.arange(n), added),
        spans=lambda: (starts, ends),
    )


def by_script(text: str, spans: list[tuple[int, int]]) -> dict[str, int]:
    """Returns tokens by encoding class; spans in code points of one text."""
    seg = segment_batch(plain.strings(text))
    edges = np.concatenate([[0], np.cumsum([len(char.encode()) for char in text], dtype=np.int64)])
    per_run, _ = text_tokens_per_run(tokens_of([(edges[a], edges[b]) for a, b in spans], [len(spans)]), seg)
    found: dict[str, int] = {}
    for script, count in zip(seg.run_script.tolist(), per_run.tolist(), strict=True):
        found[SCRIPTS[script]] = found.get(SCRIPTS[script], 0) + count
    return found


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        # The space after "ab" resolves to Latin, but its token's first strong character is Cyrillic.
        ("ab юя", [(0, 2), (2, 5)], {"Latn": 1, "Cyrl": 1}),
        # A token of a space alone has the space's own class.
        ("ab юя", [(0, 2), (2, 3), (3, 5)], {"Latn": 2, "Cyrl": 1}),
        # A token that begins with a strong character stays, however far it reaches.
        ("ab юя你", [(0, 1), (1, 6)], {"Latn": 2, "Cyrl": 0, "Hani": 0}),
        # From the spaces behind a strong character, over a run.
        ("a  ю", [(0, 1), (1, 2), (2, 4)], {"Latn": 2, "Cyrl": 1}),
        # An emoji cluster is strong; its variation selector belongs to it, and it lends its class to no one.
        ("a ❤\ufe0f!", [(0, 1), (1, 4), (4, 5)], {"Latn": 2, "Emoji": 1}),
        # Emoji and punctuation only.
        ("!👍", [(0, 2)], {"Zyyy": 0, "Emoji": 1}),
        # No strong character at all.
        ("1, 2", [(0, 4)], {"Zyyy": 1}),
    ],
)
def test_first_strong_character_decides(text: str, spans: list[tuple[int, int]], expected: dict[str, int]) -> None:
    """The rule, case by case."""
    assert by_script(text, spans) == expected


def test_parts_of_characters_count_for_their_character() -> None:
    """Tokens that hold parts of a character count for it, the part with the space before too."""
    seg = segment_batch(plain.strings("a 你"))  # bytes: a, space, E4 BD A0
    per_run, _ = text_tokens_per_run(tokens_of([(0, 1), (1, 3), (3, 4), (4, 5)], [4]), seg)
    assert per_run.tolist() == [1, 3]


def test_overlapping_and_backward_spans_are_counted_once() -> None:
    """A normalizer can make tokens share characters or go back: every token still counts for exactly one run."""
    seg = segment_batch(plain.strings("aю"))
    per_run, _ = text_tokens_per_run(tokens_of([(1, 3), (0, 3), (0, 1), (1, 3), (0, 3)], [5]), seg)
    assert per_run.tolist() == [3, 2]


def test_a_token_skips_runs_without_strong_characters() -> None:
    """Over a run of punctuation before an emoji, the token counts for the first run with something strong in it."""
    text = "(👍ю"
    seg = segment_batch(plain.strings(text))
    assert [SCRIPTS[script] for script in seg.run_script] == ["Cyrl", "Emoji", "Cyrl"]
    assert by_script(text, [(0, 3)]) == {"Cyrl": 0, "Emoji": 1}


def test_added_and_homeless_tokens_are_apart() -> None:
    """Added tokens, and any token of an empty document, count for no run but are not lost."""
    seg = segment_batch(plain.strings("a", "", "ю"))
    tokens = tokens_of([(0, 0), (0, 1), (1, 1), (1, 3), (3, 3)], [2, 1, 2], added=(0, 4))
    per_run, added = text_tokens_per_run(tokens, seg)
    assert per_run.tolist() == [1, 1]
    assert added.tolist() == [1, 1, 1]
    assert (np.bincount(seg.run_doc, per_run, 3) + added == tokens.counts).all()


def test_no_documents_and_no_tokens() -> None:
    """Empty batches give empty columns."""
    for texts in ((), ("",), ("", "")):
        seg = segment_batch(plain.strings(*texts))
        per_run, added = text_tokens_per_run(open_tokenizer("default").text(plain.strings(*texts)), seg)
        assert (per_run.tolist(), added.tolist()) == ([], [0] * len(texts))


def test_framing_counts_for_the_row_it_is_billed_to() -> None:
    """With one id a byte, a row has its payload's bytes and its markers', in both framings, barrier included."""
    text = "ab 你好世界 ю"
    seg = segment_batch(plain.strings(text))
    for router, sizes in [
        (Router(load_policy("script-a")), [3, 3 + 10 + 3, 3 + 2 + 3]),
        (Router(load_policy("script-a"), framing="bom", barrier=True), [3, 2 + 2 + 10 + 2, 2 + 2 + 2 + 2]),
    ]:
        routed = route_segmentation(seg, router)
        tokens = open_tokenizer("bytes").routed(routed)
        assert tokens is not None
        per_row, added = routed_tokens_per_row(tokens, routed, seg)
        assert per_row.tolist() == sizes
        assert added.tolist() == [2]


def test_tokens_over_rows_of_one_segment() -> None:
    """Inside a segment, runs of one encoding touch: a token over the edge counts by the same rule."""
    seg = segment_batch(plain.strings("漢字、かな"))
    routed = route_segmentation(seg, Router(load_policy("script-a")))
    assert [SCRIPTS[script] for script in routed.row_script] == ["Hani", "Hira"]
    first = int(routed.row_start[0])
    spans = [(0, first), (first, first + 2), (first + 2, first + 8), (first + 8, first + 10), (first + 10, first + 13)]
    per_row, _ = routed_tokens_per_row(tokens_of(spans, [5]), routed, seg)
    assert per_row.tolist() == [3, 2]
    spans = [(0, first + 4), (first + 4, first + 8), (first + 8, first + 13)]
    per_row, _ = routed_tokens_per_row(tokens_of(spans, [3]), routed, seg)
    assert per_row.tolist() == [1, 2]
