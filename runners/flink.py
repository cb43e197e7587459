"""`flink`: an Apache Flink cluster, batch and streaming."""

import os
import shutil
from collections.abc import Sequence

from byteroute_ops.errors import ConfigError

from .engines import engines_folder
from .portable import NO_DEADLINE, check_environment
from .protocol import check_extra, value_of, with_defaults

FLINK_VERSION = "2.2"
JOB_SERVER_OPTIONS = frozenset(
    {
        "auto_watermark_interval",
        "checkpoint_timeout_millis",
        "checkpointing_interval",
        "execution_mode_for_batch",
        "execution_retry_delay",
        "externalized_checkpoints_enabled",
        "fail_on_checkpointing_errors",
        "faster_copy",
        "finish_bundle_before_checkpointing",
        "flink_conf_dir",
        "latency_tracking_interval",
        "max_bundle_size",
        "max_bundle_time_mills",
        "min_pause_between_checkpoints",
        "num_concurrent_checkpoints",
        "number_of_execution_retries",
        "object_reuse",
        "retain_externalized_checkpoints_on_cancellation",
        "savepoint_path",
        "shutdown_sources_after_idle_ms",
        "state_backend",
        "state_backend_storage_path",
        "unaligned_checkpoint_enabled",
    }
)
"""Options of Beam's `FlinkPipelineOptions` that the Python SDK learns only from a job server."""


class Flink:
    """A cluster at `--flink_master`, reached through Beam's job server (a jar that Beam starts with Java).

    `--job_endpoint` names a job server that is running already; `[local]` is a cluster inside the job server.
    """

    name = "flink"
    summary = "an Apache Flink cluster (--flink_master=HOST:PORT; needs Java and Beam's job-server jar)"
    streams = True
    beam = True
    shares_disk = True
    polled = True
    own_options: frozenset[str] | None = JOB_SERVER_OPTIONS

    def options(self, job_name: str, extra: Sequence[str]) -> list[str]:
        """Returns FlinkRunner's options.

        Raises:
            ConfigError: no Java, no job-server jar, or an environment that the cluster cannot reach.
        """
        check_extra(extra)
        check_environment(extra)
        defaults = {"runner": "FlinkRunner", "job_name": job_name, "environment_type": "LOOPBACK"} | NO_DEADLINE
        if not value_of(extra, "job_endpoint"):
            version = value_of(extra, "flink_version") or FLINK_VERSION
            defaults |= {"flink_master": "[local]", "flink_version": version}
            if value_of(extra, "flink_job_server_jar") is None:
                defaults["flink_job_server_jar"] = _jar(version)
            if shutil.which(value_of(extra, "job_server_java_launcher") or "java") is None:
                raise ConfigError(
                    "runner flink needs Java (17 or newer) on PATH; on Debian: apt-get install default-jre-headless"
                )
        return with_defaults(defaults, extra)


def _jar(version: str) -> str:
    from apache_beam.version import __version__ as beam

    name = f"beam-runners-flink-{version}-job-server"
    for place in (engines_folder(), os.path.expanduser("~/.apache_beam/cache/jars")):
        path = os.path.join(place, f"{name}-{beam}.jar")
        if os.path.isfile(path):
            return path
    raise ConfigError(
        f"runner flink needs {name}-{beam}.jar and found none; with Maven type: "
        f"mvn dependency:copy -Dartifact=org.apache.beam:{name}:{beam} -DoutputDirectory={engines_folder()} "
        "(or give --flink_job_server_jar=FILE, or --job_endpoint=HOST:PORT of a running job server)"
    )
