//! Everything kept in Postgres: the engine for many nodes. Nodes hold no state of their own; losing one loses nothing.
//!
//! A row's change and its events go in one statement, written by a few tasks that each take what is queued and write
//! it at once (`writer`). Changes by those who manage tenants are rare and have a transaction each (`work`). What the
//! database itself refuses is in `migrations/`.

mod admin;
mod audit;
mod connect;
mod connection;
mod document;
mod error;
mod event_list;
mod file;
mod grant_use;
mod identity;
mod input_search;
mod invocation;
mod key;
mod migrate;
mod notification;
mod oauth;
mod principal;
mod rate;
mod row;
mod session;
mod share;
mod sign_in;
mod statement;
mod tenant;
mod tenant_link;
mod tls;
mod token;
mod tool;
mod usage;
mod work;
mod writer;

pub use connect::{Options, PostgresStore};
pub use migrate::migrations;
