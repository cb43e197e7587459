"""The batch segmentation against its plain twin, over texts made of what breaks segmenters."""

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plain_segmentation import PlainRun, plain_clusters, plain_segments

from byteroute_ops.segmentation import Segmentation, segment_batch
from byteroute_ops.unicode_data import SCRIPTS

pytestmark = pytest.mark.usefixtures("kernel_form")

ATOMS = [
    *"aZé Я1#*,.-\n\r\t\u00a0漢字ひらカー々〆한국ㄅA",
    *"अकषि्ा।॥०কা্मમ્ഖ്ക്යෙම්මකាខ្មែរกำ\u0e33ລາວ",
    *"אבعرب٠،؟ـ\u064b\u0670\u06dd\u0600\u070f\u08e2\u110bd",
    *"\u3001\u3002\u30fc\u300c\u00b7\u0964\u060c\u0640\u0301\u0308\u0342\u0483\u0485\u3099\u302a\u1cf5\u1cf6",
    *"\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f\u20e3\u034f\u202e\u180e\u00ad\u2028",
    *"\u1100\u1161\u11a8\uac00\uac01\ua960\ud7b0\ud7cb",
    *"\U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd\U0001f468\u2764\u00a9\u2122\U0001f3f4\u26f9\u270a\U0001f525\u25cc",
    *"\U000e0067\U000e0062\U000e007f\U000e0001\U000e0100",
    *"\ue000\ufffe\uffff\U0010ffff\u0378\U000323b0\U0001f8ff\U0002a6df\ufa0e\U00011a3a\U00011a0b\U000110bd\U0001133e",
    "क्\u200dष",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "1\ufe0f\u20e3", "#\u20e3", "\u2764\ufe0f\u200d\U0001f525",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e007f", "\r\n", "\U0001f1e9\U0001f1ea\U0001f1eb", "\u270a\U0001f3fd",
]  # fmt: skip
NASTY = st.lists(st.sampled_from(ATOMS), max_size=24).map("".join)
TEXTS = st.one_of(NASTY, st.text(max_size=12), st.text(st.characters(max_codepoint=127), max_size=12))


def runs_of(seg: Segmentation) -> list[list[PlainRun]]:
    """The runs of every document in the twin's form, code points counted from the document's start."""
    chars = np.searchsorted(seg.cp_byte, seg.run_strong_start), np.searchsorted(seg.cp_byte, seg.run_strong_end)
    ends = np.append(seg.run_start, len(seg.codepoints))[1:]
    found: list[list[PlainRun]] = [[] for _ in range(len(seg.doc_cp) - 1)]
    for i, doc in enumerate(seg.run_doc.tolist()):
        offsets = np.array([seg.run_start[i], ends[i], chars[0][i], chars[1][i]]) - seg.doc_cp[doc]
        found[doc].append(PlainRun(SCRIPTS[seg.run_report[i]], SCRIPTS[seg.run_script[i]], *offsets.tolist()))
    return found


@given(st.lists(TEXTS, max_size=6))
@example([""])
@example(["a\u0483\u0483b", "", "\u0483", "\U0001f44d\u0483Я"])
@example(["漢\u30fcカ", "कA\u0964", "\U0001f1e9", "\U0001f1ea\U0001f1eb"])
@example(["a \u0301\u0342α", "a\U0001f44d\u0342 α", "\u2764", "\u200d\u2764\u200d\u2764"])
@settings(max_examples=800, deadline=None)
def test_batch_equals_the_plain_twin(texts: list[str]) -> None:
    """Runs, report classes and strong spans of a batch are those of the twin, document by document."""
    assert runs_of(segment_batch(pa.array(texts, pa.string()))) == [plain_segments(text) for text in texts]


@given(st.lists(TEXTS, max_size=6))
@example(
    ["\U0001f1e9", "\U0001f1ea\U0001f1eb", "\u2764", "\u200d\u2764", "\u094d", "\u0308\u0915", "\u0600", "\r", "\n"]
)
@settings(max_examples=500, deadline=None)
def test_clusters_equal_the_plain_twin(texts: list[str]) -> None:
    """`cluster_breaks` are those of `regex`, and no cluster reaches over the end of a document."""
    seg = segment_batch(pa.array(texts, pa.string()))
    lengths = [len(cluster) for text in texts for cluster in plain_clusters(text)]
    starts = np.cumsum([0, *lengths])[:-1]
    assert np.flatnonzero(seg.cluster_breaks).tolist() == starts.tolist()


@given(st.lists(TEXTS, min_size=1, max_size=6), st.data())
@settings(max_examples=300, deadline=None)
def test_offsets_are_consistent(texts: list[str], data: st.DataObject) -> None:
    """A slice of an array gives what its documents give; byte and code point offsets name the same places."""
    start = data.draw(st.integers(0, len(texts)))
    seg = segment_batch(pa.array(texts, pa.string())[start:])
    kept = texts[start:]
    assert seg.utf8.tobytes() == "".join(kept).encode()
    assert seg.doc_cp.tolist() == np.cumsum([0, *map(len, kept)]).tolist()
    assert seg.doc_byte.tolist() == np.cumsum([0, *(len(text.encode()) for text in kept)]).tolist()
    joined = "".join(kept)
    assert seg.run_byte.tolist() == [len(joined[:i].encode()) for i in [*seg.run_start.tolist(), len(joined)]]
    assert runs_of(seg) == [plain_segments(text) for text in kept]


@pytest.fixture(scope="module")
def real_texts(shared_dir: Path) -> list[str]:
    """Every fortieth document of the development corpus in all its languages."""
    with (shared_dir / "corpus" / "udhr.jsonl.zst").open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")
        return [json.loads(line)["text"] for i, line in enumerate(lines) if i % 40 == 0]


@pytest.mark.shared
def test_real_text_equals_the_plain_twin(real_texts: list[str]) -> None:
    """Over text in hundreds of languages the batch and the twin agree."""
    assert runs_of(segment_batch(pa.array(real_texts, pa.string()))) == [plain_segments(text) for text in real_texts]
