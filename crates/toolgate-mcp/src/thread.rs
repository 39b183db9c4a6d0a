//! Streams of the handshake era that broke off and are taken up again, at any node: what stands in the ids of their
//! events is enough to tell the rest from the call's own record.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::id::InvocationId;
use toolgate_core::json::{digest, to_hex};
use toolgate_core::{Approval, CallResult, Invocation, Status, Timestamp};

use crate::asking::Asking;
use crate::conformance::{self, Output};
use crate::content;
use crate::exchange::Exchange;
use crate::form;
use crate::gate::McpGate;
use crate::jsonrpc::Id;
use crate::plane::PlaneError;
use crate::report::Reports;
use crate::rpc_error::RpcError;
use crate::seal::Purpose;

/// How long a call runs before others need to know of it. What is over sooner costs nothing more.
const SLOW: Duration = Duration::from_millis(250);
/// How often a call that runs elsewhere is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How often it is looked whether a call is in the record by now.
const TRIES: u32 = 40;

/// What a stream is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Thread {
    /// The digest of the session's id.
    session: String,
    call: InvocationId,
    request: Value,
    /// The token that progress is told under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<Value>,
    /// Until when the client is kept waiting, in seconds.
    until: i64,
    /// When the request came. Ids of an earlier release do not say so; then it counts as long ago.
    #[serde(default = "long_ago")]
    began: Timestamp,
}

const fn long_ago() -> Timestamp {
    Timestamp::from_micros(0)
}

/// Where a client wants to go on.
#[derive(Debug)]
pub struct Resumed {
    thread: Thread,
    sealed: String,
    request: Id,
    /// How many reports had come by.
    reports: u32,
    /// Whether the person has been asked.
    asked: bool,
}

impl Resumed {
    /// The request whose answer is still to come.
    #[must_use]
    pub const fn request(&self) -> &Id {
        &self.request
    }

    /// When it came.
    #[must_use]
    pub const fn began(&self) -> Timestamp {
        self.thread.began
    }
}

/// What the last event of a broken stream says.
#[derive(Debug)]
pub enum LastEvent {
    /// The open stream of a session, when this was what its caller could see.
    Listening(u64),
    /// The stream of a request.
    Request(Box<Resumed>),
}

/// The id of an event on the open stream of a session.
pub(crate) fn listening(visible: u64) -> String {
    format!("l.{visible:x}")
}

/// What a request of a session is known by, on every node.
fn key(session: &str, id: &Id) -> [u8; 32] {
    let id = serde_json::to_string(id).unwrap_or_default();
    digest(format!("toolgate.mcp.request {} {session}{id}", session.len()).as_bytes())
}

impl McpGate {
    /// What the id of an event of this session's says; none when it is not one of ours, or another session's.
    #[must_use]
    pub fn last_event(&self, session: &str, text: &str) -> Option<LastEvent> {
        if let Some(visible) = text.strip_prefix("l.") {
            return u64::from_str_radix(visible, 16).ok().map(LastEvent::Listening);
        }
        let (reports, rest) = text.strip_prefix("c.")?.split_once('.')?;
        let (kind, sealed) = rest.split_once('.')?;
        let thread: Thread = self.sealer.open(Purpose::Stream, sealed)?;
        // Invariant: what one session was told is told to no other, not even of the same caller.
        if thread.session != to_hex(&digest(session.as_bytes())) {
            return None;
        }
        Some(LastEvent::Request(Box::new(Resumed {
            request: Id::of(&thread.request)?,
            reports: reports.parse().ok()?,
            asked: kind == "q",
            sealed: sealed.to_owned(),
            thread,
        })))
    }

    /// Makes a call that takes its time known to all nodes, once it does: its client may want it stopped, or lose its
    /// stream, and come back anywhere.
    pub(crate) async fn become_known(
        &self,
        x: &Exchange<'_>,
        call: InvocationId,
        token: Option<Value>,
        wait: Duration,
    ) {
        tokio::time::sleep(SLOW).await;
        self.make_known(x, call, token, wait).await;
    }

    /// Makes a call known to all nodes.
    pub(crate) async fn make_known(
        &self,
        x: &Exchange<'_>,
        call: InvocationId,
        token: Option<Value>,
        wait: Duration,
    ) {
        let Some(session) = x.session else { return };
        let mut tries = 0;
        // What is not in the record can't be stopped or followed from elsewhere.
        while self.plane.read(x.actor, call).await.is_err() {
            tries += 1;
            if tries == TRIES {
                return;
            }
            tokio::time::sleep(LOOK / 2).await;
        }
        self.mark(x, call, token, wait);
        match self.plane.note_request(x.actor, key(session, x.id), call, x.began).await {
            // Whoever wanted it stopped said so before anyone knew what it was.
            Ok(true) => drop(self.stop(x.actor, call).await),
            Ok(false) => {}
            Err(cause) => tracing::debug!(error = ?cause, "a request could not be made known"),
        }
    }

