"""A place for workers that have the built wheel and its dependencies, and no way to the checkout."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def installed_from_wheel() -> bool:
    """Returns whether the running byteroute itself comes from a wheel, as in `make wheel-test`."""
    import byteroute_ops

    return Path(byteroute_ops.__file__).is_relative_to(sysconfig.get_path("purelib"))


def make_worker_site(folder: Path) -> Path:
    """Builds the wheel, installs it alone into a folder, and links the dependencies beside it; returns the folder.

    Links leave out what an editable install of the checkout puts into site-packages.
    """
    site = folder / "site"
    site.mkdir(parents=True)
    if not installed_from_wheel():
        _install_wheel(folder, site)
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        editable = entry.name.startswith("__editable__") or entry.suffix in (".pth", ".egg-link")
        if not editable and not (site / entry.name).exists() and not entry.name.lower().startswith("byteroute-"):
            (site / entry.name).symlink_to(entry)
    return site


def _install_wheel(folder: Path, site: Path) -> None:
    # A copy: building in the checkout would leave files there, and see stale ones.
    source = folder / "source"
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    for name in filter(None, (os.fsdecode(one) for one in tracked)):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).symlink_to(ROOT / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    # Without compiled modules, as on a machine without a compiler: what such workers write must be the same bytes.
    pure = {**os.environ, "BYTEROUTE_PURE": "1"}
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(source)], check=True, env=pure)
    (wheel,) = folder.glob("byteroute-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-compile", "--target", str(site), str(wheel)], check=True)


def worker_environment(folder: Path, site: Path) -> dict[str, str]:
    """Returns the environment of a process that imports from the site alone.

    A worker pool starts `python` from PATH; `-I` would also hide PYTHONPATH, so the site packages of the
    running interpreter are switched off with `-S` in a wrapper, and nothing but the site is left.
    """
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    python = bin_folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return kept | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(site)}
