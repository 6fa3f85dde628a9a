# Everything a newcomer needs: `make demo` and `make test` install what they need into .venv first.
PYTHON ?= python3
BIN := .venv/bin
QUICK := tests/core tests/session tests/oracles tests/mechanisms tests/theory
STAMP := .venv/.installed

.PHONY: demo serve check test test-all hours packages lint papers papers-full benchmarks measured audit controls docs dist lock clean soak

demo: $(STAMP)
	$(BIN)/dpbandits demo

# A server on SQLite with a campaign whose visitors are made up, and its page.
serve: $(STAMP)
	mkdir -p demo
	$(BIN)/dpbandits serve --demo --store sqlite:///demo/serve.db --witness demo/serve.witness --port 8080

# While one works: lint, types, contracts, and tests of the parts that everything stands on.
check: $(STAMP) lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -q -m "not long and not hours" $(QUICK)

# A file's tests stay on one worker, for what they compile they compile once.
test: $(STAMP) lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=10 -m "not long and not hours"

# Everything, with a database server and a browser: after `make test`, the laws of further instances, the auditor's longest trials, kills.
test-all: packages test
	$(BIN)/python -m pytest -n 2 --durations=10 -m "long and not hours"

# What takes hours: intervals over 2,000 campaigns of every policy, long histories of campaigns in stores.
hours: $(STAMP)
	$(BIN)/python -m pytest -n 2 --durations=10 -m hours

# PostgreSQL and Chromium from Debian's packages, where that can be; tests that miss them say so and are skipped.
packages:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { ls /usr/lib/postgresql/*/bin/initdb && command -v chromium; } >/dev/null 2>&1; then \
		export DEBIAN_FRONTEND=noninteractive; \
		timeout 600 sh -c 'apt-get install -y -qq postgresql chromium || { apt-get update -qq && apt-get install -y -qq postgresql chromium; }' >/dev/null 2>&1 \
		|| echo "PostgreSQL and Chromium could not be installed; their tests are skipped."; \
	fi

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# docs/measured/papers.md as a whole, with its figures and the verdicts in papers/*/README.md: quick sizes in minutes, the papers' own in hours.
papers: $(STAMP)
	$(BIN)/dpbandits papers --quick --docs docs

papers-full: $(STAMP)
	$(BIN)/dpbandits papers --full --docs docs

# Every benchmark at small sizes, into build/measured: whether all of them run.
benchmarks: $(STAMP)
	$(BIN)/python -m benchmarks.pages

# docs/measured at its own sizes, in hours; `python -m benchmarks.pages --whole --only NAME` writes one page.
measured: $(STAMP)
	$(BIN)/python -m benchmarks.pages --whole

# Every registered policy, the mechanisms and the broken specimens: an hour or more; it goes on where it was stopped.
audit: $(STAMP)
	$(BIN)/python -m benchmarks.controls --lists ours --out docs/measured/audit.md

# What the auditor must catch and must not refute, each control with its own number of runs; it goes on where it was stopped.
controls: $(STAMP)
	$(BIN)/python -m benchmarks.controls --out docs/measured/controls.md

# The documentation site, build/site/docs/index.html, from the repository's own pages; a warning is an error.
docs: $(STAMP)
	$(BIN)/python -m docs.generator
	$(BIN)/python -m sphinx -W --keep-going -q -c docs . build/site

# Wheel and sdist, each tried in an environment of its own that has nothing else: minutes, most of them for downloads.
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

# A thousand kills at the places where it may matter, on each database that is here; the better part of two hours.
soak: $(STAMP)
	$(BIN)/python -m benchmarks.service.soak --kills 1000 --out docs/measured/service_kills.md
	! $(BIN)/python -m benchmarks.service.postgres || \
		$(BIN)/python -m benchmarks.service.soak --postgresql --kills 1000 --out docs/measured/service_kills_postgresql.md
	$(BIN)/python -m benchmarks.service.steady --minutes 10 --out docs/measured/service_steady.md

# Renew the lock file after a change of dependencies in pyproject.toml.
lock:
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --extra dev --extra experiments --extra service --extra cluster --extra docs --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --output-file requirements.lock pyproject.toml

clean:
	rm -rf .venv results demo build dist .pytest_cache .mypy_cache .ruff_cache
