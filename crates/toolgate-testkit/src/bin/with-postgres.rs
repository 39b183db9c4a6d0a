//! Runs a command beside a temporary Postgres: `with-postgres cargo nextest run`.
//!
//! The command finds the server's URL in `TOOLGATE_TEST_POSTGRES`; the server is gone when it ends.
#![allow(clippy::expect_used, reason = "test support: a broken set-up should stop the run")]

use std::process::{Command, ExitCode};

use toolgate_testkit::{Fsync, POSTGRES_VARIABLE, TempPostgres};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().expect("usage: with-postgres <command> [argument]...");
    let postgres = TempPostgres::start_with(Fsync::Off);
    let status = Command::new(program).args(words).env(POSTGRES_VARIABLE, postgres.url()).status();
    drop(postgres);
    let code = status.expect("run the command").code().unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
