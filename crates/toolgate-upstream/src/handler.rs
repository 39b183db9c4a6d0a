//! Our side of a connection: what a server may say and ask while it is open.
#![allow(
    deprecated,
    reason = "sampling and roots are on their way out of the protocol; refusing them is not"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
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

use crate::clean::quoted;

/// Progress that waits to be recorded; what comes faster than that is dropped.
const PROGRESS_KEPT: usize = 16;
const LONGEST_PROGRESS: usize = 1_024;

/// Answers what servers ask in the middle of a call. A gate has none: it asks nobody in a stranger's name.
#[async_trait]
pub(crate) trait Interaction: Send + Sync {
    /// The answer to a request such as `elicitation/create`; none refuses it.
    async fn answer(&self, method: &str, params: &Value) -> Option<Value>;
}

/// Told when a server says that its tools changed.
pub(crate) type Changed = Arc<dyn Fn() + Send + Sync>;

type Watchers = Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Value>>>>;

#[derive(Clone)]
pub(crate) struct Handler {
    changed: Changed,
    watchers: Watchers,
    interaction: Option<Arc<dyn Interaction>>,
}

impl Handler {
    pub(crate) fn new(changed: Changed, interaction: Option<Arc<dyn Interaction>>) -> Self {
        Self { changed, watchers: Watchers::default(), interaction }
    }

    pub(crate) fn interaction(&self) -> Option<&Arc<dyn Interaction>> {
        self.interaction.as_ref()
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
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(interaction) = &self.interaction else {
            tracing::warn!("a server asked a question in the middle of a call; it was refused");
            return Err(not_here("elicitation"));
        };
        let params = serde_json::to_value(request).map_err(|_| not_here("this question"))?;
        let answer = interaction.answer("elicitation/create", &params).await;
        answer.and_then(|answer| serde_json::from_value(answer).ok()).ok_or_else(|| not_here("this question"))
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
        if self.interaction.is_some() {
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
