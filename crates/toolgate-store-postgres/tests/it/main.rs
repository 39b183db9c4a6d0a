//! The store on a real Postgres: what every store promises, and what only this one does.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code")]

mod contract;
