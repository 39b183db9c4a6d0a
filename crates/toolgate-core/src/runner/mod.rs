//! The one path: [`Runner::execute`] is the only way any tool runs.
//!
//! Stages 1 to 6 are in `admit`, 7 here, 8 to 13 in `run`; `recorder` writes what happens, `recover` looks after what
//! a crash or a waiting person left behind.

mod admit;
mod ask;
mod call;
mod cleared;
mod files;
mod flights;
mod labels;
mod outliving;
mod park;
mod recorder;
mod recover;
mod report;
mod run;
mod watch;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::Either;
use tokio::sync::{broadcast, oneshot};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

pub use admit::Denied;
pub use call::{Call, CallInput, CallResult, RunError};
pub use cleared::{ClearedCall, PreviewCall};
pub use park::Edit;
pub use recover::Settlement;
pub use report::{Late, Report, Reported};
pub use watch::{Watch, Watched};

use crate::catalog::Tools;
use crate::change::{NewCall, SessionUse};
use crate::contract::{Effect, Egress};
use crate::id::{InvocationId, SessionId, WorkerId};
use crate::invocation::{Invocation, Opened, Status, Step};
use crate::json::JsonText;
use crate::port::capability::{Capabilities, Clock};
use crate::port::gate::{
    Admission, Authorizer, ConnectionGate, Decision, Directory, Limiter, Permit, Policy, Verdict,
};
use crate::port::store::{Begun, Store, StoreError};
use admit::{Admitted, Stopped};
use flights::Flights;
use labels::Labels;
use outliving::Outliving;
use recorder::{Recorder, answer_repeat};
use run::Ready;

/// What the runner works with. Picked once, where the binary wires everything.
#[derive(Clone)]
pub struct Parts {
    /// The tools of each tenant.
    pub tools: Arc<dyn Tools>,
    /// Stage 2.
    pub policy: Arc<dyn Policy>,
    /// Stage 3.
    pub authorizer: Arc<dyn Authorizer>,
    /// Stage 4.
    pub connections: Arc<dyn ConnectionGate>,
    /// Stage 6.
    pub limiter: Arc<dyn Limiter>,
    /// Who principals are, for calls taken up again.
    pub directory: Arc<dyn Directory>,
    /// Stage 8: all there is; a call gets what its tool declared.
    pub capabilities: Capabilities,
    /// The record.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How long things may take.
    pub settings: Settings,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How long a worker may be silent before its calls are taken over.
    pub lease: Duration,
    /// How long a person has to decide.
    pub approval_deadline: Duration,
    /// How long an approved call looks for a place among those that run.
    pub place_deadline: Duration,
    /// How often a repeatable call is tried again after crashes.
    pub max_attempts: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            approval_deadline: Duration::from_secs(24 * 60 * 60),
            place_deadline: Duration::from_secs(60 * 60),
            max_attempts: 3,
        }
    }
}

/// Runs tools. Cheap to clone.
#[derive(Clone)]
pub struct Runner(Arc<Inner>);

struct Inner {
    parts: Parts,
    worker: WorkerId,
    flights: Flights,
    tasks: TaskTracker,
    news: broadcast::Sender<SessionId>,
    labels: Labels,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("worker", &self.0.worker).finish_non_exhaustive()
    }
}

impl std::ops::Deref for Inner {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Runner {
    /// A runner over these parts, under a worker id of its own.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let (news, _) = broadcast::channel(1024);
        Self(Arc::new(Inner {
            parts,
            worker: WorkerId::generate(),
            flights: Flights::default(),
            tasks: TaskTracker::new(),
            news,
            labels: Labels::default(),
        }))
    }

