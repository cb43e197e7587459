# Everything runs in .venv, which the first target that needs it creates. Needed beforehand: python3 (3.11 or
# newer, with venv), git, make. Another interpreter: make PYTHON=python3.12 run

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PACKAGES := byteroute_ops byteroute.pipelines byteroute.schemas byteroute.runners
# Checked without their names in site-packages: they are run from the checkout, never installed.
CHECKED := $(wildcard byteroute_ops pipelines schemas runners tests tools benchmarks setup.py)

.DELETE_ON_ERROR:
.PHONY: help setup run test test-slow test-engines lint format types wheel wheel-test peers bench clean

help:
	@echo "make run         the demo: bundled corpus -> out/demo"
	@echo "make test        lint, types and all tests"
	@echo "make test-slow   what takes minutes: kills at 25 moments, larger inputs"
	@echo "make lint        ruff only;  make format  lets ruff rewrite the files;  make types  mypy only"
	@echo "make test-engines  the tests on Prism and Flink; gets what the registries serve, says what they do not"
	@echo "make wheel       dist/: a wheel with compiled modules for this platform, and one without for any other"
	@echo "make wheel-test  the tests against the built wheel, in a venv of its own"
	@echo "make peers       the exports read back by the trainers' own packages (several GB, in venvs of their own)"
	@echo "make bench       speed beside datatrove, Megatron-LM's way and others -> out/bench; BENCH='--parts kernels' for a part"
	@echo "make clean       remove what the other targets made"

setup: $(STAMP)

# mypy does not follow the import hook of an editable install, and finds `pipelines` under its folder's name. Links
# with the installed names next to it give it what the wheel gives its users, and are never out of date.
$(STAMP): pyproject.toml setup.py $(wildcard byteroute_ops/compiled/*.p??)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "byteroute needs Python 3.11 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 run" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || \
		{ echo "$(PYTHON) has no venv module; on Debian and Ubuntu install the package python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV) (once; a few minutes with an empty package cache)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@mkdir -p $(VENV)/types/byteroute
	@for folder in pipelines schemas runners; do ln -sfn ../../../$$folder $(VENV)/types/byteroute/$$folder; done
	@touch $@
	@echo "Set up $(VENV): $$($(BIN)/python --version)"

run: $(STAMP)
	@$(BIN)/byteroute demo --output out/demo

# pytest comes last, so that its closing line is the last one printed.
test: $(STAMP)
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory types
	@$(BIN)/python -m pytest --quiet -n 2 --dist loadfile

test-slow: $(STAMP)
	@$(BIN)/python -m pytest --quiet -m slow

lint: $(STAMP)
	@$(BIN)/ruff check --quiet $(CHECKED) && $(BIN)/ruff format --check --quiet $(CHECKED) && echo "ruff: clean"

format: $(STAMP)
	@$(BIN)/ruff check --fix $(CHECKED); $(BIN)/ruff format $(CHECKED)

types: $(STAMP)
	@MYPYPATH=$(VENV)/types $(BIN)/mypy --strict $(addprefix -p ,$(PACKAGES))

# One process: the engines' tests start servers and several workers of their own. The exemption is for pipes of the
# engine's process that Beam 2.77 never closes.
test-engines: $(STAMP)
	@PYTHON=$(BIN)/python bash tools/get_engines.sh
	@BYTEROUTE_TEST_ENGINES=1 $(BIN)/python -m pytest --quiet -W ignore::pytest.PytestUnraisableExceptionWarning tests/engines

wheel: $(STAMP)
	@BYTEROUTE_PURE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls dist/byteroute-*.whl

wheel-test: $(STAMP)
	@bash tools/wheel_test.sh

# Two environments: mosaicml-streaming wants transformers < 5 and so huggingface-hub < 1, datatrove >= 1.6. OLMo-core goes
# in without its own pins, as it is only read with.
PEER_TESTS := $(wildcard tests/integration/test_export_peers.py tests/integration/test_loading_*.py tests/unit/test_loading_*.py)
peers:
	@$(PYTHON) -m venv .venv-peers && .venv-peers/bin/python -m pip install --quiet --editable '.[peers,test]'
	@.venv-peers/bin/python -m pip install --quiet bettermap cached-path dataclass-extensions
	@.venv-peers/bin/python -m pip install --quiet --no-deps ai2-olmo-core
	@$(PYTHON) -m venv .venv-mosaic && .venv-mosaic/bin/python -m pip install --quiet --editable '.[test]' mosaicml-streaming
	@.venv-mosaic/bin/python -m pytest --quiet tests/integration/test_export_peers.py -k mosaic
	@.venv-peers/bin/python -m pytest --quiet $(PEER_TESTS)

# In an environment of its own: nothing that byteroute is compared with belongs to its development.
BENCH ?=
bench:
	@$(PYTHON) -m venv .venv-bench && .venv-bench/bin/python -m pip install --quiet --editable '.[bench]'
	@.venv-bench/bin/python -m benchmarks.speed $(BENCH)

clean:
	rm -rf $(VENV) .venv-peers .venv-mosaic .venv-bench build dist out byteroute.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
