# `make table1` and `make test` set up everything they need. See README.md.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORES ?= all

.PHONY: table1 test setup lint clean

setup: $(VENV)/.installed

# convlab asks for releases of torch and transformers that no current Python has, hence --no-deps.
$(VENV)/.installed: requirements.lock requirements.nodeps.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13) and "todflow needs Python 3.11 to 3.13; this is %d.%d. Name another one: make PYTHON=python3.12" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Debian and Ubuntu keep venv in a package of its own: apt install python3-venv"; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements.nodeps.lock --editable .
	touch $@

table1: setup
	$(BIN)/snakemake results/table1.csv --cores $(CORES)

test: setup
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

clean:
	rm -rf $(VENV) results .snakemake
