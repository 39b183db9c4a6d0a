# The few commands. `make run` and `make test` do all set-up themselves.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run build test lint unit fuzz docs bench dist

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: ## Build and run a gate (TOOLGATE_LISTEN, TOOLGATE_DATA, TOOLGATE_DATABASE_URL, TOOLGATE_ADMIN_KEY are passed on)
	@scripts/need-rust
	cargo build --locked --profile fast --bin toolgate
	@exec "$${CARGO_TARGET_DIR:-target}/fast/toolgate" serve

build: ## Build the command for daily use: target/fast/toolgate
	@scripts/need-rust
	cargo build --locked --profile fast --bin toolgate

test: lint fuzz unit ## Everything CI runs

lint: ## Formatting, clippy with warnings denied, documentation
	@scripts/need-rust
	cargo fmt --all --check
	rustfmt --edition 2024 --check crates/toolgate-tools/src/tools/*.rs
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet

unit: ## All tests, on SQLite and on a temporary Postgres
	@scripts/need-rust
	@scripts/need-postgres
	@scripts/need-node
	cargo test --locked --workspace --doc --quiet
	cargo build --locked -p toolgate-testkit --bins
	INSTA_UPDATE=no "$${CARGO_TARGET_DIR:-target}/debug/with-postgres" scripts/run-tests

fuzz: ## A short run of both fuzz targets (FUZZ_SECONDS=20 each)
	@scripts/need-rust
	fuzz/run "$${FUZZ_SECONDS:-20}"

docs: ## Bring generated files up to date: OpenAPI, wire snapshots
	INSTA_UPDATE=always TOOLGATE_UPDATE_DOCS=1 cargo test --locked -p toolgate-server --test it wire::

bench: ## Measure: ratios in one run, on SQLite and, where it is installed, Postgres
	@scripts/need-rust
	@scripts/need-postgres
	cargo build --locked --release --bin toolgate --bin toolgate-bench
	"$${CARGO_TARGET_DIR:-target}/release/toolgate-bench" "$${CARGO_TARGET_DIR:-target}/release/toolgate"

dist: ## Build the binary to ship: target/dist/toolgate
	@scripts/need-rust
	cargo build --locked --profile dist --bin toolgate
