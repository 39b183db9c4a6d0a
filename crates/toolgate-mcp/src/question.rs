//! Questions put to clients of the handshake era on the stream of the request they belong to.
//!
//! What a person decides or answers travels under a sealed id, so that the answer may arrive at any node; whoever waits
//! sees it by following the call. What only the conformance suite asks is kept in memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::oneshot;
use toolgate_core::id::InvocationId;
use toolgate_core::{Actor, Approval};

use crate::exchange::Exchange;
use crate::gate::McpGate;
use crate::jsonrpc::{Id, Response, request};
use crate::plane::Verdict;
use crate::rpc_error::RpcError;
use crate::state::RequestState;

/// How long the suite's own questions wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is asked and waits here.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    asked: Mutex<HashMap<String, oneshot::Sender<Option<Value>>>>,
    /// Those who wait for a person's word on a call, told when the person puts it off.
    put_off: Mutex<HashMap<InvocationId, oneshot::Sender<()>>>,
}

/// What a person said in a form.
pub(crate) enum Said<'a> {
    /// This.
    Accepted(&'a Map<String, Value>),
    /// No.
    Declined,
    /// Nothing: they closed it.
    PutOff,
}

impl<'a> Said<'a> {
    pub(crate) fn of(response: Option<&'a Value>) -> Self {
        let field = |key: &str| response.and_then(|response| response.get(key));
        match field("action").and_then(Value::as_str) {
            Some("accept") => match field("content").and_then(Value::as_object) {
                Some(content) => Self::Accepted(content),
                None => Self::PutOff,
            },
            Some("decline") => Self::Declined,
            _ => Self::PutOff,
        }
    }
}

/// What a filled form says of a waiting call; none when it says neither yes nor no.
pub(crate) fn verdict(
    content: &Map<String, Value>,
    digest: Option<String>,
    wait: Duration,
) -> Option<Verdict> {
    let field = |key: &str| content.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let approve = match field("decision") {
        Some("approve") => true,
        Some("reject") => false,
        _ => return None,
    };
    Some(Verdict {
        approve,
        reason: field("reason").map(|reason| reason.chars().take(1000).collect()),
        digest,
        confirm: field("confirm").map(str::to_owned),
        wait,
    })
}

/// A person's no without a word on why.
pub(crate) fn declined(digest: Option<String>) -> Verdict {
    let reason = Some("declined in the client".to_owned());
    Verdict { approve: false, reason, digest, confirm: None, wait: Duration::ZERO }
}

impl Questions {
    /// Puts questions to the client, one after the other, and waits for the answers.
    pub(crate) async fn ask_all(
        &self,
        x: &Exchange<'_>,
        requests: &Map<String, Value>,
    ) -> Result<Map<String, Value>, RpcError> {
        let mut answers = Map::new();
        for (key, asked) in requests {
            let method = asked.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = asked.get("params").cloned().unwrap_or_else(|| Value::Object(Map::new()));
            let id = InvocationId::generate().to_string();
            let (sender, answer) = oneshot::channel();
            lock(&self.asked).insert(id.clone(), sender);
            let _note = Note { from: &self.asked, key: id.clone() };
            x.out.ask(request(&id, method, &params));
            let answer = tokio::time::timeout(PATIENCE, answer).await;
            if let Ok(Ok(Some(answer))) = answer {
                answers.insert(key.clone(), answer);
            } else {
                return Err(RpcError::coded(
                    RpcError::INTERNAL,
                    "timeout",
                    "the client did not answer a question",
                    "answer requests that come on the stream",
                ));
            }
        }
        Ok(answers)
    }

    /// Ends when the person puts their word on this call off; forgotten with the note.
    pub(crate) fn until_put_off(
        &self,
        call: InvocationId,
    ) -> (oneshot::Receiver<()>, Note<'_, InvocationId, ()>) {
        let (sender, receiver) = oneshot::channel();
        lock(&self.put_off).insert(call, sender);
        (receiver, Note { from: &self.put_off, key: call })
    }
}

impl McpGate {
    /// Takes a client's answer to a question of ours, wherever it was asked.
    pub async fn take_response(&self, actor: &Actor, response: Response) {
        let Id::Text(id) = &response.id else { return };
        if let Some(waiting) = lock(&self.questions.asked).remove(id) {
            let _ = waiting.send(response.result);
            return;
        }
        let Some(state) = RequestState::open_question(&self.sealer, id, actor, self.plane.now()) else {
            return;
        };
        let Some(call) = state.call else { return };
        let Ok(invocation) = self.plane.read(actor, call).await else { return };
        let asked_approval = invocation.approval == Approval::Pending;
        let done = match (Said::of(response.result.as_ref()), asked_approval) {
            (Said::Accepted(content), true) => match verdict(content, state.digest, Duration::ZERO) {
                Some(verdict) => self.plane.decide(actor, call, verdict).await.is_ok(),
                None => false,
            },
            (Said::Declined, true) => self.plane.decide(actor, call, declined(state.digest)).await.is_ok(),
            (Said::Accepted(content), false) => {
                self.plane.answer(actor, call, &Value::Object(content.clone())).await.is_ok()
            }
            // Only what a server asks can be declined; anything else goes on waiting.
            (Said::Declined, false) => self.plane.decline(actor, call).await.is_ok(),
            (Said::PutOff, _) => false,
        };
        // Whoever waits for it follows the call; only what changes nothing there has to be told.
        if !done && let Some(waiting) = lock(&self.questions.put_off).remove(&call) {
            let _ = waiting.send(());
        }
    }
}

/// Something that waits here; forgotten when dropped, whoever goes away first.
pub(crate) struct Note<'a, K: Eq + Hash, V> {
    from: &'a Mutex<HashMap<K, oneshot::Sender<V>>>,
    key: K,
}

impl<K: Eq + Hash, V> Drop for Note<'_, K, V> {
    fn drop(&mut self) {
        lock(self.from).remove(&self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
