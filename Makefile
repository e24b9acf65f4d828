# `make demo` and `make test` need no other set-up. Python packages come from requirements.lock, those of the harness alone
# from requirements-harness.lock, Go tools from tests/harness/cluster/tools. They are installed in .venv and the cache folder.
# Only a missing container engine is installed from Debian packages.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m
E2E := trainyard-e2e
SHELL_SCRIPTS := .ci/run tests/harness/cluster/node/usr/local/bin/* charts/*/files/*/*.sh

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# With it, each of the hundreds of Python processes of the tests would compile the modules of the repository.
unexport PYTHONDONTWRITEBYTECODE
# Another checkout, as of CI, checks only the types of what has changed.
export MYPY_CACHE_DIR ?= $(or $(TRAINYARD_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/trainyard)/mypy

##@ Use it

.PHONY: demo
demo: harness ## Train on a real kind cluster, on two nodes, and resume the run (KIND=TrainJob: with Kubeflow Trainer v2; VALUES=run.yaml adds your values)
	@$(RUN) tools.demo $(if $(KIND),--kind $(KIND)) $(foreach file,$(VALUES),--values $(file))

.PHONY: up
up: harness ## Create the cluster, or start an existing one
	@$(RUN) tests.harness up

.PHONY: down
down: harness ## Remove the cluster; images and binaries stay in the cache
	@$(RUN) tests.harness down

##@ Test it

.PHONY: test check
test: harness ## Run everything that CI runs: the checks, beside the tests on a live cluster
check: harness ## Run all checks without a cluster: style, types, layers, generated files, the site, tests
test check:
	@$(RUN) tools.steps $@

.PHONY: lint
lint: setup ## Check style, types, import layers, shell scripts and prose
	ruff check .
	ruff format --check .
	mypy
	mypy charts/training-job/files/dataset
	@# Programs of one name are checked one at a time. They import the trainer by the name under which users install it.
	@mkdir -p build/types && ln -sfn ../../trainer build/types/trainyard_trainer
	for script in recipes/*/train.py; do MYPYPATH=build/types mypy $$script; done
	PYTHONPATH=charts/node-health/image lint-imports
	shellcheck $(SHELL_SCRIPTS)
	@$(RUN) tools.prose

.PHONY: unit
unit: setup tools ## Run the tests of the harness, the charts, the validator and the trainer
	pytest --numprocesses=auto --dist=loadscope -m "not long" tests/documentation tests/harness_tests tests/charts tests/gpu tests/nodehealth tests/validator tests/trainer

.PHONY: e2e
e2e: harness ## Run the tests on a live cluster, which is removed at the end (TRAINYARD_KEEP=1 keeps it)
	@$(RUN) tools.steps $@

# Steps of `e2e`.
.PHONY: e2e-cluster e2e-shared e2e-alone e2e-idle
e2e-cluster: harness
	@$(RUN) tests.harness up --name $(E2E) --renew
e2e-shared: setup
	pytest --numprocesses=2 --durations=60 --durations-min=3 -m "not alone and not idle and not long" tests/e2e
e2e-alone: setup
	@$(RUN) tests.harness up --name $(E2E)-alone --renew
	TRAINYARD_E2E=$(E2E)-alone pytest --durations=60 --durations-min=3 -m "alone and not idle and not long" tests/e2e
e2e-idle: setup
	pytest --durations=20 --durations-min=3 -m idle tests/e2e

# With some files, one of the two groups may have no tests: pytest then exits with 5.
.PHONY: oldest
oldest: setup ## Run the tests on clusters of the oldest Kubernetes on which the charts install (TESTS="FILE...": only these)
	@$(RUN) tests.harness up --name $(TRAINYARD_E2E) --renew
	pytest -m "not alone and not idle and not long" $(or $(TESTS),tests/e2e) || [ $$? = 5 ]
	pytest -m "alone and not idle and not long" $(or $(TESTS),tests/e2e) || [ $$? = 5 ]
	@$(RUN) tests.harness down --name $(TRAINYARD_E2E)
