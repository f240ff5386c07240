# Everything a fresh machine needs: Python 3.11+ and make. Both of these do their own set-up:
#   make demo    an embedded Valkey with a live incident, the console on top
#   make test    lint, types, the order of the rooms, and every test against real servers

PYTHON ?= $(firstword $(foreach name,python3 python3.11 python3.12 python3.13 python3.14,\
  $(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
BIN := .venv/bin

.PHONY: demo test check soak screenshots bench clean

demo: .venv/.console
	@$(BIN)/echomq-console demo

test: check
	$(BIN)/python -m pytest -n 2

check: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# A million entries under kills, freezes, lost replies and restarts; `make test` runs a short form of it.
soak: .venv/.test
	$(BIN)/python tests/chaos/soak.py --seed 1 --entries 1000000 --seconds 600

screenshots: .venv/.console
	$(BIN)/python screenshots/make.py

bench: .venv/.console
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/engine.py

.venv/.console: pyproject.toml
	$(if $(PYTHON),,$(error Python 3.11 or newer is needed: install it, or name it: make PYTHON=/path/to/python3))
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/.test: .venv/.console
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
