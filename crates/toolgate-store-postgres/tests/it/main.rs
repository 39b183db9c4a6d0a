//! The store on a real Postgres: what every store promises, and what only this one does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test code: a broken promise should stop the test"
)]

mod contract;
mod given;
mod guards;
mod migrations;
mod nodes;
mod restart;
mod spending;
mod waiting;