    /// Takes a call through all stages. Answers when it is settled, when it waits for a person, or when the caller's
    /// patience ends and the call is safely in the record.
    ///
    /// # Errors
    /// When there is no call to speak of; see [`RunError`].
    pub async fn execute(&self, call: Call) -> Result<CallResult, RunError> {
        if self.0.tasks.is_closed() {
            return Err(RunError::Draining);
        }
        self.0.limiter.knock(&call.actor).map_err(RunError::Refused)?;
        let until = Instant::now() + call.wait;
        // Only a repeat is ever compared, and only a key makes a repeat.
        let digest = call.idempotency_key.as_ref().map(|_| call.digest()).unwrap_or_default();
        let labels = self.labels(&call).await.map_err(RunError::Store)?;
        let mut admitted = match self.admit(&call, &labels).await {
            Ok(admitted) => admitted,
            Err(stopped) => return self.record_stop(&call, digest, *stopped).await,
        };

        // A repeat costs no place in the limits and never runs twice.
        if let Some(key) = &call.idempotency_key {
            let (actor, tool) = (&call.actor, &admitted.tool.contract.id);
            let first = self.0.store.find_by_key(&actor.tenant, &actor.acting(), tool, key).await;
            if let Some(first) = first.map_err(RunError::Store)? {
                let answer = answer_repeat(&first, &digest)?;
                if first.status == Status::Pending {
                    // A person may take hours; the repeat gets the same handle as the first.
                    return Ok(answer);
                }
                return Ok(CallResult::repeat(&self.follow(first, until).await.map_err(RunError::Store)?));
            }
        }

        // The rest of 5: files, which a repeat no longer needs.
        if let Err(stopped) = self.check_files(&call, &admitted).await.map_err(RunError::Store)? {
            return self.record_stop(&call, digest, *stopped).await;
        }

        // 6: limits.
        let mut over_limit = false;
        let permit = match self.limit(&call, &labels, &admitted).await.map_err(RunError::Store)? {
            Ok(Admission::Granted(permit)) => permit,
            Ok(Admission::Ask { rule, reason }) => {
                over_limit = true;
                admitted.decision = Decision::new(Verdict::Ask, rule, reason);
                Permit::free()
            }
            Err(stopped) => return self.record_stop(&call, digest, *stopped).await,
        };

        // 7: a person decides first.
        if let Some(reason) = admitted.needs_person(&call.actor) {
            // A grant answers policy's question, not that of a limit that is used up.
            let grant = match over_limit {
                true => None,
                false => self.grant_for(&call, &labels, &admitted).await.map_err(RunError::Store)?,
            };
            return match grant {
                Some(grant) => self.run_granted(call, digest, admitted, reason, grant, permit, until).await,
                None => {
                    drop(permit);
                    self.park(&call, digest, &labels, &admitted, reason).await
                }
            };
        }

        let opened = self.opened(&call, digest, &admitted, false);
        let (id, session) = (opened.id, opened.session);
        let recorder = Arc::new(Recorder::new(self.clone(), opened, session_use(&call), call.watch.clone()));
        let start_first = Self::starts_first(&admitted.tool, call.wait);
        let ready = Ready {
            id,
            session,
            actor: call.actor,
            key: call.key,
            tool: admitted.tool,
            input: admitted.input,
            connection: admitted.connection,
            rule: admitted.decision.rule.to_string(),
            permit,
            recorder,
            start_first,
        };
        self.launch(ready, until).await
    }

    /// Writes a call down that a door has refused, with the stage that stops it. It never runs, not even when every
    /// stage would let it: then nothing is written.
    ///
    /// # Errors
    /// As [`Runner::execute`].
    pub async fn refuse(&self, call: &Call) -> Result<Option<CallResult>, RunError> {
        self.0.limiter.knock(&call.actor).map_err(RunError::Refused)?;
        let labels = self.labels(call).await.map_err(RunError::Store)?;
        match self.admit(call, &labels).await {
            Ok(_) => Ok(None),
            Err(stopped) => self.record_stop(call, String::new(), *stopped).await.map(Some),
        }
    }

    /// Runs a call so that a caller who goes away does not take it along.
    async fn launch(&self, ready: Ready, until: Instant) -> Result<CallResult, RunError> {
        let (accept, accepted) = oneshot::channel();
        let span = tracing::info_span!(
            "execute_tool",
            otel.name = %format_args!("execute_tool {}", ready.tool.contract.id),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = %ready.tool.contract.id,
            gen_ai.tool.call.id = %ready.id,
            toolgate.tenant = %ready.actor.tenant,
            toolgate.actor = %ready.actor.principal,
        );
        let recorder = Arc::clone(&ready.recorder);
        // In its place before it is wrapped: what is wrapped is moved, and this is large.
        let run = Box::pin(self.clone().run(ready, Some(accept)));
        let run = AssertUnwindSafe(run.instrument(span)).catch_unwind();
        let mut run = Outliving::new(self.0.tasks.track_future(run));
        // Whoever waits may be the one to answer.
        let left = async {
            tokio::select! {
                asks = recorder.questions().asked() => Some(asks),
                () = tokio::time::sleep_until(until.into()) => None,
            }
        };
        let settled = match futures::future::select(&mut run, std::pin::pin!(left)).await {
            Either::Left((settled, _)) => settled.ok(),
            Either::Right((asks, _)) => {
                let on_its_own = run.leave();
                // Invariant: a handle is given out only for a call that is in the record.
                match (accepted.await, on_its_own) {
                    (Ok(row), _) => return Ok(CallResult { asks, ..CallResult::of(&row) }),
                    (Err(_), Some(run)) => run.await.ok().and_then(Result::ok),
                    (Err(_), None) => None,
                }
            }
        };
        settled.unwrap_or_else(|| Err(RunError::Store(StoreError::unavailable("the call broke off"))))
    }

