"""One profile a file: what each engine needs to run the job. `PROFILES` is the registry."""

from byteroute_ops.errors import ConfigError

from .dataflow import Dataflow
from .flink import Flink
from .launch import JobFailedError as JobFailedError
from .launch import launch as launch
from .local import Local
from .local_mp import LocalProcesses
from .portable import Portable
from .prism import Prism
from .protocol import Profile as Profile

PROFILES: dict[str, Profile] = {
    one.name: one for one in (LocalProcesses(), Local(), Portable(), Prism(), Flink(), Dataflow())
}


def find_profile(name: str) -> Profile:
    """Returns the profile of a name.

    Raises:
        ConfigError: an unknown one; the known ones are listed.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise ConfigError(f"runner {name!r} is not known; known are {', '.join(PROFILES)}") from None
