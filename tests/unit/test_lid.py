"""Language identification by CLD2."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byteroute_ops import lid
from byteroute_ops.errors import ConfigError
from byteroute_ops.languages import canonical_tag
from byteroute_ops.lid import MAX_CHARACTERS, identify_languages

TEXTS = {
    "en": "All human beings are born free and equal in dignity and rights.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.",
    "my": "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။",
}


@pytest.fixture(autouse=True)
def needs_cld2(request: pytest.FixtureRequest) -> None:
    """Skips where the extra is not installed, but for the test of just that."""
    if "without_the_extra" not in request.node.name:
        pytest.importorskip("pycld2", reason="needs the extra lid")


def test_known_texts() -> None:
    """A sentence is enough for languages of several scripts; tags are canonical and confidence is high."""
    tags, confidence = identify_languages(pa.array(TEXTS.values()))
    assert tags.to_pylist() == list(TEXTS)
    assert confidence.dtype == np.float32
    assert confidence.min() >= 0.9


def test_threshold_decides() -> None:
    """Below the threshold a text is `und`, with its confidence as it is; at it, it is not."""
    mixed = pa.array([f"{TEXTS['en']} {TEXTS['ru']}"])
    tags, confidence = identify_languages(mixed, threshold=0)
    share = float(confidence[0])
    assert 0.3 < share < 0.8
    assert tags.to_pylist() in (["en"], ["ru"])
    assert identify_languages(mixed, threshold=share)[0] == tags
    above, same = identify_languages(mixed, threshold=share + 0.01)
    assert (above.to_pylist(), float(same[0])) == (["und"], share)


@pytest.mark.parametrize("text", ["", " ", "12345", "?!…", None, "ᏍᎩᎾᎾ ᎤᏓᎴᎯ", "\U00010400\U00010428"])
def test_nothing_to_go_by(text: str | None) -> None:
    """No letters, or a script whose language CLD2 does not tell: `und` or a canonical tag, never a code of its own."""
    tags, confidence = identify_languages(pa.array([text], pa.string()))
    assert canonical_tag(tags[0].as_py()) == tags[0].as_py()
    if tags[0].as_py() == "und" and not (text or "").strip():
        assert confidence[0] == 0


@pytest.mark.parametrize(
    "char", ["\0", "\x01", "\x1f", "\x7f", "\x85", "\ufdd0", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"]
)
def test_characters_that_cld2_refuses(char: str) -> None:
    """Controls and noncharacters, which CLD2 takes for invalid UTF-8, do not change the answer."""
    tags, _ = identify_languages(pa.array([char.join(TEXTS["fr"].split(" "))]))
    assert tags.to_pylist() == ["fr"]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    """Whatever Unicode scalars a text holds: a canonical tag, a confidence from 0 to 1, no exception."""
    tags, confidence = identify_languages(pa.array([text]), threshold=0)
    assert canonical_tag(tags[0].as_py()) == tags[0].as_py()
    assert 0 <= confidence[0] <= 1


def test_only_the_beginning_is_looked_at() -> None:
    """A text is as its first characters are, however long it is."""
    head = (TEXTS["fr"] * 400)[:MAX_CHARACTERS]
    tags, confidence = identify_languages(pa.array([head + TEXTS["ru"] * 4000, head]))
    assert tags.to_pylist() == ["fr", "fr"]
    assert confidence[0] == confidence[1]


def test_markup_is_text() -> None:
    """A text that looks like HTML is not read as HTML: its language attribute says nothing."""
    tags, _ = identify_languages(pa.array([f'<html lang="ru">{TEXTS["en"]}</html>']))
    assert tags.to_pylist() == ["en"]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_bad_threshold(threshold: float) -> None:
    """A threshold out of range is the caller's fault."""
    with pytest.raises(ConfigError, match="between 0 and 1"):
        identify_languages(pa.array(["a"]), threshold=threshold)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pycld2 is missing the message has the line to type."""
    monkeypatch.setitem(sys.modules, "pycld2", None)
    with pytest.raises(ConfigError, match=r"pip install 'byteroute\[lid\]'"):
        identify_languages(pa.array(["a"]))


def test_codes_of_cld2_are_canonical() -> None:
    """Every code that CLD2 may give is turned into a tag that canonicalizing leaves as it is, or is dropped."""
    import pycld2

    codes = {code for _, code in pycld2.LANGUAGES if not code.startswith("xx-")} - lid._NO_LANGUAGE
    given_out = {lid._RETIRED.get(code, code) for code in codes}
    assert {code for code in given_out if canonical_tag(code) != code} == set()
