# What one types. Needs Python 3.11, git and make; `make real` also Go.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/pip --disable-pip-version-check --quiet
COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe \
	--no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options

# All that working on the project needs, for the lock: no tool reads dependency groups yet.
DEVELOPMENT := import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
	print(*p["project"]["dependencies"], *p["dependency-groups"]["dev"], \
	*p["build-system"]["requires"], "editables", sep="\n")

TEST := $(BIN)/python -m pytest -q -m "not real"
COMPUTING := tests/unit tests/golden tests/loop
KILLING := tests/e2e/test_failover.py tests/e2e/test_kill.py

.PHONY: help setup demo test test-computing test-waiting test-killing check \
	rooms rooms-first rooms-second real bench lock clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

setup: $(READY) ## make the virtual environment, exactly as the lock says

$(READY): requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements-dev.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## the whole story on this machine, in about 45 s
	$(BIN)/gamekeeper demo

test: $(READY) ## all that needs no real cluster
	@# One part computes, the others wait for processes, sockets and leases.
	@echo "three parts side by side, about 6 minutes; each is printed when it ends"
	@$(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync=target \
		test-computing test-waiting test-killing

test-computing: $(READY)
	$(TEST) $(COMPUTING)

test-waiting: $(READY)
	$(TEST) tests $(patsubst %,--ignore=%,$(COMPUTING) $(KILLING))

test-killing: $(READY)
	$(TEST) $(KILLING)

check: $(READY) ## format, lint, types, and who imports whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

rooms: $(READY) ## rooms with players through 300 seeds of weather, in about 5 minutes
	@echo "two halves side by side; each is printed when it ends, and names the seeds that failed"
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=target \
		rooms-first rooms-second

rooms-first: $(READY)
	GAMEKEEPER_SEEDS=0-149 $(BIN)/python -m pytest -q tests/loop/rooms/test_rooms_weather.py \
		tests/loop/rooms/test_deafness.py

rooms-second: $(READY)
	GAMEKEEPER_SEEDS=150-299 $(BIN)/python -m pytest -q tests/loop/rooms

real: $(READY) ## build and start a real control plane, and test against it
	$(BIN)/python -m tests.gitservers.install
	$(BIN)/python -m tests.controlplane build
	$(BIN)/python -m pytest -q -m "real or paired"

bench: $(READY) ## measure, beside others, on a real API server
	$(BIN)/python -m tests.controlplane build
	$(BIN)/python -m benchmarks

lock: $(READY) ## lock what pyproject.toml asks for; what is locked already stays at its version
	CUSTOM_COMPILE_COMMAND="make lock" $(COMPILE) -o requirements.lock pyproject.toml
	$(BIN)/python -c '$(DEVELOPMENT)' | \
		CUSTOM_COMPILE_COMMAND="make lock" $(COMPILE) -o requirements-dev.lock -

clean: ## remove what was made here
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
