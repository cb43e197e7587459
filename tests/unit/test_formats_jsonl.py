"""JSON lines: what a line may be, and what each bad line costs."""

import orjson
import pytest
from reader_harness import COMPRESSORS, json_lines, read_files, read_one

GOOD = b'{"id":"x","text":"ok","lang":"en"}'


def test_documents_have_id_source_position_lang_text() -> None:
    """A line becomes one row; its position is the byte offset of the line."""
    data = json_lines([b'{"id":"a","text":"\xc3\xa9","lang":"fr"}', b'{"id":7,"text":""}'])
    assert read_one(data, "dir/a.jsonl").documents == [
        {"doc_id": "a", "source": "dir/a.jsonl", "position": 0, "lang": "fr", "text": "é"},
        {"doc_id": "7", "source": "dir/a.jsonl", "position": 35, "lang": "und", "text": ""},
    ]


@pytest.mark.parametrize("row", [b'{"text":"t"}', b'{"id":null,"text":"t"}', b'{"id":"","text":"t","lang":""}'])
def test_absent_ids_are_made_from_source_and_position(row: bytes) -> None:
    """Absent, null and empty ids become source:position; the language und."""
    documents = read_one(json_lines([GOOD, row])).documents
    assert documents[1]["doc_id"] == f"a.jsonl:{len(GOOD) + 1}"
    assert documents[1]["lang"] == "und"


def test_fields_can_be_named_nested_and_switched_off() -> None:
    """A dotted name goes into objects, unless a field has that very name; None switches a field off."""
    data = json_lines([b'{"m":{"t":"deep","l":"de"},"id":"i"}', b'{"m.t":"flat","m":{"t":"deep"}}'])
    result = read_one(data, text_field="m.t", lang_field="m.l", id_field=None)
    assert result.texts == ["deep", "flat"]
    assert [row["lang"] for row in result.documents] == ["de", "und"]
    assert result.documents[0]["doc_id"] == "a.jsonl:0"


def test_kept_fields_are_strings_or_json_text() -> None:
    """Kept columns: a string as it is, null and absent null, other values JSON."""
    data = json_lines([b'{"text":"t","url":"u","n":1.5,"o":{"a":[null,true]}}', b'{"text":"t","url":null}'])
    rows = read_one(data, keep=("url", "n", "o")).documents
    assert [rows[0][k] for k in ("url", "n", "o")] == ["u", "1.5", '{"a":[null,true]}']
    assert [rows[1][k] for k in ("url", "n", "o")] == [None, None, None]


