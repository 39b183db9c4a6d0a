//! The tasks that write calls.
//!
//! Each takes what is queued and writes it in one statement, so a commit is shared by all who wait for it, and one who
//! comes alone waits for nobody. A session always goes to the same task: calls of one session never race each other
//! within this process, only against other nodes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deadpool_postgres::Pool;
use tokio::sync::{mpsc, oneshot};
use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::event::{ChainHash, ChainHead, Event, EventDraft};
use toolgate_core::failpoint;
use toolgate_core::id::SessionId;
use toolgate_core::invocation::Invocation;
use toolgate_core::port::store::StoreError;

use crate::connect::{Options, query};
use crate::error::Fault;
use crate::statement::{self, Entry, EntryKind, Within};

/// How many calls may wait for one task.
const QUEUE: usize = 1_024;

/// How much text goes into one statement, as far as it is more than one call's.
const BATCH_BYTES: usize = 4 << 20;

/// How often a call is tried again when other nodes write to the same session.
const TRIES: u32 = 24;

/// How many sessions' ends a task remembers.
const REMEMBERED: usize = 4_096;

/// Something to write.
#[derive(Debug)]
pub(crate) enum Write {
    Begin(NewCall),
    Advance(Change),
}

/// Where the end of a session's chain comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadFrom {
    /// From memory, where it is known.
    Memory,
    /// From the database: memory was wrong.
    Database,
}

type Answer = Result<Option<Invocation>, StoreError>;

#[derive(Debug)]
struct Job {
    write: Write,
    head: HeadFrom,
    answer: oneshot::Sender<Answer>,
}

/// The way to the tasks. They end when this is dropped and their queues are empty.
#[derive(Debug)]
pub(crate) struct Writers(Vec<mpsc::Sender<Job>>);

impl Writers {
    pub(crate) fn spawn(pool: &Pool, options: Options) -> Self {
        let spawn = |_| {
            let (sender, jobs) = mpsc::channel(QUEUE);
            let batch = options.batch.max(1);
            let writer =
                Writer { pool: pool.clone(), jobs, batch, waiting: VecDeque::new(), heads: HashMap::new() };
            tokio::spawn(writer.run());
            sender
        };
        Self((0..options.writers.max(1)).map(spawn).collect())
    }

