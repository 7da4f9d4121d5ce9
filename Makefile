# What one types. Needs Python 3.11, git and make; `make real` also Go and a C compiler.
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

# Tests start hundreds of processes: where the environment forbids to keep bytecode, each of them
# would compile the program anew.
unexport PYTHONDONTWRITEBYTECODE

# Each test is in one step: what is marked `long` in `long`, or in `rooms` where its file is one
# of WHOLE; what is marked `real` in `real`; the others, so each new one, in `test`.
TEST := $(BIN)/python -m pytest -q -m "not real and not long"
LONG := $(BIN)/python -m pytest -q -m "long and not real"
REAL := $(BIN)/python -m pytest -q -m "real or paired"
COMPUTING := tests/unit tests/golden tests/corpora tests/fuzz
LOOP := tests/loop
PROCESSES := tests/e2e
WHOLE_WEATHER := tests/loop/rooms/test_rooms_weather.py
WHOLE_PLAYED_ON := tests/loop/rooms/test_played_on.py
WHOLE_FIRST := tests/loop/rooms/test_deafness.py \
	tests/loop/rooms/test_planted_room_bugs.py tests/loop/rooms/test_vanishing.py \
	tests/loop/test_planted_bugs.py tests/loop/test_two_processes.py \
	tests/loop/test_watch_faults.py tests/loop/scaling/test_human_points.py
WHOLE_SWEPT := tests/loop/test_crash.py tests/loop/test_faults.py
WHOLE_SECOND := tests/loop/rooms/test_git_faults.py tests/loop/rooms/test_two_leaders.py \
	tests/loop/rooms/test_rest.py tests/loop/rooms/test_storm.py \
	tests/loop/test_transitions.py tests/loop/rooms/test_edits_in_match.py \
	tests/loop/rooms/test_seeds.py tests/loop/rooms/test_deaths_around_a_push.py \
	tests/loop/scaling/test_planted_count_bugs.py
WHOLE := $(WHOLE_WEATHER) $(WHOLE_PLAYED_ON) $(WHOLE_FIRST) $(WHOLE_SECOND) $(WHOLE_SWEPT)
TYPING := $(wildcard tests/e2e/test_commands*.py tests/e2e/test_*room*.py) \
	tests/e2e/test_approvals_page.py tests/e2e/test_ci_recipes.py tests/e2e/test_cli.py
LIVING := $(wildcard tests/e2e/test_real_[fsr]*.py) tests/e2e/test_real_coming_and_going.py

.PHONY: help setup demo test test-computing test-playing test-waiting test-typing \
	long long-playing long-typing long-waiting long-computing \
	check rooms rooms-weather rooms-played-on rooms-first rooms-second rooms-swept \
	rooms-parsers \
	campaign yardstick programs real real-living real-waiting real-asking bench lock clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

setup: $(READY) ## make the virtual environment, exactly as the lock says

$(READY): requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements-dev.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## the whole story on this machine, in about a minute
	$(BIN)/gamekeeper demo

