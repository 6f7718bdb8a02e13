# Two commands do all the set-up: `make demo` and `make test`.  The rest is for those who change the code.
#
#   make demo      the main job on real people, in a local environment
#   make test      what must pass: style, then types, documentation and every test at once
#   make test-all  the same, then what is marked `long`, and attacks by mutation, kill and planted faults: hours
#   make check     the same without the tests;  make lint, make types, make docs  its parts
#   make format    let ruff rewrite;  make serve  the documentation at http://127.0.0.1:8000
#   make lock      write the versions in .venv to constraints.txt
#   make install   only .venv, with everything the tests need;  make clean  remove what was built
#
# PYTHON=… picks another interpreter (3.11 or later); TESTS=tests/wall runs a part of the tests.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
BIN := .venv/bin
TESTS ?=
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export NO_MKDOCS_2_WARNING := 1
# Tests start many processes: each would compile every module again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install demo test tests test-all check lint types docs serve format lock clean
.DEFAULT_GOAL := test

# One rule for both environments: .venv/.test and .venv/.demo say which extras are in .venv.
.venv/.%: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Tacit needs Python 3.11 or later; none was found. Try make PYTHON=/path/to/python3.12" >&2; exit 2; }
	@test -x $(BIN)/python || { echo "making .venv with $(PYTHON)"; $(PYTHON) -m venv .venv; }
	@echo "installing what \`make $*\` needs into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$*]'
	@touch $@

install: .venv/.test

demo: .venv/.demo
	@$(BIN)/python examples/rand_health.py

lint: install
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .

types: install
	@$(BIN)/pyright

docs: install
	@$(BIN)/mkdocs build --strict
	@echo "documentation: site/index.html"

serve: install
	@$(BIN)/mkdocs serve

check: install
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory --jobs=2 types docs

# Types and documentation run beside the tests, which take longest: their closing line is the last one printed.
test: install
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory --jobs=3 types docs tests

tests: install
	@$(BIN)/python -m pytest -q -n auto --dist loadgroup $(TESTS)

# Each exits 1 where it finds what it looks for.
LONG := text_fuzz.py engines_fuzz.py interpreter_settings.py damaged_ledgers.py malformed_releases.py malformed_files.py \
	ledger.py steps.py steps_of_acts.py odd_questions.py

test-all: test
	@TACIT_TEST_NOISE=system $(BIN)/python -m pytest -q -n auto --dist loadgroup $(TESTS)
	@JAX_DISABLE_MOST_OPTIMIZATIONS=0 TACIT_TEST_NOISE=system $(BIN)/python -m pytest -q -n auto --dist loadgroup -m long
	@for script in $(LONG); do echo "benchmarks/$$script"; $(BIN)/python benchmarks/$$script || exit 1; done
	@$(BIN)/python benchmarks/plant_faults.py --record .pytest_cache/faults.jsonl

format: install
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .

# Plain `name==version` lines: no addresses, no local files.
lock: install
	@$(BIN)/python -m pip freeze --exclude-editable | grep -E '^[A-Za-z0-9_.-]+==[^ ]+$$' | LC_ALL=C sort -f > constraints.txt

clean:
	rm -rf .venv site build dist demo-output .pytest_cache .ruff_cache .hypothesis