    /// Writes it. None means that it was left out and nothing was written: what it was to stand on is not there.
    pub(crate) async fn write(&self, write: Write, head: HeadFrom) -> Answer {
        let gone = || StoreError::unavailable("the writing task is gone");
        let number = write.session().uuid().as_u128() % self.0.len() as u128;
        let queue = usize::try_from(number).ok().and_then(|number| self.0.get(number)).ok_or_else(gone)?;
        let (answer, answered) = oneshot::channel();
        queue.send(Job { write, head, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

struct Writer {
    pool: Pool,
    jobs: mpsc::Receiver<Job>,
    batch: usize,
    /// Taken from the queue and not yet written.
    waiting: VecDeque<Job>,
    /// Where sessions ended when this task last wrote to them. A wrong one costs a try, never a wrong chain.
    heads: HashMap<SessionId, ChainHead>,
}

impl Writer {
    async fn run(mut self) {
        while let Some(batch) = self.next_batch().await {
            self.write(batch).await;
        }
    }

    async fn next_batch(&mut self) -> Option<Vec<Job>> {
        if self.waiting.is_empty() {
            self.waiting.push_back(self.jobs.recv().await?);
        }
        while self.waiting.len() < QUEUE
            && let Ok(job) = self.jobs.try_recv()
        {
            self.waiting.push_back(job);
        }
        // One call of each session; the others keep their order and come next.
        let (mut batch, mut later) = (Vec::new(), VecDeque::new());
        let (mut sessions, mut bytes) = (HashSet::new(), 0);
        for job in self.waiting.drain(..) {
            let size = job.write.size();
            let fits = batch.is_empty() || (batch.len() < self.batch && bytes + size <= BATCH_BYTES);
            if fits && sessions.insert(job.write.session()) {
                bytes += size;
                batch.push(job);
            } else {
                sessions.insert(job.write.session());
                later.push_back(job);
            }
        }
        self.waiting = later;
        Some(batch)
    }

    async fn write(&mut self, batch: Vec<Job>) {
        if batch.len() > 1 {
            match self.attempt(&batch).await {
                Ok(rows) => {
                    for (job, row) in batch.into_iter().zip(rows) {
                        job.answer(Ok(row));
                    }
                    return;
                }
                // One of them spoils it for all: each for itself then.
                Err(fault) if fault.is_of_the_statement() => {}
                Err(fault) => {
                    let fault = Arc::new(fault);
                    for job in batch {
                        job.answer(Err(StoreError::unavailable(Arc::clone(&fault))));
                    }
                    return;
                }
            }
        }
        for job in batch {
            self.write_alone(job).await;
        }
    }

    async fn write_alone(&mut self, mut job: Job) {
        for tries in 0..TRIES {
            match self.attempt(std::slice::from_ref(&job)).await {
                Ok(rows) => return job.answer(Ok(rows.into_iter().next().flatten())),
                Err(fault)
                    if fault.is_passing() || (fault.place_is_taken() && !job.write.opens_session()) =>
                {
                    job.head = HeadFrom::Database;
                    tokio::time::sleep(pause(tries)).await;
                }
                Err(fault) => return job.answer(Err(fault.into())),
            }
        }
        job.answer(Err(StoreError::unavailable("too many writers in one session")));
    }

    /// One commit. Returns the rows as written, in order of the jobs; none for those left out.
    async fn attempt(&mut self, jobs: &[Job]) -> Result<Vec<Option<Invocation>>, Fault> {
        let heads = self.heads(jobs).await?;
        let entries: Vec<Entry> = jobs.iter().zip(heads).map(|(job, head)| job.write.entry(head)).collect();
        jobs.iter().for_each(|job| failpoint::hit(job.write.point(true)));
        let written = statement::write(Within::Commit(&self.pool), &entries).await;
        if written.is_err() {
            // Nobody knows what was written.
            for job in jobs {
                self.heads.remove(&job.write.session());
            }
        }
        let written: HashSet<String> = written?.into_iter().collect();
        jobs.iter().for_each(|job| failpoint::hit(job.write.point(false)));
        let rows = entries.into_iter().map(|entry| {
            let row = written.contains(&entry.row.id().to_string()).then_some(entry.row)?;
            if let Some(head) = row.head {
                if self.heads.len() >= REMEMBERED {
                    self.heads.clear();
                }
                self.heads.insert(row.opened.session, head);
            }
            Some(row)
        });
        Ok(rows.collect())
    }

    /// Where the jobs' sessions end, as far as is known or else as the database says.
    async fn heads(&self, jobs: &[Job]) -> Result<Vec<ChainHead>, Fault> {
        let known: Vec<Option<ChainHead>> = jobs.iter().map(|job| self.known_head(job)).collect();
        let unknown: Vec<String> = jobs
            .iter()
            .zip(&known)
            .filter(|(_, head)| head.is_none())
            .map(|(job, _)| job.write.session().to_string())
            .collect();
        let mut read = HashMap::new();
        if !unknown.is_empty() {
            let sql = "SELECT s.id, e.seq, e.hash FROM unnest($1::text[]) AS s (id) CROSS JOIN LATERAL
                 (SELECT seq, hash FROM events WHERE session_id = s.id ORDER BY seq DESC LIMIT 1) e";
            for row in query(&self.pool, sql, &[&unknown]).await? {
                let hash = ChainHash::from_slice(row.try_get(2)?).unwrap_or(ChainHash::GENESIS);
                read.insert(row.try_get::<_, String>(0)?, ChainHead { seq: row.try_get(1)?, hash });
            }
        }
        let read =
            |job: &Job| read.get(&job.write.session().to_string()).copied().unwrap_or(ChainHead::EMPTY);
        Ok(jobs.iter().zip(known).map(|(job, head)| head.unwrap_or_else(|| read(job))).collect())
    }

    fn known_head(&self, job: &Job) -> Option<ChainHead> {
        if job.write.opens_session() {
            return Some(ChainHead::EMPTY);
        }
        if job.head == HeadFrom::Database {
            return None;
        }
        let hint = match &job.write {
            Write::Advance(change) => change.next().head,
            Write::Begin(_) => None,
        };
        let remembered = self.heads.get(&job.write.session()).copied();
        // Chains only grow, so the one further on is the later one.
        hint.into_iter().chain(remembered).max_by_key(|head| head.seq)
    }
}

impl Job {
    fn answer(self, answer: Answer) {
        // Whoever asked may have gone; the record stands all the same.
        let _ = self.answer.send(answer);
    }
}

impl Write {
    fn row(&self) -> &Invocation {
        match self {
            Self::Begin(call) => call.invocation(),
            Self::Advance(change) => change.next(),
        }
    }

    fn drafts(&self) -> &[EventDraft] {
        match self {
            Self::Begin(call) => call.drafts(),
            Self::Advance(change) => std::slice::from_ref(change.draft()),
        }
    }

    fn session(&self) -> SessionId {
        self.row().opened.session
    }

    fn opens_session(&self) -> bool {
        matches!(self, Self::Begin(call) if *call.session() == SessionUse::New)
    }

    fn size(&self) -> usize {
        // The row's own copies of what the events hold.
        2 * self.drafts().iter().map(|draft| draft.data.as_str().len()).sum::<usize>()
    }

    fn entry(&self, after: ChainHead) -> Entry {
        let mut head = after;
        let mut events: Vec<Event> = Vec::with_capacity(self.drafts().len());
        for draft in self.drafts() {
            let event = draft.clone().seal(head);
            head = event.head();
            events.push(event);
        }
        let (row, kind) = match self {
            Self::Begin(call) => (call.clone().written(&events), EntryKind::New(call.session().clone())),
            Self::Advance(change) => {
                let mut row = change.next().clone();
                row.seqs.1 = head.seq;
                row.head = Some(head);
                (row, EntryKind::Step { seen: change.seen() })
            }
        };
        Entry { row, events, after, kind }
    }

    const fn point(&self, before: bool) -> &'static str {
        match (self, before) {
            (Self::Begin(_), true) => "store.begin.before_commit",
            (Self::Begin(_), false) => "store.begin.after_commit",
            (Self::Advance(_), true) => "store.advance.before_commit",
            (Self::Advance(_), false) => "store.advance.after_commit",
        }
    }
}

/// How long to wait before another try: a little longer each time, and never the same on two nodes.
fn pause(tries: u32) -> Duration {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let most = 1_000 * (1 << tries.min(5));
    Duration::from_micros(u64::from(clock / 100 % most))
}
