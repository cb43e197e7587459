"""`dataflow`: Google Cloud Dataflow."""

import importlib
from collections.abc import Sequence

from byteroute_ops.errors import ConfigError

from .protocol import check_extra, require, require_module, value_of, with_defaults

PACKAGES = ("sdk_container_image", "extra_package", "setup_file")


class Dataflow:
    """Dataflow with workers that have byteroute from a container image, or from a package staged with the job."""

    name = "dataflow"
    summary = "Google Cloud Dataflow (--project --region --temp_location; needs byteroute[gcp])"
    streams = True
    beam = True
    shares_disk = False
    polled = True
    own_options: frozenset[str] | None = frozenset()

    def options(self, job_name: str, extra: Sequence[str]) -> list[str]:
        """Returns DataflowRunner's options.

        Raises:
            ConfigError: a missing option, package, credential, or nothing that brings byteroute to the workers.
        """
        check_extra(extra)
        require_module("google.cloud.dataflow_v1beta3", "gcp", self.name)
        require(extra, ["project", "region", "temp_location"], self.name)
        if not any(value_of(extra, name) for name in PACKAGES):
            raise ConfigError(
                "runner dataflow needs byteroute on its workers: --sdk_container_image=IMAGE (runners/container/), or "
                "--extra_package=dist/byteroute-VERSION-py3-none-any.whl (make wheel)"
            )
        if value_of(extra, "no_auth") is None:
            _check_credentials()
        defaults = {"runner": "DataflowRunner", "job_name": job_name}
        if value_of(extra, "sdk_container_image"):
            defaults["sdk_location"] = "container"
        options = with_defaults(defaults, extra)
        # On Dataflow Beam pickles the main module by default, and workers would then need all that it holds.
        if value_of(extra, "save_main_session") is None and value_of(extra, "no_save_main_session") is None:
            options.append("--no_save_main_session")
        return options


def _check_credentials() -> None:
    auth = importlib.import_module("google.auth")
    errors = importlib.import_module("google.auth.exceptions")
    try:
        auth.default()
    except errors.DefaultCredentialsError:
        raise ConfigError(
            "runner dataflow found no Google credentials; type: gcloud auth application-default login "
            "(or set GOOGLE_APPLICATION_CREDENTIALS to a service account's key file)"
        ) from None
