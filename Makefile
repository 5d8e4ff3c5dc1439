# Three commands for users: plan, up, test. The others are for working on the project.
SHELL := /bin/bash
PYTHON_BIN := .venv/bin
# Deprecations inside libraries are theirs to mend: a user's terminal shows ours.
export PYTHONWARNINGS := ignore
# Where Python is told to leave no bytecode, as in many container images, every process that starts Airflow, or collects
# tests, would compile all it imports anew, seconds each: keep it away from the sources instead.
ifdef PYTHONDONTWRITEBYTECODE
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.state/pycache
endif
CLUSTER ?= shop-eu
PARAMS ?= {}
PORT ?= 8080
S3_PORT ?= 9000

COUNT ?= 20000
SEED ?= 1

.PHONY: help plan up test check fuzz format lock clean conformance accuracy reliability

help:  ## say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/.runtime: requirements.txt local/bootstrap.sh
	@local/bootstrap.sh runtime

.venv/.development: requirements-dev.txt requirements.txt local/bootstrap.sh
	@local/bootstrap.sh development

plan: .venv/.runtime  ## install what is needed, plan an example cluster end to end, say where the report is
	@$(PYTHON_BIN)/python -m local.plan --cluster '$(CLUSTER)' --params '$(PARAMS)'

up: .venv/.runtime  ## start the Airflow UI with the embedded S3 endpoint and mail sink, until Ctrl-C
	@$(PYTHON_BIN)/python -m local.up --port $(PORT) --s3-port $(S3_PORT)

test: .venv/.development  ## all tests: check, golden, Spark, DAGs, report in a browser, live Kafka, the whole product
	@$(PYTHON_BIN)/python -m local.test_run

check: .venv/.development  ## quick: lint, types, import rule, unit tests, properties, golden files
	@$(PYTHON_BIN)/ruff check .
	@$(PYTHON_BIN)/ruff format --check -q .
	@$(PYTHON_BIN)/mypy
	@PYTHONPATH=.:plugins $(PYTHON_BIN)/lint-imports --no-cache > .state/lint-imports.log 2>&1 || { cat .state/lint-imports.log; exit 1; }
	@$(PYTHON_BIN)/python -m pytest -q -n 2 --dist worksteal tests/unit tests/properties tests/golden tests/docker tests/fuzz

format: .venv/.development  ## put the sources in shape
	@$(PYTHON_BIN)/ruff check --fix -q . ; $(PYTHON_BIN)/ruff format -q .

conformance: .venv/.development  ## compare with Kafka's recorded answers
	@$(PYTHON_BIN)/python -m kafka_capacity.conformance tests/golden/cases

fuzz: .venv/.development  ## COUNT damaged inputs over each border, made with SEED; what fails is kept in tests/fuzz/corpus
	@$(PYTHON_BIN)/python -m tests.fuzz --count '$(COUNT)' --seed '$(SEED)' --keep

accuracy: .venv/.development  ## measure live brokers beside our predictions, the long way; tables in .state/accuracy
	@mkdir -p .state/accuracy/groups .state/accuracy/moves .state/accuracy/failures .state/accuracy/quorum
	@$(PYTHON_BIN)/python -m tests.live.measure_groups .state/accuracy/groups
	@$(PYTHON_BIN)/python -m tests.live.measure_moves .state/accuracy/moves
	@$(PYTHON_BIN)/python -m tests.live.measure_failures .state/accuracy/failures
	@$(PYTHON_BIN)/python -m tests.live.measure_quorum .state/accuracy/quorum

reliability: .venv/.development  ## kills, concurrent writers and faults of S3, the long way; tables in .state/reliability
	@PYTHONPATH=.:plugins $(PYTHON_BIN)/python -m tests.reliability .state/reliability

lock:  ## renew requirements.txt and requirements-dev.txt
	@local/bootstrap.sh lock

clean:  ## remove the virtual environment and all state
	@rm -rf .venv .state
