//! Several messages on one line. The gate knows whether the session's version has that, and answers accordingly.

use futures::StreamExt;
use serde_json::Value;

use super::bridge::Bridge;
use super::refusal::{error, refused};
use super::{Way, pieces};

impl<W: Way> Bridge<W> {
    /// Sends several messages and passes on what comes back: what is said before the answers at once, and these together
    /// on a line of their own.
    pub(super) async fn ask_all(&self, messages: Vec<Value>) {
        let asked = messages.iter().filter(|message| message.get("method").is_some());
        let ids: Vec<Value> = asked.filter_map(|message| message.get("id").cloned()).collect();
        let reply = match self.way.send(self.post(Value::Array(messages))).await {
            Ok(reply) => reply,
            Err(cause) => {
                let hint = "check that the gate runs and that TOOLGATE_URL names it";
                return self.answer_all(&ids, Vec::new(), &cause.to_string(), hint).await;
            }
        };
        let (status, streams) = (reply.status, reply.streams);
        let mut answers = Vec::new();
        let mut pieces = pieces::of(reply);
        while let Some(piece) = pieces.next().await {
            match serde_json::from_str(&piece.text) {
                Ok(Value::Array(all)) => answers.extend(all),
                // One word on all of them.
                Ok(value) if !streams => {
                    let message = value.get("jsonrpc").is_some();
                    let shown = if message { value } else { refused(&Value::Null, status, &value) };
                    return self.say(shown).await;
                }
                Ok(value) if value.get("method").is_none() => answers.push(value),
                Ok(value) => self.say(value).await,
                Err(_) => {}
            }
        }
        self.answer_all(&ids, answers, "the gate broke off", "send the request again").await;
    }

    /// Says all answers, and of requests that got none why.
    async fn answer_all(&self, ids: &[Value], mut answers: Vec<Value>, why: &str, hint: &str) {
        for id in ids {
            if !answers.iter().any(|answer| answer.get("id") == Some(id)) {
                answers.push(error(id, -32603, "unavailable", why, hint));
            }
        }
        if !answers.is_empty() {
            self.say(Value::Array(answers)).await;
        }
    }
}
