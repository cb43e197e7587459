"""What a run would do, said before it does it."""

import io
from dataclasses import dataclass

from byteroute_ops.formats import read_range
from byteroute_ops.processing import Processor, shard_schema
from byteroute_ops.range_worker import read_options
from byteroute_ops.shards import open_shard_writer

from .preprocess import Plan, files_for

SAMPLE_BYTES = 4 << 20
"""UTF-8 bytes of text that the estimate looks at."""


@dataclass(frozen=True)
class Estimate:
    """What a sample from the head of the first range suggests. Later files may differ."""

    sample_documents: int
    documents: int
    shard_bytes: int
    shards: int


def estimate(plan: Plan) -> Estimate | None:
    """Returns the estimate; None where the sample held no document."""
    job, settings = plan.job, plan.job.settings
    files = files_for(job.input_root or job.output)
    processor = Processor(settings)
    sink = io.BytesIO()
    writer = open_shard_writer(
        settings.shard_format, sink, shard_schema(settings), compression=settings.compression, seed=b""
    )
    documents, text_bytes, source_bytes = 0, 0, 0
    for read in read_range(plan.ranges[0], read_options(settings), lambda name: files.open(job.input_root + name)):
        source_bytes += read.source_bytes
        if read.documents is None:
            continue
        rows = processor.process(read.documents).rows
        writer.write(rows)
        documents += rows.num_rows
        text_bytes += rows.column("n_utf8_bytes").to_numpy().sum()
        if text_bytes >= SAMPLE_BYTES:
            break
    writer.close()
    if not documents or not source_bytes:
        return None
    scale = plan.n_bytes / source_bytes
    total = int(sink.tell() * scale)
    per_range = total / len(plan.ranges)
    return Estimate(
        sample_documents=documents,
        documents=int(documents * scale),
        shard_bytes=total,
        shards=len(plan.ranges) * max(1, round(per_range / settings.shard_bytes)),
    )


def describe_plan(plan: Plan) -> str:
    """Returns the plan and the estimate as text."""
    lines = [
        f"input   {len(plan.inputs.files):,} files, {plan.inputs.n_bytes / 1e6:,.1f} MB as stored",
        f"below   {plan.job.input_root}",
        f"work    {len(plan.ranges):,} ranges",
        f"output  {plan.job.output} ({plan.job.settings.shard_format}, {plan.job.settings.compression})",
    ]
    guess = estimate(plan) if plan.ranges else None
    if guess is None:
        lines.append("no document in the sample, so no estimate")
    else:
        lines.append(
            f"about   {guess.documents:,} documents, {guess.shards:,} shards, {guess.shard_bytes / 1e6:,.1f} MB "
            f"(from the first {guess.sample_documents:,} documents; other files may differ)"
        )
    return "\n".join(lines)