    /// Lets the stream of a request be taken up elsewhere from here on. Its call must be in the record.
    pub(crate) fn mark(&self, x: &Exchange<'_>, call: InvocationId, token: Option<Value>, wait: Duration) {
        let Some(session) = x.session.filter(|_| x.out.is_open() && !x.out.is_marked()) else { return };
        let thread = Thread {
            session: to_hex(&digest(session.as_bytes())),
            call,
            request: serde_json::to_value(x.id).unwrap_or_default(),
            token,
            until: self.plane.now() + i64::try_from(wait.as_secs()).unwrap_or(0),
            began: x.began,
        };
        if let Ok(sealed) = self.sealer.seal(Purpose::Stream, &thread) {
            x.out.mark(sealed, x.client.knows_marks());
        }
    }

    /// Stops what a request of this session led to, wherever it runs. A client that cancels wants no answer.
    pub async fn cancel(&self, actor: &toolgate_core::Actor, session: &str, request: &Value) {
        let Some(id) = Id::of(request) else { return };
        if let Some(here) = self.open_call(session, &id)
            && self.stop(actor, here).await
        {
            return;
        }
        match self.plane.give_up_request(actor, key(session, &id)).await {
            Ok(Some(call)) => drop(self.stop(actor, call).await),
            Ok(None) => {}
            Err(cause) => tracing::debug!(error = ?cause, "a wish to stop could not be noted"),
        }
    }

    /// Stops a call. False where there is none to stop, or not yet: what is over, or was never theirs, stays as it is.
    async fn stop(&self, actor: &toolgate_core::Actor, call: InvocationId) -> bool {
        self.plane.cancel(actor, call).await.is_ok()
    }

    /// Tells the rest of a stream that broke off: what was reported since, and the answer.
    ///
    /// # Errors
    /// When there is no such call for this caller here.
    pub async fn take_up(&self, x: &Exchange<'_>, resumed: &Resumed) -> Result<String, RpcError> {
        let thread = &resumed.thread;
        let mut reports = Reports::under(thread.token.clone());
        x.out.mark(resumed.sealed.clone(), false);
        let mut seen = None;
        loop {
            let invocation = self.own_call(x, thread.call).await.ok_or(PlaneError::NotFound)?;
            if seen != Some(invocation.revision) {
                seen = Some(invocation.revision);
                self.tell_reports(x, &invocation, &mut reports, resumed.reports).await?;
            }
            if invocation.status.is_settled() {
                return self.outcome(x, &CallResult::of(&invocation));
            }
            let waits = match invocation.status {
                Status::Pending => invocation.approval == Approval::Pending,
                Status::Waiting => true,
                _ => false,
            };
            if waits {
                return self.person_again(x, &invocation, resumed.asked).await;
            }
            if self.plane.now() >= thread.until || x.gone.is_cancelled() || !x.out.is_open() {
                return Ok(self.goes_on(x, thread.call));
            }
            self.plane.follow(x.actor, thread.call, LOOK).await?;
        }
    }

    /// Passes on what was reported after so many reports.
    async fn tell_reports(
        &self,
        x: &Exchange<'_>,
        invocation: &Invocation,
        reports: &mut Reports,
        after: u32,
    ) -> Result<(), RpcError> {
        let told = self.plane.reports(invocation).await?;
        for chunk in told.iter().skip(x.out.reports() as usize) {
            let news = x.out.reports() >= after;
            x.out.reported();
            if self.fixtures.is_none() || !self.report_of_fixture(x, chunk, false) {
                reports.progress(x, chunk, news);
            }
        }
        Ok(())
    }

    /// A call that waits for a person, whose client comes back: asked once, wherever that was.
    async fn person_again(
        &self,
        x: &Exchange<'_>,
        invocation: &Invocation,
        asked: bool,
    ) -> Result<String, RpcError> {
        let asking = match asked {
            true => Some(Asking::Asked),
            false => self.form_for(x, invocation).await?.map(Asking::With),
        };
        match asking {
            Some(asking) => self.ask_on_stream(x, invocation, asking).await,
            None => self.tell_again(x, &invocation.opened.tool, &CallResult::of(invocation)).await,
        }
    }

    /// What the person at this client can be asked about a waiting call.
    async fn form_for(&self, x: &Exchange<'_>, invocation: &Invocation) -> Result<Option<Value>, RpcError> {
        if !x.client.capabilities.form {
            return Ok(None);
        }
        if invocation.status == Status::Pending {
            let confirms = self.plane.may_confirm(x.actor, invocation).await;
            return Ok(form::approval(invocation, None).filter(|_| confirms));
        }
        self.question_form(x, invocation).await
    }

    /// The answer to a request whose call is settled.
    fn outcome(&self, x: &Exchange<'_>, result: &CallResult) -> Result<String, RpcError> {
        match self.fixtures.as_ref().map(|_| Output::of(result)) {
            Some(Output::Error(error)) => Err(error),
            Some(Output::Result(body)) => Ok(conformance::shown(x.client, &body)),
            _ => Ok(content::settled(x.client, result)),
        }
    }
}
