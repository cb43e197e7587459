"""What the segmentation decides, case by case; its rules over all text are in tests/property."""

import dataclasses
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from byteroute_ops import segmentation_chunks
from byteroute_ops.errors import InputError, RejectReason
from byteroute_ops.segmentation import segment_batch, segment_text
from byteroute_ops.unicode_data import SCRIPTS

pytestmark = pytest.mark.usefixtures("kernel_form")


def encoding(text: str) -> list[tuple[str, str]]:
    """(class, text) of every run."""
    return [(run.encoding_script, text[run.text_start : run.text_end]) for run in segment_text(text)]


def report(text: str) -> list[str]:
    """Report classes of the runs."""
    return [run.report_script for run in segment_text(text)]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", []),
        (" 12,5 %", [("Zyyy", " 12,5 %")]),
        ("\u0301", [("Zyyy", "\u0301")]),
        ("  Привет, world!", [("Cyrl", "  Привет, "), ("Latn", "world!")]),
        ("«Ω» a", [("Grek", "«Ω» "), ("Latn", "a")]),
        # U+3001 is not for Latin, but for Han: it goes with what follows.
        ("abc、漢字", [("Latn", "abc"), ("Hani", "、漢字")]),
        ("abc 、 漢字", [("Latn", "abc "), ("Hani", "、 漢字")]),
        ("abc、。 」漢字", [("Latn", "abc"), ("Hani", "、。 」漢字")]),
        # It stays with what precedes if it is for both.
        ("漢字、ひらがな", [("Hani", "漢字、"), ("Hira", "ひらがな")]),
        # U+30FC is for kana only; with no kana around it stays where it is.
        ("漢ーカ", [("Hani", "漢"), ("Kana", "ーカ")]),
        ("漢ー字", [("Hani", "漢ー字")]),
        ("हिन्दी। বাংলা।", [("Deva", "हिन्दी। "), ("Beng", "বাংলা।")]),
        ("abc ، عربي", [("Latn", "abc "), ("Arab", "، عربي")]),
        # A sign of another script on a base letter belongs to the letter, on a neutral base it decides.
        ("a\u0483b", [("Latn", "a\u0483b")]),
        ("x \u25cc\u093e", [("Latn", "x "), ("Deva", "\u25cc\u093e")]),
        ("Я\u0378\ue000", [("Cyrl", "Я"), ("Zzzz", "\u0378\ue000")]),
        ("한국어와 漢字", [("Hang", "한국어와 "), ("Hani", "漢字")]),
    ],
)
def test_encoding_class(text: str, runs: list[tuple[str, str]]) -> None:
    """Common and Inherited characters go where UAX #24 and their extensions send them."""
    assert encoding(text) == runs


@pytest.mark.parametrize(
    "emoji",
    [
        "😀", "👍🏽", "✊🏿", "☝🏽", "1️⃣", "#⃣", "🇩🇪", "❤️", "❤️‍🔥", "❤‍🔥", "👨‍👩‍👧‍👦",
        "🏴\U000e0067\U000e0062\U000e007f", "©️", "1️", "⛹\U000e0031\U000e007f",
    ],
)  # fmt: skip
def test_emoji_sequences_are_a_class(emoji: str) -> None:
    """Every kind of sequence of UTS #51 is one Emoji run and lends its class to nothing."""
    assert encoding(f"a{emoji}, b {emoji}") == [("Latn", "a"), ("Emoji", emoji), ("Latn", ", b "), ("Emoji", emoji)]
    assert encoding(f"{emoji}!") == [("Emoji", emoji), ("Zyyy", "!")]
    assert encoding(f"{emoji} Я") == [("Emoji", emoji), ("Cyrl", " Я")]
    assert encoding(f"Ω{emoji}{emoji}") == [("Grek", "Ω"), ("Emoji", emoji + emoji)]