    /// Writes down a call that was stopped before it ran. Its key stays free: the caller may mend and try again.
    async fn record_stop(
        &self,
        call: &Call,
        digest: String,
        stopped: Stopped,
    ) -> Result<CallResult, RunError> {
        let (effect, egress, idempotent) =
            stopped.tool.as_ref().map_or((Effect::Read, Egress::None, false), |tool| {
                (tool.contract.effect, tool.contract.egress, tool.contract.idempotent)
            });
        let opened = Opened {
            tool: stopped.tool.as_ref().map_or_else(|| call.tool.clone(), |tool| tool.contract.id.clone()),
            tool_version: stopped.tool.as_ref().map(|tool| tool.version.clone()),
            effect,
            egress,
            idempotent,
            input: kept_of_refused(&stopped.input),
            idempotency_key: None,
            rule: stopped.rule,
            ..self.facts(call, digest)
        };
        let session = opened.session;
        self.open(call, opened, &[Step::Failed { error: stopped.error }])
            .await
            .map(|begun| match begun {
                Begun::Fresh(row) | Begun::Repeat(row) => CallResult::of(&row),
            })
            .map_err(|cause| RunError::store(cause, session))
    }

    async fn open(&self, call: &Call, opened: Opened, steps: &[Step]) -> Result<Begun, StoreError> {
        let new = NewCall::open(opened, steps, self.0.clock.now(), session_use(call))
            .map_err(|illegal| StoreError::Refused(illegal.to_string()))?;
        let begun = self.0.store.begin(new).await?;
        if let Begun::Fresh(row) = &begun {
            self.announce(row);
        }
        Ok(begun)
    }

    fn opened(&self, call: &Call, digest: String, admitted: &Admitted, approval_required: bool) -> Opened {
        let contract = &admitted.tool.contract;
        Opened {
            tool: contract.id.clone(),
            tool_version: Some(admitted.tool.version.clone()),
            effect: contract.effect,
            egress: contract.egress,
            idempotent: contract.idempotent,
            input: JsonText::from_value(&admitted.input),
            rule: Some(admitted.decision.rule.to_string()),
            approval_required,
            ..self.facts(call, digest)
        }
    }

    /// What is known of any call.
    fn facts(&self, call: &Call, request_digest: String) -> Opened {
        let id = InvocationId::generate();
        Opened {
            id,
            tenant: call.actor.tenant.clone(),
            session: call.session.unwrap_or(SessionId::from_uuid(id.uuid())),
            parent: call.parent,
            tool: call.tool.clone(),
            tool_version: None,
            effect: Effect::Read,
            egress: Egress::None,
            idempotent: false,
            actor: call.actor.principal.clone(),
            subject: call.actor.subject_id().cloned(),
            key: call.key,
            source: call.source,
            input: JsonText::from_value(&serde_json::Value::Null),
            idempotency_key: call.idempotency_key.clone(),
            request_digest,
            rule: None,
            approval_required: false,
            created_at: self.0.clock.now(),
        }
    }

    /// Waits until a call is settled, but no longer than `until`; returns how it stands then.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn follow(&self, mut invocation: Invocation, until: Instant) -> Result<Invocation, StoreError> {
        // Calls on other nodes make no news here; this bounds how late their outcome is seen.
        const LOOK_AGAIN: Duration = Duration::from_millis(250);
        let mut news = self.watch();
        while !invocation.status.is_settled() && Instant::now() < until {
            let pause = LOOK_AGAIN.min(until.saturating_duration_since(Instant::now()));
            let _ = tokio::time::timeout(pause, async {
                while !matches!(news.recv().await, Ok(session) if session == invocation.opened.session) {}
            })
            .await;
            let Some(current) = self.0.store.get(&invocation.opened.tenant, invocation.id()).await? else {
                return Err(StoreError::NotFound);
            };
            invocation = current;
        }
        Ok(invocation)
    }

    /// Hears of every session that gets an event in this process.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.0.news.subscribe()
    }

    /// Tells those who watch that this call has news.
    pub fn announce(&self, invocation: &Invocation) {
        // No watchers is fine.
        let _ = self.0.news.send(invocation.opened.session);
    }

    /// The tools, policy and other parts, for those who list and explain.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// Takes no more calls and waits for those under way, but no longer than `patience`. What is not done by then is
    /// found again by its lease.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.0.tasks.close();
        tokio::time::timeout(patience, self.0.tasks.wait()).await.is_ok()
    }
}

/// Refusals are recorded, but must not fill the disk: a large input is left out.
fn kept_of_refused(input: &serde_json::Value) -> JsonText {
    const MOST: usize = 16 * 1024;
    let text = JsonText::from_value(input);
    if text.as_str().len() <= MOST { text } else { JsonText::from_value(&serde_json::Value::Null) }
}

fn session_use(call: &Call) -> SessionUse {
    match call.session {
        None => SessionUse::New,
        Some(_) if call.actor.is_admin() => SessionUse::Existing { owner: None },
        Some(_) => SessionUse::Existing { owner: Some(call.actor.principal.clone()) },
    }
}
