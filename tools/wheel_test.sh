#!/usr/bin/env bash
# Builds the wheel from a clean copy of the sources, installs it into a venv of its own and runs the tests on it, in a
# folder from which the checkout cannot be imported. Finds what an editable install hides: files that the wheel lacks,
# and imports that only work in the checkout.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1
export BYTEROUTE_SHARED="${BYTEROUTE_SHARED:-$root/../shared}"

mkdir "$work/source" "$work/run"
# What git tracks, not the folder: a stale build/ or a file that nobody added would be packed as well.
git -C "$root" ls-files -z |
  tar -C "$root" --null --ignore-failed-read --files-from=- --create |
  tar -C "$work/source" --extract
"$root/.venv/bin/python" -m pip wheel --quiet --no-deps --wheel-dir "$work" "$work/source"

"$root/.venv/bin/python" -m venv "$work/venv"
wheel=$(echo "$work"/byteroute-*.whl)
"$work/venv/bin/python" -m pip install --quiet "$wheel"
"$work/venv/bin/byteroute" --help >/dev/null # with nothing installed that only tests need
"$work/venv/bin/python" -m pip install --quiet "$wheel[fast,test]"

cp -r "$work/source/tests" "$work/source/pyproject.toml" "$work/run/"
rm -rf "$work/source"
cd "$work/run"
"$work/venv/bin/python" -P -c 'import byteroute_ops, sys; sys.exit(not byteroute_ops.__file__.startswith(sys.prefix))'
"$work/venv/bin/python" -P -m pytest --quiet -n 2 --dist loadfile -r fE # a long list of skips would say nothing
