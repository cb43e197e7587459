"""The bytes of each export format, read back by readers written from the formats' descriptions."""

import csv
import gzip
import io
import itertools
import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from byteroute_ops.errors import ConfigError
from byteroute_ops.export import EXPORTERS, ExportSettings, IdSpace, Part, TokenBatch, exporter
from byteroute_ops.export.base import PartSummary
from byteroute_ops.export.blt import entropies
from byteroute_ops.export.datatrove import human_count
from byteroute_ops.export.mds import encode_ndarray

DOCUMENTS = [[1, 2, 9], [3, 9], [4, 5, 6, 7, 9]]
FLAT = [1, 2, 9, 3, 9, 4, 5, 6, 7, 9]
PART = Part("train", 7)


class Folder(dict[str, bytes]):
    """Files of an export in memory."""

    def create(self, name: str) -> io.BytesIO:
        """Opens a file; its bytes are kept when it is closed."""
        files = self

        class Stream(io.BytesIO):
            def close(self) -> None:
                if not self.closed:
                    files[name] = self.getvalue()
                super().close()

        return Stream()


def token_batch(documents: list[list[int]], dtype: str, start: int = 0, texts: list[str] | None = None) -> TokenBatch:
    """Documents with ids, as the driver hands them to a writer."""
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    numbers = range(start, start + len(documents))
    rows = {
        "doc_id": [f"a,{i}" for i in numbers],
        "source": ['f "1".jsonl' for _ in numbers],
        "position": list(numbers),
        "lang": ["und"] * len(documents),
    } | ({"text": texts} if texts else {})
    ids = np.array([i for d in documents for i in d], dtype)
    return TokenBatch(ids, offsets, pa.RecordBatch.from_pydict(rows))


def write(name: str, dtype: str, *, size: int = 10, batches: int = 2) -> Folder:
    """Writes the documents in some batches and closes the part."""
    folder = Folder()
    settings = ExportSettings(space=IdSpace(kind="text", size=size, eos=9), dtype=dtype, tokenizer="toy")
    writer = exporter(name).writer(PART, settings, folder.create)
    for chosen in np.array_split(np.arange(len(DOCUMENTS)), batches):
        writer.write(token_batch([DOCUMENTS[i] for i in chosen], dtype, int(chosen[0])))
    writer.close()
    exporter(name).finish([PartSummary(PART)], folder.create, folder.__getitem__)
    return folder


@pytest.mark.parametrize("name", EXPORTERS)
def test_no_empty_shard(name: str) -> None:
    """A part without documents leaves no file at all."""
    folder = Folder()
    settings = ExportSettings(space=IdSpace(kind="text", size=10, eos=None), dtype="uint16")
    exporter(name).writer(PART, settings, folder.create).close()
    exporter(name).finish([], folder.create, folder.__getitem__)
    assert folder == {}


@pytest.mark.parametrize(("dtype", "code"), [("uint8", 1), ("int32", 4), ("uint16", 8)])
def test_megatron_layout(dtype: str, code: int) -> None:
    """`.bin` is the ids; `.idx` has magic, version, type code, counts, lengths, pointers, document index."""
    folder = write("megatron", dtype)
    prefix = "train/byteroute-00007_text_document"
    assert set(folder) == {f"{prefix}.bin", f"{prefix}.idx"}
    assert np.frombuffer(folder[f"{prefix}.bin"], dtype).tolist() == FLAT
    index, itemsize = folder[f"{prefix}.idx"], np.dtype(dtype).itemsize
    assert index[:9] == b"MMIDIDX\0\0"
    assert struct.unpack("<QBQQ", index[9:34]) == (1, code, 3, 4)
    assert np.frombuffer(index[34:46], "<i4").tolist() == [3, 2, 5]
    assert np.frombuffer(index[46:70], "<i8").tolist() == [0, 3 * itemsize, 5 * itemsize]
    assert np.frombuffer(index[70:], "<i8").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("dtype", "size"), [("uint16", 2), ("uint32", 4)])
