//! The product: the real binary as a server and as a command, exit code, stdout and stderr in one snapshot.
#![allow(clippy::unwrap_used, reason = "a test that can't be set up should stop")]

mod approval;
mod audit;
mod clients;
mod connection;
mod content;
mod doctor;
mod entity;
mod file;
mod gate;
mod governance;
mod help;
mod invocation;
mod mcp;
mod metrics;
mod notification;
mod oauth;
mod session;
mod shown;
mod terminal;
mod tool;
mod upstream;
mod upstream_argument;
mod upstream_note;
mod upstream_schema;
