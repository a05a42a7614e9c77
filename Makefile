# The two commands are `make demo` and `make test`; `make help` lists the others.
# Everything they install, cache or build stays inside this checkout: .venv/ (packages, caches) and target/ (Rust).

MIN_RUST := 85
# Relative, because make cannot hold a target with a space in its path.
VENV     := .venv
BIN      := $(VENV)/bin
STAMPS   := $(VENV)/stamps
CACHE    := $(CURDIR)/.venv/cache
OUT      ?= demo-out

# The first interpreter that is new enough; `make PYTHON=/path/to/python3.12 demo` chooses another one.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)

# Cargo keeps its downloads in CARGO_HOME. We point it into the checkout, so that a read-only home works, but the user's
# settings (a mirror, a proxy, a token) still count: they are linked, and the toolchain is looked for where rustup put it.
USER_CARGO_HOME := $(or $(CARGO_HOME),$(HOME)/.cargo)
export PATH := $(PATH):$(USER_CARGO_HOME)/bin
USER_RUSTUP_HOME := $(or $(RUSTUP_HOME),$(shell PATH='$(PATH)'; cargo=$$(command -v cargo); \
	cd '$(HOME)/.rustup' 2>/dev/null || cd "$${cargo%/*}/../../.rustup" 2>/dev/null && pwd))
ifneq ($(USER_RUSTUP_HOME),)
export RUSTUP_HOME := $(USER_RUSTUP_HOME)
endif
export CARGO_HOME       := $(CACHE)/cargo
export CARGO_TARGET_DIR := $(CURDIR)/target
export PYO3_PYTHON      := $(CURDIR)/$(BIN)/python
export PIP_CACHE_DIR    := $(CACHE)/pip
export XDG_CACHE_HOME   := $(CACHE)
export MPLCONFIGDIR     := $(CACHE)/matplotlib
export TMPDIR           := $(CACHE)/tmp
export VIRTUAL_ENV      := $(CURDIR)/$(VENV)
# What pip reports is long and is about success; its warnings and errors stay.
export PIP_QUIET        := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONPATH PYTHONHOME CONDA_PREFIX

RUST_SOURCES := $(shell find core bindings -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock rust-toolchain.toml

.DELETE_ON_ERROR:
.PHONY: help demo test lint format docs bench bench-transports instructions check clean

help:
	@echo 'make demo          build, compare six balancers on 432 hosts; table here, figure and page in $(OUT)/'
	@echo 'make test          build and run all tests, Rust and Python'
	@echo 'make lint          ruff, mypy, rustfmt, clippy'
	@echo 'make format        let ruff and rustfmt rewrite the sources'
	@echo 'make docs          the documentation as HTML in docs/_build/html'
	@echo 'make bench         packet-hops per second and memory at 432 to 65,536 hosts (BENCH="--hosts 432" for a part)'
	@echo 'make bench-transports  the same of the transports at 128 hosts'
	@echo 'make instructions  callgrind instructions per packet-hop against benchmarks/instructions.json (needs valgrind)'
	@echo 'make clean         remove .venv, target and what the commands above wrote'

demo: $(STAMPS)/extension
	$(BIN)/fabricsim compare --preset ofan-paper --balancers ofan,pofan:4,drb,rsq,jsq,simple-rr --seeds 10 --out $(OUT)

test: $(STAMPS)/dev $(STAMPS)/extension
	cargo test --release --locked --package fabricsim-core
	$(BIN)/python -m pytest

lint: $(STAMPS)/dev $(STAMPS)/extension
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

format: $(STAMPS)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt --all

docs: $(STAMPS)/docs $(STAMPS)/extension
	$(BIN)/sphinx-build -W --keep-going --fresh-env -b html -d docs/_build/doctrees docs docs/_build/html

bench: $(STAMPS)/extension
	$(BIN)/python benchmarks/speed.py $(BENCH)

bench-transports: $(STAMPS)/extension
	$(BIN)/python benchmarks/transports.py $(BENCH)

instructions: $(STAMPS)/extension
	$(BIN)/python benchmarks/instructions.py

clean:
	rm -rf .venv target $(OUT) docs/_build

# -- set-up: each step leaves a stamp, so that it runs again only when what it depends on has changed -------------------

check:
	@ok=true; \
	if [ -z '$(PYTHON)' ]; then ok=false; \
	  echo 'missing: Python 3.11 or newer. Install it (Debian, Ubuntu: apt-get install python3 python3-venv),'; \
	  echo '         or name one that is not on PATH: make PYTHON=/path/to/python3.12 demo'; \
	elif ! $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null; then ok=false; \
	  echo 'missing: the venv module of $(PYTHON) (Debian, Ubuntu: apt-get install python3-venv)'; \
	fi; \
	if ! command -v cc >/dev/null; then ok=false; \
	  echo 'missing: a C compiler called cc, which Rust links with (Debian, Ubuntu: apt-get install gcc libc6-dev)'; \
	fi; \
	if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then ok=false; \
	  echo 'missing: Rust 1.$(MIN_RUST) or newer (cargo and rustc). See rustup.rs for the official installer, or use your'; \
	  echo '         distribution'"'"'s packages if they are that new (Debian 13: apt-get install cargo)'; \
	elif ! version=$$(rustc --version 2>&1); then ok=false; \
	  echo 'broken:  rustc is there but does not run; it says:'; echo "$$version" | sed -n '1,3s/^/         /p'; \
	elif [ "$$(echo "$$version" | sed -n 's/^rustc 1\.\([0-9]*\).*/\1/p')" -lt $(MIN_RUST) ]; then ok=false; \
	  echo "too old: $$version; fabricsim needs 1.$(MIN_RUST) or newer (rustup update stable; or see rustup.rs)"; \
	fi; \
	$$ok

$(STAMPS)/venv: | check
	@echo '== a virtual environment in .venv'
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p '$(CACHE)/cargo' '$(CACHE)/tmp' $(STAMPS)
	@for name in config.toml config credentials.toml; do \
	  [ ! -e '$(USER_CARGO_HOME)'/$$name ] || [ -e '$(CACHE)'/cargo/$$name ] || \
	  ln -s '$(USER_CARGO_HOME)'/$$name '$(CACHE)'/cargo/$$name; done
	@$(BIN)/python -m pip install --upgrade 'pip>=25.1'
	@touch $@

$(STAMPS)/build: pyproject.toml $(STAMPS)/venv
	@echo '== the build tool, from the Python package index'
	@$(BIN)/python -m pip install --group build
	@touch $@

$(STAMPS)/dev: pyproject.toml $(STAMPS)/venv
	@echo '== the development tools, from the Python package index'
	@$(BIN)/python -m pip install --group dev
	@touch $@

$(STAMPS)/docs: pyproject.toml $(STAMPS)/venv
	@echo '== the tools for the documentation, from the Python package index'
	@$(BIN)/python -m pip install --group docs
	@touch $@

$(STAMPS)/extension: $(RUST_SOURCES) $(STAMPS)/build
	@echo '== the Rust core and the Python packages it serves: about a minute, the first time'
	@$(BIN)/maturin develop --release --locked
	@touch $@
