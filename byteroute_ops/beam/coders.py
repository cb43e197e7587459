"""The coder of `pyarrow.RecordBatch` elements: one Arrow IPC stream of one batch.

Beam would pickle a RecordBatch otherwise, and pickling a slice writes the buffers of the whole table it
was cut from. Not deterministic in Beam's sense, so a batch can never become a grouping key.
"""

from typing import Any

import apache_beam as beam
import pyarrow as pa


class RecordBatchCoder(beam.coders.Coder):
    """Encodes a batch with its schema, without compression."""

    def encode(self, value: pa.RecordBatch) -> bytes:
        """Returns the IPC stream."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as writer:
            writer.write_batch(value)
        return bytes(sink.getvalue())

    def decode(self, encoded: bytes) -> pa.RecordBatch:
        """Returns the batch; its buffers are views of `encoded`."""
        with pa.ipc.open_stream(encoded) as reader:
            return reader.read_next_batch()

    def is_deterministic(self) -> bool:
        """Returns False: equal rows may be laid out differently."""
        return False

    def to_type_hint(self) -> Any:
        """Returns the element type."""
        return pa.RecordBatch

    def estimate_size(self, value: pa.RecordBatch) -> int:
        """Returns the bytes of the batch's own part of its buffers."""
        return int(value.nbytes)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def register() -> None:
    """Makes Beam use the coder wherever a PCollection is typed `pa.RecordBatch`."""
    beam.coders.registry.register_coder(pa.RecordBatch, RecordBatchCoder)
