//! Putting a server's questions to the person behind the call it asks in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use toolgate_core::port::executor::{Said, ToolContext};

use crate::interaction::Interaction;
use crate::question::{Form, Refusal};
use crate::server::Server;

/// How many refusals of one call are told in its record.
const MOST_TOLD: u32 = 10;

/// Asks the person behind one call.
pub(crate) struct ToPerson {
    server: Arc<Server>,
    context: ToolContext,
    asked: AtomicU32,
    /// One question at a time, however many a server sends at once.
    turn: Mutex<()>,
}

impl ToPerson {
    pub(crate) fn new(server: Arc<Server>, context: ToolContext) -> Self {
        Self { server, context, asked: AtomicU32::new(0), turn: Mutex::default() }
    }

    async fn put(&self, method: &str, params: &Value, before: u32) -> Result<Value, Refusal> {
        if method != "elicitation/create" {
            return Err(Refusal::NoForm);
        }
        let settings = self.server.settings();
        if before >= settings.most_questions {
            return Err(Refusal::TooMany);
        }
        let params = self.server.secrets.hidden(params.clone());
        let form = Form::read(self.server.name.as_str(), &params)?;
        let _turn = self.turn.lock().await;
        // Held while the person ponders: a server that asks much must not keep all its places from other calls.
        let _place = self.server.question_place().ok_or(Refusal::Crowded)?;
        match self.context.ask(&form.request, settings.answered_within).await {
            Ok(Said::Answered(answers)) => Ok(form.answer(&answers)),
            Ok(Said::Declined) => Ok(json!({ "action": "decline" })),
            Ok(Said::Nothing) => Ok(json!({ "action": "cancel" })),
            Err(error) => {
                tracing::info!(server = %self.server.name, code = %error.code, "a server's question was not asked");
                Err(Refusal::NotAllowed)
            }
        }
    }
}

#[async_trait]
impl Interaction for ToPerson {
    async fn answer(&self, method: &str, params: &Value) -> Result<Value, Refusal> {
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        let answered = self.put(method, params, before).await;
        if let Err(refusal) = &answered
            && before < MOST_TOLD
        {
            let name = &self.server.name;
            let said = format!("a question of `{name}` was refused: it asks {}", refusal.words());
            // What can't be recorded is lost; the call goes on.
            let _ = self.context.progress(&json!({ "message": said })).await;
        }
        answered
    }
}