@pytest.mark.parametrize(
    "plain", ["©", "❤", "1", "🇩", "😀\ufe0e", "⛹\ufe0e", "™", "1\ufe0e\u20e3", "⛹\U000e007f", "⛹\u200d"]
)
def test_text_presentation_is_common(plain: str) -> None:
    """Characters in text presentation go with the text around them."""
    assert encoding(f"Ω{plain} a") == [("Grek", f"Ω{plain} "), ("Latn", "a")]


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("日本の話", ["Jpan", "Jpan", "Jpan"]),
        ("カタカナ", ["Jpan"]),
        ("漢字", ["Hani"]),
        ("한국어", ["Kore"]),
        ("漢字 한국", ["Kore", "Kore"]),
        ("漢字ㄅㄆ", ["Hanb", "Hanb"]),
        ("ひ한", ["Hira", "Hang"]),
        ("漢ひ한", ["Hani", "Hira", "Hang"]),
        ("漢 a ひ", ["Hani", "Latn", "Jpan"]),
        ("漢😀ひ", ["Hani", "Emoji", "Jpan"]),
    ],
)
def test_report_class(text: str, classes: list[str]) -> None:
    """East Asian stretches report the one augmented set of UTS #39 that fits, else themselves."""
    assert report(text) == classes


def test_report_stretch_ends_with_the_document() -> None:
    """Han at the end of one document is not joined to kana at the start of the next."""
    seg = segment_batch(pa.array(["漢", "ひ"]))
    assert [SCRIPTS[i] for i in seg.run_report] == ["Hani", "Jpan"]


def test_emoji_test_file(data_dir: Path) -> None:
    """emoji-test 18.0: no boundary inside any entry; all but unqualified ones are Emoji, all the text around is not."""
    with gzip.open(data_dir / "unicode" / "emoji-test-18.0.txt.gz", "rt", encoding="ascii") as lines:
        rows = [line.strip().split(" ; ") for line in lines]
    assert len(rows) == 5244
    entries = ["".join(chr(int(cp, 16)) for cp in codepoints.split()) for codepoints, _ in rows]
    seg = segment_batch(pa.array([f"Ω\n{entry}Я" for entry in entries]))  # a skin tone would extend the letter
    ends = np.append(seg.run_start, len(seg.codepoints))[1:] - seg.doc_cp[seg.run_doc]
    starts = seg.run_start - seg.doc_cp[seg.run_doc]
    clusters = np.add.reduceat(seg.cluster_breaks.astype(int), seg.doc_cp[:-1])
    bounds = np.searchsorted(seg.run_doc, np.arange(len(entries) + 1))
    for i, (entry, (_, status)) in enumerate(zip(entries, rows, strict=True)):
        of_doc = slice(bounds[i], bounds[i + 1])
        runs = list(zip([SCRIPTS[s] for s in seg.run_script[of_doc]], starts[of_doc], ends[of_doc], strict=True))
        n = len(entry)
        assert clusters[i] == 4, ascii(entry)
        as_emoji = [("Grek", 0, 2), ("Emoji", 2, 2 + n), ("Cyrl", 2 + n, 3 + n)]
        as_text = [("Grek", 0, 2 + n), ("Cyrl", 2 + n, 3 + n)]
        assert runs in ([as_emoji, as_text] if status == "unqualified" else [as_emoji]), ascii(entry)


def test_offsets_and_strong_spans() -> None:
    """Runs in bytes and code points; the strong span starts and ends with a strong character."""
    seg = segment_batch(pa.array(["", " aß! Я.", "?", "😀\u0483"]))
    assert seg.doc_byte.tolist() == [0, 0, 9, 10, 16]
    assert seg.doc_cp.tolist() == [0, 0, 7, 8, 10]
    assert seg.run_doc.tolist() == [1, 1, 2, 3]
    assert [SCRIPTS[i] for i in seg.run_script] == ["Latn", "Cyrl", "Zyyy", "Emoji"]
    assert seg.run_start.tolist() == [0, 5, 7, 8]
    assert seg.run_byte.tolist() == [0, 6, 9, 10, 16]
    assert seg.run_strong_start.tolist() == [1, 6, 9, 10]
    assert seg.run_strong_end.tolist() == [4, 8, 9, 16]
    assert seg.utf8.dtype == np.uint8
    assert (seg.run_doc.dtype, seg.run_start.dtype, seg.run_script.dtype) == (np.int32, np.int64, np.uint8)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_nothing_to_segment(texts: list[str]) -> None:
    """No text, no run."""
    seg = segment_batch(pa.array(texts, pa.string()))
    assert len(seg.run_start) == len(seg.codepoints) == len(seg.run_strong_start) == 0
    assert seg.doc_cp.tolist() == seg.doc_byte.tolist() == [0] * (len(texts) + 1)
    assert seg.run_byte.tolist() == [0]
    assert seg.cluster_breaks.tolist() == []


