# Everything sets itself up in .venv: each target works as the first command typed on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BUILD := build/kernels
# the build tools of .venv, and none that happens to be on the machine
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: test test-all lint types bench report pages docs studies clean

test: lint types
	$(BIN)/pytest -n auto

test-all: lint types
	$(BIN)/pytest -n auto -m ""

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks

report: $(READY)
	$(BIN)/sparsegauge report -o report.html

pages: $(READY)
	$(BIN)/python docs/build.py

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo build/docs/index.html

# All studies behind the shipped tables: hours, and it can be cut off and typed again at any moment.
studies: $(READY)
	$(BIN)/python studies/build.py

# The interpreter is checked first, so that an old one gets a sentence and not a resolver's complaint.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sparsegauge needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt meson-python cython meson ninja
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation \
	    --config-settings=builddir=$(BUILD) --editable '.[all]'
	touch $(READY)

clean:
	rm -rf .venv build report.html
