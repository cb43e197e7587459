"""`local-mp`: worker processes of this machine, fed range by range. The default."""

from collections.abc import Sequence

from byteroute_ops.errors import ConfigError

from .protocol import check_extra


class LocalProcesses:
    """Processes that the command line drives itself (`--workers`); each runs the pipeline on FnApiRunner.

    Beam's own mode for this, `multi_processing`, deals out elements by count beforehand and waits for ever
    for a worker that died.
    """

    name = "local-mp"
    summary = "worker processes of this machine (--workers); the default"
    streams = False
    beam = False
    shares_disk = True
    polled = False
    own_options: frozenset[str] | None = frozenset()

    def options(self, job_name: str, extra: Sequence[str]) -> list[str]:  # noqa: ARG002 - the protocol's signature
        """Returns nothing: no Beam option applies.

        Raises:
            ConfigError: a Beam option was given.
        """
        check_extra(extra)
        if extra:
            raise ConfigError(
                f"{extra[0]}: no such option; Beam options need --runner with another name than {self.name}"
            )
        return []
