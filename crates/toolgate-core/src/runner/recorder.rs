//! Writes one running call's steps, however often it has to try, and never over another worker's outcome.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::Runner;
use super::ask::Questions;
use super::call::{CallResult, RunError};
use super::watch::{Watch, Watched};
use crate::change::{Change, NewCall, SessionUse};
use crate::contract::Effect;
use crate::id::{InvocationId, PrincipalId, SessionId};
use crate::invocation::{Invocation, Opened, Status, Step};
use crate::json::JsonText;
use crate::port::executor::{ProgressSink, ToolFailure};
use crate::port::store::{Begun, StoreError};
use crate::time::Timestamp;

/// How much progress one call may report.
const MAX_CHUNKS: u32 = 250;
const MAX_CHUNK_BYTES: usize = 64 * 1024;

/// How long a lost store is waited for before the outcome is left to whoever takes the lease over.
const OUTCOME_TRIES: u32 = 40;
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(250);
const BEGIN_TRIES: u32 = 8;

/// The record of one running call.
pub(super) struct Recorder {
    runner: Runner,
    by: PrincipalId,
    started_by: PrincipalId,
    id: InvocationId,
    session: SessionId,
    request_digest: String,
    cancelled: CancellationToken,
    watch: Option<Watch>,
    questions: Questions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is needed to open the call; taken when it is opened.
    opening: Option<(Opened, SessionUse)>,
    /// The row, once there is one.
    row: Option<Invocation>,
    /// Whether the store was asked to write the call.
    offered: bool,
    /// Whether this try's `tool.started` is written.
    started: bool,
    chunks: u32,
}

/// What recording led to.
#[allow(clippy::large_enum_variant, reason = "made once per call and taken apart at once")]
pub(super) enum Recorded {
    /// The step is in the record.
    Written(Invocation),
    /// Another call has this key; this one must not have an effect.
    Repeat(Invocation),
}

impl Recorder {
    /// For a call that is not in the store yet.
    pub(super) fn new(runner: Runner, opened: Opened, session: SessionUse, watch: Option<Watch>) -> Self {
        let repeatable = opened.effect == Effect::Read || opened.idempotent;
        let cancelled = watch.as_ref().filter(|_| repeatable).map(|watch| watch.gone.child_token());
        let recorder = Self::with(runner, &opened, None).watched(watch);
        let state = State { opening: Some((opened, session)), ..State::default() };
        Self { cancelled: cancelled.unwrap_or_default(), state: Mutex::new(state), ..recorder }
    }

    /// The same with someone who looks on.
    pub(super) fn watched(self, watch: Option<Watch>) -> Self {
        if let Some(watch) = &watch {
            watch.tell(Watched::Began(self.id));
        }
        Self { watch, ..self }
    }

    /// For a call that is in the store and about to be started (again), by whoever ordered it.
    pub(super) fn resume(runner: Runner, row: Invocation, started_by: PrincipalId) -> Self {
        let recorder = Self::with(runner, &row.opened, Some(started_by));
        Self { state: Mutex::new(State { row: Some(row), ..State::default() }), ..recorder }
    }

    fn with(runner: Runner, facts: &Opened, started_by: Option<PrincipalId>) -> Self {
        Self {
            runner,
            by: facts.actor.clone(),
            started_by: started_by.unwrap_or_else(|| facts.actor.clone()),
            id: facts.id,
            session: facts.session,
            request_digest: facts.request_digest.clone(),
            cancelled: CancellationToken::new(),
            watch: None,
            questions: Questions::default(),
            state: Mutex::default(),
        }
    }

    /// The call's id.
    pub(super) const fn id(&self) -> InvocationId {
        self.id
    }

    /// What the call asks people.
    pub(super) const fn questions(&self) -> &Questions {
        &self.questions
    }

    /// The call's session.
    pub(super) const fn session(&self) -> SessionId {
        self.session
    }

    /// What the caller gets when another call has this call's key.
    pub(super) fn answer_repeat(&self, first: &Invocation) -> Result<CallResult, RunError> {
        answer_repeat(first, &self.request_digest)
    }

    /// Ends when someone asks the call to stop.
    pub(super) const fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Writes `tool.started` unless this try has it already; durable when this returns.
    pub(super) async fn start(&self) -> Result<Recorded, StoreError> {
        let mut state = self.state.lock().await;
        self.start_locked(&mut state).await
    }

