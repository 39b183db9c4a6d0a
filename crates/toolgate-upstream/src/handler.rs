//! Our side of a connection: what a server may say and ask while it is open.
#![allow(
    deprecated,
    reason = "sampling and roots are on their way out of the protocol; refusing them is not"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationCapability, Implementation, ListRootsResult, ProgressNotificationParam,
    ProgressToken, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_core::upstream::Questions;

use crate::clean::quoted;
use crate::interaction::Calls;
use crate::question::Refusal;

/// Progress that waits to be recorded; what comes faster than that is dropped.
const PROGRESS_KEPT: usize = 16;
const LONGEST_PROGRESS: usize = 1_024;

/// Told when a server says that its tools changed.
pub(crate) type Changed = Arc<dyn Fn() + Send + Sync>;

type Watchers = Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Value>>>>;

#[derive(Clone)]
pub(crate) struct Handler {
    changed: Changed,
    watchers: Watchers,
    questions: Questions,
    calls: Calls,
}

impl Handler {
    pub(crate) fn new(changed: Changed, questions: Questions) -> Self {
        Self { changed, watchers: Watchers::default(), questions, calls: Calls::default() }
    }

    /// The calls that may be asked about.
    pub(crate) const fn calls(&self) -> &Calls {
        &self.calls
    }

    pub(crate) fn changed(&self) -> Changed {
        Arc::clone(&self.changed)
    }

    /// Progress of one request, until it is dropped.
    pub(crate) fn watch(&self, token: ProgressToken) -> Watch {
        let (sender, receiver) = mpsc::channel(PROGRESS_KEPT);
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), sender);
        Watch { token, receiver, watchers: Arc::clone(&self.watchers) }
    }
}

/// Progress of one request.
pub(crate) struct Watch {
    token: ProgressToken,
    receiver: mpsc::Receiver<Value>,
    watchers: Watchers,
}

impl Watch {
    /// The next report. Never none, so that it can stand in a `select!`.
    pub(crate) async fn next(&mut self) -> Value {
        match self.receiver.recv().await {
            Some(report) => report,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

impl ClientHandler for Handler {
    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(not_here("sampling"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(not_here("roots"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if self.questions == Questions::Refuse {
            tracing::warn!("a server asked a question in the middle of a call; it was refused");
            return Err(not_here("elicitation"));
        }
        let params = serde_json::to_value(request).map_err(|_| not_asked(Refusal::NoForm))?;
        let notes = serde_json::to_value(&context.meta).unwrap_or_default();
        let interaction = self.calls.asked(&notes).await.map_err(not_asked)?;
        let answer = tokio::select! {
            biased;
            // The server wants to know no more.
            () = context.ct.cancelled() => return Err(not_asked(Refusal::NoForm)),
            answer = interaction.answer("elicitation/create", &params) => answer.map_err(not_asked)?,
        };
        serde_json::from_value(answer).map_err(|_| not_asked(Refusal::NoForm))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let sender = {
            let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            watchers.get(&params.progress_token).cloned()
        };
        let Some(sender) = sender else { return };
        let report = report(params.progress, params.total, params.message.as_deref());
        // Full: the recorder is slower than the server, and the next report says as much.
        let _ = sender.try_send(report);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        (self.changed)();
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.questions == Questions::Ask {
            capabilities.elicitation = Some(ElicitationCapability::default());
        }
        ClientConfig::new(capabilities, Implementation::new("toolgate", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// What is recorded of a server's progress.
pub(crate) fn report(progress: f64, total: Option<f64>, message: Option<&str>) -> Value {
    let mut report = json!({ "progress": progress });
    if let Some(total) = total {
        report["total"] = json!(total);
    }
    if let Some(message) = message {
        report["message"] = json!(quoted(message, LONGEST_PROGRESS));
    }
    report
}

fn not_here(what: &str) -> ErrorData {
    ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, format!("{what} is not offered"), None)
}

fn not_asked(refusal: Refusal) -> ErrorData {
    let message = format!("nobody was asked: the question asks {}", refusal.words());
    ErrorData::new(rmcp::model::ErrorCode::INVALID_PARAMS, message, None)
}