def test_datatrove_layout(dtype: str, size: int) -> None:
    """`.ds` is the ids, `.index` the document ends in tokens, `.metadata` three lines."""
    folder = write("datatrove", dtype)
    name = "train/00007_unshuffled.ds"
    assert set(folder) == {name, f"{name}.index", f"{name}.metadata"}
    assert np.frombuffer(folder[name], dtype).tolist() == FLAT
    assert np.frombuffer(folder[f"{name}.index"], "<u8").tolist() == [3, 5, 10]
    assert folder[f"{name}.metadata"].decode().split("\n") == [f"toy|{size}", "10", "10.0 T"]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0.00 T"), (1500, "1.50 kT"), (999_500, "1.00 MT"), (99_960, "100 kT"), (7 * 10**15, "7000 TT")],
)
def test_human_counts(count: int, text: str) -> None:
    """Counts get the unit under which they stay below a thousand."""
    assert human_count(count) == text


def test_datatrove_name_of_a_shuffled_part() -> None:
    """A shuffled part is named as datatrove names it."""
    folder = Folder()
    settings = ExportSettings(space=IdSpace(kind="text", size=10), dtype="uint16")
    writer = exporter("datatrove").writer(Part("validation", 3, shuffled=True), settings, folder.create)
    writer.write(token_batch([[1]], "uint16"))
    writer.close()
    assert "validation/00003_00000_doc_shuffled.ds" in folder


def test_olmo_layout() -> None:
    """`.npy` is raw ids without a header; the csv has start, end, id, source, place of every document."""
    folder = write("olmo", "uint32")
    assert np.frombuffer(folder["train/part-7-00000.npy"], "<u4").tolist() == FLAT
    packed = folder["train/part-7-00000.csv.gz"]
    assert packed[3:8] == bytes(5), "no name and no time in the gzip header"
    rows = list(csv.reader(io.StringIO(gzip.decompress(packed).decode())))
    assert [row[:2] for row in rows] == [["0", "3"], ["3", "5"], ["5", "10"]]
    assert rows[2][2:] == ["a,2", 'f "1".jsonl', "2"]


def test_olmo_needs_an_eos() -> None:
    """OLMo-core scans for EOS, so an export without one is refused and the remedy named."""
    settings = ExportSettings(space=IdSpace(kind="text", size=10), dtype="uint16")
    with pytest.raises(ConfigError, match="name one with --eos"):
        exporter("olmo").validate(settings)


def read_mds(folder: Folder, split: str) -> list[tuple[str, list[int]]]:
    """Reads MDS samples from the split's index on, by the format's description."""
    found = []
    for shard in json.loads(folder[f"{split}/index.json"])["shards"]:
        data = folder[f"{split}/{shard['raw_data']['basename']}"]
        assert len(data) == shard["raw_data"]["bytes"]
        (n,) = struct.unpack_from("<I", data)
        assert n == shard["samples"]
        offsets = np.frombuffer(data, "<u4", n + 1, 4)
        config = json.loads(data[4 + 4 * (n + 1) : offsets[0]])
        assert config == {key: shard[key] for key in config}
        for start, end in itertools.pairwise(offsets):
            name_size, values_size = struct.unpack_from("<II", data, start)
            name = data[start + 8 : start + 8 + name_size].decode()
            values = data[start + 8 + name_size : end]
            assert len(values) == values_size
            width = 1 << (values[0] & 3)
            assert values[0] >> 2 == 1
            ids = np.frombuffer(values[1 + width :], config["column_encodings"][1].split(":")[1]).tolist()
            assert int.from_bytes(values[1 : 1 + width], "little") == len(ids)
            found.append((name, ids))
    return found


def test_mds_layout() -> None:
    """Each sample is doc_id and ids; the split's index names shards with their folders."""
    folder = write("mds", "uint16")
    assert read_mds(folder, "train") == [(f"a,{i}", ids) for i, ids in enumerate(DOCUMENTS)]