    async fn start_locked(&self, state: &mut State) -> Result<Recorded, StoreError> {
        let now = self.runner.0.clock.now();
        let worker = self.runner.0.worker;
        let due = now.plus(self.runner.0.settings.lease);
        if let Some((opened, session)) = state.opening.clone() {
            let step = Step::Started { attempt: 1, worker };
            let new = NewCall::open(opened, &[step], now, session).map_err(illegal)?.due(due);
            return self.begin(state, new).await;
        }
        let row = state.row.clone().ok_or(StoreError::NotFound)?;
        // Invariant: a try is its own attempt, also when the same worker takes its own lost call up again.
        if state.started {
            return Ok(Recorded::Written(row));
        }
        let step = Step::Started { attempt: row.attempt + 1, worker };
        let change = Change::step(&row, &self.started_by, &step, now).map_err(illegal)?.due(due);
        let row = self.runner.0.store.advance(change).await?;
        state.started = true;
        self.runner.0.flights.insert(self.id, self.cancelled.clone());
        self.runner.announce(&row);
        state.row = Some(row.clone());
        Ok(Recorded::Written(row))
    }

    async fn begin(&self, state: &mut State, mut new: NewCall) -> Result<Recorded, StoreError> {
        let mut tries = 0;
        if std::mem::replace(&mut state.offered, true) {
            new = new.offered_before();
        }
        let begun = loop {
            match self.runner.0.store.begin(new.clone()).await {
                // Asking again is safe: the store knows the call by its id.
                Err(StoreError::Unavailable(_)) if tries < BEGIN_TRIES => {
                    tries += 1;
                    new = new.offered_before();
                    tokio::time::sleep(TRY_AGAIN_AFTER).await;
                }
                other => break other?,
            }
        };
        match begun {
            Begun::Fresh(row) => {
                state.opening = None;
                state.started = true;
                if !row.status.is_settled() {
                    self.runner.0.flights.insert(self.id, self.cancelled.clone());
                }
                self.runner.announce(&row);
                state.row = Some(row.clone());
                Ok(Recorded::Written(row))
            }
            Begun::Repeat(first) => Ok(Recorded::Repeat(first)),
        }
    }

    /// Writes the outcome. A call not yet in the store is written whole, as begun at `began`, in one commit. If another
    /// worker has taken the call over, its word stands and this result is kept as an event.
    pub(super) async fn finish(&self, outcome: Step, began: Timestamp) -> Result<Recorded, StoreError> {
        let mut state = self.state.lock().await;
        let now = self.runner.0.clock.now();
        if let Some((opened, session)) = state.opening.take() {
            let started = Step::Started { attempt: 1, worker: self.runner.0.worker };
            let steps = [(started, began), (outcome.clone(), now)];
            let new = NewCall::open_at(opened, &steps, session).map_err(illegal)?;
            match self.begin(&mut state, new).await? {
                // An earlier `tool.started` got through and only its answer was lost: the outcome is still to come.
                Recorded::Written(row) if row.status == Status::Running => state.row = Some(row),
                other => return Ok(other),
            }
        }
        let mine = state.row.clone().ok_or(StoreError::NotFound)?;
        // Approved, and it could not even begin: that is its outcome.
        if !state.started && mine.status == Status::Pending {
            let change = Change::step(&mine, &self.by, &outcome, now).map_err(illegal)?;
            let row = self.runner.0.store.advance(change).await?;
            self.runner.announce(&row);
            state.row = Some(row.clone());
            return Ok(Recorded::Written(row));
        }
        let row = self.finish_from(mine, &outcome).await?;
        self.runner.announce(&row);
        state.row = Some(row.clone());
        Ok(Recorded::Written(row))
    }

