//! Questions that servers ask in the middle of a call: of both eras, over both transports, and what strangers try.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::contract::Effect;
use toolgate_core::id::InvocationId;
use toolgate_core::runner::{Late, Report};
use toolgate_core::upstream::{Questions, Upstream};
use toolgate_core::{CallResult, ErrorCode, Invocation, Status};

use crate::plane::{HttpPeer, Plane, hostile, person, tenant};

fn form() -> Value {
    json!({ "mode": "form", "message": "Who are you?", "requestedSchema": { "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string", "title": "Name" }, "sure": { "type": "boolean" } } } })
}

pub(crate) async fn asking(upstream: Upstream) -> Plane {
    let plane = Plane::new(Upstream { questions: Questions::Ask, ..upstream }).await;
    plane.accept(Effect::Read).await;
    plane
}

pub(crate) async fn row(plane: &Plane, id: InvocationId) -> Invocation {
    plane.runner.parts().store.get(&tenant(), id).await.unwrap().unwrap()
}

pub(crate) async fn answer(plane: &Plane, asks: InvocationId, answers: Value) {
    let result = json!({ "kind": "input_request", "answers": answers });
    let report = Report::Completed { result, cost_micros: None };
    plane.runner.report(row(plane, asks).await, &person(), &report, Late::Refused).await.unwrap();
}

/// What the server was told in the end.
async fn told(plane: &Plane, call: InvocationId) -> Value {
    serde_json::from_str(returned(plane, call).await["content"][0]["text"].as_str().unwrap()).unwrap()
}

/// What a call returned in the end.
pub(crate) async fn returned(plane: &Plane, call: InvocationId) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    let settled = plane.runner.follow(row(plane, call).await, until).await.unwrap();
    settled.output.unwrap_or_else(|| panic!("{:?}", settled.error)).to_value()
}

