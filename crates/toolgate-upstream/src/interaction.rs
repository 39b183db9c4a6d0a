//! Who answers what servers ask in the middle of a call, and which call a question belongs to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_client::SseError;
use serde_json::{Value, json};
use sse_stream::Sse;
use toolgate_core::id::InvocationId;

use crate::question::Refusal;

/// How long a call may take to become known here after its server has it.
const KNOWN_WITHIN: u32 = 50;
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Answers what a server asks in the middle of one call.
#[async_trait]
pub(crate) trait Interaction: Send + Sync {
    /// The answer to a request such as `elicitation/create`, or why there is none.
    async fn answer(&self, method: &str, params: &Value) -> Result<Value, Refusal>;
}

/// The calls that run over one connection and may be asked about. Older servers do not say which call a question belongs
/// to. Over HTTP the stream it comes on tells, and we note that on the question under a name that no server knows;
/// elsewhere a question is taken for a call's only while no other runs, so that it never reaches another's person.
#[derive(Clone)]
pub(crate) struct Calls {
    running: Arc<Mutex<Running>>,
    mark: Arc<str>,
}

#[derive(Default)]
struct Running {
    next: u64,
    calls: HashMap<u64, (Option<RequestId>, Arc<dyn Interaction>)>,
}

impl Default for Calls {
    fn default() -> Self {
        let mark = format!("toolgate/{}", InvocationId::generate()).into();
        Self { running: Arc::default(), mark }
    }
}

impl Calls {
    /// Lets a call be asked about until the guard is dropped.
    pub(crate) fn enter(&self, interaction: Arc<dyn Interaction>) -> Entered<'_> {
        let mut running = self.running();
        running.next += 1;
        let key = running.next;
        running.calls.insert(key, (None, interaction));
        Entered { calls: self, key }
    }

    /// Who answers a question with these notes on it.
    pub(crate) async fn asked(&self, notes: &Value) -> Result<Arc<dyn Interaction>, Refusal> {
        let marked = notes.get(self.mark.as_ref());
        for _ in 0..KNOWN_WITHIN {
            {
                let running = self.running();
                let mut calls = running.calls.values();
                let found = match marked {
                    Some(id) => {
                        calls.find(|(known, _)| known.as_ref().map(|known| json!(known)).as_ref() == Some(id))
                    }
                    None if running.calls.len() == 1 => calls.next(),
                    None => return Err(Refusal::Whose),
                };
                if let Some((_, interaction)) = found {
                    return Ok(Arc::clone(interaction));
                }
            }
            // The server was faster with its question than we with noting what we sent.
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Err(Refusal::Whose)
    }

    /// Notes on the questions of a stream that they came on the one that answers this request.
    pub(crate) fn marked(
        &self,
        events: BoxStream<'static, Result<Sse, SseError>>,
        request: &RequestId,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        let (mark, request) = (Arc::clone(&self.mark), json!(request));
        events.map(move |event| event.map(|event| noted(event, &mark, &request))).boxed()
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn noted(mut event: Sse, mark: &str, request: &Value) -> Sse {
    let asks = event.data.as_ref().filter(|data| data.contains("elicitation/create"));
    let Some(mut message) = asks.and_then(|data| serde_json::from_str::<Value>(data).ok()) else {
        return event;
    };
    if message.get("method").is_none_or(|method| method != "elicitation/create") {
        return event;
    }
    if let Some(Value::Object(params)) = message.get_mut("params") {
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            meta.insert(mark.to_owned(), request.clone());
            event.data = Some(message.to_string());
        }
    }
    event
}

/// A call that may be asked about.
pub(crate) struct Entered<'a> {
    calls: &'a Calls,
    key: u64,
}

impl Entered<'_> {
    /// Notes which request it was sent as.
    pub(crate) fn sent(&self, id: RequestId) {
        if let Some((known, _)) = self.calls.running().calls.get_mut(&self.key) {
            *known = Some(id);
        }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.calls.running().calls.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Says(u32);

    #[async_trait]
    impl Interaction for Says {
        async fn answer(&self, _: &str, _: &Value) -> Result<Value, Refusal> {
            Ok(json!(self.0))
        }
    }

    async fn said(calls: &Calls, notes: &Value) -> Result<Value, Refusal> {
        calls.asked(notes).await?.answer("", &Value::Null).await
    }

    #[tokio::test]
    async fn a_question_reaches_the_call_it_belongs_to_or_none() {
        let calls = Calls::default();
        assert_eq!(said(&calls, &json!({})).await, Err(Refusal::Whose));
        let first = calls.enter(Arc::new(Says(1)));
        first.sent(RequestId::Number(7));
        assert_eq!(said(&calls, &json!({})).await, Ok(json!(1)), "there is no other");
        let second = calls.enter(Arc::new(Says(2)));
        second.sent(RequestId::Number(8));
        assert_eq!(said(&calls, &json!({})).await, Err(Refusal::Whose), "it could be either's");
        let event = Sse {
            data: Some(json!({ "id": 1, "method": "elicitation/create", "params": {} }).to_string()),
            ..Sse::default()
        };
        let event = noted(event, &calls.mark, &json!(8));
        let message: Value = serde_json::from_str(&event.data.unwrap()).unwrap();
        assert_eq!(said(&calls, &message["params"]["_meta"]).await, Ok(json!(2)));
        assert_eq!(
            said(&calls, &json!({ "toolgate/call": 8 })).await,
            Err(Refusal::Whose),
            "a guess is none"
        );
        drop(second);
        assert_eq!(said(&calls, &json!({ calls.mark.as_ref(): 8 })).await, Err(Refusal::Whose), "it is over");
    }
}
