# The few commands. `make run` and `make test` do all set-up themselves.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run build test ui lint unit conformance web fuzz docs bench dist

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: ## Build and run a gate (TOOLGATE_LISTEN, TOOLGATE_DATA, TOOLGATE_DATABASE_URL, TOOLGATE_ADMIN_KEY are passed on)
	@scripts/need-rust
	@scripts/build-web
	cargo build --locked --profile fast --bin toolgate
	@exec "$${CARGO_TARGET_DIR:-target}/fast/toolgate" serve

build: ## Build the command for daily use: target/fast/toolgate
	@scripts/need-rust
	@scripts/build-web
	cargo build --locked --profile fast --bin toolgate

# The web UI goes first: everything after it is built with it.
test: export REQUIRE_UI = 1
test: ui lint fuzz unit conformance web ## Everything CI runs

ui: ## Build the web UI: web/dist
	@scripts/build-web required

web: ## Tests of the web UI: types, units, and the real binary in a browser
	@scripts/need-rust
	scripts/run-web-tests

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
	@scripts/need-clients
	@scripts/need-peers
	cargo test --locked --workspace --doc --quiet
	cargo build --locked -p toolgate-testkit --bins
	INSTA_UPDATE=no "$${CARGO_TARGET_DIR:-target}/debug/with-postgres" scripts/run-tests

conformance: ## The official MCP conformance suite: as server and as client, both requirement sets
	@scripts/need-rust
	cargo build --locked --workspace --bin toolgate
	scripts/conformance server
	scripts/conformance client

fuzz: ## A short run of both fuzz targets (FUZZ_SECONDS=20 each)
	@scripts/need-rust
	fuzz/run "$${FUZZ_SECONDS:-20}"

docs: ## Bring generated files up to date: OpenAPI, wire snapshots, the web UI's types
	INSTA_UPDATE=always TOOLGATE_UPDATE_DOCS=1 cargo test --locked -p toolgate-server --test it wire::
	@scripts/build-web required
	cd web && npm run --silent api

bench: ## Measure: ratios in one run, on SQLite and, where it is installed, Postgres; then the pages, in a browser
	@scripts/need-rust
	@scripts/need-postgres
	@scripts/need-chromium
	@scripts/build-web required
	REQUIRE_UI=1 cargo build --locked --profile dist --bin toolgate --bin toolgate-bench
	"$${CARGO_TARGET_DIR:-target}/dist/toolgate-bench" "$${CARGO_TARGET_DIR:-target}/dist/toolgate"
	TOOLGATE="$$(realpath "$${CARGO_TARGET_DIR:-target}")/dist/toolgate" npm --prefix web run --silent bench

dist: ## Build the binary to ship: target/dist/toolgate
	@scripts/need-rust
	@scripts/build-web required
	REQUIRE_UI=1 cargo build --locked --profile dist --bin toolgate
