//! Questions that a running call puts to a person. Each is a call of its own below the running one, so that it is shown,
//! answered once, recorded and let go of like every question.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::Runner;
use super::call::{Call, CallInput, RunError};
use super::recorder::{Recorded, Recorder};
use crate::actor::Actor;
use crate::error::{CallError, ErrorCode};
use crate::id::{ApiKeyId, InvocationId};
use crate::input_request::{InputRequest, TOOL};
use crate::invocation::{Invocation, Source, Status};
use crate::json::JsonText;
use crate::port::executor::{Asker, ProgressSink, Said};
use crate::port::store::StoreError;

/// How long writing a question down may take.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);

/// What one call asks just now, and the time it has left: that stands still while a person ponders.
#[derive(Debug, Default)]
pub(super) struct Questions {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    open: Option<InvocationId>,
    waiting: u32,
    waiting_since: Option<Instant>,
    waited: Duration,
}

impl Questions {
    /// The question that is open, as soon as one is.
    pub(super) async fn asked(&self) -> InvocationId {
        loop {
            let news = self.news.notified();
            if let Some(open) = self.state().open {
                return open;
            }
            news.await;
        }
    }

    /// Ends when the call has worked for so long, without the time that people took.
    pub(super) async fn out_of_time(&self, limit: Duration) {
        let began = Instant::now();
        loop {
            let news = self.news.notified();
            let (stands, waited) = {
                let state = self.state();
                (state.waiting_since.is_some(), state.waited)
            };
            let until = began + limit + waited;
            match stands {
                true => news.await,
                false if Instant::now() >= until => return,
                false => drop(tokio::time::timeout_at(until.into(), news).await),
            }
        }
    }

    fn wait(&self) -> Waiting<'_> {
        let mut state = self.state();
        state.waiting += 1;
        state.waiting_since.get_or_insert_with(Instant::now);
        drop(state);
        self.news.notify_waiters();
        Waiting(self)
    }

    fn opened(&self, question: InvocationId) {
        self.state().open = Some(question);
        self.news.notify_waiters();
    }

    // A panic while it was held can't leave it half changed: each use is one operation.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time that does not count.
struct Waiting<'a>(&'a Questions);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.waiting -= 1;
        if state.waiting == 0 {
            state.open = None;
            let since = state.waiting_since.take();
            state.waited += since.map(|since| since.elapsed()).unwrap_or_default();
        }
        drop(state);
        self.0.news.notify_waiters();
    }
}

/// Asks in the name of one running call.
pub(super) struct Asking {
    runner: Runner,
    recorder: Arc<Recorder>,
    actor: Actor,
    key: Option<ApiKeyId>,
    busy: AtomicBool,
}

impl Asking {
    pub(super) const fn new(
        runner: Runner,
        recorder: Arc<Recorder>,
        actor: Actor,
        key: Option<ApiKeyId>,
    ) -> Self {
        Self { runner, recorder, actor, key, busy: AtomicBool::new(false) }
    }

    /// Writes the question down as a call below the one that asks.
    async fn open(&self, request: &InputRequest, within: Duration) -> Result<Invocation, CallError> {
        // The question stands below its call, so that has to be in the record first.
        match self.recorder.start().await {
            Ok(Recorded::Written(_)) => {}
            Ok(Recorded::Repeat(_)) => return Err(refused("another call has this one's key")),
            Err(_) => return Err(refused("the record can't be written")),
        }
        let mut input = serde_json::to_value(request).unwrap_or_default();
        input["expires_in_seconds"] = json!(within.as_secs());
        let call = Call {
            actor: self.actor.clone(),
            tool: TOOL.parse().map_err(|_| refused("no tool here asks people"))?,
            input: CallInput::Value(input),
            session: Some(self.recorder.session()),
            parent: Some(self.recorder.id()),
            idempotency_key: None,
            connection: None,
            key: self.key,
            // Invariant: no door makes a call with this source, so a question with it is one that the gate asks for a
            // running call.
            source: Source::System,
            wait: WRITTEN_WITHIN,
            watch: None,
        };
        let asked = self.runner.execute(call).await.map_err(|error| match error {
            RunError::Refused(error) => error,
            other => refused(&other.to_string()),
        })?;
        if let Some(error) = asked.error {
            return Err(error);
        }
        let store = &self.runner.0.store;
        let row = store.get(&self.actor.tenant, asked.call_id).await;
        row.ok().flatten().ok_or_else(|| refused("the record can't be read"))
    }
}