def test_mds_rolls_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard that would pass the size limit is closed first; no sample is lost between shards."""
    monkeypatch.setattr("byteroute_ops.export.mds.SIZE_LIMIT", 1)
    folder = write("mds", "uint16")
    assert [name for name in sorted(folder) if name.endswith(".mds")] == [
        f"train/00007/shard.{i:05d}.mds" for i in range(3)
    ]
    assert read_mds(folder, "train") == [(f"a,{i}", ids) for i, ids in enumerate(DOCUMENTS)]


@pytest.mark.parametrize(("n", "head"), [(255, "04ff"), (256, "050001"), (65536, "0600000100")])
def test_mds_shape_has_the_smallest_type(n: int, head: str) -> None:
    """The length of an array is written in the smallest type that holds it."""
    assert encode_ndarray(np.zeros(n, np.uint8))[: len(head) // 2].hex() == head


def test_arrow_layout() -> None:
    """An IPC file (not a stream) with ids and what identifies a document; metadata says which ids."""
    folder = write("arrow", "uint16")
    table = pa.ipc.open_file(io.BytesIO(folder["train/part-00007.arrow"])).read_all()
    assert table["input_ids"].to_pylist() == DOCUMENTS
    assert table["doc_id"].to_pylist() == ["a,0", "a,1", "a,2"]
    assert table.schema.field("input_ids").type.value_type == pa.uint16()
    expected = {b"byteroute.ids": b"text", b"byteroute.vocab_size": b"10", b"byteroute.eos": b"9"}
    assert table.schema.metadata == expected


def test_blt_layout() -> None:
    """Text and entropies in batches of 1,000, an empty sidecar, a stub chunk; names as the loader's patterns want."""
    folder = Folder()
    settings = ExportSettings(space=IdSpace(kind="text", size=260), dtype="uint16", name="mix")
    texts = [f"a{i} é" for i in range(2100)]
    writer = exporter("blt").writer(PART, settings, folder.create)
    writer.write(token_batch([[1]] * 2100, "uint16", texts=texts))
    writer.close()
    name = "train/preprocess/mix/forced/mix.chunk.00007.jsonl.shard_00.arrow"
    assert {key: len(data) for key, data in folder.items() if key != name} == {
        f"{name}.complete": 0,
        "train/root/mix/mix.chunk.00007.jsonl": 0,
    }
    file = pa.ipc.open_file(io.BytesIO(folder[name]))
    assert [file.get_batch(i).num_rows for i in range(3)] == [1000, 1000, 100]
    table = file.read_all()
    assert [(f.name, str(f.type), f.nullable) for f in table.schema] == [
        ("sample_id", "string", False),
        ("text", "string", False),
        ("entropies", "list<item: halffloat>", False),
    ]
    assert table["text"].to_pylist() == texts
    lengths = [len(values) for values in table["entropies"].to_pylist()]
    assert lengths == [len(text.encode()) + 2 for text in texts]


def patches(values: list[float], threshold: float = 1.335442066192627) -> list[int]:
    """BLT's patch starts in token numbers (BOS is 0): 0, 1, and i + 1 where entropies[i] is above the threshold."""
    starts = {0, 1} | {i + 1 for i, value in enumerate(values) if i >= 1 and value > threshold and i + 1 < len(values)}
    return sorted(starts)


@pytest.mark.parametrize(
    ("by", "text", "starts"),
    [
        ("clusters", "aé👍🏽x", [0, 1, 2, 4, 12, 13]),
        ("clusters", "\r\nb", [0, 1, 3, 4]),
        ("whitespace", "ab  cd e", [0, 1, 3, 7, 9]),
        ("whitespace", "中文　字", [0, 1, 7, 13]),
    ],
)
def test_blt_patches_begin_where_asked(by: str, text: str, starts: list[int]) -> None:
    """The patcher's rule applied to our entropies gives the boundaries, BOS apart and EOS apart."""
    column = entropies(pa.array([text, "zz", text]), by)
    assert patches(column[0].as_py()) == starts
    assert column[2].as_py() == column[0].as_py()


@pytest.mark.parametrize("kind", ["bytes", "routed"])
def test_blt_refuses_what_its_schema_cannot_carry(kind: str) -> None:
    """Routed bytes are refused; the message names the formats that take them and the vocabulary."""
    settings = ExportSettings(space=IdSpace(kind=kind, size=260), dtype="uint16")
    with pytest.raises(ConfigError, match=r"vocabulary 260.*megatron, datatrove, olmo, mds or arrow"):
        exporter("blt").validate(settings)


def test_blt_refuses_delimiters_of_ours() -> None:
    """BLT adds BOS and EOS itself."""
    settings = ExportSettings(space=IdSpace(kind="text", size=260, eos=2), dtype="uint16")
    with pytest.raises(ConfigError, match="--eos none"):
        exporter("blt").validate(settings)


def test_formats_are_named_after_their_files() -> None:
    """Every module of the folder that is a format is registered."""
    folder = Path(__import__("byteroute_ops.export", fromlist=["x"]).__file__).parent
    helpers = {"__init__", "base", "finish", "ids", "job", "shuffle", "split", "unit_files", "work"}
    assert {path.stem.removesuffix("_ipc") for path in folder.glob("*.py")} - helpers == set(EXPORTERS)
