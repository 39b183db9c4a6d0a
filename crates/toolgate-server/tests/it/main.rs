//! The door, tried as callers and attackers would: a whole gate in this process, on a real store, over real HTTP.
#![allow(clippy::unwrap_used, reason = "test code")]

mod access;
mod gate;
mod hostile;
mod losing;
mod pipeline;
mod stream;
mod wire;

const ENGINE: gate::Engine = gate::Engine::Sqlite;
