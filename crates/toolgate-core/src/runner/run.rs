//! Stages 8 to 13: execute, and tell what came of it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::Either;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Runner;
use super::ask::Asking;
use super::call::{CallResult, RunError};
use super::cleared::ClearedCall;
use super::recorder::{Recorded, Recorder};
use crate::actor::Actor;
use crate::catalog::BoundTool;
use crate::contract::{Binding, Effect};
use crate::error::{CallError, ErrorCode};
use crate::failpoint;
use crate::id::{ApiKeyId, ConnectionId, InvocationId, SessionId};
use crate::invocation::{Invocation, Status, Step};
use crate::json::Bounds;
use crate::output::{ToolOutput, copy_of};
use crate::port::executor::{Asker, ToolContext, ToolFailure};
use crate::port::gate::Permit;
use crate::redaction::Redactor;
use crate::time::Timestamp;

/// A read that takes longer than this is written down before it ends, so that people can see and cancel it.
const LATE_START: Duration = Duration::from_millis(200);
/// How long a cancelled write may take to stop by itself before its outcome is called unknown.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// A call past stage 7, ready to run.
pub(super) struct Ready {
    pub(super) id: InvocationId,
    pub(super) session: SessionId,
    pub(super) actor: Actor,
    /// The key it was made with.
    pub(super) key: Option<ApiKeyId>,
    pub(super) tool: Arc<BoundTool>,
    pub(super) input: Value,
    pub(super) connection: Option<ConnectionId>,
    pub(super) rule: String,
    pub(super) permit: Permit,
    pub(super) recorder: Arc<Recorder>,
    /// Whether `tool.started` must be durable before anything runs.
    pub(super) start_first: bool,
}

/// Tells the caller that the call is in the record and goes on without it.
pub(super) type AcceptedSender = oneshot::Sender<Invocation>;

/// How the tool's own part ended.
enum Ended {
    Returned(Result<ToolOutput, ToolFailure>),
    Panicked,
    TimedOut,
    /// Asked to stop and did not.
    Abandoned,
}

impl Runner {
    /// Whether a call with this effect and patience is written before it runs.
    pub(super) fn starts_first(tool: &BoundTool, wait: Duration) -> bool {
        // What is handed on goes on when this worker is long gone.
        let handed_on = tool.contract.execution.waits().is_some();
        tool.contract.effect != Effect::Read || handed_on || wait < LATE_START * 2
    }

