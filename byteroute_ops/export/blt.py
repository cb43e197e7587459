"""BLT (Byte Latent Transformer): Arrow IPC files of UTF-8 text with an entropies column.

Source: bytelatent/preprocess/preprocess_entropies.py and data/iterators/arrow_iterator.py. The columns are
`sample_id`, `text`, `entropies` (list<float16>), in record batches of 1,000 documents, and every file has an
empty `.complete` beside it. `len(entropies)` is UTF-8 bytes + 2, for the BOS and EOS that BLT's tokenizer adds;
BLT itself never checks that, so it is guaranteed here.

Entropies come from no model: they are 9 nats where a patch must begin next and 0 elsewhere. With the loader's
default threshold (1.335), monotonicity off and no maximal patch length, BLT's patcher then gives exactly these
patches. To use a model's entropies, run BLT's own preprocessing on the same text instead.

Routed bytes have no place in this schema: the column is UTF-8 and BLT encodes it itself.
"""

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.base import Create, ExportSettings, Part, PartSummary, Read, TokenBatch
from byteroute_ops.segmentation import segment_batch

BATCH_ROWS = 1000
BREAK_NATS = 9.0
MODEL_FOLDER = "forced"
"""Stands where BLT has the name of its entropy model: `entropy_model_name` of the loader's configuration."""

SCHEMA = pa.schema(
    [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("entropies", pa.list_(pa.field("item", pa.float16())), nullable=False),
    ]
)


def patch_starts(texts: pa.StringArray, by: str) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Returns (bool[n_bytes] True where a patch begins, int64[n_docs + 1] byte offsets of the documents).

    Args:
        texts: the documents.
        by: `clusters` begins a patch at every extended grapheme cluster; `whitespace` at every cluster of
            white space that follows none, so that a word travels with the space before it.
    """
    seg = segment_batch(texts)
    lengths = 1 + (seg.codepoints > 0x7F).astype(np.int64) + (seg.codepoints > 0x7FF) + (seg.codepoints > 0xFFFF)
    begins = np.cumsum(lengths) - lengths
    marks = seg.cluster_breaks
    if by == "whitespace":
        space = np.isin(seg.codepoints, _WHITE_SPACE)
        marks = space & ~np.concatenate([[False], space[:-1]]) & marks
    starts = np.zeros(len(seg.utf8), bool)
    starts[begins[marks]] = True
    return starts, seg.doc_byte


# White_Space of the Unicode Character Database (PropList.txt); the set is closed by stability policy in practice.
_WHITE_SPACE = np.array(
    [*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000],
    np.uint32,
)


def entropies(texts: pa.StringArray, by: str) -> pa.ListArray:
    """Returns list<float16> with UTF-8 bytes + 2 values a document, 9 where the next token begins a patch.

    Value i speaks of token i + 1, and token 0 is BOS: so byte j of the text is governed by value j, and the
    last two values (before EOS, and behind it) are 9 and 0.
    """
    starts, doc_byte = patch_starts(texts, by)
    offsets = doc_byte + 2 * np.arange(len(doc_byte))
    values = np.zeros(int(offsets[-1]), np.float16)
    doc_of_byte = np.repeat(np.arange(len(texts)), np.diff(doc_byte))
    values[np.arange(len(starts)) + 2 * doc_of_byte] = np.where(starts, BREAK_NATS, 0)
    values[offsets[1:] - 2] = BREAK_NATS
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values), type=SCHEMA.field(2).type)


class _Writer:
    def __init__(self, part: Part, settings: ExportSettings, create: Create) -> None:
        name = settings.name
        folder = f"{part.split}/preprocess/{name}/{MODEL_FOLDER}"
        self._chunk = f"{part.split}/root/{name}/{name}.chunk.{part.index:05d}.jsonl"
        self._file_name = f"{folder}/{name}.chunk.{part.index:05d}.jsonl.shard_00.arrow"
        self._by = settings.entropies
        self._create = create
        self._stream: BinaryIO | None = None

    def write(self, batch: TokenBatch) -> None:
        if self._stream is None:
            self._stream = self._create(self._file_name)
            self._file = pa.ipc.new_file(self._stream, SCHEMA)
        texts, ids = batch.rows.column("text"), batch.rows.column("doc_id")
        for start in range(0, len(texts), BATCH_ROWS):
            rows = texts.slice(start, BATCH_ROWS)
            columns = [ids.slice(start, BATCH_ROWS), rows, entropies(rows, self._by)]
            self._file.write_batch(pa.RecordBatch.from_arrays(columns, schema=SCHEMA))

    def close(self) -> None:
        if self._stream is None:
            return
        self._file.close()
        self._stream.close()
        # The loader takes its list of chunks from the root folder by name; in Arrow mode it never reads them.
        for name in (f"{self._file_name}.complete", self._chunk):
            self._create(name).close()


class Blt:
    """`SPLIT/preprocess/NAME/forced/NAME.chunk.00000.jsonl.shard_00.arrow`, `.complete`, stubs in `SPLIT/root`."""

    name = "blt"
    dtypes = ("uint8",)
    carries_text = True

    def validate(self, settings: ExportSettings) -> None:
        """Accepts text without delimiters of ours.

        Raises:
            ConfigError: ids other than text, which the schema cannot carry; a BOS or EOS, which BLT adds itself.
        """
        if settings.space.kind != "text":
            raise ConfigError(
                f"BLT's Arrow files hold UTF-8 text that BLT turns into bytes itself, so ids '{settings.space.kind}' "
                "cannot travel in them; export ids 'bytes' (vocabulary 260, byte + 4, numbered as BLT does) "
                "to megatron, datatrove, olmo, mds or arrow"
            )
        if (settings.space.bos, settings.space.eos) != (None, None):
            raise ConfigError("BLT adds BOS (1) and EOS (2) itself: use --eos none and no --bos")

    def writer(self, part: Part, settings: ExportSettings, create: Create) -> _Writer:
        """Returns the writer of a part's file, its sidecar and its stub."""
        return _Writer(part, settings, create)

    def finish(self, parts: Sequence[PartSummary], create: Create, read: Read) -> None:
        """Writes nothing."""
