# Everything a new machine needs is Python 3.11 or newer and make; the rest is installed here, into $(VENV).
# Spark, for `demo` and the tests of engines, also needs Java 17: it is used where it is found, else taken from a package.
# The tests against Iceberg's own library are compiled, with a JDK 17 and Maven.
# OpenFGA's server, for the tests of authz, is built with Go: the one that is found, else a package's; it is kept in the user's cache.

VENV ?= .venv
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p && break; done)
BIN := $(VENV)/bin
DISTRIBUTIONS := libs/protocol libs/locations libs/servicekit libs/components[embedded] \
	services/catalog services/authz services/vending services/gateway clients/python cli
RUN_STAMP := $(VENV)/.installed-run
SECURE_STAMP := $(VENV)/.installed-secure
DEV_STAMP := $(VENV)/.installed-dev
MANIFESTS := constraints.txt $(wildcard libs/*/pyproject.toml services/*/pyproject.toml clients/*/pyproject.toml cli/pyproject.toml pipelines/pyproject.toml)
INSTALL := tools/install.sh $(VENV) --constraint constraints.txt
TESTS ?= tests
WORKERS ?= 2

# Where nothing is kept of what Python compiles, each process compiles all that it imports: most of its start, and tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check check-text check-types check-walls check-protos check-generated proto kubernetes bench demo clean install install-dev

run: $(if $(SECURE),$(SECURE_STAMP),$(RUN_STAMP)) ## start the embedded catalog on 127.0.0.1:8181; SECURE=1 asks callers who they are; Ctrl-C ends it
	@exec $(if $(AUTHZ_BACKEND),env LAKEKEEPER__AUTHZ_BACKEND=$(AUTHZ_BACKEND)) $(BIN)/lakeward up $(if $(SECURE),--secure)

test: $(DEV_STAMP) ## all tests, with real components; WORKERS processes share them, 0 is this one alone
	$(BIN)/python -m pytest --numprocesses $(WORKERS) $(TESTS)

check: check-text check-types check-walls check-protos check-generated ## lint, types, imports, protos; with --jobs=2 side by side

check-text: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vermin --no-tips --eval-annotations --target=3.10- --violations clients/python/lakeward

check-types: $(DEV_STAMP)
	$(BIN)/python tools/check_types.py

check-walls: $(DEV_STAMP)
	$(BIN)/lint-imports --config .importlinter
	$(BIN)/python tools/check_dependencies.py

check-protos: $(DEV_STAMP)
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code
	$(BIN)/python tools/check_breaking.py

check-generated: $(DEV_STAMP)
	$(BIN)/python tools/generate_protos.py --check
	$(BIN)/python tools/generate_docs.py --check
	$(BIN)/python tools/generate_dashboard.py --check
	$(BIN)/python tools/generate_client.py --check

proto: $(DEV_STAMP) ## generate lakeward_protocol from protos/
	$(BIN)/buf lint
	$(BIN)/python tools/generate_protos.py

kubernetes: $(DEV_STAMP) ## build the API server that the tests of service accounts need; needs Go and takes minutes
	$(BIN)/python -m tests.support.kubernetes_build

bench: $(DEV_STAMP) ## the table of figures of docs/performance.md
	$(BIN)/python -m bench

demo: $(DEV_STAMP) ## a PySpark job that ingests, queries and evolves a million rows
	$(BIN)/python -m lakeward_pipelines.demo

install: $(RUN_STAMP)

install-dev: $(DEV_STAMP)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Lakeward needs Python 3.11 or newer; install it, or say PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11; say PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): $(BIN)/python $(MANIFESTS)
	$(INSTALL) hatchling editables setuptools wheel
	$(INSTALL) --no-build-isolation $(addprefix --editable ,$(DISTRIBUTIONS))
	@touch $@

$(SECURE_STAMP): $(RUN_STAMP)
	$(INSTALL) --no-build-isolation --editable libs/components[identity]
	@touch $@

$(DEV_STAMP): $(RUN_STAMP) requirements-dev.txt
	$(INSTALL) --no-build-isolation --editable pipelines -r requirements-dev.txt
	@touch $@

clean: ## what was built; never the state in LAKEWARD_HOME
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .cache dist build
	find . -name __pycache__ -type d -not -path './.lakeward/*' -prune -exec rm -rf {} +
