"""Package map: the short top-level folders install below the ``byteroute`` namespace.

Plain ``pipelines``, ``schemas`` or ``runners`` in site-packages would collide with other projects, so
the folders keep their names in the checkout and get a prefix when installed. All other metadata is in
pyproject.toml.
"""

from setuptools import find_packages, setup

FOLDERS = ("pipelines", "schemas", "runners")


def _packages() -> dict[str, str]:
    mapped = {}
    for folder in FOLDERS:
        mapped[f"byteroute.{folder}"] = folder
        for sub in find_packages(folder):
            mapped[f"byteroute.{folder}.{sub}"] = f"{folder}/{sub.replace('.', '/')}"
    return mapped


MAPPED = _packages()

setup(
    packages=[*find_packages(include=["byteroute_ops", "byteroute_ops.*"]), *MAPPED],
    package_dir=MAPPED,
)
