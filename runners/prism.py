"""`prism`: Beam's single-machine engine written in Go, batch and streaming."""

import os
from collections.abc import Sequence
from pathlib import Path

from byteroute_ops.errors import ConfigError

from .engines import engines_folder
from .portable import NO_DEADLINE, check_environment
from .protocol import check_extra, find_program, value_of, with_defaults


class Prism:
    """Prism, started by Beam from a binary, or a running one at `--job_endpoint`."""

    name = "prism"
    summary = "Beam's engine for one machine, batch and streaming (needs its binary)"
    streams = True
    beam = True
    shares_disk = True
    polled = True
    own_options: frozenset[str] | None = frozenset()

    def options(self, job_name: str, extra: Sequence[str]) -> list[str]:
        """Returns the options of PrismRunner, or of PortableRunner where an endpoint is given.

        Raises:
            ConfigError: no binary is found.
        """
        check_extra(extra)
        check_environment(extra)
        defaults = {"runner": "PrismRunner", "job_name": job_name, "environment_type": "LOOPBACK"} | NO_DEADLINE
        if value_of(extra, "job_endpoint"):
            defaults["runner"] = "PortableRunner"
        elif value_of(extra, "prism_location") is None:
            defaults["prism_location"] = _binary()
        return with_defaults(defaults, extra)


def _binary() -> str:
    places = [
        engines_folder(),
        *(Path(os.environ[name]) for name in ("GOBIN",) if name in os.environ),
        Path.home() / "go/bin",
    ]
    found = find_program("prism", places)
    if found is None:
        from apache_beam.version import __version__ as beam

        # Beam would try to download a release from a host that many networks do not reach.
        raise ConfigError(
            "runner prism needs its binary and found none; with Go installed type: "
            f"GOBIN={engines_folder()} go install github.com/apache/beam/sdks/v2/go/cmd/prism@v{beam} "
            "(or give --prism_location=FILE)"
        )
    return found
