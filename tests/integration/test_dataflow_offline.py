"""Dataflow without an account: the pipeline as it would be submitted, the job description, the templates."""

import json
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_runner_api_pb2
from byteroute.pipelines.build import batch_pipeline
from byteroute.pipelines.stream import Stream, stream_pipeline
from byteroute.runners import find_profile
from coder_audit import pickled_collections

from byteroute_ops.formats import FileSlice, Range
from byteroute_ops.jobs import Job
from byteroute_ops.settings import Settings

pytest.importorskip("google.cloud.dataflow_v1beta3", reason="needs byteroute[gcp]")

IMAGE = "region-docker.example/project/byteroute:0.1.0"
SETTINGS = Settings(tokenizers=("bytes",))
OFFLINE = [
    "--project=no-such-project", "--region=europe-west1", "--temp_location=gs://no-such-bucket/temp",
    "--staging_location=gs://no-such-bucket/staging", "--no_auth", f"--sdk_container_image={IMAGE}",
    "--dataflow_endpoint=http://localhost:9",
]  # fmt: skip


def batch(pipeline: beam.Pipeline) -> None:
    """Adds the batch job."""
    ranges = [Range(i, (FileSlice(f"part-{i}.jsonl", 9, "v", 0, 9),)) for i in range(3)]
    batch_pipeline(Job(settings=SETTINGS, input_root="gs://b/in/", output="gs://b/out"), ranges)(pipeline)


def stream(pipeline: beam.Pipeline) -> None:
    """Adds the stream of a Pub/Sub subscription."""
    from byteroute_ops.beam.sources import PubSub
    from byteroute_ops.beam.streaming import Windowing

    run = Stream(settings=SETTINGS, windowing=Windowing().to_json(), output="gs://b/out", identity={})
    stream_pipeline(run, PubSub("projects/some-project/subscriptions/some-subscription", SETTINGS))(pipeline)


def submitted(build: Any, *extra: str) -> beam.Pipeline:
    """Returns the pipeline after a dry run; `pipeline.runner.proto_pipeline` is what Dataflow would get."""
    options = find_profile("dataflow").options("byteroute-check", [*OFFLINE, *extra])
    pipeline = beam.Pipeline(options=PipelineOptions(options))
    build(pipeline)
    pipeline.run()
    return pipeline


def staged(pipeline: beam.Pipeline) -> set[str]:
    """Returns the names of the files that would be staged for the workers."""
    names = set()
    for environment in pipeline.runner.proto_pipeline.components.environments.values():
        for artifact in environment.dependencies:
            role = beam_runner_api_pb2.ArtifactStagingToRolePayload.FromString(artifact.role_payload)
            names.add(role.staged_name)
    return names


@pytest.fixture(scope="module")
def dry() -> beam.Pipeline:
    """The batch job after a dry run."""
    return submitted(batch, "--dry_run=True")


@pytest.fixture
def kept_jobs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Keeps the client from the network: nothing is staged in a bucket, submitted jobs are kept in this list."""
    from apache_beam.runners.dataflow.internal import apiclient

    jobs: list[Any] = []
    client = apiclient.DataflowApplicationClient
    real = client.stage_file_with_retry

    def stage(self: Any, place: str, *words: Any, **named: Any) -> Any:
        return None if place.startswith("gs://") else real(self, place, *words, **named)

    monkeypatch.setattr(client, "stage_file_with_retry", stage)
    monkeypatch.setattr(client, "_stage_resources", lambda self, pipeline, options: [])
    monkeypatch.setattr(client, "submit_job_description", lambda self, job: jobs.append(job))
    return jobs


def test_no_collection_is_pickled(dry: beam.Pipeline) -> None:
    """Dataflow's own rewriting of the graph leaves every element with a coder that says what it is."""
    assert [one for one in pickled_collections(dry) if "/ReshufflePerKey/" not in one] == []


