"""Reading ranges: batches, progress, files that cannot be opened, streams that fail."""

import io
from typing import BinaryIO

import orjson
import pytest
from reader_harness import json_lines, read_files, read_one

from byteroute_ops.errors import ConfigError
from byteroute_ops.formats import FileSlice, Range, ReadOptions, read_range
from byteroute_ops.records import MAX_BATCH_ROWS


def lines_of(texts: list[str]) -> bytes:
    """Returns JSON lines."""
    return json_lines(orjson.dumps({"text": t}) for t in texts)


def whole(name: str, size: int) -> FileSlice:
    """Returns a whole file."""
    return FileSlice(name, size, "v", 0, size)


def test_batches_are_cut_by_rows() -> None:
    """No batch has more than the limit; only the last has fewer."""
    result = read_one(lines_of([str(i) for i in range(2 * MAX_BATCH_ROWS + 5)]))
    assert [batch.num_rows for batch in result.batches] == [MAX_BATCH_ROWS, MAX_BATCH_ROWS, 5]


def test_batches_are_cut_by_bytes_and_a_longer_document_is_alone() -> None:
    """8 MiB of records a batch; one that is longer travels alone."""
    mib = "x" * ((1 << 20) - 100)
    texts = [mib] * 10 + ["y" * (9 << 20)] + ["small"] * 3
    assert [batch.num_rows for batch in read_one(lines_of(texts)).batches] == [8, 2, 1, 3]


@pytest.mark.parametrize("step", [1, 1000, 65_537])
def test_batches_do_not_depend_on_how_bytes_arrive(step: int) -> None:
    """Short reads of a remote stream change nothing."""
    files = {"a.jsonl": lines_of([f"text {i}" * (i % 9) for i in range(3000)]), "b.jsonl": b"bad\n"}
    slow, fast = read_files(files, step=step), read_files(files)
    assert slow.batches == fast.batches
    assert slow.rejects == fast.rejects


def test_progress_adds_up_to_the_stored_bytes() -> None:
    """Source bytes cover what was read, give or take the look at the head of each file."""
    files = {f"{i}.jsonl": lines_of(["some text"] * 500) for i in range(20)}
    total = sum(map(len, files.values()))
    assert total <= read_files(files).source_bytes <= total + 20 * 4096


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (FileNotFoundError(2, "secret"), "ENOENT"),
        (PermissionError(13, "secret"), "EACCES"),
        (IsADirectoryError(21, "secret"), "EISDIR"),
        (OSError("secret"), "OSError"),
    ],
)
def test_files_that_cannot_be_opened_are_rejects(error: OSError, name: str) -> None:
    """The reject names the system's error; the other files of the range are read."""
    good = lines_of(["fine"])

    def opener(uri: str) -> BinaryIO:
        if uri == "bad":
            raise error
        return io.BytesIO(good)

    parts = Range(0, (whole("a.jsonl", len(good)), whole("bad", 5), whole("c.jsonl", len(good))))
    reads = list(read_range(parts, ReadOptions(), opener))
    assert sum(read.documents.num_rows for read in reads if read.documents) == 2
    (reject,) = [row for read in reads if read.rejects for row in read.rejects.to_pylist()]
    assert (reject["source"], reject["reason"]) == ("bad", "unreadable_file")
    assert name in reject["detail"]
    assert "secret" not in reject["detail"]
    assert sum(read.n_records for read in reads) == 2


@pytest.mark.parametrize("error", [ConnectionResetError("x"), TimeoutError("x")])
def test_failures_of_the_moment_are_raised_for_a_retry(error: OSError) -> None:
    """A lost connection is nothing about the data."""

    def opener(uri: str) -> BinaryIO:
        raise error

    with pytest.raises(type(error)):
        list(read_range(Range(0, (whole("a", 1),)), ReadOptions(), opener))


class Failing(io.BytesIO):
    """A stream whose reads fail after some bytes."""

    def __init__(self, data: bytes, n_good: int) -> None:
        super().__init__(data)
        self._n_good = n_good

    def read(self, size: int | None = -1, /) -> bytes:
        """Returns bytes until the good ones are used up."""
        if self.tell() >= self._n_good:
            raise OSError(5, "disk")
        return super().read(min(size, 1000) if size and size > 0 else size)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet", ".avro"])
def test_streams_that_fail_are_never_taken_for_damaged_files(suffix: str) -> None:
    """An error while reading is raised, also where a library turns it into an error about the data."""
    import gzip

    import fastavro
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [f"text {i} {i * 7919}" for i in range(5000)]
    out = io.BytesIO()
    if suffix == ".parquet":
        pq.write_table(pa.table({"text": texts}), out, row_group_size=500)
    elif suffix == ".avro":
        schema = {"type": "record", "name": "r", "fields": [{"name": "text", "type": "string"}]}
        fastavro.writer(out, schema, [{"text": t} for t in texts])
    else:
        out.write(lines_of(texts) if suffix == ".jsonl" else gzip.compress(lines_of(texts)))
    data = out.getvalue()
    part = Range(0, (whole("a" + suffix, len(data)),))
    with pytest.raises(OSError, match="disk"):
        list(read_range(part, ReadOptions(), lambda uri: Failing(data, len(data) // 2)))


def test_streams_are_closed() -> None:
    """Also when the consumer stops early."""
    streams: list[io.BytesIO] = []

    def opener(uri: str) -> BinaryIO:
        streams.append(io.BytesIO(lines_of([str(i) for i in range(10_000)])))
        return streams[-1]

    reads = read_range(Range(0, (whole("a.jsonl", 1),)), ReadOptions(), opener)
    next(reads)
    reads.close()  # type: ignore[attr-defined]
    assert [s.closed for s in streams] == [True]


def test_a_file_longer_than_its_listing_is_read_to_its_end() -> None:
    """A store that unpacks on the way gives more bytes than the listing says."""
    data = lines_of([str(i) for i in range(100)])
    reads = list(read_range(Range(0, (whole("a.jsonl", 50),)), ReadOptions(), lambda uri: io.BytesIO(data)))
    assert sum(read.n_records for read in reads) == 100


def test_slices_of_a_file_that_cannot_be_split_read_it_once() -> None:
    """A plan that does not fit the content loses nothing: the first slice reads all."""
    import gzip

    data = gzip.compress(lines_of(["a", "b"]))
    cuts = [FileSlice("a.jsonl", len(data), "v", a, b) for a, b in ((0, 10), (10, len(data)))]
    reads = list(read_range(Range(0, tuple(cuts)), ReadOptions(), lambda uri: io.BytesIO(data)))
    assert sum(read.n_records for read in reads) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "csv"}, "'csv' is not known; known are auto, jsonl"),
        ({"text_field": ""}, "name the field"),
        ({"separator": ""}, "at least one character"),
        ({"max_document_bytes": 1}, "the least is 16"),
        ({"keep": ("text",)}, "own columns"),
        ({"keep": ("a", "a")}, "repeats a name"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    """Every message names the setting, the value and what is allowed."""
    with pytest.raises(ConfigError, match=message):
        ReadOptions(**options)  # type: ignore[arg-type]


def test_raw_bytes_of_rejects_are_cut_into_steps_too() -> None:
    """Kept raw bytes count: no step holds much more than a batch may."""
    bad = json_lines([b"x" * (3 << 20)] * 8)
    reads = read_range(Range(0, (whole("a.jsonl", 1),)), ReadOptions(keep_raw=True), lambda uri: io.BytesIO(bad))
    assert [read.rejects.num_rows for read in reads if read.rejects] == [3, 3, 2]
