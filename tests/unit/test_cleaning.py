"""What cleaning removes, keeps and counts."""

import numpy as np
import pyarrow as pa
import pytest

from byteroute_ops.cleaning import WORD_BREAK_SCRIPTS, clean_batch, clean_text
from byteroute_ops.errors import ConfigError, InputError, RejectReason

KHMER = "ភាសា\u200bខ្មែរ"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ("", 0, 0, 0)),
        ("\ufeff", ("", 1, 0, 0)),
        ("\ufeff\ufeffa\ufeff", ("a", 1, 2, 0)),
        ("\u200b\ufeffa", ("a", 0, 1, 1)),
        ("a\u200bb\u200b", ("ab", 0, 0, 2)),
        (KHMER, (KHMER, 0, 0, 0)),
        # The nearest character on either side that is not Common decides, however far, past other U+200B.
        ("ខ, \u200b\u200b 12 x", ("ខ, \u200b\u200b 12 x", 0, 0, 0)),
        ("x 12 \u200b. ខ", ("x 12 \u200b. ខ", 0, 0, 0)),
        ("ខ x \u200b y ខ", ("ខ x  y ខ", 0, 0, 1)),
        # U+FEFF is gone before anything is judged.
        ("ខ\ufeff\u200b\ufeffx", ("ខ\u200bx", 0, 2, 0)),
        # An Inherited mark has the script of its base.
        ("ខ\u0301\u200bx", ("ខ\u0301\u200bx", 0, 0, 0)),
        ("\u200b", ("", 0, 0, 1)),
        ("漢\u200b字", ("漢字", 0, 0, 1)),
    ],
)
def test_script_aware(text: str, cleaned: tuple[str, int, int, int]) -> None:
    """The default: marks go, zero-width spaces stay next to scripts that need them."""
    assert clean_text(text) == cleaned


def test_other_settings() -> None:
    """`strip` takes every U+200B, `keep` none; U+FEFF goes under both."""
    assert clean_text("\ufeff" + KHMER, zwsp="strip") == ("ភាសាខ្មែរ", 1, 0, 1)
    assert clean_text("a\u200bb\ufeff", zwsp="keep") == ("a\u200bb", 0, 1, 0)


@pytest.mark.parametrize("sign", "\u200c\u200d\u2060\u00ad\u034f\ufe0f\ufe0e\u200e\u202b\u2066\u180e\u00a0\u061c")
def test_signs_that_carry_meaning_stay(sign: str) -> None:
    """Joiners, selectors and bidi controls are never touched, nor is anything normalized."""
    text = f"{sign}e\u0301\u00e9{sign}\ufb01 \u212b{sign}"
    assert clean_text(text, zwsp="strip") == (text, 0, 0, 0)


def test_scripts_of_the_list() -> None:
    """The scripts that the design names are in the list; those that write spaces are not."""
    assert {"Khmr", "Thai", "Laoo", "Mymr", "Tibt", "Tale", "Talu", "Lana", "Tavt", "Java", "Bali"} <= {
        *WORD_BREAK_SCRIPTS
    }
    assert not {"Latn", "Deva", "Arab", "Hani", "Zyyy", "Zinh"} & {*WORD_BREAK_SCRIPTS}
    for text in ("ไทย\u200bไทย", "ລາວ\u200b", "\u200bမြန်မာ", "བོད\u200bཡིག"):
        assert clean_text(text).n_zwsp == 0


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_batch(kind: pa.DataType) -> None:
    """A batch is cleaned and counted document by document, slices and nulls included."""
    rows = ["x\u200b", "\ufeffa\u200b", KHMER, None, "\u200b\ufeff", "", "é\ufeff漢"]
    texts = pa.array(rows, kind)[1:]
    cleaned, counts = clean_batch(texts)
    assert cleaned.type == kind
    assert cleaned.to_pylist() == ["a", KHMER, None, "", "", "é漢"]
    assert counts.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0], [0, 1, 0]]
    assert counts.dtype == np.int64
    cleaned.validate(full=True)


def test_neighbours_in_a_batch_do_not_decide() -> None:
    """A Khmer document beside it does not keep a zero-width space."""
    cleaned, counts = clean_batch(pa.array(["ខ", "\u200ba\u200b", "ខ"]))
    assert cleaned.to_pylist() == ["ខ", "a", "ខ"]
    assert counts[:, 2].tolist() == [0, 2, 0]


@pytest.mark.parametrize("rows", [[], [""], ["abc", "漢字", KHMER], ["\u2003\u201c\uff01\u8000\uefbb"]])
def test_clean_batch_is_returned_as_it_is(rows: list[str]) -> None:
    """Where there is nothing to remove, the same array comes back: no copy."""
    texts = pa.array(rows, pa.string())
    cleaned, counts = clean_batch(texts)
    assert cleaned is texts
    assert counts.shape == (len(rows), 3)
    assert not counts.any()


def test_unknown_setting() -> None:
    """A setting that does not exist is the caller's fault; the message lists those that do."""
    with pytest.raises(ConfigError, match="'drop' is not known; allowed are script-aware, strip, keep"):
        clean_text("a", zwsp="drop")  # type: ignore[arg-type]


def test_lone_surrogate() -> None:
    """A lone surrogate is refused with its place, also where nothing would be removed."""
    with pytest.raises(InputError, match="code point 1") as caught:
        clean_text("a\udfff")
    assert (caught.value.reason, caught.value.offset) == (RejectReason.LONE_SURROGATE, 1)


@pytest.mark.parametrize("step", [3, 5000])
def test_cut_texts_are_the_same_however_many_characters_go(step: int) -> None:
    """A mask of all bytes (many removals) and copied stretches (few) leave the same text, in every document."""
    texts = ["\u200b".join("é漢a"[i % 3] * step for i in range(7)), "", "\ufeff" + "b" * step, "c" * step]
    cleaned, counts = clean_batch(pa.array(texts), zwsp="strip")
    assert cleaned.to_pylist() == [text.replace("\u200b", "").replace("\ufeff", "") for text in texts]
    assert counts.tolist() == [[0, 0, 6], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
