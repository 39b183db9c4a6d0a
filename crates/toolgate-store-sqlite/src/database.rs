//! The file, its lock, its readers and its one writer.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgate_core::invocation::Invocation;
use toolgate_core::port::store::StoreError;

use crate::inbox::{self, ReadyCall};
use crate::migrate;
use crate::writer::{Commit, Writer};

const FILE: &str = "toolgate.db";
const LOCK: &str = "toolgate.lock";
const READERS: usize = 4;

/// What a piece of work inside the store can end with.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A word of the port's own.
    Store(StoreError),
    /// SQLite's.
    Sql(rusqlite::Error),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(cause) => StoreError::fmt(cause, f),
            Self::Sql(cause) => rusqlite::Error::fmt(cause, f),
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Sql(cause)
    }
}

impl From<StoreError> for Fault {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Store(cause) => cause,
            Fault::Sql(rusqlite::Error::SqliteFailure(code, message))
                if code.code == rusqlite::ErrorCode::ConstraintViolation =>
            {
                Self::Refused(message.unwrap_or_else(|| "a constraint".to_owned()))
            }
            Fault::Sql(cause) => Self::unavailable(cause),
        }
    }
}

type Readers = Arc<Mutex<Vec<Connection>>>;

/// A reading connection on loan. It goes back when the work is done, also when nobody waits for the work any more.
struct Loan {
    connection: Option<Connection>,
    home: Readers,
    _turn: OwnedSemaphorePermit,
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.home.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

#[derive(Debug)]
pub(crate) struct Database {
    writer: Option<Writer>,
    readers: Readers,
    reading: Arc<Semaphore>,
    /// Held for as long as this process has the store.
    _lock: Option<File>,
}

impl Database {
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        make_private(folder).map_err(StoreError::unavailable)?;
        let lock = lock(folder)?.ok_or_else(|| {
            StoreError::Refused(format!("another process has the store in `{}`", folder.display()))
        })?;
        let file = folder.join(FILE);
        let mut connection = Connection::open(&file).map_err(StoreError::unavailable)?;
        prepare(&connection).map_err(StoreError::unavailable)?;
        connection
            .execute_batch(
                // Pages that many calls change are copied home once for all of them.
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;",
            )
            .map_err(StoreError::unavailable)?;
        migrate::run(&mut connection)?;
        inbox::empty(&connection)?;
        let readers = readers(&file)?;
        Ok(Self {
            writer: Some(Writer::spawn(connection)),
            reading: Arc::new(Semaphore::new(readers.len())),
            readers: Arc::new(Mutex::new(readers)),
            _lock: Some(lock),
        })
    }

    pub(crate) fn open_read_only(folder: &Path) -> Result<Self, StoreError> {
        empty_left_inbox(folder)?;
        let readers = readers(&folder.join(FILE))?;
        Ok(Self {
            writer: None,
            reading: Arc::new(Semaphore::new(readers.len())),
            readers: Arc::new(Mutex::new(readers)),
            _lock: None,
        })
    }

    /// Runs `work` on the writing thread, in a savepoint of its own; answers when it is durable.
    pub(crate) async fn write<T, F>(&self, commit: Commit, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let writer =
            self.writer.as_ref().ok_or_else(|| StoreError::Refused("the store is open read-only".into()))?;
        writer.write(commit, work).await
    }

    /// The same for work that gives the same when it is taken back and run again: it needs no savepoint.
    pub(crate) async fn write_again<T, F>(&self, commit: Commit, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let writer =
            self.writer.as_ref().ok_or_else(|| StoreError::Refused("the store is open read-only".into()))?;
        writer.write_again(commit, work).await
    }

    /// Writes a call that is settled from the start; answers when it is durable, with the row where it was there before.
    pub(crate) async fn write_call(&self, call: ReadyCall) -> Result<Option<Invocation>, StoreError> {
        let writer =
            self.writer.as_ref().ok_or_else(|| StoreError::Refused("the store is open read-only".into()))?;
        writer.write_call(call).await
    }

    /// Whether the writing thread answers; a store open for reading only has none to ask.
    pub(crate) async fn check_writer(&self) -> Result<(), StoreError> {
        match &self.writer {
            Some(writer) => writer.write(Commit::Other, |_| Ok(())).await,
            None => Ok(()),
        }
    }

    /// Runs `work` on a reading connection.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        // Whoever reads finds all that was answered before they asked.
        if let Some(writer) = &self.writer {
            writer.empty_inbox().await?;
        }
        let turn = Arc::clone(&self.reading).acquire_owned().await.map_err(StoreError::unavailable)?;
        let connection = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = connection.ok_or_else(|| StoreError::unavailable("no reader is free"))?;
        let loan = Loan { connection: Some(connection), home: Arc::clone(&self.readers), _turn: turn };
        // Invariant: the loan moves into the work, so a caller who gives up waiting takes no connection along.
        let result = tokio::task::spawn_blocking(move || match &loan.connection {
            Some(connection) => work(connection),
            None => Err(StoreError::unavailable("no reader is free").into()),
        })
        .await
        .map_err(StoreError::unavailable)?;
        Ok(result?)
    }
}

/// Makes the folder, if it is not there, and the file in it so that nobody else on the machine can read them: what calls
/// were asked and what they answered is in there. A folder that is there keeps the rights it has.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        builder.mode(0o700);
        options.mode(0o600);
    }
    builder.recursive(true).create(folder)?;
    // SQLite gives the files beside it the same rights.
    options.open(folder.join(FILE)).map(drop)
}

/// The store's lock, unless another process has it.
fn lock(folder: &Path) -> Result<Option<File>, StoreError> {
    let mut options = OpenOptions::new();
    let lock = options.create(true).truncate(false).write(true).open(folder.join(LOCK));
    let lock = lock.map_err(StoreError::unavailable)?;
    Ok(lock.try_lock().is_ok().then_some(lock))
}

/// What a process that broke off left in the inbox is part of the record. One that runs empties it by itself, and a folder
/// that can't be written is read as it is.
fn empty_left_inbox(folder: &Path) -> Result<(), StoreError> {
    let file = folder.join(FILE);
    let connection = match lock(folder) {
        Ok(Some(_lock)) if file.exists() => Connection::open(&file).map_err(StoreError::unavailable)?,
        _ => return Ok(()),
    };
    let exists = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'inbox')";
    match connection.query_row(exists, [], |row| row.get(0)) {
        Ok(true) => inbox::empty(&connection),
        _ => Ok(()),
    }
}

fn readers(file: &Path) -> Result<Vec<Connection>, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    (0..READERS)
        .map(|_| {
            let connection = Connection::open_with_flags(file, flags)?;
            prepare(&connection)?;
            connection.execute_batch("PRAGMA query_only = ON;")?;
            Ok(connection)
        })
        .collect::<Result<_, rusqlite::Error>>()
        .map_err(StoreError::unavailable)
}

fn prepare(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(
        "PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;
         PRAGMA trusted_schema = OFF; PRAGMA recursive_triggers = OFF;",
    )
}