    pub(super) async fn run(
        self,
        ready: Ready,
        accepted: Option<AcceptedSender>,
    ) -> Result<CallResult, RunError> {
        let Ready { id, session, actor, key, tool, input, connection, rule, permit, recorder, start_first } =
            ready;
        let mut accepted = accepted;
        let payer = (actor.tenant.clone(), actor.principal.clone());
        let began_at = self.0.clock.now();
        // However this ends, the call's lease is renewed no longer: what is not settled then is found by the sweep.
        let _landing = self.0.flights.land_on_drop(id);
        if let Some(connection) = connection {
            self.0.flights.goes_through(id, actor.tenant.clone(), connection);
        }

        // 8: capabilities, just the declared ones.
        let capabilities = match self.capabilities_for(&tool, &actor.tenant, &input) {
            Ok(capabilities) => capabilities,
            Err(missing) => {
                let message = format!("this server has no {missing:?} for tools").to_lowercase();
                return finish(&recorder, failed(ErrorCode::Execution, message), began_at, Duration::ZERO)
                    .await;
            }
        };

        // 9: started, before it runs where it must be.
        if start_first {
            match recorder.start().await {
                Ok(Recorded::Written(row)) => {
                    // An answer that was long in coming may tell of a call that another worker has taken over.
                    if row.status != Status::Running || row.worker != Some(self.0.worker) {
                        return Ok(CallResult::of(&row));
                    }
                    // Invariant: no write begins on a lease that has ended, since another worker may have called it
                    // in doubt by then. What may run twice may run here too; one outcome is kept.
                    let late = row.due_at.is_some_and(|due| self.0.clock.now() >= due);
                    if late && !tool.contract.repeatable() {
                        let message = "it could not be begun in time, so it did not run";
                        return finish(
                            &recorder,
                            failed(ErrorCode::Execution, message),
                            began_at,
                            Duration::ZERO,
                        )
                        .await;
                    }
                    announce(&mut accepted, row);
                }
                Ok(Recorded::Repeat(first)) => return recorder.answer_repeat(&first),
                Err(cause) => return Err(RunError::store(cause, session)),
            }
            failpoint::hit("runner.started");
        }

        // 10: execute.
        let cost_micros = Arc::new(AtomicI64::new(0));
        // What runs in the house asks by calling; only a server elsewhere asks in the middle of its own call.
        let asks = matches!(tool.contract.execution, Binding::Mcp { .. });
        let asker = asks.then(|| {
            let asking = Asking::new(self.clone(), Arc::clone(&recorder), actor.clone(), key);
            Arc::new(asking) as Arc<dyn Asker>
        });
        let context = ToolContext {
            call_id: id,
            session,
            actor,
            capabilities,
            cancelled: recorder.cancelled().clone(),
            progress: Some(Arc::new(Arc::clone(&recorder))),
            asker,
            cost_micros: Arc::clone(&cost_micros),
        };
        let cleared = ClearedCall::clear(input, context, connection, rule);
        let limits = &tool.contract.limits;
        let began = Instant::now();
        let mut body = std::pin::pin!(within_limits(&tool, cleared, &recorder));
        let early = if start_first { None } else { tokio::time::timeout(LATE_START, &mut body).await.ok() };
        let ended = match early {
            Some(ended) => ended,
            None if start_first => body.await,
            None => {
                // The tool goes on while this is written: it may be reporting, and so hold the record, itself.
                let start = std::pin::pin!(recorder.start());
                let (started, ended) = match futures::future::select(start, body).await {
                    Either::Left((started, body)) => {
                        if let Ok(Recorded::Written(row)) = &started {
                            announce(&mut accepted, row.clone());
                        }
                        (started, body.await)
                    }
                    Either::Right((ended, start)) => (start.await, ended),
                };
                match started {
                    Ok(Recorded::Repeat(first)) => return recorder.answer_repeat(&first),
                    Ok(Recorded::Written(_)) => {}
                    // The outcome will be written whole; only the head start is lost.
                    Err(cause) => {
                        tracing::warn!(call = %id, error = %cause, "a slow read could not be announced")
                    }
                }
                ended
            }
        };
        let tool_time = began.elapsed();
        drop(permit);
        failpoint::hit("runner.executed");

        // 11 and 12: validate and redact the output; 13: the outcome.
        let outcome = match ended {
            Ended::Returned(Ok(output)) => {
                let cost = Some(cost_micros.load(Ordering::Relaxed)).filter(|cost| *cost > 0);
                if let Some(micros) = cost {
                    self.0.limiter.charge(&payer.0, &payer.1, &tool.contract.id, micros);
                }
                outcome_of(&tool, output, limits.max_result_bytes, cost)
            }
            Ended::Returned(Err(ToolFailure::Failed { message, hint })) => {
                let mut error = CallError::new(ErrorCode::Execution, message);
                error.hint = hint;
                Step::Failed { error }
            }
            Ended::Returned(Err(ToolFailure::Coded(error))) => Step::Failed { error: shown(&tool, *error) },
            Ended::Returned(Err(ToolFailure::Lost(error))) => unknown_if_write(&tool, *error),
            Ended::Returned(Err(ToolFailure::Cancelled)) => Step::Cancelled { reason: None },
            Ended::Returned(Err(ToolFailure::HandedOn { to, within })) => {
                Step::Waiting { reason: format!("waits for {to}"), deadline: self.0.clock.now().plus(within) }
            }
            Ended::Panicked => unknown_if_write(
                &tool,
                CallError::new(ErrorCode::Execution, "the tool broke off with an internal error"),
            ),
            Ended::TimedOut => unknown_if_write(
                &tool,
                CallError::new(ErrorCode::Timeout, format!("it took longer than {} ms", limits.timeout_ms))
                    .hint("ask for less, or raise `limits.timeout_ms` of the tool"),
            ),
            Ended::Abandoned if tool.contract.repeatable() => Step::Cancelled { reason: None },
            Ended::Abandoned => Step::InDoubt {
                error: CallError::new(
                    ErrorCode::Cancelled,
                    "it was cancelled while its effect was under way",
                ),
            },
        };
        finish(&recorder, outcome, began_at, tool_time).await
    }
}

