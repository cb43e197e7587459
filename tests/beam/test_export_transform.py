"""Exports on Beam: the same files as those of `byteroute export`, whatever is done twice."""

import hashlib
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to
from byteroute.pipelines.export import export_job, export_run
from byteroute.pipelines.export_driver import prepare_export
from coder_audit import pickled_collections
from export_fixtures import make_documents, write_run

from byteroute_ops.beam.export import ExportShards
from byteroute_ops.export import work
from byteroute_ops.export.job import ExportJob

OPTIONS: dict[str, Any] = {"eos": "<eos>", "ids": "bytes", "validation_fraction": 0.3}
SHUFFLED = {"shuffle": 3, "parts": 4}


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of 40 documents in three shards."""
    return write_run(tmp_path_factory.mktemp("run"), make_documents(40)).folder


def on_beam(job: ExportJob, *shards: str) -> beam.Pipeline:
    """Exports these shards, or all, checks what comes out, and returns the pipeline."""
    with beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"])) as pipeline:
        names = pipeline | beam.Create(shards or job.shards[::-1]).with_output_types(str)
        assert_that(names | ExportShards(job), equal_to([f"{job.output}/manifest.json"]))
    return pipeline


def tree(output: Path) -> dict[str, str]:
    """SHA-256 of every file of an export, by name."""
    files = sorted(path for path in output.rglob("*") if path.is_file())
    return {str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("extra", [{}, SHUFFLED], ids=["in order", "shuffled"])
@pytest.mark.parametrize("to", ["megatron", "mds"])
def test_same_files_as_the_command(run_dir: str, tmp_path: Path, to: str, extra: dict[str, Any]) -> None:
    """Every file, the manifest too, has the bytes of `export_run`, and nothing else is left in the folder."""
    export_run(run_dir, str(tmp_path / "command"), to=to, **OPTIONS | extra)
    job = export_job(run_dir, str(tmp_path / "beam"), to=to, **OPTIONS | extra)
    assert prepare_export(job) is None
    on_beam(job)
    assert tree(tmp_path / "beam") == tree(tmp_path / "command")
    assert len(tree(tmp_path / "beam")) > 3


@pytest.mark.parametrize("extra", [{}, SHUFFLED], ids=["in order", "shuffled"])
def test_nothing_is_pickled(run_dir: str, tmp_path: Path, extra: dict[str, Any]) -> None:
    """Names travel as strings, through the reshuffles and side inputs too."""
    job = export_job(run_dir, str(tmp_path), to="megatron", **OPTIONS | extra)
    pipeline = beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"]))
    _ = pipeline | beam.Create(job.shards, reshuffle=False).with_output_types(str) | ExportShards(job)
    assert [name for name in pickled_collections(pipeline) if "/ReshufflePerKey/" not in name] == []


@pytest.mark.parametrize(("extra", "function"), [({}, "run_part"), (SHUFFLED, "run_scatter")])
def test_ends_what_was_begun(
    run_dir: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any], function: str
) -> None:
    """Units that are done are not done again, and a shard that is given twice counts once."""
    export_run(run_dir, str(tmp_path / "command"), to="mds", **OPTIONS | extra)
    job = export_job(run_dir, str(tmp_path / "beam"), to="mds", **OPTIONS | extra)
    prepare_export(job)
    real, done = getattr(work, function), []
    real(job, 1)

    def noted(job: ExportJob, index: int) -> Any:
        done.append(index)
        return real(job, index)

    monkeypatch.setattr(f"byteroute_ops.beam.export.{function}", noted)
    on_beam(job, *job.shards, job.shards[0])
    assert sorted(done) == [0, 2]
    assert tree(tmp_path / "beam") == tree(tmp_path / "command")


def test_a_missing_shard_ends_without_a_manifest(run_dir: str, tmp_path: Path) -> None:
    """An export that was not given all shards says so and is not complete."""
    job = export_job(run_dir, str(tmp_path), to="megatron", **OPTIONS)
    prepare_export(job)
    with pytest.raises(Exception, match="1 of 3 units of the export are not done"):
        on_beam(job, *job.shards[:2])
    assert not (tmp_path / "manifest.json").exists()


def test_an_unprepared_folder_is_refused(run_dir: str, tmp_path: Path) -> None:
    """Nothing is written to a folder that nobody has prepared, or that a worker does not share."""
    job = export_job(run_dir, str(tmp_path / "new"), to="megatron", **OPTIONS)
    with pytest.raises(Exception, match="not prepared for an export"):
        on_beam(job)
    assert not (tmp_path / "new").exists()
