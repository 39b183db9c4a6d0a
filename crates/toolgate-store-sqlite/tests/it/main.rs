//! The embedded store keeps what every store promises, and a few things of its own.

#![allow(clippy::unwrap_used, reason = "test code")]

mod inbox;
mod migrations;
mod own;
mod waiting;

use tempfile::TempDir;
use toolgate_store_sqlite::SqliteStore;

async fn fresh() -> (SqliteStore, TempDir) {
    let folder = TempDir::new().unwrap();
    (SqliteStore::open(folder.path()).unwrap(), folder)
}

toolgate_store_contract::store_contract!(fresh().await);
