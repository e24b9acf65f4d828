# Two commands do all the set-up: `make demo` and `make test`. Python tools come from requirements.lock, Go tools from
# tests/cluster/tools; nothing is installed outside .venv and the cache folder, except the Debian packages of a container
# engine where there is none.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m
E2E := trainyard-e2e
SHELL_SCRIPTS := .ci/run tests/cluster/node/usr/local/bin/* charts/*/files/*/*.sh

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

##@ Use it

.PHONY: demo
demo: setup ## Train on a real cluster: kind, the platform, a run on two nodes, resumed once (VALUES=run.yaml adds yours)
	@$(RUN) tests.demo $(foreach file,$(VALUES),--values $(file))

.PHONY: up
up: setup ## Bring the cluster up, or make sure that it runs
	@$(RUN) tests.cluster up

.PHONY: down
down: setup ## Remove the cluster; what was built for it stays in the cache
	@$(RUN) tests.cluster down

##@ Test it

.PHONY: test
test: check e2e ## Everything that CI runs: the checks, then the tests on a live cluster

.PHONY: check
check: lint verify docs unit ## What needs no cluster: style, types, layers, generated files, the site, tests

.PHONY: lint
lint: setup ## Style, types, import layers, shell scripts
	ruff check .
	ruff format --check .
	mypy
	mypy charts/training-job/files/dataset
	lint-imports
	shellcheck $(SHELL_SCRIPTS)

.PHONY: unit
unit: setup tools ## Tests of the harness, the charts, the validator and the trainer
	pytest --numprocesses=auto --dist=loadscope tests/harness tests/charts tests/validator tests/trainer

.PHONY: e2e
e2e: setup tools ## Tests on a live cluster of their own, removed at the end (TRAINYARD_KEEP=1 keeps it)
	@$(RUN) tests.cluster up --name $(E2E) --renew
	status=0; \
	pytest --numprocesses=2 -m "not alone and not long" tests/e2e || status=$$?; \
	[ $$status = 2 ] || pytest -m alone tests/e2e || status=$$?; \
	exit $$status

.PHONY: long
long: setup tools ## Runs in Kueue's queues, and 500 sets of values shown to an API server (TRAINYARD_DRAWS=5000: as many)
	@$(RUN) tests.cluster up --name $(E2E) --renew
	TRAINYARD_DRAWS=$${TRAINYARD_DRAWS:-500} pytest tests/e2e/test_queues.py tests/e2e/test_dry_run.py

.PHONY: soak
soak: setup ## Kill a save at 2,500 places instead of 300 (TRAINYARD_DRAWS=1000: as many)
	TRAINYARD_DRAWS=$${TRAINYARD_DRAWS:-2500} pytest tests/trainer/test_checkpoint_crash.py tests/trainer/test_checkpoint_faults.py

.PHONY: bench
bench: setup tools ## Measure the validator beside other linters
	@$(RUN) compileall -q validator
	@$(RUN) tests.validator.bench

.PHONY: faults
faults: setup tools ## Measure what faults cost a run beside a stock PyTorchJob, on a cluster of their own (FAULTS=name: only that one)
	@$(RUN) tests.faults $(foreach name,$(FAULTS),--only $(name))

.PHONY: bench-trainer
bench-trainer: setup tools ## Measure the trainer beside its peers, also between two pods of a cluster of its own (BENCH=name: only that one)
	@$(RUN) tests.trainer.bench $(BENCH)

##@ Change it

.PHONY: generate
generate: setup tools ## Write what is generated: CRDs, JSON Schemas, names of metrics, the index of rules, the charts' schemas and README files
	@$(RUN) tests.generate

.PHONY: verify
verify: setup tools ## Fail when a generated file differs from what its source gives
	@$(RUN) tests.generate --check

.PHONY: docs
docs: setup ## Build the documentation site into build/site
	@DISABLE_MKDOCS_2_WARNING=true $(RUN) mkdocs build --strict --quiet

.PHONY: format
format: setup ## Format and sort the Python code
	ruff check --fix .
	ruff format .

.PHONY: lock
lock: setup ## Resolve the pins of pyproject.toml into requirements.lock, and those of each test image into its own lock
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-emit-index-url \
		--group setup --group validator --group trainer --group cluster --group docs --group test --group lint --output-file requirements.lock
	for group in frameworks tensorflow; do \
		uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --only-binary :all: \
			--python-version 3.13 --group $$group --output-file tests/cluster/images/$$group.lock; \
	done
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --only-binary :all: --no-binary deepspeed \
		--python-version 3.14 --excludes tests/cluster/images/launchers.excludes \
		--group launchers --output-file tests/cluster/images/launchers.lock

##@ Set it up

.PHONY: setup
setup: $(VENV)/.synced ## Install the pinned Python packages into .venv

$(VENV)/.synced: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name it: make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV) || { echo "on Debian or Ubuntu, as root: apt-get install python3-venv"; exit 1; }
	@pip install --quiet --disable-pip-version-check "$$(sed -n 's/^\(uv==[0-9.]*\).*/\1/p' requirements.lock)"
	uv pip sync --quiet --compile-bytecode --python $(VENV) --require-hashes requirements.lock
	@touch $@

.PHONY: tools
tools: setup ## Build helm, kubectl and the other tools, once, and link them into build/bin
	@$(RUN) tests.cluster tools

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