/// The next question of a call that was answered before.
async fn next(plane: &Plane, before: InvocationId, call: InvocationId) -> InvocationId {
    loop {
        let events = plane.runner.parts().store.invocation_events(&row(plane, call).await).await.unwrap();
        let asked = events.iter().rev().find_map(|event| {
            let chunk = event.draft.data.to_value();
            chunk.pointer("/chunk/asks").and_then(Value::as_str).and_then(|id| id.parse().ok())
        });
        match asked {
            Some(id) if id != before => return id,
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn ask(plane: &Plane, forms: Value) -> CallResult {
    plane.call("act", json!({ "do": "ask", "forms": forms })).await
}

async fn each_way(check: impl AsyncFn(Plane)) {
    check(asking(hostile(&[])).await).await;
    check(asking(hostile(&["modern"])).await).await;
    for modes in [&[][..], &["modern"]] {
        let peer = HttpPeer::start(modes).await;
        check(asking(peer.upstream()).await).await;
    }
}

#[tokio::test]
async fn a_person_answers_and_the_call_goes_on() {
    each_way(async |plane| {
        let call = ask(&plane, json!([form()])).await;
        assert_eq!((call.status, call.error), (Status::Running, None));
        let asks = call.asks.expect("a question");
        let question = row(&plane, asks).await;
        assert_eq!((question.status, question.opened.parent), (Status::Waiting, Some(call.call_id)));
        let shown = question.input().to_value();
        assert_eq!(shown["title"], "The MCP server `peer` asks");
        assert_eq!(shown["instructions"], "Who are you?");
        answer(&plane, asks, json!({ "name": "Ada", "sure": true })).await;
        let content = json!({ "name": "Ada", "sure": true });
        assert_eq!(told(&plane, call.call_id).await, json!([{ "action": "accept", "content": content }]));
    })
    .await;
}

#[tokio::test]
async fn a_person_declines_and_is_asked_again() {
    each_way(async |plane| {
        let call = ask(&plane, json!([form(), form()])).await;
        let asks = call.asks.unwrap();
        plane.runner.cancel(&row(&plane, asks).await, &person(), None).await.unwrap();
        let again = next(&plane, asks, call.call_id).await;
        answer(&plane, again, json!({ "name": "Eve" })).await;
        let expected = json!([{ "action": "decline" }, { "action": "accept", "content": { "name": "Eve" } }]);
        assert_eq!(told(&plane, call.call_id).await, expected);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_called_off_takes_its_question_along() {
    each_way(async |plane| {
        let call = ask(&plane, json!([form()])).await;
        let asks = call.asks.unwrap();
        plane.runner.cancel(&row(&plane, call.call_id).await, &person(), None).await.unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        let question = plane.runner.follow(row(&plane, asks).await, until).await.unwrap();
        assert_eq!(question.status, Status::Cancelled);
        let ended = plane.runner.follow(row(&plane, call.call_id).await, until).await.unwrap();
        assert_eq!(ended.status, Status::Cancelled, "{:?}", ended.error);
    })
    .await;
}

#[tokio::test]
async fn nobody_is_asked_for_secrets_or_by_strange_forms() {
    let field = |field: Value| json!({ "message": "m", "requestedSchema": { "type": "object", "properties": { "x": field } } });
    let forms = [
        field(json!({ "type": "string", "title": "Your password" })),
        json!({ "message": "Type your API key", "requestedSchema": { "type": "object", "properties": { "x": { "type": "string" } } } }),
        field(json!({ "type": "string", "title": "x".repeat(100_000) })),
    ];
    let legacy = asking(hostile(&[])).await;
    let call = ask(&legacy, json!(forms)).await;
    let text = call.value.unwrap().to_value()["content"][0]["text"].clone();
    assert_eq!(text, "[-32602,-32602,-32602]", "each was refused");
    let modern = asking(hostile(&["modern"])).await;
    for form in forms {
        let call = ask(&modern, json!([form])).await;
        let error = call.error.unwrap();
        assert_eq!(error.code, ErrorCode::UpstreamFailed, "{error:?}");
        assert_eq!(error.details.unwrap()["refused"], true);
        assert!(error.message.contains("so nobody was asked"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_server_that_asks_without_end_is_refused() {
    let forms: Vec<Value> = (0..8).map(|_| form()).collect();
    for modes in [&[][..], &["modern"]] {
        let plane = asking(hostile(modes)).await;
        let call = ask(&plane, json!(forms)).await;
        let mut asks = call.asks.unwrap();
        for round in 1..=5 {
            answer(&plane, asks, json!({ "name": "Ada" })).await;
            if round < 5 {
                asks = next(&plane, asks, call.call_id).await;
            }
        }
        let until = Instant::now() + Duration::from_secs(60);
        let ended = plane.runner.follow(row(&plane, call.call_id).await, until).await.unwrap();
        match modes.is_empty() {
            true => {
                let told = told(&plane, call.call_id).await;
                assert_eq!(told.as_array().unwrap()[5..], [json!(-32602), json!(-32602), json!(-32602)]);
            }
            false => assert!(ended.error.unwrap().message.contains("too often")),
        }
    }
}

/// Over one pipe nobody can tell whose question it is; over HTTP the stream tells.
#[tokio::test]
async fn a_question_never_reaches_another_calls_person() {
    let plane = asking(hostile(&[])).await;
    let (first, second) = tokio::join!(ask(&plane, json!([form()])), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        ask(&plane, json!([form()])).await
    });
    assert!(first.asks.is_some());
    let text = second.value.expect("it was refused").to_value()["content"][0]["text"].clone();
    assert_eq!(text, "[-32602]");
    answer(&plane, first.asks.unwrap(), json!({ "name": "Ada" })).await;
    assert_eq!(told(&plane, first.call_id).await[0]["content"]["name"], "Ada");

    let peer = HttpPeer::start(&[]).await;
    let plane = asking(peer.upstream()).await;
    let first = ask(&plane, json!([form()])).await;
    let second = ask(&plane, json!([form()])).await;
    answer(&plane, second.asks.unwrap(), json!({ "name": "Eve" })).await;
    answer(&plane, first.asks.unwrap(), json!({ "name": "Ada" })).await;
    assert_eq!(told(&plane, first.call_id).await[0]["content"]["name"], "Ada");
    assert_eq!(told(&plane, second.call_id).await[0]["content"]["name"], "Eve");
}

#[tokio::test]
async fn half_of_a_servers_calls_may_wait_for_people() {
    let peer = HttpPeer::start(&["modern"]).await;
    let plane = asking(Upstream { concurrency: 2, ..peer.upstream() }).await;
    let first = ask(&plane, json!([form()])).await;
    let second = ask(&plane, json!([form()])).await;
    assert!(second.error.unwrap().message.contains("as many of its questions are open as may be"));
    answer(&plane, first.asks.unwrap(), json!({ "name": "Ada" })).await;
    told(&plane, first.call_id).await;
    let third = ask(&plane, json!([form()])).await;
    assert!(third.asks.is_some(), "{:?}", third.error);
}