oldest: export TRAINYARD_KUBERNETES := oldest
oldest: export TRAINYARD_E2E := trainyard-oldest

.PHONY: long
long: setup tools oldest ## Run `oldest`, the tests marked `long` (the path of a stranger, Flux and Argo CD, upgrades of each chart, Volcano, an autoscaler, ZeRO-3, images), torchtitan, 500 sets of values (TRAINYARD_DRAWS=5000: 5000), and `mutations`
	@$(RUN) tests.harness up --name $(E2E) --renew
	TRAINYARD_DRAWS=$${TRAINYARD_DRAWS:-500} pytest tests/e2e/test_dry_run.py
	pytest -m long tests/e2e
	pytest -m long tests/documentation tests/harness_tests tests/validator/local
	pytest tests/trainer/test_torchtitan.py
	pytest --numprocesses=auto -m long tests/charts/test_text_values.py
	@$(RUN) tools.mutations

.PHONY: soak
soak: setup ## Kill a save at 2,500 places instead of 300 (TRAINYARD_DRAWS=1000: 1000 places)
	TRAINYARD_DRAWS=$${TRAINYARD_DRAWS:-2500} pytest tests/trainer/test_checkpoint_kill.py tests/trainer/test_checkpoint_faults.py

.PHONY: fuzz
fuzz: setup tools ## Lint 10,000 random changes of files, each within its limits of time and memory (FUZZ=100: 100 of them)
	@$(RUN) tools.fuzz --count $${FUZZ:-10000}

.PHONY: mutations
mutations: setup tools ## Change one line at a time, 100 times, and count the changes that tests find (MUTATIONS=20: 20 of them)
	@$(RUN) tools.mutations --count $${MUTATIONS:-100}

.PHONY: bench
bench: setup tools ## Measure the validator and other linters
	@$(RUN) compileall -q validator
	@$(RUN) tools.bench.validator

.PHONY: faults
faults: setup tools ## Measure the cost of faults for a run and a stock PyTorchJob, on a separate cluster (FAULTS=name: only that fault, MEASUREMENTS=3: medians)
	@$(RUN) tools.faults $(foreach name,$(FAULTS),--only $(name)) $(if $(MEASUREMENTS),--measurements $(MEASUREMENTS))

.PHONY: scale
scale: setup tools ## Measure the start of runs on a simulation of 1,000 nodes, up to an hour on 2 cores (SCALE=50: 50 nodes, without the page)
	@$(RUN) tools.scale $(if $(SCALE),--nodes $(SCALE) --most $(SCALE) --no-write)

.PHONY: bench-trainer
bench-trainer: setup tools ## Measure the trainer and its peers, also between two pods of a separate cluster (BENCH=name: only that benchmark)
	@$(RUN) tools.bench.trainer $(BENCH)

.PHONY: torch-versions
torch-versions: setup ## Read checkpoints of the last three minor versions of PyTorch with each other (8 GiB are downloaded)
	@$(RUN) tools.torch_versions

.PHONY: gpu
gpu: ## Check a machine with GPUs, which needs torch and no `make setup` (GPU=name: only that check; PYTHON=python3: with that Python)
	@PYTHONPATH=validator:. $(PYTHON) -m tools.gpu $(foreach name,$(GPU),--only $(name))

##@ Change it

.PHONY: release
release: setup tools ## Build the files of a release into build/release (VERSION=0.3.0). KEY=name signs the charts with that key of GnuPG, COSIGN=file the checksums with that key of cosign. URL is the address of the project, IMAGES=no leaves out images
	@$(RUN) tools.release "$(VERSION)" $(if $(KEY),--key "$(KEY)") $(if $(COSIGN),--cosign-key "$(COSIGN)") $(if $(URL),--url "$(URL)") $(if $(filter no,$(IMAGES)),--no-images)

.PHONY: publish
publish: setup ## Push charts and images of a release to a registry (VERSION=0.3.0 REGISTRY=registry.example.com/trainyard; COSIGN=file signs them)
	@$(RUN) tools.release.publish "build/release/$(VERSION)" "$(REGISTRY)" $(if $(COSIGN),--cosign-key "$(COSIGN)")

