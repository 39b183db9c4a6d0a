//! What tests stand on: a real Postgres in a temporary folder, and a receiver that counts effects.
//!
//! Everything here is for tests only: it panics instead of returning errors, so that a test that can't be set up says
//! why and stops.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test support: a broken set-up should stop the test"
)]

mod gate;
mod port;
mod postgres;
mod receiver;

pub use gate::{ADMIN_KEY, Gate, GateSetup};
pub use port::free_port;
pub use postgres::{Fsync, POSTGRES_VARIABLE, TempPostgres, TestPostgres, shared_postgres};
pub use receiver::CountingReceiver;