#[async_trait]
impl Asker for Asking {
    async fn ask(&self, request: &InputRequest, within: Duration) -> Result<Said, CallError> {
        // A person has one thing put before them at a time.
        let Some(_turn) = Turn::take(&self.busy) else {
            return Err(refused("a question of this call is open already"));
        };
        let questions = self.recorder.questions();
        let waiting = questions.wait();
        let row = self.open(request, within).await?;
        let mut open = Open { runner: &self.runner, row: Some(row.clone()) };
        let said = json!({ "message": request.title, "asks": row.id() });
        if self.recorder.append(JsonText::from_value(&said)).await.is_err() {
            return Err(refused("the call is no longer this worker's"));
        }
        questions.opened(row.id());
        let until = Instant::now() + within;
        let cancelled = self.recorder.cancelled();
        let settled = tokio::select! {
            biased;
            () = cancelled.cancelled() => None,
            followed = self.followed(row, until) => followed.ok(),
        };
        drop(waiting);
        let Some(settled) = settled.filter(|row| row.status.is_settled()) else { return Ok(Said::Nothing) };
        open.row = None;
        Ok(match settled.status {
            Status::Completed => {
                let output = settled.output.map(|output| output.to_value()).unwrap_or_default();
                Said::Answered(
                    output.get("answers").cloned().unwrap_or_else(|| Value::Object(Default::default())),
                )
            }
            Status::Cancelled | Status::Rejected => Said::Declined,
            _ => Said::Nothing,
        })
    }
}

impl Asking {
    /// The question when it is settled. A store that is away is waited for: the person may have answered.
    async fn followed(&self, row: Invocation, until: Instant) -> Result<Invocation, StoreError> {
        loop {
            match self.runner.follow(row.clone(), until).await {
                Err(StoreError::Unavailable(_)) if Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(250)).await;
                }
                other => return other,
            }
        }
    }
}

struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    fn take(busy: &'a AtomicBool) -> Option<Self> {
        (!busy.swap(true, Ordering::AcqRel)).then_some(Self(busy))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A question that nobody waits for any more is taken back, however its call ended.
struct Open<'a> {
    runner: &'a Runner,
    row: Option<Invocation>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let Some(row) = self.row.take() else { return };
        let runner = self.runner.clone();
        tokio::spawn(async move {
            let reason = Some("the call that asked goes on without an answer".to_owned());
            let by = row.opened.actor.clone();
            match runner.cancel(&row, &by, reason).await {
                // It was answered, or ran out, just now.
                Ok(_) | Err(StoreError::Conflict) => {}
                Err(cause) => tracing::warn!(error = %cause, "a question could not be taken back"),
            }
        });
    }
}

fn refused(why: &str) -> CallError {
    CallError::new(ErrorCode::Execution, format!("a question could not be asked: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn time_stands_still_while_a_person_ponders() {
        let questions = Questions::default();
        let limit = Duration::from_millis(20);
        let mut over = std::pin::pin!(questions.out_of_time(limit));
        let (first, second) = (questions.wait(), questions.wait());
        let still = tokio::time::timeout(limit * 5, &mut over).await;
        assert!(still.is_err(), "it stands still");
        drop(first);
        let still = tokio::time::timeout(limit * 5, &mut over).await;
        assert!(still.is_err(), "until the last is answered");
        drop(second);
        over.await;
    }

    #[tokio::test]
    async fn whoever_waits_hears_of_a_question() {
        let questions = Questions::default();
        let id = InvocationId::generate();
        let waiting = questions.wait();
        let (asked, ()) = tokio::join!(questions.asked(), async { questions.opened(id) });
        assert_eq!(asked, id);
        drop(waiting);
        let none = tokio::time::timeout(Duration::from_millis(20), questions.asked()).await;
        assert!(none.is_err(), "it is answered");
    }
}
