//! Calls made while things go wrong, and what must be true of them afterwards.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio::sync::Mutex;
use toolgate_testkit::{ADMIN_KEY, CountingReceiver, Gate};

pub(crate) const MUTATE: &str = "fixture__mutate";
pub(crate) const IDEMPOTENT: &str = "fixture__mutate_idempotent";
pub(crate) const READ: &str = "fixture__counted_read";

/// One call and what its caller heard.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) tool: &'static str,
    pub(crate) key: String,
    /// The status and body, if an answer came.
    pub(crate) answer: Option<(u16, Value)>,
}

/// Callers that go on until they are told to stop.
pub(crate) struct Load {
    made: Arc<Mutex<Vec<Made>>>,
    stop: Arc<AtomicBool>,
    callers: Vec<tokio::task::JoinHandle<()>>,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Load {
    pub(crate) fn start(gate: &Gate, callers: usize) -> Self {
        let (made, stop) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let callers = (0..callers)
            .map(|_| {
                tokio::spawn(call_on(gate.url(), gate.client().clone(), Arc::clone(&made), Arc::clone(&stop)))
            })
            .collect();
        Self { made, stop, callers }
    }

    pub(crate) async fn finish(self) -> Vec<Made> {
        self.stop.store(true, Ordering::SeqCst);
        for caller in self.callers {
            caller.await.unwrap();
        }
        let made = self.made.lock().await;
        made.clone()
    }

    pub(crate) async fn answered(&self) -> usize {
        self.made.lock().await.iter().filter(|made| made.answer.is_some()).count()
    }
}

async fn call_on(url: String, client: reqwest::Client, made: Arc<Mutex<Vec<Made>>>, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::SeqCst) {
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let tool = [MUTATE, IDEMPOTENT, READ][usize::try_from(number % 3).unwrap()];
        let key = format!("{tool}-{number}");
        let answer = client
            .post(format!("{url}/api/v1/tools/{tool}/invoke"))
            .bearer_auth(ADMIN_KEY)
            .header("idempotency-key", &key)
            .json(&json!({ "input": { "effect_id": key } }))
            .send()
            .await;
        let answer = match answer {
            Ok(answer) => {
                let status = answer.status().as_u16();
                answer.json::<Value>().await.ok().map(|body| (status, body))
            }
            Err(_) => None,
        };
        if answer.as_ref().is_none_or(|(status, _)| *status == 503) {
            // The gate or its store is gone; a caller pauses before it tries the next call.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        made.lock().await.push(Made { tool, key, answer });
    }
}

/// The promise, call by call.
pub(crate) async fn check(gate: &Gate, receiver: &CountingReceiver, made: &[Made]) {
    let before_retry = receiver.counts();
    for call in made {
        if let Some((status, body)) = &call.answer
            && let Some(id) = body["call_id"].as_str()
        {
            // Accepted is durable, and what was told stays true.
            let (found, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
            assert_eq!(found, 200, "an accepted call was lost: {call:?}");
            if *status == 200 {
                assert_eq!(row["status"], "completed", "{call:?} became {row}");
                assert_eq!(row["output"], body["value"]);
            }
        }
        let count = before_retry.get(&call.key).copied().unwrap_or(0);
        if call.tool == MUTATE {
            assert!(count <= 1, "an effect happened {count} times: {call:?}");
        }
    }
    // Same key, same call: a repeat of what got no answer never makes an effect happen twice.
    let mut outcomes: HashMap<String, u32> = HashMap::new();
    for call in made.iter().filter(|call| call.answer.is_none()) {
        let input = json!({ "effect_id": call.key });
        let (status, body) = gate.invoke(call.tool, input, &[("idempotency-key", &call.key)]).await;
        *outcomes.entry(format!("{} {}", call.tool, body["status"])).or_default() += 1;
        let count = receiver.counts().get(&call.key).copied().unwrap_or(0);
        match (call.tool, body["status"].as_str().unwrap()) {
            // A completed call had its effect; a write whose outcome was hidden is shown as that and not run again.
            (MUTATE, "completed") => assert_eq!(count, 1, "{call:?}: {body}"),
            (MUTATE, "in_doubt") => {
                assert!(count <= 1);
                assert_eq!(status, 409);
                assert_eq!(
                    count,
                    before_retry.get(&call.key).copied().unwrap_or(0),
                    "a call in doubt ran again"
                );
            }
            // The store was away until the lease had ended: the write was refused, and did not happen.
            (MUTATE, "failed") => {
                assert_eq!(count, 0, "{call:?}: {body}");
                assert!(body["error"]["message"].as_str().unwrap().contains("did not run"), "{body}");
            }
            (_, "completed") => assert!(count >= 1, "{call:?}: {body}"),
            // A repeatable call is not tried for ever: after three cut-off tries it fails.
            (_, "failed") => {
                assert_eq!(body["error"]["message"], "it was cut off 3 times", "{call:?}: {body}")
            }
            (_, other) => panic!("{call:?} ended as {other}: {body}"),
        }
    }
}
