"""Where engines that do not come with Python packages are kept."""

import os
from pathlib import Path


def engines_folder() -> Path:
    """Returns the folder that `tools/get_engines.sh` fills: `BYTEROUTE_ENGINES`, or one in the user's cache."""
    place = os.environ.get("BYTEROUTE_ENGINES")
    return Path(place) if place else Path.home() / ".cache" / "byteroute" / "engines"
