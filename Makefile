.DEFAULT_GOAL := help
.PHONY: help demo test fuzz lint format docs bench clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

help: ## list what make can do
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "homelake needs Python 3.11 or later (make PYTHON=...)")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY) ## build a lake from the homes in fixtures/ and query it
	@rm -rf demo && $(BIN)/python -m tests.layout corpus/homes demo/homes
	$(BIN)/homelake build demo/homes -o demo/lake
	@for example in prompts_and_replies stopped_calls tool_failures; do \
		printf '\n'; sed -n 's/^-- //p' sql/examples/$$example.sql; \
		$(BIN)/homelake sql demo/lake --example $$example || exit; \
	done
	@printf '\nNext: %s asks questions of your own, %s lists more like these.\n' \
		'$(BIN)/homelake sql demo/lake' '$(BIN)/homelake sql demo/lake --example list'

test: $(READY) ## run the whole test suite
	$(BIN)/python -m pytest -n auto

fuzz: $(READY) ## run the tests of made-up damage for long, with other damage each time
	HOMELAKE_FUZZ=long $(BIN)/python -m pytest -n auto tests/test_fuzz_artifacts.py tests/test_fuzz_archives.py

lint: $(READY) ## check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## put the code into the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY) ## write docs/commands.md and docs/tables.md anew
	$(BIN)/python -m docs.pages

bench: $(READY) ## measure speed and memory on about 1 GB of generated homes, on a fleet of archives, and over many nights
	$(BIN)/python -m bench.run
	$(BIN)/python -m bench.fleet
	$(BIN)/python -m bench.nights

clean: ## remove the environment and all that was built
	rm -rf $(VENV) build dist *.egg-info demo