def test_grouping_keys_are_deterministic(dry: beam.Pipeline) -> None:
    """Every GroupByKey has a key coder of a deterministic kind."""
    components = dry.runner.proto_pipeline.components
    keys = []
    for one in components.transforms.values():
        if one.spec.urn == "beam:transform:group_by_key:v1":
            (source,) = one.inputs.values()
            pair = components.coders[components.pcollections[source].coder_id]
            keys.append(components.coders[pair.component_coder_ids[0]].spec.urn)
    assert keys
    assert set(keys) <= {"beam:coder:varint:v1", "beam:coder:string_utf8:v1", "beam:coder:bytes:v1"}


def test_workers_run_our_image(dry: beam.Pipeline) -> None:
    """Each environment is the container that was named, with no package on top: Beam stages a list of ours alone."""
    environments = dry.runner.proto_pipeline.components.environments.values()
    steps = [one for one in environments if one.urn == "beam:env:docker:v1"]
    assert steps
    assert all(IMAGE.encode() in one.payload for one in steps)
    assert staged(dry) == {"submission_environment_dependencies.txt"}


def test_without_an_image_the_wheel_is_staged(tmp_path: Path) -> None:
    """With --extra_package the workers of Beam's stock image install the wheel that is staged with the job."""
    wheel = tmp_path / "byteroute-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"not looked into")
    with_wheel = [one for one in OFFLINE if not one.startswith("--sdk_container_image")]
    options = [*with_wheel, f"--extra_package={wheel}", "--dry_run=True"]
    pipeline = beam.Pipeline(options=PipelineOptions(find_profile("dataflow").options("byteroute-check", options)))
    batch(pipeline)
    pipeline.run()
    assert {wheel.name, "extra_packages.txt"} <= staged(pipeline)


def test_the_main_session_is_not_pickled() -> None:
    """Workers import byteroute from their image: the main module stays here."""
    options = find_profile("dataflow").options("byteroute-check", OFFLINE)
    assert "--no_save_main_session" in options
    assert "--sdk_location=container" in options


def test_the_job_description(kept_jobs: list[Any], tmp_path: Path) -> None:
    """The job that would be created: batch, portable, our image, our options."""
    submitted(batch, f"--dataflow_job_file={tmp_path / 'job.json'}")
    job = json.loads((tmp_path / "job.json").read_text(encoding="utf-8"))
    text = json.dumps(job)
    assert job["name"] == "byteroute-check"
    assert "FNAPI_BATCH" in text
    assert IMAGE in text
    assert "multi_threading" not in text
    assert "data_buffer_time_limit_ms" not in text
    assert len(kept_jobs) == 1


def test_a_classic_template(kept_jobs: list[Any], tmp_path: Path) -> None:
    """A template is written where asked, and no job is submitted."""
    place = tmp_path / "template.json"
    submitted(batch, f"--template_location={place}")
    assert json.loads(place.read_text(encoding="utf-8"))["type"]
    assert kept_jobs == []


def test_a_stream_is_a_streaming_job(tmp_path: Path, kept_jobs: list[Any]) -> None:
    """Unbounded input makes a streaming job; Pub/Sub needs nothing but the subscription."""
    submitted(stream, "--streaming", f"--dataflow_job_file={tmp_path / 'job.json'}")
    assert "FNAPI_STREAMING" in (tmp_path / "job.json").read_text(encoding="utf-8")


def test_local_output_is_refused() -> None:
    """Dataflow's workers cannot reach this disk: said before anything is read."""
    from byteroute.pipelines.engines import check_runner

    from byteroute_ops.errors import ConfigError

    with pytest.raises(ConfigError, match="cannot reach this disk"):
        check_runner("dataflow", OFFLINE, "out")


def test_missing_credentials_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without credentials the message is what to type."""
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError

    from byteroute_ops.errors import ConfigError

    def none(*_: Any, **__: Any) -> Any:
        raise DefaultCredentialsError("none")

    monkeypatch.setattr(google.auth, "default", none)
    with pytest.raises(ConfigError, match="gcloud auth application-default login"):
        find_profile("dataflow").options("job", [one for one in OFFLINE if one != "--no_auth"])