async fn within_limits(tool: &BoundTool, cleared: ClearedCall, recorder: &Recorder) -> Ended {
    let mut body = std::pin::pin!(AssertUnwindSafe(tool.executor.execute(cleared)).catch_unwind());
    let ended = |returned| match returned {
        Ok(result) => Ended::Returned(result),
        Err(_panic) => Ended::Panicked,
    };
    let limit = Duration::from_millis(tool.contract.limits.timeout_ms);
    let deadline = recorder.questions().out_of_time(limit);
    tokio::select! {
        biased;
        returned = &mut body => ended(returned),
        () = recorder.cancelled().cancelled() => {
            let grace = if tool.contract.effect == Effect::Read { Duration::from_millis(50) } else { CANCEL_GRACE };
            match tokio::time::timeout(grace, body).await {
                Ok(returned) => ended(returned),
                Err(_) => Ended::Abandoned,
            }
        }
        () = deadline => Ended::TimedOut,
    }
}

pub(super) fn outcome_of(
    tool: &BoundTool,
    output: ToolOutput,
    max_bytes: u64,
    cost_micros: Option<i64>,
) -> Step {
    let ToolOutput { value, content, meta } = output;
    let notes = meta.iter().flat_map(serde_json::Map::values);
    let mut parts = std::iter::once(&value).chain(content.iter().flatten()).chain(notes);
    if let Err(broken) = parts.try_for_each(|part| Bounds::OUTPUT.check(part)) {
        return failed(ErrorCode::ResultTooLarge, format!("the result is too large: {broken}"));
    }
    if let Err(violations) = tool.output.validate(&value) {
        return Step::Failed {
            error: CallError::new(
                ErrorCode::OutputInvalid,
                "the tool's result does not fit its own output schema",
            )
            .hint("this is a fault of the tool; its effect, if any, has happened")
            .details(json!({ "violations": violations })),
        };
    }
    let Ok(value) = tool.redactor.redact(value) else {
        return failed(
            ErrorCode::RedactionFailed,
            "the result could not be redacted, so it is withheld; the tool's effect, if any, has happened",
        );
    };
    // What is no field can't be chosen by field: it is shown where everything is, and nowhere else.
    let content = content.map(|content| if shows_all(tool) { content } else { copy_of(&value) });
    let meta = meta.filter(|_| shows_all(tool));
    let output = ToolOutput { value, content, meta };
    let with_media = tool.contract.limits.max_bytes_with_media.map(|most| (most, output.media()));
    let (output, whole) = output.kept();
    // Pictures and files have room of their own; words and structure have the bound they have everywhere.
    let most = match with_media {
        Some((most, media)) if whole.saturating_sub(media) as u64 <= max_bytes => most.max(max_bytes),
        Some(_) | None => max_bytes,
    };
    if whole as u64 > most {
        return Step::Failed {
            error: CallError::new(
                ErrorCode::ResultTooLarge,
                format!("the result is larger than {most} bytes"),
            )
            .hint("ask for less, or raise `limits.max_result_bytes` of the tool"),
        };
    }
    Step::Completed { output, cost_micros }
}

fn shows_all(tool: &BoundTool) -> bool {
    matches!(tool.redactor, Redactor::ShowAll)
}

/// A failure as far as it may be shown: what a server said of it in full goes the way of its results.
fn shown(tool: &BoundTool, error: CallError) -> CallError {
    if shows_all(tool) { error } else { error.without_said() }
}

/// A write that was broken off may have happened: only a person can say.
fn unknown_if_write(tool: &BoundTool, error: CallError) -> Step {
    if tool.contract.repeatable() { Step::Failed { error } } else { Step::InDoubt { error } }
}

fn failed(code: ErrorCode, message: impl Into<String>) -> Step {
    Step::Failed { error: CallError::new(code, message) }
}

async fn finish(
    recorder: &Recorder,
    outcome: Step,
    began_at: Timestamp,
    tool_time: Duration,
) -> Result<CallResult, RunError> {
    match recorder.finish(outcome, began_at).await {
        Ok(Recorded::Written(row)) => Ok(CallResult { tool_time, ..CallResult::of(&row) }),
        Ok(Recorded::Repeat(first)) => recorder.answer_repeat(&first),
        Err(cause) => Err(RunError::store(cause, recorder.session())),
    }
}

fn announce(accepted: &mut Option<AcceptedSender>, row: Invocation) {
    if let Some(sender) = accepted.take() {
        // The caller may have gone; the call goes on.
        let _ = sender.send(row);
    }
}
