"""Plain text: a document a line, a file, or between separators."""

import pytest
from reader_harness import COMPRESSORS, read_files, read_one


def test_lines() -> None:
    """LF and CR LF end a line, blank lines are no documents, positions are byte offsets."""
    result = read_one("eins\r\n\n \t\r\nzwei é\rx\u2028y\ndrei".encode(), "a.txt")
    assert result.texts == ["eins", "zwei é\rx\u2028y", "drei"]
    assert [row["position"] for row in result.documents] == [0, 11, 25]
    assert result.documents[0]["doc_id"] == "a.txt:0"
    assert result.n_records == 3


def test_an_ill_formed_line_is_one_reject() -> None:
    """Invalid UTF-8 costs its line; the detail has the byte, the raw bytes come when asked."""
    result = read_one(b"a\nbc\xffd\ne\n", "a.txt", keep_raw=True)
    assert result.texts == ["a", "e"]
    assert [(r["reason"], r["position"], r["raw"]) for r in result.rejects] == [("invalid_utf8", 2, b"bc\xffd")]
    assert result.rejects[0]["detail"].startswith("byte 2 ")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("name", ["text", "text-file", "text-separator"])
def test_marks_tell_the_encoding(encoding: str, name: str) -> None:
    """A byte order mark tells the encoding and is no part of the text."""
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    data = (mark + "Ω\u0a0a😀||zwei").encode(encoding)
    result = read_one(data, "a.txt", format=name, separator="||", step=5)
    assert result.texts == (["Ω\u0a0a😀", "zwei"] if name == "text-separator" else ["Ω\u0a0a😀||zwei"])
    assert result.rejects == []


def test_a_file_a_document() -> None:
    """The whole file as it is, line ends and all; an empty file is an empty document; an ill-formed one a reject."""
    files = {"a.txt": b"x\r\ny\n", "b.txt": b"", "c.txt": b"ab\xff", "d.txt": b"end"}
    result = read_files(files, format="text-file")
    assert result.texts == ["x\r\ny\n", "", "end"]
    assert [row["doc_id"] for row in result.documents] == ["a.txt:0", "b.txt:0", "d.txt:0"]
    assert result.reasons == ["invalid_utf8"]


def test_a_file_beyond_the_record_limit_is_rejected_without_being_held() -> None:
    """Longer files are only counted."""
    result = read_one(b"x" * (2 << 20), "a.txt", format="text-file", max_document_bytes=16)
    assert result.reasons == ["document_too_large"]
    assert str(2 << 20) in result.rejects[0]["detail"]


@pytest.mark.parametrize("suffix", COMPRESSORS)
@pytest.mark.parametrize("separator", ["\n\n", "<|endoftext|>", "☃", "aa"])
def test_separators(suffix: str, separator: str) -> None:
    """Pieces between separators, found from the left without overlap; empty pieces are no documents."""
    text = separator.join(["eins\nx", "", "zwei ", separator[:1] + "drei"]) + separator
    for step in (None, 2):
        result = read_one(
            COMPRESSORS[suffix](text.encode()),
            "a.txt" + suffix,
            format="text-separator",
            separator=separator,
            step=step,
        )
        assert result.texts == [piece for piece in text.split(separator) if piece]


def test_keep_gives_null_columns() -> None:
    """Text has no fields: what is to be kept is null."""
    assert read_one(b"a\n", "a.txt", keep=("url",)).documents[0]["url"] is None


def test_text_is_read_as_text_when_the_user_says_so() -> None:
    """The setting is taken at its word, whatever the content looks like."""
    assert read_one(b'{"text":"a"}\n', "a.jsonl", format="text").texts == ['{"text":"a"}']
    assert read_one(b"WARC/1.0 is a format\n", "a.txt", format="text").texts == ["WARC/1.0 is a format"]
