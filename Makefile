# make help says what there is. Each step of the setup leaves a stamp in the venv, so that what is
# up to date is not done again.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= $(shell scripts/machine.sh choose)
TORCH ?=
VENV ?= .venv$(addprefix -torch-,$(TORCH))
PORT ?= 8888
LAB_ARGS ?=
TORCH_INDEX ?=

STAMPS := $(VENV)/.stamps
LABEXTENSION := extension/jupyterlab_compilescope/labextension
export PORT
export VIRTUAL_ENV := $(abspath $(VENV))
export PATH := $(abspath $(VENV))/bin:$(PATH)
# jlpm asks before it downloads its own yarn, reports home and draws progress bars: none of it here.
export YARN_ENABLE_TELEMETRY := 0
export YARN_ENABLE_PROGRESS_BARS := 0
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

FRONTEND := $(shell find src style schema -type f 2>/dev/null) package.json tsconfig.json \
	scripts/build_page.mjs

.PHONY: help setup setup-tests lab check test test-quick test-gpu docs links pictures dist clean

help:
	@echo 'make lab     set everything up and open JupyterLab on the quickstart (PORT=, LAB_ARGS=)'
	@echo 'make test    set everything up and run every check and test'
	@echo 'make test-quick  after every edit: the checks, jest, and the kernel tests that build no C++'
	@echo 'make test-gpu    the tests that need a GPU, on a machine that has one'
	@echo 'make test TORCH=2.11.0   the kernel tests against that torch, in a venv of its own'
	@echo 'make setup   set everything up in $(VENV)  (PYTHON=, VENV=, TORCH=, TORCH_INDEX=)'
	@echo 'make check   formatters, linters, types, import contracts; no tests'
	@echo 'make docs    the documentation, in build/site/'
	@echo 'make links   whether the links of the documentation to the web work'
	@echo 'make pictures    the pictures of views and symptoms in docs/images/'
	@echo 'make dist    the wheel and the sdist, in dist/'
	@echo 'make clean   remove what was built; the venv and node_modules too'

setup: $(STAMPS)/headers

setup-tests: setup $(STAMPS)/ui $(STAMPS)/test-headers
	@scripts/machine.sh browser $(VENV)

lab: setup
	@scripts/lab.sh $(LAB_ARGS)

check: setup $(STAMPS)/ui
	@python scripts/steps.py check

# Another torch is another kernel: the front end is the same, and its tests are left out.
ifeq ($(TORCH),)
test: setup-tests
	@python scripts/steps.py test
else
test: setup
	@python scripts/steps.py kernel
endif

test-quick: setup $(STAMPS)/ui
	@python scripts/steps.py quick

test-gpu: $(STAMPS)/linked
	@python scripts/steps.py gpu

docs: setup
	sphinx-build -q -W --keep-going -b html -d build/doctrees docs build/site
	@echo 'Open build/site/index.html'

# Those of the web: `docs` checks those within the site.
links: setup
	sphinx-build -q --keep-going -b linkcheck -d build/doctrees docs build/links

# The reports first, which takes some minutes; then each picture that docs/pictures.json lists.
pictures: setup-tests
	python examples/symptoms/make.py --out build/symptoms
	cd tests/ui && COMPILESCOPE_DOCS_PICTURES=1 jlpm test docs-pictures

# From nothing: the build hook would pack a development build that it finds.
dist: setup
	jlpm clean:all
	rm -rf dist
	hatchling build -t sdist -t wheel

clean:
	rm -rf $(VENV) .venv-torch-* node_modules tests/ui/node_modules lib build dist $(LABEXTENSION) kernel/compilescope/views/built
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis coverage
	rm -rf .eslintcache .stylelintcache tsconfig.tsbuildinfo
	rm -rf tests/ui/test-results tests/ui/playwright-report tests/ui/artifacts

# --- the steps of the setup

$(STAMPS)/venv:
	scripts/machine.sh python $(PYTHON)
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS) && touch $@

# pip first: that of Python 3.11 takes twice the time. Then torch, alone when an index is named for it,
# so that nothing else comes from there.
$(STAMPS)/python: constraints/dev.txt scripts/requirements.py \
		kernel/compilescope/torch_api/kernels/triton_versions.py $(STAMPS)/venv
	python scripts/requirements.py $(TORCH) >$(STAMPS)/requirements.txt
	python -m pip install -q "$$(grep '^pip==' $(STAMPS)/requirements.txt)"
	$(if $(TORCH_INDEX),python -m pip install -q --index-url '$(TORCH_INDEX)' "$$(grep '^torch==' $(STAMPS)/requirements.txt)")
	python -m pip install -q -r $(STAMPS)/requirements.txt
	touch $@

$(STAMPS)/node: package.json yarn.lock .yarnrc.yml $(STAMPS)/python
	scripts/machine.sh node $(VENV)
	jlpm install --immutable
	touch $@

$(STAMPS)/frontend: $(FRONTEND) $(STAMPS)/node
	jlpm build
	touch $@

# The build hook skips the front end, which is there by now. What is linked stays linked when the
# front end is built again, so this only depends on it being there. An old link goes first: pip would
# follow it and replace the files behind it.
$(STAMPS)/linked: pyproject.toml extension/install.json package.json | $(STAMPS)/frontend
	rm -rf $(VENV)/share/jupyter/labextensions/jupyterlab-compilescope
	python -m pip install -q --no-deps --no-build-isolation -e .
	jupyter-builder develop . --overwrite
	touch $@
setup: $(STAMPS)/frontend

$(STAMPS)/headers: $(STAMPS)/python scripts/headers.py | $(STAMPS)/linked
	scripts/machine.sh compiler $(VENV)
	python scripts/headers.py
	touch $@

# The compiler of the tests precompiles one header more, when it first builds a C++ wrapper.
$(STAMPS)/test-headers: export PATH := $(abspath tests/compiler):$(PATH)
$(STAMPS)/test-headers: $(STAMPS)/headers tests/compiler/g++
	folder=$$(mktemp -d); \
	COMPILESCOPE_TEST_COMPILATIONS=$$folder/compilations python scripts/headers.py; rm -rf $$folder
	touch $@

$(STAMPS)/ui: tests/ui/package.json tests/ui/yarn.lock $(STAMPS)/node
	cd tests/ui && jlpm install --immutable
	touch $@
