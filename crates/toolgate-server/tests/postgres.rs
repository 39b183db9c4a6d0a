//! The same tries as in `it`, on Postgres.
#![allow(clippy::unwrap_used, reason = "test code")]

#[path = "it/gate.rs"]
mod gate;
#[path = "it/governance/mod.rs"]
mod governance;
#[path = "it/losing.rs"]
mod losing;
#[path = "it/pipeline.rs"]
mod pipeline;
#[path = "it/stream.rs"]
mod stream;

const ENGINE: gate::Engine = gate::Engine::Postgres;