@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 1000])
def test_chunks_do_not_matter(chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few documents are taken together, the result is the same in every field."""
    texts = pa.array(
        ["", "a\r", "\nb", "漢", "ひ😀", "😀 x", "", "\u0301", "ascii only", "Я, (我)", "é" * 600, "", "x\u200d", ""]
    )
    whole = segment_batch(texts)
    monkeypatch.setattr(segmentation_chunks, "CHUNK_BYTES", chunk_bytes)
    pieces = segment_batch(texts)
    for name in (field.name for field in dataclasses.fields(whole)):
        assert np.array_equal(getattr(pieces, name), getattr(whole, name)), name
        assert getattr(pieces, name).dtype == getattr(whole, name).dtype, name


def test_line_end_over_two_documents() -> None:
    """CR at the end of one document and LF at the start of the next are two clusters, in ASCII too."""
    assert segment_batch(pa.array(["a\r", "\nb\r\n"])).cluster_breaks.tolist() == [True, True, True, True, True, False]


def test_utf8_is_a_view() -> None:
    """The bytes of the Arrow array are not copied."""
    texts = pa.array(["ab", "cd", "ef"])[1:]
    seg = segment_batch(texts)
    assert seg.utf8.tobytes() == b"cdef"
    assert np.shares_memory(seg.utf8, np.frombuffer(texts.buffers()[2], np.uint8))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_nulls_are_empty(kind: pa.DataType) -> None:
    """A null is a document without runs, in both string types."""
    seg = segment_batch(pa.array(["aé", None, "Я"], kind))
    assert seg.doc_cp.tolist() == [0, 2, 2, 3]
    assert seg.run_doc.tolist() == [0, 2]


def test_malformed_utf8_is_the_datas_fault() -> None:
    """Bytes that are not UTF-8 raise with the offset, not with the text."""
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 6], np.int32)), pa.py_buffer(b"secr\xff!")]
    )
    with pytest.raises(InputError, match="at byte 4 ") as caught:
        segment_batch(bad)
    assert caught.value.reason is RejectReason.INVALID_UTF8
    assert "secr" not in str(caught.value)


def test_lone_surrogate_is_the_datas_fault() -> None:
    """A lone surrogate has no UTF-8 form and is refused with its place."""
    with pytest.raises(InputError, match="code point 2") as caught:
        segment_text("ab\ud800")
    assert (caught.value.reason, caught.value.offset) == (RejectReason.LONE_SURROGATE, 2)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        # Every mark has extensions, and all are in one cluster between two scripts.
        ("a \u25cc" + "\u0301\u200d" * 300_000 + "я", ["Latn", "Cyrl"]),
        # Every second character of one cluster is strong and of another script than the letter.
        ("a" + "\u0483\u200d" * 300_000 + "я", ["Latn", "Cyrl"]),
        ("\u26f9" + "\U000e0061\U000e007f" * 300_000, ["Emoji"]),
        ("\U0001f525\u0301\u200d" * 200_000, ["Emoji"]),
    ],
)
def test_one_long_cluster(text: str, runs: list[str]) -> None:
    """Hundreds of thousands of places of interest in one cluster take a second, not hours."""
    assert [run.encoding_script for run in segment_text(text)] == runs