BAD_LINES = {
    "not JSON": (b"{'text': 1}", "invalid_json"),
    "an array": (b'["text"]', "invalid_json"),
    "cut": (b'{"text":"abc', "invalid_json"),
    "NaN": (b'{"text":"a","n":NaN}', "invalid_json"),
    "NaN beside a surrogate": (b'{"text":"\\ud800","n":NaN}', "invalid_json"),
    "control character": (b'{"text":"a\x00b"}', "invalid_json"),
    "two objects": (b'{"text":"a"},{"text":"b"}', "invalid_json"),
    "nesting bomb": (b'{"text":' + b"[" * 100_000, "invalid_json"),
    "nesting bomb with a surrogate": (b'{"a":"\\ud800","text":' + b"[" * 100_000, "invalid_json"),
    "invalid UTF-8": (b'{"text":"ab\xff"}', "invalid_utf8"),
    "surrogate in UTF-8 form": (b'{"text":"\xed\xa0\x80"}', "invalid_utf8"),
    "lone surrogate": (b'{"text":"a\\ud800"}', "lone_surrogate"),
    "reversed pair": (b'{"text":"\\udc00\\ud800"}', "lone_surrogate"),
    "lone surrogate in the id": (b'{"id":"\\udfff","text":"a"}', "lone_surrogate"),
    "no text": (b'{"id":"x"}', "missing_field"),
    "null text": (b'{"id":"x","text":null}', "missing_field"),
    "number as text": (b'{"text":5}', "wrong_type"),
    "list as text": (b'{"text":["a"]}', "wrong_type"),
    "boolean id": (b'{"id":true,"text":"a"}', "wrong_type"),
    "number as language": (b'{"lang":1,"text":"a"}', "wrong_type"),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_costs_itself_alone(name: str, place: int) -> None:
    """A bad line is one reject at its offset with the right reason; its neighbours are read."""
    line, reason = BAD_LINES[name]
    rows = [GOOD, GOOD]
    rows.insert(place, line)
    result = read_one(json_lines(rows))
    assert result.texts == ["ok", "ok"]
    assert result.reasons == [reason]
    assert result.rejects[0]["position"] == place * (len(GOOD) + 1)
    assert (result.n_records, result.n_bad_records) == (3, 1)


@pytest.mark.parametrize("name", BAD_LINES)
def test_rejects_hold_raw_bytes_only_when_asked(name: str) -> None:
    """The raw line is in the reject with keep_raw, else nowhere; the detail never quotes it."""
    line, _ = BAD_LINES[name]
    marked = line.replace(b"{", b'{"z":"CANARY",', 1) if line.startswith(b"{") else line + b"CANARY"
    assert read_one(marked).rejects[0]["raw"] is None
    reject = read_one(marked, keep_raw=True).rejects[0]
    assert reject["raw"] == marked
    assert "CANARY" not in reject["detail"]


def test_surrogate_in_an_unused_field_is_no_reason_to_lose_the_document() -> None:
    """Only the fields that are used must be well-formed."""
    result = read_one(b'{"text":"fine","junk":"\\ud800"}\n')
    assert result.texts == ["fine"]
    assert read_one(b'{"text":"fine","junk":["\\ud800"]}\n', keep=("junk",)).reasons == ["lone_surrogate"]


def test_integers_beyond_64_bits_do_not_break_the_slow_way() -> None:
    """A line that needs a second look keeps the digits of its numbers."""
    result = read_one(b'{"text":"t","n":123456789012345678901234567890,"junk":"\\ud800"}\n', keep=("n",))
    assert result.documents[0]["n"] == "123456789012345678901234567890"


@pytest.mark.parametrize("blank", [b"", b" ", b"\t \r", b"\xef\xbb\xbf"])
def test_blank_lines_are_no_records(blank: bytes) -> None:
    """Lines of white space are neither documents nor rejects."""
    result = read_one(json_lines([blank, GOOD, blank, blank]) + blank)
    assert (result.texts, result.rejects, result.n_records) == (["ok"], [], 1)


def test_line_ends_and_marks() -> None:
    """CR LF, a missing last line end, a byte order mark at the start or before any line: all read."""
    data = b"\xef\xbb\xbf" + GOOD + b"\r\n\xef\xbb\xbf" + GOOD + b"\r\n" + GOOD
    result = read_one(data)
    assert result.texts == ["ok"] * 3
    assert [row["position"] for row in result.documents] == [3, 39, 39 + 38 + 1]


def test_unicode_line_separators_stay_inside() -> None:
    """U+2028, U+0085 and a lone carriage return end no line."""
    text = "a\u2028b\u0085c"
    assert read_one(orjson.dumps({"text": text}) + b"\n").texts == [text]


def test_repeated_key_counts_by_its_last_value() -> None:
    """As orjson and most readers have it."""
    assert read_one(b'{"text":"a","text":"b"}').texts == ["b"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_wide_encodings_with_a_mark(encoding: str, suffix: str) -> None:
    """UTF-16 and UTF-32 with a mark are read; positions are byte offsets; an ill-formed line is one reject."""
    lines = ['{"text":"\u0a00 \u000a\u010a😀"}'.replace("\n", "\\n"), '{"text":"zwei"}']
    raw = [line.encode(encoding) for line in lines]
    end = "\n".encode(encoding)
    unpaired = '{"text":"\ud800"}'.encode(encoding, "surrogatepass")
    mark = "\ufeff".encode(encoding)
    data = mark + raw[0] + end + unpaired + end + raw[1]
    for step in (None, 3):
        result = read_one(COMPRESSORS[suffix](data), "w.jsonl" + suffix, step=step)
        assert result.texts == ["\u0a00 \n\u010a😀", "zwei"]
        assert result.reasons == ["invalid_utf8"]
        assert result.rejects[0]["position"] == len(mark + raw[0] + end)
        assert result.documents[1]["position"] == len(data) - len(raw[1])


def test_documents_over_the_limit_are_rejected_by_their_size_in_utf8() -> None:
    """The limit counts UTF-8 bytes of the text, not those of the line or code points."""
    fits, over = "é" * 50, "é" * 50 + "a"
    data = json_lines([orjson.dumps({"text": t, "pad": "x" * 500}) for t in (fits, over)])
    result = read_one(data, max_document_bytes=100)
    assert result.texts == [fits]
    assert result.reasons == ["document_too_large"]
    assert "101 bytes" in result.rejects[0]["detail"]


def test_a_line_beyond_the_record_limit_is_skipped_without_its_neighbours() -> None:
    """A huge line is one reject, at its offset, wherever it stands."""
    huge = b'{"text":"' + b"x" * (3 << 20) + b'"}'
    for rows in ([huge, GOOD, GOOD], [GOOD, huge, GOOD], [GOOD, GOOD, huge]):
        data = json_lines(rows)
        for step in (None, 100_000):
            result = read_one(data, max_document_bytes=1000, step=step)
            assert result.texts == ["ok", "ok"]
            assert result.reasons == ["document_too_large"]
            assert result.rejects[0]["position"] == data.index(huge)


def test_long_documents_are_split_only_when_asked() -> None:
    """Pieces fit the limit, join to the text, share the position and count as one record."""
    text = "ein wort " * 100
    result = read_one(orjson.dumps({"id": "d", "text": text}), max_document_bytes=100, split_long=True)
    assert "".join(result.texts) == text
    assert max(len(t.encode()) for t in result.texts) <= 100
    assert [row["doc_id"] for row in result.documents] == [f"d#{k}" for k in range(len(result.documents))]
    assert {row["position"] for row in result.documents} == {0}
    assert (result.n_records, result.rejects) == (1, [])


def test_small_files_share_batches() -> None:
    """A range of tiny files gives one batch, not one each."""
    result = read_files({f"{i:04}.jsonl": GOOD for i in range(300)})
    assert (result.n_ranges, len(result.batches), len(result.documents)) == (1, 1, 300)
