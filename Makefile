# Everything from a fresh clone: `make demo`, `make test`. Needs Python 3.11+, a C++20 compiler and make; the rest goes
# into .venv. Nothing is redone when nothing changed.
PYTHON ?= python3
JOBS ?= 2
DEMO_ARGS ?=
TEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
BUILD := build/make
# Waiting OpenMP threads sleep instead of spinning: beside another busy process, spinning made the demo 30 times slower.
RUN_ENV := OMP_WAIT_POLICY=passive

.PHONY: demo test build format lint types generate wheel clean help

demo: build $(VENV)/.demo  ## train on handwritten digits, save, reload, classify image files
	$(RUN_ENV) $(PY) -m flambeau demo $(DEMO_ARGS)

test: build $(VENV)/.dev $(VENV)/.demo  ## the test suite
	$(RUN_ENV) $(PY) -m pytest -q -n $(JOBS) $(TEST_ARGS)

build: $(BUILD)/build.ninja  ## the native extension, in place
	@$(BIN)/ninja -C $(BUILD) -j$(JOBS) --quiet

$(BUILD)/build.ninja: CMakeLists.txt $(VENV)/.build
	@$(BIN)/cmake -S . -B $(BUILD) -G Ninja --log-level=WARNING -DFLAMBEAU_INPLACE=ON -DCMAKE_BUILD_TYPE=Release \
	  -DPython_EXECUTABLE=$(CURDIR)/$(PY) -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) > /dev/null
	@touch $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)

# One stamp per group of requirements (build, demo, dev), read from pyproject.toml.
$(VENV)/.%: pyproject.toml tools/requirements.py | $(PY)
	@echo "installing the $* requirements"
	@$(PY) tools/requirements.py $* > $(VENV)/$*.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check -r $(VENV)/$*.txt
	@echo "$(CURDIR)/src" > $$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/flambeau-src.pth
	@touch $@

format: $(VENV)/.dev  ## rewrite the sources in the project's format
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix --select I .
	@$(BIN)/clang-format -i $$(git ls-files 'csrc/*.h' 'csrc/*.cpp')

lint: $(VENV)/.dev  ## format check and lint
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/clang-format --dry-run -Werror $$(git ls-files 'csrc/*.h' 'csrc/*.cpp')
	@$(BIN)/ruff check --quiet .

types: $(VENV)/.dev  ## mypy
	@$(BIN)/mypy

generate: build  ## stubs and reference pages from the op registry
	@$(PY) tools/generate.py

wheel: $(VENV)/.build  ## dist/*.whl, for installing elsewhere
	@$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf build dist $(VENV) demo-out src/flambeau/_C*.so

help:
	@grep -hE '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12
