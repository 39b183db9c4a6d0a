//! The one writing thread. It takes what is queued, commits once, then answers all: the cost of a durable commit is
//! shared by everyone who waits for it.
//!
//! A savepoint costs a copy of every page that is touched after it, so pieces of work that can be run again go without:
//! where one of them fails, the whole batch is taken back and run once more with a savepoint for each.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use toolgate_core::failpoint;
use toolgate_core::invocation::Invocation;
use toolgate_core::port::store::StoreError;

use crate::database::Fault;
use crate::inbox::{Arrival, Inbox, ReadyCall};

const QUEUE: usize = 4096;
const BATCH: usize = 256;
/// How long others are waited for where several write at once: a commit for many costs little more than one for one.
const GATHER: Duration = Duration::from_micros(100);
/// How often at most, while more come.
const GATHERINGS: u32 = 3;

/// How long calls wait in the inbox at most once nobody writes.
const REST: Duration = Duration::from_millis(10);

/// How long it is until an inbox that could not be emptied is tried again.
const AGAIN: Duration = Duration::from_millis(250);

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
    /// How many calls wait in the inbox.
    waiting: Arc<AtomicUsize>,
}

impl Writer {
    pub(crate) fn spawn(connection: Connection) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let waiting = Arc::<AtomicUsize>::default();
        let told = Arc::clone(&waiting);
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || work_off(&connection, jobs, &told))
            .map_or_else(|cause| tracing::error!(error = %cause, "the writing thread did not start"), drop);
        Self { queue, waiting }
    }

    /// Writes a call that can wait in the inbox; gives the row where the call was there before.
    pub(crate) async fn write_call(&self, call: ReadyCall) -> Result<Option<Invocation>, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.queue.send(Box::new(Arrival::new(call, reply))).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Sees to it that everything answered before this is in the tables.
    pub(crate) async fn empty_inbox(&self) -> Result<(), StoreError> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        self.write_again(Commit::Other, |_| Ok(())).await
    }

    pub(crate) async fn write<T, F>(&self, commit: Commit, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let mut work = Some(work);
        let once = move |connection: &Connection| match work.take() {
            Some(work) => work(connection),
            None => Err(StoreError::unavailable("it was run before").into()),
        };
        self.queue_up(commit, Times::Once, once).await
    }

    /// The same for work that gives the same when it is taken back and run again.
    pub(crate) async fn write_again<T, F>(&self, commit: Commit, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        self.queue_up(commit, Times::Any, work).await
    }

    async fn queue_up<T, F>(&self, commit: Commit, times: Times, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Write { commit, times, work, result: None, reply });
        self.queue.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// How often a piece of work can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Once,
    Any,
}

