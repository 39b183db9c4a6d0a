//! The door, tried as callers and attackers would: a whole gate in this process, on a real store, over real HTTP.
#![allow(clippy::unwrap_used, reason = "test code")]

mod access;
mod approval;
mod browser;
mod connection;
mod gate;
mod governance;
mod guarding;
mod handed_on;
mod hostile;
mod input_request;
mod losing;
mod many;
mod mcp;
mod oauth;
mod oidc;
mod outbox;
mod pipeline;
mod policy;
mod sign_in;
mod stream;
mod ui;
mod wire;

const ENGINE: gate::Engine = gate::Engine::Sqlite;
