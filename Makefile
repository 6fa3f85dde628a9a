# Everything a newcomer needs: each target installs what it needs into .venv first.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PYTEST := $(BIN)/python -m pytest -n 2
# Many interpreters are started: each finds compiled what the first one read.
export PYTHONDONTWRITEBYTECODE :=
LINT := $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports --no-cache

.PHONY: demo serve check test test-all papers papers-full measured docs dist

demo: $(STAMP)
	$(BIN)/dpbandits demo

# A server on SQLite with a campaign whose visitors are made up, and its page.
serve: $(STAMP)
	mkdir -p demo
	$(BIN)/dpbandits serve --demo --store sqlite:///demo/serve.db --witness demo/serve.witness --port 8080

# While one works: lint, types, contracts, and tests of the parts that everything stands on.
check: $(STAMP)
	$(LINT)
	$(PYTEST) --dist loadfile -q -m "not long and not hours" tests/core tests/vault tests/mechanisms tests/session --ignore tests/session/test_interruption.py

# A file's tests stay on one worker, for what they compile they compile once.
test: $(STAMP)
	$(PYTEST) --dist loadfile --durations=10 -m "not long and not hours"

# Everything but what takes hours (`pytest -m hours`). PostgreSQL and Chromium come from Debian's packages, where that can be; tests that miss them are skipped.
test-all: test
	$(LINT)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { ls /usr/lib/postgresql/*/bin/initdb && command -v chromium; } >/dev/null 2>&1; then \
		export DEBIAN_FRONTEND=noninteractive; \
		timeout 600 sh -c 'apt-get update -qq && apt-get install -y -qq postgresql chromium' >/dev/null 2>&1 \
		|| echo "PostgreSQL and Chromium could not be installed; their tests are skipped."; \
	fi
	$(PYTEST) --durations=10 -m "long and not hours"

# docs/measured/papers.md and the papers' own pages, with figures and verdicts: quick sizes in minutes, the papers' own in hours.
papers: $(STAMP)
	$(BIN)/python -m papers --quick --docs docs

papers-full: $(STAMP)
	$(BIN)/python -m papers --full --docs docs

# docs/measured, in hours; `python -m benchmarks.pages --whole --only NAME` writes one page.
measured: $(STAMP)
	$(BIN)/python -m benchmarks.pages --whole

# The documentation site, build/site/docs/index.html; a warning is an error.
docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -c docs . build/site

# Wheel and sdist, each tried in an environment of its own that has nothing else.
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m tests.smoke dist

# The environment exactly as locked; the package itself editable, without touching its dependencies.
$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dpbandits needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(STAMP)
