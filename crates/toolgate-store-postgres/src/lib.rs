//! Everything kept in Postgres: the engine for many nodes. Nodes hold no state of their own; losing one loses nothing.
//!
//! A row's change and its events go in one statement, written by a few tasks that each take what is queued and write
//! it at once (`writer`). What the database itself refuses is in `migrations/`.

mod audit;
mod connect;
mod error;
mod invocation;
mod migrate;
mod principal;
mod row;
mod session;
mod statement;
mod tls;
mod tool;
mod writer;

pub use connect::{Options, PostgresStore};
pub use migrate::migrations;
