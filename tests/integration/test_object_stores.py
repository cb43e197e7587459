"""S3 through Beam's filesystems, against moto's server: the bytes of a local run, and errors that say where."""

import hashlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from byteroute.pipelines.preprocess import files_for, make_plan, prepare_output, run_plan
from byteroute.pipelines.verify import verify_output
from integration_support import digests, do_ranges, run_command

from byteroute_ops.beam.files import connect_stores
from byteroute_ops.errors import ConfigError, describe_error
from byteroute_ops.settings import load_settings

boto3 = pytest.importorskip("boto3", reason="needs the extra aws")
pytest.importorskip("moto", reason="needs moto[s3,server]")

SETTINGS = {"range_bytes": 1 << 17}


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    """A client of an S3 server of our own; the environment points boto3 at it, here and in workers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    values = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setenv(name, value)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        connect_stores(())
        client = boto3.client("s3")
        client.create_bucket(Bucket="bucket")
        yield client
    server.kill()
    server.wait()


def put(s3: Any, folder: Path, prefix: str) -> None:
    """Uploads the files of a folder."""
    for path in folder.iterdir():
        s3.put_object(Bucket="bucket", Key=f"{prefix}/{path.name}", Body=path.read_bytes())


def stored(s3: Any, prefix: str, *, but: tuple[str, ...] = ("run.json",)) -> dict[str, str]:
    """Returns the SHA-256 of every object below a prefix, by name."""
    found = {}
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix + "/"):
        for one in page.get("Contents", ()):
            name = one["Key"].removeprefix(prefix + "/")
            if name not in but:
                body = s3.get_object(Bucket="bucket", Key=one["Key"])["Body"].read()
                found[name] = hashlib.sha256(body).hexdigest()
    return found


def test_s3_to_s3_gives_the_bytes_of_a_local_run(s3: Any, run_inline: Any, corpus: Path, tmp_path: Path) -> None:
    """The command, with two worker processes, from S3 to S3: every file but run.json is the local run's."""
    run_inline([corpus], tmp_path / "local", **SETTINGS)
    put(s3, corpus, "in here/día")
    command = run_command("s3://bucket/in here/día", "s3://bucket/out", "--range-bytes", "128KiB", "--workers", "2")
    done = subprocess.run([*command, "--max-rejected", "5%", "--quiet"], capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert stored(s3, "out") == digests(tmp_path / "local")
    assert verify_output(files_for("s3://bucket/out"), "s3://bucket/out", unique=True).problems == []


def test_an_interrupted_run_on_s3_goes_on_to_the_same_end(
    s3: Any, run_inline: Any, corpus: Path, tmp_path: Path
) -> None:
    """Without the record of a range, and with what an attempt left, --resume ends with the same objects."""
    run_inline([corpus], tmp_path / "local", **SETTINGS)
    output = "s3://bucket/broken"
    plan = make_plan(load_settings(SETTINGS), [str(corpus)], output)
    todo = prepare_output(plan, resume=False, overwrite=False)
    assert todo is not None
    assert len(todo) > 1
    do_ranges(plan.job, todo[:-1])
    s3.put_object(Bucket="bucket", Key="broken/_temporary/dead/shards-part-00000-000.parquet", Body=b"half")
    s3.put_object(Bucket="bucket", Key="broken/shards/part-00001-000.parquet", Body=b"renamed, but without a record")
    s3.put_object(Bucket="bucket", Key="broken2/precious", Body=b"another folder with the same beginning")
    with pytest.raises(ConfigError, match="--resume"):
        prepare_output(plan, resume=False, overwrite=False)
    s3.delete_object(Bucket="bucket", Key="broken/_ranges/00001.json")
    again = prepare_output(plan, resume=True, overwrite=False)
    assert again is not None
    assert {one.index for one in again} == {1, todo[-1].index}
    run_plan(plan, again, do_ranges, facts={})
    assert stored(s3, "broken") == digests(tmp_path / "local")
    assert prepare_output(plan, resume=True, overwrite=False) is None
    assert prepare_output(plan, resume=False, overwrite=True) == list(plan.ranges)
    assert set(stored(s3, "broken")) == {"_plan.json"}
    assert set(stored(s3, "broken2")) == {"precious"}


def test_a_target_is_never_deleted_before_it_is_written(s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts at one range write the same names: at no moment may a finished object be gone."""
    from apache_beam.io.aws.clients.s3 import boto3_client

    deleted: list[str] = []
    batch = boto3_client.Client.delete_batch
    monkeypatch.setattr(
        boto3_client.Client,
        "delete_batch",
        lambda self, request: (deleted.extend(request.objects), batch(self, request))[1],
    )
    files = files_for("s3://bucket/a")
    s3.put_object(Bucket="bucket", Key="a/target", Body=b"old")
    with files.create("s3://bucket/a/source") as stream:
        stream.write(b"new")
    files.rename("s3://bucket/a/source", "s3://bucket/a/target")
    assert deleted == ["a/source"]
    assert s3.get_object(Bucket="bucket", Key="a/target")["Body"].read() == b"new"


def test_names_are_taken_as_they_are(s3: Any) -> None:
    """Spaces, non-ASCII letters and `*` in names; folders by prefix without hidden parts; globs."""
    for name in ("in/a b.jsonl", "in/ä.jsonl", "in/x*.jsonl", "in/xy.jsonl", "in/_tmp/z.jsonl", "in/.hid", "in/sub/"):
        s3.put_object(Bucket="bucket", Key="_names/" + name, Body=b"")
    files = files_for("s3://bucket")

    def matched(pattern: str) -> list[str]:
        return [
            info.uri.removeprefix("s3://bucket/_names/in/") for info in files.match(f"s3://bucket/_names/{pattern}")
        ]

    assert matched("in/x*.jsonl") == ["x*.jsonl"]
    assert matched("in/*.jsonl") == ["a b.jsonl", "x*.jsonl", "xy.jsonl", "ä.jsonl"]
    assert matched("in") == matched("in/") == ["a b.jsonl", "x*.jsonl", "xy.jsonl", "ä.jsonl"]
    assert matched("nothing") == []


def test_errors_are_those_of_the_system(s3: Any) -> None:
    """A missing object or bucket is a FileNotFoundError with its name."""
    files = files_for("s3://bucket")
    for act in (lambda: files.open("s3://bucket/none"), lambda: files.create("s3://no-such-bucket/x").close()):
        with pytest.raises(FileNotFoundError) as caught:
            act()
        assert str(caught.value.filename).startswith("s3://")


@pytest.mark.parametrize("scheme", ["ftp", "hdfs"])
def test_other_schemes_are_refused(scheme: str) -> None:
    """A URI that no object store serves is wrong use, and the message says what there is."""
    with pytest.raises(ConfigError, match="s3://"):
        files_for(f"{scheme}://host/folder")


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (404, FileNotFoundError, "answers 404"),
        (403, PermissionError, "answers 403"),
        (503, ConnectionError, "answers 503"),
        (None, ConnectionError, "cannot be used (EndpointConnectionError)"),
    ],
)
def test_failures_of_a_store_say_where_and_whether_to_try_again(
    s3: Any, monkeypatch: pytest.MonkeyPatch, code: int | None, kind: type[OSError], said: str
) -> None:
    """What the store refuses is final, what fails on the way is for a retry; the store's own words are not repeated."""
    from apache_beam.io.aws import s3io
    from apache_beam.io.aws.clients.s3.messages import S3ClientError
    from botocore.exceptions import EndpointConnectionError

    def fail(*_: Any) -> None:
        try:
            raise EndpointConnectionError(endpoint_url="http://canary")
        except EndpointConnectionError:
            raise S3ClientError("canary", code)  # noqa: B904 - as Beam does it

    monkeypatch.setattr(s3io.S3IO, "exists", fail)
    with pytest.raises(kind) as caught:
        files_for("s3://bucket").match("s3://bucket/a")
    assert describe_error(caught.value) == f"the object store {said}: s3://bucket/a"