    async fn finish_from(&self, mine: Invocation, outcome: &Step) -> Result<Invocation, StoreError> {
        let attempt = mine.attempt;
        let mut seen = mine;
        let mut tries = 0;
        loop {
            let now = self.runner.0.clock.now();
            let still_mine = seen.status == Status::Running
                && seen.attempt == attempt
                && seen.worker == Some(self.runner.0.worker);
            let step = if still_mine { outcome.clone() } else { late(attempt, outcome) };
            let Ok(change) = Change::step(&seen, &self.by, &step, now) else {
                return Ok(seen);
            };
            // A row read a moment ago may know an older lease; writing that back would end it early.
            let change = change.due(now.plus(self.runner.0.settings.lease));
            let intended = change.next().clone();
            match self.runner.0.store.advance(change).await {
                Ok(row) => return Ok(row),
                Err(StoreError::Conflict) => {}
                Err(StoreError::Unavailable(_)) if tries < OUTCOME_TRIES => {
                    tries += 1;
                    tokio::time::sleep(TRY_AGAIN_AFTER).await;
                }
                Err(other) => return Err(other),
            }
            // Someone else wrote in between, or our own write went through and only its answer was lost.
            let current = match self.runner.0.store.get(&seen.opened.tenant, self.id).await {
                Ok(Some(current)) => current,
                Ok(None) => return Err(StoreError::NotFound),
                Err(StoreError::Unavailable(_)) if tries < OUTCOME_TRIES => continue,
                Err(other) => return Err(other),
            };
            if current.revision == intended.revision
                && current.status == intended.status
                && current.worker == intended.worker
                && current.output == intended.output
                && current.error == intended.error
            {
                return Ok(current);
            }
            seen = current;
        }
    }
}

#[async_trait]
impl ProgressSink for Arc<Recorder> {
    async fn append(&self, chunk: JsonText) -> Result<(), ToolFailure> {
        if chunk.as_str().len() > MAX_CHUNK_BYTES {
            return Err(ToolFailure::failed(format!(
                "a part of the output is larger than {MAX_CHUNK_BYTES} bytes"
            )));
        }
        let mut state = self.state.lock().await;
        // Progress is a courtesy: too much of it, or a store that is away, is no reason to break a call off.
        if state.chunks >= MAX_CHUNKS {
            return Ok(());
        }
        state.chunks += 1;
        for _ in 0..BEGIN_TRIES {
            match self.append_once(&mut state, &chunk).await {
                Ok(()) => {
                    if let Some(watch) = &self.watch {
                        watch.tell(Watched::Reported(chunk));
                    }
                    return Ok(());
                }
                Err(Lost::Call) => return Err(ToolFailure::Cancelled),
                Err(Lost::Store) => tokio::time::sleep(TRY_AGAIN_AFTER).await,
            }
        }
        tracing::warn!(call = %self.id, "a report of progress was lost: the store is away");
        Ok(())
    }
}

/// Why a report was not written.
enum Lost {
    /// The store is away, or the row has moved; it may work next time.
    Store,
    /// The call is another worker's by now, or another call has its key: this one must stop.
    Call,
}

impl Recorder {
    async fn append_once(&self, state: &mut State, chunk: &JsonText) -> Result<(), Lost> {
        match self.start_locked(state).await {
            Ok(Recorded::Written(_)) => {}
            Ok(Recorded::Repeat(_)) => return Err(Lost::Call),
            Err(_) => return Err(Lost::Store),
        }
        let row = state.row.clone().ok_or(Lost::Store)?;
        let now = self.runner.0.clock.now();
        let step = Step::OutputAppended { chunk: chunk.clone() };
        let change = Change::step(&row, &self.by, &step, now).map_err(|_| Lost::Call)?;
        match self.runner.0.store.advance(change.due(now.plus(self.runner.0.settings.lease))).await {
            Ok(row) => {
                self.runner.announce(&row);
                state.row = Some(row);
                Ok(())
            }
            Err(StoreError::Conflict) => {
                let current = self.runner.0.store.get(&row.opened.tenant, self.id).await;
                let current = current.map_err(|_| Lost::Store)?;
                let mine = current.filter(|c| c.attempt == row.attempt && c.worker == row.worker);
                state.row = Some(mine.ok_or(Lost::Call)?);
                Err(Lost::Store)
            }
            Err(_) => Err(Lost::Store),
        }
    }
}

/// The same body gets the first call's answer; another body is a conflict.
pub(super) fn answer_repeat(first: &Invocation, request_digest: &str) -> Result<CallResult, RunError> {
    if first.opened.request_digest == request_digest {
        Ok(CallResult::repeat(first))
    } else {
        Err(RunError::KeyReused { first: first.id() })
    }
}

fn late(attempt: u32, outcome: &Step) -> Step {
    let (output, error) = match outcome {
        Step::Completed { output, .. } => (Some(output.clone()), None),
        Step::Failed { error } | Step::InDoubt { error } => (None, Some(error.clone())),
        _ => (None, None),
    };
    Step::LateResult { attempt, output, error }
}

fn illegal(step: crate::invocation::IllegalStep) -> StoreError {
    StoreError::Refused(step.to_string())
}
