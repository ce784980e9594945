# Every target sets up its own environment first; PYTHON names the interpreter to make it with (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODEL ?= fixtures/models/mobilenet_block.tflite
STAMP := $(VENV)/.stamp
DELEGATES = $(shell $(BIN)/python -c 'from delegate_sim.delegates.registry import DELEGATE_NAMES as n; print(*n)')

TREES ?=
TENSORFLOW ?= python3

.PHONY: setup demo test lint conformance fixtures docs sources peers rewrites advice model-types releases driver-profiles bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,live]'
	$(BIN)/python -m compileall -q delegate_sim cli
	@touch $@

demo: setup  ## analyse a model (MODEL=...), by default a fixture
	$(BIN)/delegate-sim analyze $(MODEL) --delegate nnapi

test: setup lint  ## lint, types, unit tests, property tests, conformance
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

conformance: setup  ## the whole comparison with the recorded verdicts, where ../shared exists
	$(BIN)/python ../shared/tools/conformance.py $(ARGS)

fixtures: setup  ## remake fixtures/models and fixtures/expected
	$(BIN)/python -m fixtures.make

docs: setup  ## remake docs/rules and docs/suggestions.md from the rules
	@mkdir -p docs/rules
	for delegate in $(DELEGATES); do \
	  $(BIN)/delegate-sim rules --delegate $$delegate --format markdown > docs/rules/$$delegate.md || exit 1; \
	done
	$(BIN)/python -m fixtures.suggestions_page > docs/suggestions.md
	$(BIN)/python -m benchmarks.architecture

sources: setup  ## whether every place that a rule names exists upstream (TREES="OWNER/NAME=PATH ...", git trees)
	$(BIN)/python -m benchmarks.sources $(addprefix --tree ,$(TREES))

peers: setup  ## remake the table in the README that compares with TensorFlow's analyzer
	for version in $$($(BIN)/python -c 'from benchmarks.peers import VERSIONS as v; print(*v)'); do \
	  test -x .venv-tensorflow-$$version/bin/python || { \
	    $(PYTHON) -m venv .venv-tensorflow-$$version && \
	    .venv-tensorflow-$$version/bin/python -m pip install --quiet --disable-pip-version-check tensorflow-cpu==$$version; \
	  } || exit 1; \
	done
	$(BIN)/python -m benchmarks.peers --write

rewrites advice:  ## convert with TensorFlow what a diagnosis suggests (TENSORFLOW is a Python with it and this package's needs)
	$(TENSORFLOW) -m benchmarks.$@ $(if $(filter advice,$@),--write)

model-types: setup  ## remake docs/model-types.md from the converted models, where ../shared exists
	$(BIN)/python -m benchmarks.model_types

releases: setup  ## remake docs/releases.md from the converted models, where ../shared exists
	$(BIN)/python -m benchmarks.releases

driver-profiles: setup  ## how many driver profiles learnt from logs reproduce the device
	$(BIN)/python -m benchmarks.driver_profiles

bench: setup
	$(BIN)/python -m benchmarks.bench

clean:
	rm -rf $(VENV) build dist *.egg-info
