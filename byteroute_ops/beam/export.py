"""Exports as the last step of a batch pipeline: shards in, files that a trainer reads out.

The units of work are those that `byteroute export` does, so the bytes are the same.
"""

from collections.abc import Iterator, Sequence

import apache_beam as beam
from apache_beam.pvalue import AsList

from ..errors import ConfigError
from ..export.finish import MANIFEST, check_prepared, finish_export, finished_export
from ..export.job import ExportJob, UnitRecord
from ..export.unit_files import read_done
from ..export.work import all_buckets, part_unit, run_bucket, run_part, run_scatter, runs_of, scatter_unit
from ..loading.runs import open_run
from .counters import count
from .stage_dofns import guarded


class ExportShards(beam.PTransform):
    """PCollection of the names of all shards of a run (`ExportJob.shards`) to that of the export's manifest.

    The run is complete, the output folder prepared (`prepare_export`), and both lie where all workers reach them. The
    one element that comes out is the path of the manifest, which is written when all else is done. Windows
    other than the global one are not for this: an export is of a whole run.
    """

    def __init__(self, job: ExportJob) -> None:
        super().__init__()
        self._job = job

    def expand(self, shards: beam.PCollection) -> beam.PCollection:
        """Applies the pass over shards, for a shuffle that over buckets too, and the end."""
        job, pipeline = self._job, shards.pipeline
        done = shards | "Spread" >> beam.Reshuffle() | "Shards" >> beam.ParDo(_ShardDoFn(job)).with_output_types(str)
        if job.shuffle_seed is not None:
            done = (
                pipeline
                | "Buckets" >> _create([bucket.unit for bucket in all_buckets(job)])
                | "SpreadBuckets" >> beam.Reshuffle()
                # A side input is complete before its readers begin: no bucket is read before all shards are sorted.
                | "Gather" >> beam.ParDo(_BucketDoFn(job), AsList(done)).with_output_types(str)
            )
        return (
            pipeline
            | "End" >> _create([f"{job.output}/{MANIFEST}"])
            | "Finish" >> beam.ParDo(_FinishDoFn(job), AsList(done)).with_output_types(str)
        )


def _create(names: Sequence[str]) -> beam.PTransform:
    return beam.Create(names, reshuffle=False).with_output_types(str)


class _ShardDoFn(beam.DoFn):
    """Exports a shard, or sorts it for a shuffle; yields the names of the files."""

    def __init__(self, job: ExportJob) -> None:
        self._job = job

    def process(self, element: str) -> Iterator[str]:
        return guarded(f"export of {element}", lambda: _names(self._do(element)))

    def _do(self, shard: str) -> UnitRecord:
        check_prepared(self._job)
        if shard not in self._job.shards:
            raise ConfigError("the run has no such shard")
        index = self._job.shards.index(shard)
        if self._job.shuffle_seed is None:
            return read_done(self._job.output, part_unit(index)) or _counted(run_part(self._job, index))
        return read_done(self._job.output, scatter_unit(index)) or run_scatter(self._job, index)


class _BucketDoFn(beam.DoFn):
    """Exports a bucket of a shuffle; yields the names of the files."""

    def __init__(self, job: ExportJob) -> None:
        self._job = job

    def process(self, element: str, runs: Sequence[str]) -> Iterator[str]:
        return guarded(f"export of {element}", lambda: _names(self._do(element, runs)))

    def _do(self, unit: str, runs: Sequence[str]) -> UnitRecord:
        bucket = next(one for one in all_buckets(self._job) if one.unit == unit)
        names = runs_of(bucket, runs)
        if not names:
            return UnitRecord(unit)
        return read_done(self._job.output, unit) or _counted(run_bucket(self._job, bucket, names))


class _FinishDoFn(beam.DoFn):
    """Writes the manifest; yields its path."""

    def __init__(self, job: ExportJob) -> None:
        self._job = job

    def process(self, element: str, _: Sequence[str]) -> Iterator[str]:
        return guarded("end of the export", lambda: self._do(element))

    def _do(self, manifest: str) -> list[str]:
        # An attempt that an engine had given up on may have come first.
        if finished_export(self._job) is None:
            finish_export(self._job, open_run(self._job.run))
        return [manifest]


def _names(record: UnitRecord) -> list[str]:
    return [entry["path"] for entry in record.files]


def _counted(record: UnitRecord) -> UnitRecord:
    for split, counts in record.counts.items():
        count("export", {f"{split}_documents": counts.documents, f"{split}_ids": counts.tokens})
    return record
