//! The broker with real stores and a real authorization server.

mod given;
mod login;
mod master_key;
mod refresh;
mod secrets;
