//! The embedded store: one SQLite file, one writing thread, group commit.
//!
//! Knows rows and SQL, not the rules: what may be written comes ready-made as `NewCall`, `Change` and `AdminChange`.

mod admin;
mod cells;
mod connection;
mod database;
mod document;
mod event;
mod event_list;
mod file;
mod grant_use;
mod identity;
mod inbox;
mod input_search;
mod invocation;
mod key;
mod migrate;
mod notification;
mod oauth;
mod principal;
mod row;
mod session;
mod share;
mod sign_in;
mod spent;
mod tenant;
mod tenant_link;
mod token;
mod tool;
mod usage;
mod writer;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::port::store::{Store, StoreError};

use crate::database::Database;

/// Everything in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    database: Arc<Database>,
    /// Who may queue a part of a file.
    parts: Arc<tokio::sync::Semaphore>,
}

impl SqliteStore {
    /// Opens the store in this folder, making both if they are not there. One process at a time.
    ///
    /// # Errors
    /// When another process has it, the folder can't be written, or the file is newer than this program.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Database::open(folder).map(Self::over)
    }

    fn over(database: Database) -> Self {
        Self { database: Arc::new(database), parts: Arc::new(tokio::sync::Semaphore::new(1)) }
    }

    /// Opens the store for reading, beside a process that writes it.
    ///
    /// # Errors
    /// When there is no store in this folder.
    pub fn open_read_only(folder: &Path) -> Result<Self, StoreError> {
        Database::open_read_only(folder).map(Self::over)
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn engine(&self) -> &'static str {
        "sqlite"
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.database.read(|connection| Ok(connection.query_row("SELECT 1", [], |_| Ok(()))?)).await?;
        // A writing thread that no longer answers is as bad as a file that can't be read.
        self.database.check_writer().await
    }
}
