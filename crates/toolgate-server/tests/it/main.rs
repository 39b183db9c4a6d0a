//! The door, tried as callers and attackers would: a whole gate in this process, on a real store, over real HTTP.
#![allow(clippy::unwrap_used, reason = "test code")]

mod access;
mod approval;
mod approved;
mod browser;
mod connection;
mod entity;
mod event_list;
mod file;
mod gate;
mod governance;
mod guarding;
mod handed_on;
mod hostile;
mod input_request;
mod input_search;
mod losing;
mod many;
mod mcp;
mod oauth;
mod oidc;
mod outbox;
mod outside;
mod pipeline;
mod policy;
mod share;
mod sign_in;
mod stream;
mod tenant_link;
mod ui;
mod wire;

const ENGINE: gate::Engine = gate::Engine::Sqlite;
