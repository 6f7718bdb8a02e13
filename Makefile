# `make demo` and `make test` do all the set-up.  `make install` makes .venv with everything the tests need.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test lint types docs clean

.venv/.test: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

.venv/.demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[demo]'
	touch $@

install: .venv/.test

demo: .venv/.demo
	$(BIN)/python examples/rand_health.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/pyright

docs: install
	$(BIN)/mkdocs build --strict --quiet

test: lint types docs
	$(BIN)/python -m pytest -n auto

clean:
	rm -rf .venv site build dist demo-output .pytest_cache .ruff_cache .hypothesis