test: $(READY) ## all that needs no real cluster, but what is long, in five minutes
	@# One part waits for processes and sockets: more than three at once on two cores, and those find
	@# their time-outs passed. The longest begin first, so that none goes on alone in the end.
	@echo "four parts, three at a time; each is printed when it ends"
	@$(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync=target \
		test-computing test-typing test-playing test-waiting

test-computing: $(READY)
	$(TEST) $(COMPUTING)

test-playing: $(READY)
	$(TEST) $(LOOP)

test-typing: $(READY)
	$(TEST) $(PROCESSES)

test-waiting: $(READY)
	$(TEST) tests $(patsubst %,--ignore=%,$(COMPUTING) $(LOOP) $(PROCESSES))

long: $(READY) ## what takes longer than a second, or is marked long for what it waits for
	@echo "four parts, three at a time; each is printed when it ends"
	@$(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync=target \
		long-waiting long-playing long-typing long-computing

long-waiting: $(READY)
	$(LONG) $(PROCESSES) $(patsubst %,--ignore=%,$(TYPING))

long-playing: $(READY)
	$(LONG) $(LOOP) $(patsubst %,--ignore=%,$(WHOLE))

long-typing: $(READY)
	$(LONG) $(TYPING)

long-computing: $(READY)
	$(LONG) tests $(patsubst %,--ignore=%,$(LOOP) $(PROCESSES))

check: $(READY) ## format, lint, types, and who imports whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

rooms: $(READY) ## rooms with players through 280 more seeds of weather, and a tenth or more of all sweeps
	@echo "six parts, two at a time; each is printed when it ends, and names what failed"
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=target \
		rooms-played-on rooms-weather rooms-parsers rooms-first rooms-second rooms-swept

# In CI, a tenth and more: the same seeds each time, and ten that each program has anew. The first 30
# are those of `make test`.
rooms-weather: export GAMEKEEPER_SEEDS := 30-299+10
rooms-first: export GAMEKEEPER_SEEDS := 0-299
rooms-played-on rooms-second: export GAMEKEEPER_SHARE := 10
rooms-weather rooms-played-on rooms-first rooms-second: export GAMEKEEPER_SWEEPS := all
rooms-swept: export GAMEKEEPER_SWEEPS := 5

rooms-weather: $(READY)
	$(BIN)/python -m pytest -q $(WHOLE_WEATHER)

rooms-played-on: $(READY)
	$(BIN)/python -m pytest -q $(WHOLE_PLAYED_ON)

rooms-first: $(READY)
	$(BIN)/python -m pytest -q $(WHOLE_FIRST)

rooms-second: $(READY)
	$(BIN)/python -m pytest -q $(WHOLE_SECOND)

rooms-swept: $(READY)
	$(BIN)/python -m pytest -q $(WHOLE_SWEPT)

rooms-parsers: $(READY)
	@# A tenth of the made inputs: half of it is always the same, half each program has anew.
	GAMEKEEPER_SHARE=0/20 $(BIN)/python -m pytest -q tests/fuzz
	GAMEKEEPER_SHARE=20 $(BIN)/python -m pytest -q tests/fuzz

campaign: programs ## the whole counts of the scorecard, an hour of it; again, and it goes on
	$(BIN)/python -m tests.campaign --minutes $(or $(MINUTES),50)

yardstick: $(READY) ## adaptive on three cases beside an oracle, with fixed seeds, in a minute or two
	@# The whole table is `python -m benchmarks.yardstick`; its page says how long that takes.
	$(BIN)/python -m benchmarks.yardstick --quick

programs: $(READY) ## build what `make real` tests against; what is in the cache stays
	@# With an empty cache about 10 minutes for the control plane and 4 for Gitea, on two cores.
	$(BIN)/python -m tests.gitservers.install
	$(BIN)/python -m tests.monitoring.install
	$(BIN)/python -m tests.controlplane build
	$(BIN)/python -m tests.codehost build

real: programs ## start a real control plane and a Gitea, and test against them
	@echo "three parts side by side, each on a control plane of its own; each is printed when it ends"
	@$(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync=target \
		real-living real-waiting real-asking

real-living: $(READY)
	$(REAL) $(LIVING)

real-waiting: $(READY)
	$(REAL) $(PROCESSES) $(patsubst %,--ignore=%,$(LIVING))

real-asking: $(READY)
	$(REAL) tests $(patsubst %,--ignore=%,$(PROCESSES))

bench: $(READY) ## measure, beside others, on a real API server
	$(BIN)/python -m tests.controlplane build
	$(BIN)/python -m benchmarks

lock: $(READY) ## lock what pyproject.toml asks for; what is locked already stays at its version
	CUSTOM_COMPILE_COMMAND="make lock" $(COMPILE) -o requirements.lock pyproject.toml
	$(BIN)/python -c '$(DEVELOPMENT)' | \
		CUSTOM_COMPILE_COMMAND="make lock" $(COMPILE) -o requirements-dev.lock -

clean: ## remove what was made here
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
