//! Ten thousand calls that wait: they are rows, and nothing else; deciding on some takes none of the others along.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::Invocation;
use toolgate_core::change::{NewCall, SessionUse};
use toolgate_core::id::{InvocationId, SessionId};
use toolgate_core::invocation::{Opened, Step};
use toolgate_core::port::store::Begun;

use crate::gate::{AGENT, TestGate};

const MANY: usize = 10_000;

/// Another call like this one, waiting since the same moment.
fn another(like: &Invocation) -> NewCall {
    let id = InvocationId::generate();
    let opened = Opened { id, session: SessionId::from_uuid(id.uuid()), ..like.opened.clone() };
    let review = like.review.clone().unwrap();
    let asked = Step::NeedsApproval {
        reason: like.reason.clone().unwrap(),
        deadline: review.deadline,
        review: Some(review),
    };
    NewCall::open(opened, &[asked], like.opened.created_at, SessionUse::New).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_waiting_calls_are_rows_and_nothing_else() {
    let gate = TestGate::start().await;
    let (status, first) = gate.invoke_as(AGENT, "fixture__mutate", json!({ "effect_id": "first" })).await;
    assert_eq!(status, 202, "{first}");
    let store = gate.app.store();
    let id = first["call_id"].as_str().unwrap().parse().unwrap();
    let like = store.get(&"default".parse().unwrap(), id).await.unwrap().unwrap();
    assert_eq!(like.reason.as_deref().map(str::is_empty), Some(false), "the row says why it waits");

    let mut ids = Vec::with_capacity(MANY);
    for _ in 0..MANY / 500 {
        let begun = (0..500).map(|_| store.begin(another(&like)));
        for one in futures::future::join_all(begun).await {
            let Ok(Begun::Fresh(row)) = one else { panic!("{one:?}") };
            ids.push(row.id());
        }
    }
    // The inbox counts as far as it says it does, and a page of it is bounded.
    let (_, inbox) = gate.get("/api/v1/inbox").await;
    assert_eq!((inbox["count"].as_u64().unwrap(), inbox["items"].as_array().unwrap().len()), (1_000, 200));
    assert_eq!(inbox["items"][0]["reason"], json!(like.reason));

    // From the oldest, the newest and between.
    let some: Vec<InvocationId> = ids.iter().step_by(MANY / 10).chain(ids.last()).copied().collect();
    for (number, id) in some.iter().enumerate() {
        let (word, body) =
            if number % 2 == 0 { ("approve", json!({})) } else { ("reject", json!({ "reason": "no" })) };
        let (status, answer) = gate.post(&format!("/api/v1/invocations/{id}/{word}"), body).await;
        assert_eq!(status, 200, "{answer}");
    }
    assert_eq!(gate.receiver.counts(), HashMap::from([("first".to_owned(), 6)]), "what was approved ran");
    let (_, decided) = gate.get("/api/v1/inbox?box=decided&limit=4").await;
    let shown = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    let mut found = shown(&decided);
    let mut next = decided["next_cursor"].clone();
    while let Some(cursor) = next.as_str() {
        let (_, page) = gate.get(&format!("/api/v1/inbox?box=decided&limit=4&cursor={cursor}")).await;
        found.extend(shown(&page));
        next = page["next_cursor"].clone();
    }
    let expected: Vec<String> = some.iter().rev().map(ToString::to_string).collect();
    assert_eq!(found, expected, "newest first, none twice, none left out");
    let (_, others) = gate.send(Some(AGENT), "GET", "/api/v1/inbox?box=decided", None, &[]).await;
    assert_eq!(others["items"], json!([]));

    let (status, row) = gate.get(&format!("/api/v1/invocations/{}", ids[1])).await;
    assert_eq!((status, &row["status"]), (200, &json!("pending")), "the others go on waiting");
    assert!(gate.runner.drain(Duration::ZERO).await, "nothing is under way, however many wait");
}
