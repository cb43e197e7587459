"""`local`: the pipeline in this process, one thread; for looking at a problem with a debugger."""

from collections.abc import Sequence

from .protocol import check_extra, with_defaults


class Local:
    """Beam's FnApiRunner in memory.

    Named as such and not `DirectRunner`, which picks among three runners, one of which wants a download.
    """

    name = "local"
    summary = "this process, one thread"
    streams = False
    beam = True
    shares_disk = True
    polled = False
    own_options: frozenset[str] | None = frozenset()

    def options(self, job_name: str, extra: Sequence[str]) -> list[str]:
        """Returns FnApiRunner's options."""
        check_extra(extra)
        return with_defaults({"runner": "FnApiRunner", "job_name": job_name}, extra)
