# Everything is made inside the checkout: the environment in .venv, the wheel in dist.
# Needs python3 (3.11 or later, with venv), make and git; `make e2e` and `make bench` need Go as well.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -P -m
PINS := requirements/runtime.txt requirements/dev.txt
# Folders are listed beside the files, so that a removed module is noticed too.
SOURCES := $(shell find hooks -not -name '__pycache__' -not -name '*.pyc') pyproject.toml README.md

# What runs must be the wheel: neither the current folder nor the caller's path may come first.
export PYTHONSAFEPATH := 1
unexport PYTHONPATH PYTHONHOME

.DELETE_ON_ERROR:
.PHONY: help demo test check fix coverage search e2e e2e-long rules bench lock clean

help: ## show this list
	@grep -hE '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 10

demo: $(VENV)/.wheel ## rotate a whole pool on an embedded cluster, in about a minute
	$(VENV)/bin/noderotation demo $(ARGS)

test: $(VENV)/.wheel ## build the wheel and test it; needs nothing but Python
	$(RUN) pytest -nauto --dist=loadfile $(ARGS)

check: $(VENV)/.pins ## style, format, types and layers
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(VENV)/bin/python -P $(VENV)/bin/lint-imports

fix: $(VENV)/.pins ## let ruff repair what it can
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

e2e: $(VENV)/.wheel ## rotate nodes on a real control plane; needs Go, builds its programs once
	$(RUN) pytest tests/e2e $(ARGS)

e2e-long: $(VENV)/.wheel ## the same, and watch an idle pool for ten minutes
	NODEROTATION_LONG=1 $(RUN) pytest tests/e2e $(ARGS)

search: $(VENV)/.wheel ## search 100,000 states of a tiny world for a broken promise
	PYTHONHASHSEED=0 $(RUN) pytest tests/search -s $(ARGS)

coverage: $(VENV)/.wheel ## every branch of the pass table by fixtures alone, and of both cores
	$(RUN) pytest tests/sync/test_nodepool.py -q -nauto --cov --cov-config=tests/sync/table.coveragerc
	$(RUN) pytest tests/rotation tests/sync -q -nauto --cov --cov-report=
	$(RUN) coverage report --include='*/hooks/rotation/*' --fail-under=100
	$(RUN) pytest tests/drain -q -nauto --cov --cov-report=
	$(RUN) coverage report --include='*/hooks/drain/*' --fail-under=100

rules: $(VENV)/.wheel ## hold manifests, alerts and dashboard against kubectl and promtool
	$(RUN) pytest tests/rules $(ARGS)

bench: $(VENV)/.wheel ## measure against the bounds of benchmarks/; needs Go, builds its programs once
# Each in a process of its own: what one leaves in memory changes what json.loads costs in the other.
	$(RUN) pytest benchmarks/test_pass.py -s $(ARGS)
	$(RUN) pytest benchmarks/test_eviction.py -s $(ARGS)

lock: ## pin what is new in the requirements, with hashes (ARGS=--upgrade: everything anew)
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet --require-hashes -r requirements/lock.txt
	$(call pin,runtime.txt,pyproject.toml)
	$(call pin,dev.txt,requirements/dev.in)
	$(call pin,lock.txt,requirements/lock.in)

clean: ## remove all that make has made
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage

# Run by the oldest Python that is supported: what only that one needs is pinned too.
# An index's address in a pin would bind every user to it: none of the options may write one.
define pin
CUSTOM_COMPILE_COMMAND='make lock' $(VENV)/lock/bin/python -m piptools compile --quiet --generate-hashes \
	--allow-unsafe --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	--no-emit-options $(ARGS) -o requirements/$(1) $(2)
endef

$(VENV)/.pins: $(PINS)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		$(PINS:%=-r %)
	touch $@

$(VENV)/.wheel: $(VENV)/.pins $(SOURCES)
	rm -rf dist
	$(VENV)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --wheel-dir dist .
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index \
		--force-reinstall dist/*.whl
	touch $@
