//! The one writing thread. It takes what is queued, runs each piece in a savepoint, commits once, then answers all:
//! the cost of a durable commit is shared by everyone who waits for it.

use std::panic::AssertUnwindSafe;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use toolgate_core::failpoint;
use toolgate_core::port::store::StoreError;

use crate::database::Fault;

const QUEUE: usize = 4096;
const BATCH: usize = 256;

/// What kind of change a commit carries, for tests that kill the process beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Commit {
    Begin,
    Advance,
    Other,
}

impl Commit {
    fn before(self) {
        match self {
            Self::Begin => failpoint::hit("store.begin.before_commit"),
            Self::Advance => failpoint::hit("store.advance.before_commit"),
            Self::Other => {}
        }
    }

    fn after(self) {
        match self {
            Self::Begin => failpoint::hit("store.begin.after_commit"),
            Self::Advance => failpoint::hit("store.advance.after_commit"),
            Self::Other => {}
        }
    }
}

#[derive(Debug)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    pub(crate) fn spawn(connection: Connection) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || work_off(&connection, jobs))
            .map_or_else(|cause| tracing::error!(error = %cause, "the writing thread did not start"), drop);
        Self { queue }
    }

    pub(crate) async fn write<T, F>(&self, commit: Commit, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Write { commit, work: Some(work), result: None, reply });
        self.queue.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

trait Job: Send {
    fn commit(&self) -> Commit;
    fn run(&mut self, connection: &Connection);
    fn answer(self: Box<Self>, committed: bool);
}

impl std::fmt::Debug for dyn Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Job")
    }
}

struct Write<T, F> {
    commit: Commit,
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Write<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Fault> + Send,
{
    fn commit(&self) -> Commit {
        self.commit
    }

    fn run(&mut self, connection: &Connection) {
        let Some(work) = self.work.take() else { return };
        self.result = Some(in_savepoint(connection, work).map_err(StoreError::from));
    }

    fn answer(self: Box<Self>, committed: bool) {
        let result = match self.result {
            Some(result) if committed || result.is_err() => result,
            _ => Err(StoreError::unavailable("the commit failed")),
        };
        // The asker may have gone; what was committed stays.
        let _ = self.reply.send(result);
    }
}

fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let result = work(connection);
    if result.is_err() {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    connection.prepare_cached("RELEASE job")?.execute([])?;
    result
}

fn work_off(connection: &Connection, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    let mut batch = Vec::with_capacity(BATCH);
    while jobs.blocking_recv_many(&mut batch, BATCH) > 0 {
        let committed = commit(connection, &mut batch);
        if let Err(cause) = &committed {
            tracing::error!(error = %cause, "a commit failed");
            // A failed commit can leave the transaction open.
            if !connection.is_autocommit() {
                let _ = connection.execute_batch("ROLLBACK");
            }
        }
        for job in batch.drain(..) {
            job.answer(committed.is_ok());
        }
    }
}

fn commit(connection: &Connection, batch: &mut [Box<dyn Job>]) -> Result<(), rusqlite::Error> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    for job in batch.iter_mut() {
        // A piece of work that breaks off takes itself back, and not the thread that everyone writes through.
        if std::panic::catch_unwind(AssertUnwindSafe(|| job.run(connection))).is_err() {
            tracing::error!("a piece of work broke off in the store");
            connection.execute_batch("ROLLBACK TO job; RELEASE job")?;
        }
    }
    batch.iter().for_each(|job| job.commit().before());
    connection.prepare_cached("COMMIT")?.execute([])?;
    batch.iter().for_each(|job| job.commit().after());
    Ok(())
}

fn gone() -> StoreError {
    StoreError::unavailable("the writing thread has ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_breaks_off_harms_nobody_else() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (n INTEGER)").unwrap();
        let writer = Writer::spawn(connection);
        let add = |n: i64| {
            writer.write(Commit::Other, move |connection| {
                Ok(connection.execute("INSERT INTO t VALUES (?1)", [n])?)
            })
        };
        add(1).await.unwrap();
        let broken = writer.write(Commit::Other, |connection| -> Result<(), Fault> {
            connection.execute("INSERT INTO t VALUES (99)", [])?;
            panic!("it breaks off")
        });
        assert!(broken.await.is_err());
        add(2).await.unwrap();
        let sum = writer.write(Commit::Other, |connection| {
            Ok(connection.query_row("SELECT sum(n) FROM t", [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(sum.await.unwrap(), 3, "what broke off left nothing behind");
    }
}