pub(crate) trait Job: Send {
    fn commit(&self) -> Commit;
    fn times(&self) -> Times;
    /// The call that this writes, where it can wait in the inbox.
    fn call(&self) -> Option<&ReadyCall> {
        None
    }
    /// Tells that it does.
    fn kept(&mut self) {}
    /// Runs the work as it is; answers whether it went well.
    fn run_bare(&mut self, connection: &Connection) -> bool;
    /// Runs the work so that it leaves nothing behind where it fails.
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
    times: Times,
    work: F,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Write<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<T, Fault> + Send,
{
    fn commit(&self) -> Commit {
        self.commit
    }

    fn times(&self) -> Times {
        self.times
    }

    fn run_bare(&mut self, connection: &Connection) -> bool {
        let result = (self.work)(connection);
        let well = result.is_ok();
        self.result = Some(result.map_err(StoreError::from));
        well
    }

    fn run(&mut self, connection: &Connection) {
        self.result = None;
        self.result = Some(in_savepoint(connection, &mut self.work).map_err(StoreError::from));
    }

    fn answer(self: Box<Self>, committed: bool) {
        answer(self.reply, self.result, committed);
    }
}

/// Tells whoever asked what came of it.
pub(crate) fn answer<T>(
    asker: oneshot::Sender<Result<T, StoreError>>,
    result: Option<Result<T, StoreError>>,
    committed: bool,
) {
    let result = match result {
        Some(result) if committed || result.is_err() => result,
        _ => Err(StoreError::unavailable("the commit failed")),
    };
    // The asker may have gone; what was committed stays.
    let _ = asker.send(result);
}

pub(crate) fn in_savepoint<T>(
    connection: &Connection,
    work: &mut impl FnMut(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let result = work(connection);
    if result.is_err() {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    connection.prepare_cached("RELEASE job")?.execute([])?;
    result
}

fn work_off(connection: &Connection, mut jobs: mpsc::Receiver<Box<dyn Job>>, waiting: &AtomicUsize) {
    let Ok(clock) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return tracing::error!("the writing thread has no clock");
    };
    let mut batch = Vec::with_capacity(BATCH);
    let mut inbox = Inbox::default();
    let mut before = 1;
    loop {
        if inbox.is_empty() {
            jobs.blocking_recv_many(&mut batch, BATCH);
        } else {
            let next = async { tokio::time::timeout(REST, jobs.recv_many(&mut batch, BATCH)).await };
            let _ = clock.block_on(next);
        }
        if batch.is_empty() && inbox.is_empty() {
            return;
        }
        // Whoever writes alone is not kept waiting.
        if !batch.is_empty() && before.max(batch.len()) > 1 {
            gather(&mut jobs, &mut batch);
        }
        before = batch.len();
        let committed = commit(connection, &inbox, &mut batch);
        let well = committed.is_ok();
        match committed {
            Ok(left) => inbox = left,
            Err(cause) => {
                tracing::error!(error = %cause, "a commit failed");
                // A failed commit can leave the transaction open.
                if !connection.is_autocommit() {
                    let _ = connection.execute_batch("ROLLBACK");
                }
                if batch.is_empty() {
                    std::thread::sleep(AGAIN);
                }
            }
        }
        // Before anyone hears that their call is written, readers know that it waits.
        waiting.store(inbox.len(), Ordering::Release);
        for job in batch.drain(..) {
            job.answer(well);
        }
    }
}

/// Waits for others for as long as they come.
fn gather(jobs: &mut mpsc::Receiver<Box<dyn Job>>, batch: &mut Vec<Box<dyn Job>>) {
    for _ in 0..GATHERINGS {
        let before = batch.len();
        std::thread::sleep(GATHER);
        while batch.len() < BATCH
            && let Ok(job) = jobs.try_recv()
        {
            batch.push(job);
        }
        if batch.len() == before || batch.len() == BATCH {
            return;
        }
    }
}

/// Writes a batch; gives what waits in the inbox then.
fn commit(connection: &Connection, inbox: &Inbox, batch: &mut [Box<dyn Job>]) -> Result<Inbox, Fault> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let left = if !batch.is_empty() && inbox.has_room_for(batch) {
        inbox.keep(connection, batch)?
    } else {
        if !run_bare(connection, inbox, batch)? {
            inbox.move_all(connection)?;
            run_each(connection, batch)?;
        }
        Inbox::default()
    };
    batch.iter().for_each(|job| job.commit().before());
    connection.prepare_cached("COMMIT")?.execute([])?;
    batch.iter().for_each(|job| job.commit().after());
    Ok(left)
}

/// Empties the inbox and runs a batch without savepoints; answers whether all of it is done. What is not done is taken back.
fn run_bare(
    connection: &Connection,
    inbox: &Inbox,
    batch: &mut [Box<dyn Job>],
) -> Result<bool, rusqlite::Error> {
    if batch.iter().any(|job| job.times() == Times::Once) {
        return Ok(false);
    }
    let mut all =
        || inbox.move_on(connection).is_ok() && batch.iter_mut().all(|job| job.run_bare(connection));
    if std::panic::catch_unwind(AssertUnwindSafe(&mut all)).unwrap_or(false) {
        return Ok(true);
    }
    // Some faults end the transaction by themselves.
    let again = if connection.is_autocommit() { "BEGIN IMMEDIATE" } else { "ROLLBACK; BEGIN IMMEDIATE" };
    connection.execute_batch(again)?;
    Ok(false)
}

fn run_each(connection: &Connection, batch: &mut [Box<dyn Job>]) -> Result<(), rusqlite::Error> {
    for job in batch.iter_mut() {
        // A piece of work that breaks off takes itself back, and not the thread that everyone writes through.
        if std::panic::catch_unwind(AssertUnwindSafe(|| job.run(connection))).is_err() {
            tracing::error!("a piece of work broke off in the store");
            connection.execute_batch("ROLLBACK TO job; RELEASE job")?;
        }
    }
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

    #[tokio::test]
    async fn work_that_fails_takes_only_itself_back() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (n INTEGER)").unwrap();
        let writer = Writer::spawn(connection);
        let add = |n: i64| {
            writer.write_again(Commit::Other, move |connection| {
                connection.execute("INSERT INTO t VALUES (?1)", [n])?;
                if n < 0 { Err(StoreError::Conflict.into()) } else { Ok(()) }
            })
        };
        // All at once, so that they share a commit; those that fail make the others run again.
        let done = futures::future::join_all([1, 2, -1, 4, -2, 8].map(add)).await;
        let well: Vec<bool> = done.iter().map(Result::is_ok).collect();
        assert_eq!(well, [true, true, false, true, false, true]);
        assert!(matches!(done[2], Err(StoreError::Conflict)));
        let all = writer.write(Commit::Other, |connection| {
            let mut statement = connection.prepare("SELECT n FROM t ORDER BY n")?;
            let found = statement.query_map([], |row| row.get(0))?;
            Ok(found.collect::<Result<Vec<i64>, _>>()?)
        });
        assert_eq!(all.await.unwrap(), [1, 2, 4, 8], "each once, and nothing of those that failed");
    }
}
