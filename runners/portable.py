"""`portable`: any Beam job service that is running already."""

from collections.abc import Sequence

from byteroute_ops.errors import ConfigError

from .protocol import check_extra, require, value_of, with_defaults


class Portable:
    """A job service at `--job_endpoint`, with workers in this process (LOOPBACK) or a worker pool (EXTERNAL)."""

    name = "portable"
    summary = "a running Beam job service (--job_endpoint=HOST:PORT)"
    streams = True
    beam = True
    shares_disk = True
    polled = True
    own_options: frozenset[str] | None = None

    def options(self, job_name: str, extra: Sequence[str]) -> list[str]:
        """Returns PortableRunner's options.

        Raises:
            ConfigError: no endpoint, or an environment without its address.
        """
        check_extra(extra)
        require(extra, ["job_endpoint"], self.name)
        check_environment(extra)
        defaults = {"runner": "PortableRunner", "job_name": job_name, "environment_type": "LOOPBACK"}
        return with_defaults(defaults | NO_DEADLINE, extra)


NO_DEADLINE = {"job_server_timeout": "100000000"}
"""Beam 2.77 ends the stream of a job's states after this many seconds too (300 by default), and then takes a job that
is running or done for failed. That a service is there at all is checked by `launch`."""


def check_environment(extra: Sequence[str]) -> None:
    """Refuses an external environment without the address of its worker pool.

    Raises:
        ConfigError: it was given without.
    """
    if value_of(extra, "environment_type") == "EXTERNAL" and not value_of(extra, "environment_config"):
        raise ConfigError(
            "--environment_type=EXTERNAL needs --environment_config=HOST:PORT of a worker pool; start one with: "
            "python -m apache_beam.runners.worker.worker_pool_main --service_port 50000"
        )