.PHONY: outdated
outdated: setup ## List all pins with the newest releases; asks the Go module proxy and the Python index
	@$(RUN) tools.outdated

.PHONY: advisories
advisories: setup ## Compare the pinned Python packages with known vulnerabilities, on the Internet (OSV=URL: a server that answers as OSV)
	@$(RUN) tools.advisories $(if $(OSV),--source "$(OSV)")

.PHONY: generate
generate: setup tools ## Write the generated files: CRDs, JSON Schemas, names of metrics, the index of rules, chart schemas and READMEs
	@$(RUN) tools.generate

.PHONY: rules
rules: ## Write only the index of rules; needs Python and nothing else
	@PYTHONPATH=validator $(PYTHON) -m tools.generate.rule_index

.PHONY: parts
parts: harness ## Copy charts/common and the parts of the platform into the charts that use them
	@$(RUN) tools.generate parts

.PHONY: verify
verify: setup tools ## Fail if a generated file differs from its source
	@$(RUN) tools.generate --check

.PHONY: docs
docs: setup ## Build the documentation site into build/site, and read it in a browser
	@DISABLE_MKDOCS_2_WARNING=true NO_MKDOCS_2_WARNING=true $(RUN) mkdocs build --strict --quiet
	pytest tests/site

.PHONY: format
format: setup ## Format and sort the Python code
	ruff check --fix .
	ruff format .

.PHONY: lock
lock: setup ## Resolve the pins of pyproject.toml into requirements.lock, and those of each test image into its own lock
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-emit-index-url \
		--group setup --group validator --group trainer --group cluster --group docs --group release --group test --group lint --output-file requirements.lock
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-emit-index-url --constraints requirements.lock \
		--group setup --group validator --group cluster --output-file requirements-harness.lock
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-emit-index-url --constraints requirements.lock \
		--group build --output-file requirements-lint.lock
	for group in frameworks health tensorflow; do \
		uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --only-binary :all: \
			--python-version 3.13 --group $$group --output-file tests/harness/cluster/images/$$group.lock; \
	done
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --only-binary :all: --no-binary deepspeed \
		--python-version 3.14 --excludes tests/harness/cluster/images/launchers.excludes \
		--group launchers --group recipes --output-file tests/harness/cluster/images/launchers.lock
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --only-binary :all: \
		--python-version 3.14 --excludes tests/harness/cluster/images/titan.excludes \
		--group titan-image --output-file tests/harness/cluster/images/titan.lock
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-emit-index-url --only-binary :all: --constraints requirements.lock \
		--python-version 3.13 --all-extras --output-file tests/harness/cluster/images/cli.lock

##@ Set it up

.PHONY: setup harness
setup: $(VENV)/.synced ## Install the pinned Python packages into .venv
harness: $(VENV)/.harness ## Install the packages of the demo and the clusters: 0.4 GB, without PyTorch

# Installing removes nothing: where `setup` has been made, all of this is there.
$(VENV)/.harness: requirements-harness.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name it: make PYTHON=python3.12")'
	@[ -x $(VENV)/bin/python ] || $(PYTHON) -m venv $(VENV) || { echo "on Debian or Ubuntu, as root: apt-get install python3-venv"; exit 1; }
	@pip install --quiet --disable-pip-version-check "$$(sed -n 's/^\(uv==[0-9.]*\).*/\1/p' $<)"
	@echo "Installing the Python packages of the harness into $(VENV) (0.4 GB)"
	uv pip install --quiet --compile-bytecode --python $(VENV) --require-hashes --requirements $<
	uv pip install --quiet --python $(VENV) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.synced: requirements.lock pyproject.toml $(VENV)/.harness
	uv pip sync --quiet --compile-bytecode --python $(VENV) --require-hashes $<
	uv pip install --quiet --python $(VENV) --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: tools
tools: harness ## Build Helm, kubectl and the other tools once, and link them into build/bin
	@$(RUN) tests.harness tools

.PHONY: images
images: harness ## Build the images that the tests on a cluster load once
	@$(RUN) tests.harness images

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
