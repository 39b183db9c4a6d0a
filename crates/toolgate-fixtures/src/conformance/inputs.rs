//! Questions of tools that run as tasks: what is still open, and the answers as they come.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::Notify;
use toolgate_mcp::TaskInputs;

/// The open questions of running tools, by call id.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    calls: Mutex<HashMap<String, Open>>,
    answered: Notify,
}

#[derive(Debug, Default)]
struct Open {
    requests: Map<String, Value>,
    answers: Map<String, Value>,
}

impl TaskInputs for Inputs {
    fn pending(&self, call: &str) -> Map<String, Value> {
        self.lock().get(call).map(|open| open.requests.clone()).unwrap_or_default()
    }

    fn answer(&self, call: &str, responses: &Map<String, Value>) {
        if let Some(open) = self.lock().get_mut(call) {
            for (key, answer) in responses {
                if open.requests.shift_remove(key).is_some() {
                    open.answers.insert(key.clone(), answer.clone());
                }
            }
        }
        self.answered.notify_waiters();
    }
}

impl Inputs {
    /// Asks, and waits for the answer to everything. A caller that stops waiting takes its questions back.
    pub(super) async fn ask(&self, call: &str, requests: Map<String, Value>) -> Map<String, Value> {
        self.lock().insert(call.to_owned(), Open { requests, answers: Map::new() });
        let asking = Asking { inputs: self, call };
        loop {
            // Listening starts before looking, so that no answer falls between.
            let answered = self.answered.notified();
            if let Some(answers) = asking.complete() {
                return answers;
            }
            answered.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Asking<'a> {
    inputs: &'a Inputs,
    call: &'a str,
}

impl Asking<'_> {
    fn complete(&self) -> Option<Map<String, Value>> {
        let calls = self.inputs.lock();
        calls.get(self.call).filter(|open| open.requests.is_empty()).map(|open| open.answers.clone())
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.inputs.lock().remove(self.call);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[tokio::test]
    async fn answers_arrive_one_by_one_and_strangers_are_ignored() {
        let inputs = Inputs::default();
        let asking = inputs.ask("inv_1", map(json!({ "a": { "method": "m" }, "b": { "method": "m" } })));
        let answering = async {
            inputs.answer("inv_2", &map(json!({ "a": 0 })));
            inputs.answer("inv_1", &map(json!({ "a": 1, "c": 3 })));
            assert_eq!(inputs.pending("inv_1").keys().collect::<Vec<_>>(), ["b"]);
            inputs.answer("inv_1", &map(json!({ "a": 9, "b": 2 })));
        };
        let (answers, ()) = tokio::join!(biased; asking, answering);
        assert_eq!(answers, map(json!({ "a": 1, "b": 2 })));
        assert!(inputs.pending("inv_1").is_empty());
    }
}
