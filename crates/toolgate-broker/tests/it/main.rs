//! The broker with real stores and a real authorization server.
#![allow(clippy::unwrap_used, reason = "test code")]

mod given;
mod login;
mod master_key;
mod refresh;
mod secrets;
