"""Package map, and the modules that are compiled where there is a C compiler.

Plain ``pipelines``, ``schemas`` or ``runners`` in site-packages would collide with other projects, so
the folders keep their names in the checkout and get a prefix when installed. All other metadata is in
pyproject.toml.

The compiled modules are a faster form of NumPy code that is always there: without a compiler, or with
``BYTEROUTE_PURE=1`` in the environment, the same package is built without them, for any platform.
"""

import os
from pathlib import Path

from setuptools import Extension, find_packages, setup

FOLDERS = ("pipelines", "schemas", "runners")
OLDEST_PYTHON = ("0x030B0000", "cp311")
"""One build serves this Python and all later ones (the stable ABI)."""


def _packages() -> dict[str, str]:
    mapped = {}
    for folder in FOLDERS:
        mapped[f"byteroute.{folder}"] = folder
        for sub in find_packages(folder):
            mapped[f"byteroute.{folder}.{sub}"] = f"{folder}/{sub.replace('.', '/')}"
    return mapped


def _compiled() -> list[Extension]:
    if os.environ.get("BYTEROUTE_PURE"):
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:  # `setup.py sdist` outside a build environment, as Beam calls it
        return []
    modules = [
        Extension(
            f"byteroute_ops.compiled.{path.stem}",
            [path.as_posix()],
            define_macros=[("Py_LIMITED_API", OLDEST_PYTHON[0])],
            py_limited_api=True,
        )
        for path in sorted(Path("byteroute_ops/compiled").glob("*.pyx"))
    ]
    extensions = cythonize(modules, build_dir="build/cython", quiet=True)
    for extension in extensions:
        extension.optional = True  # one that cannot be compiled is left out; cythonize drops it if it is said before
    return extensions


MAPPED = _packages()
EXTENSIONS = _compiled()

setup(
    packages=[*find_packages(include=["byteroute_ops", "byteroute_ops.*"]), *MAPPED],
    package_dir=MAPPED,
    ext_modules=EXTENSIONS,
    options={"bdist_wheel": {"py_limited_api": OLDEST_PYTHON[1]}} if EXTENSIONS else {},
)
