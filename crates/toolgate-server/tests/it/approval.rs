//! A person in the loop: previews, decisions, edits, quorums, standing grants, the inbox, and their races.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use toolgate_core::Timestamp;

use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

fn id(call: &Value) -> &str {
    call["call_id"].as_str().or(call["id"].as_str()).unwrap()
}

pub(crate) struct Desk {
    pub(crate) gate: TestGate,
    pub(crate) boss: String,
    deputy: String,
}

impl Desk {
    /// A gate with two people who approve.
    pub(crate) async fn open() -> Self {
        let gate = TestGate::start().await;
        let approver = |principal| NewCaller {
            tenant: "default",
            principal,
            roles: &["approver"],
            ..NewCaller::default()
        };
        let boss = gate.caller(approver("user:boss")).await;
        let deputy = gate.caller(approver("user:deputy")).await;
        Self { gate, boss, deputy }
    }

    pub(crate) async fn ask(&self, amount: i64, to: &str) -> Value {
        let (status, call) =
            self.gate.invoke_as(AGENT, "fixture__transfer", json!({ "amount": amount, "to": to })).await;
        assert_eq!(status, 202, "{call}");
        self.row(&call).await
    }

    pub(crate) async fn row(&self, call: &Value) -> Value {
        self.gate.get(&format!("/api/v1/invocations/{}", id(call))).await.1
    }

    pub(crate) async fn act(&self, key: &str, call: &Value, what: &str, body: Value) -> (u16, Value) {
        let path = format!("/api/v1/invocations/{}/{what}", id(call));
        self.gate.send(Some(key), "POST", &path, Some(body), &[]).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) {
        let (status, answer) = self.gate.send(Some(ADMIN), "PUT", path, Some(body), &[]).await;
        assert_eq!(status, 200, "{answer}");
    }
}

#[tokio::test]
async fn what_waits_shows_what_it_would_do() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    let review = &call["review"];
    assert_eq!(review["preview"]["summary"], "moves 70 to ada");
    assert_eq!(review["preview"]["changes"][0]["after"], 70);
    assert_eq!((&review["needed"], review["digest"].as_str().unwrap().len()), (&json!(1), 64));
    let failed = desk.ask(70, "nobody").await;
    assert_eq!(
        failed["review"]["preview_failed"], "there is no such account",
        "it can be decided all the same"
    );
    assert!(failed["review"].get("preview").is_none());
    let (_, plain) = desk.gate.invoke_as(AGENT, "fixture__mutate", json!({ "effect_id": "x" })).await;
    let plain = desk.row(&plain).await;
    assert!(plain["review"].get("preview").is_none() && plain["review"].get("preview_failed").is_none());
    assert!(desk.gate.receiver.counts().is_empty(), "looking ahead has no effect");
}

#[tokio::test]
async fn a_decision_is_on_what_was_seen() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    let seen = call["review"]["digest"].clone();
    let (status, stale) = desk.act(&desk.boss, &call, "approve", json!({ "digest": "0".repeat(64) })).await;
    assert_eq!((status, code(&stale)), (409, "conflict"));
    let (status, edited) = desk
        .act(&desk.deputy, &call, "edit", json!({ "input": { "amount": 7, "to": "ada" }, "digest": seen }))
        .await;
    assert_eq!(status, 200, "{edited}");
    assert_eq!(edited["review"]["preview"]["summary"], "moves 7 to ada", "previewed again");
    assert_eq!((&edited["input"]["amount"], &edited["review"]["input"]["amount"]), (&json!(70), &json!(7)));
    let (status, stale) = desk.act(&desk.boss, &call, "approve", json!({ "digest": seen })).await;
    assert_eq!((status, code(&stale)), (409, "conflict"), "{stale}");
    let (status, ran) =
        desk.act(&desk.boss, &call, "approve", json!({ "digest": edited["review"]["digest"] })).await;
    assert_eq!((status, &ran["value"]["amount"]), (200, &json!(7)), "{ran}");
    desk.gate.verify().await;
}

#[tokio::test]
async fn approving_with_another_input_runs_that_and_keeps_both() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    for (input, status) in [
        (json!({ "amount": "many", "to": "ada" }), 422),
        (json!({ "to": "ada" }), 422),
        (json!({ "amount": 1, "to": "ada", "more": 1 }), 422),
    ] {
        let (got, refused) = desk.act(&desk.boss, &call, "approve", json!({ "input": input })).await;
        assert_eq!((got, code(&refused)), (status, "validation"), "{refused}");
    }
    let body = json!({ "input": { "amount": 5, "to": "ada" }, "reason": "five is plenty" });
    let (status, ran) = desk.act(&desk.boss, &call, "approve", body).await;
    assert_eq!((status, &ran["value"]["amount"]), (200, &json!(5)), "{ran}");
    let row = desk.row(&call).await;
    assert_eq!((&row["input"]["amount"], &row["review"]["input"]["amount"]), (&json!(70), &json!(5)));
    let events = desk.gate.events(&ran).await;
    assert_eq!(
        events,
        ["tool.needs_approval", "tool.review_changed", "tool.approved", "tool.started", "tool.completed"]
    );
    desk.gate.verify().await;
}

#[tokio::test]
async fn an_edit_is_judged_as_the_callers_own() {
    let desk = Desk::open().await;
    let text = format!(
        "{}\n{}",
        toolgate_policy::cedar::Policies::default_set().0,
        r#"@id("never a lot")
           forbid (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"fixture__transfer")
           when { context.input.amount > 1000 };"#
    );
    desk.put("/api/v1/policy", json!({ "text": text })).await;
    let call = desk.ask(70, "ada").await;
    let body = json!({ "input": { "amount": 5000, "to": "ada" } });
    let (status, refused) = desk.act(&desk.boss, &call, "approve", body).await;
    assert_eq!((status, code(&refused)), (403, "policy_denied"), "{refused}");
    assert_eq!(desk.row(&call).await["status"], "pending");
}

#[tokio::test]
async fn what_destroys_needs_its_name() {
    let desk = Desk::open().await;
    let (_, call) = desk.gate.invoke_as(AGENT, "fixture__destroy", json!({ "effect_id": "gone" })).await;
    for body in [json!({}), json!({ "confirm": "yes" }), json!({ "confirm": "fixture__destroy " })] {
        let (status, refused) = desk.act(&desk.boss, &call, "approve", body).await;
        assert_eq!((status, code(&refused)), (400, "bad_request"));
        assert!(refused["error"]["hint"].as_str().unwrap().contains("fixture__destroy"));
    }
    let (status, ran) =
        desk.act(&desk.boss, &call, "approve", json!({ "confirm": "fixture__destroy" })).await;
    assert_eq!((status, &ran["status"]), (200, &json!("completed")));
    assert_eq!(desk.gate.receiver.counts()["gone"], 1);
}

#[tokio::test]
async fn several_people_decide_where_a_rule_says_so() {
    let desk = Desk::open().await;
    desk.put("/api/v1/approval-rules/two", json!({ "tools": ["fixture__transfer"], "needed": 2 })).await;
    let call = desk.ask(70, "ada").await;
    let (status, waits) = desk.act(&desk.boss, &call, "approve", json!({})).await;
    assert_eq!((status, &waits["status"]), (202, &json!("pending")));
    let (status, again) = desk.act(&desk.boss, &call, "approve", json!({})).await;
    assert_eq!((status, code(&again)), (409, "conflict"), "nobody counts twice");
    let body = json!({ "input": { "amount": 6, "to": "ada" } });
    let (status, edited) = desk.act(&desk.deputy, &call, "approve", body).await;
    assert_eq!((status, &edited["status"]), (202, &json!("pending")), "what was said of 70 is not said of 6");
    let (status, ran) = desk.act(&desk.boss, &call, "approve", json!({})).await;
    assert_eq!((status, &ran["value"]["amount"]), (200, &json!(6)), "{ran}");
    let call = desk.ask(1, "ada").await;
    desk.act(&desk.boss, &call, "approve", json!({})).await;
    let (status, _) = desk.act(&desk.deputy, &call, "reject", json!({ "reason": "no" })).await;
    assert_eq!(status, 200, "one no is enough");
}

#[tokio::test]
async fn named_roles_decide_and_others_do_not() {
    let desk = Desk::open().await;
    desk.put("/api/v1/roles/treasury", json!({ "rules": [] })).await;
    desk.put(
        "/api/v1/approval-rules/money",
        json!({ "tools": ["fixture__transfer"], "approvers": ["treasury"] }),
    )
    .await;
    let treasurer = NewCaller {
        tenant: "default",
        principal: "user:tess",
        roles: &["treasury", "approver"],
        ..NewCaller::default()
    };
    let treasurer = desk.gate.caller(treasurer).await;
    let call = desk.ask(70, "ada").await;
    let (status, refused) = desk.act(&desk.boss, &call, "approve", json!({})).await;
    assert!(status == 403 || status == 404, "{refused}");
    let (_, inbox) = desk.gate.send(Some(&desk.boss), "GET", "/api/v1/inbox", None, &[]).await;
    assert_eq!(inbox["count"], 0, "an item is there only for those who can act on it");
    let (_, inbox) = desk.gate.send(Some(&treasurer), "GET", "/api/v1/inbox", None, &[]).await;
    assert_eq!((&inbox["count"], &inbox["items"][0]["id"]), (&json!(1), &call["id"]));
    // The boss can't be given what the rule keeps from them; a colleague can.
    let (status, _) = desk.act(&treasurer, &call, "reassign", json!({ "to": "user:boss" })).await;
    assert_eq!(status, 400);
    assert_eq!(desk.act(&treasurer, &call, "approve", json!({})).await.0, 200);
    let bad = json!({ "approvers": ["nobody-has-this"] });
    assert_eq!(desk.gate.send(Some(ADMIN), "PUT", "/api/v1/approval-rules/x", Some(bad), &[]).await.0, 400);
}

#[tokio::test]
async fn it_can_be_the_turn_of_whoever_holds_a_role() {
    let desk = Desk::open().await;
    for role in ["treasury", "watch"] {
        desk.put(&format!("/api/v1/roles/{role}"), json!({})).await;
    }
    let rule = json!({ "tools": ["fixture__transfer"], "approvers": ["treasury"] });
    desk.put("/api/v1/approval-rules/money", rule).await;
    let of = |principal, roles| NewCaller { tenant: "default", principal, roles, ..NewCaller::default() };
    let tess = desk.gate.caller(of("user:tess", &["treasury", "approver"])).await;
    let wilma = desk.gate.caller(of("user:wilma", &["watch"])).await;
    let call = desk.ask(70, "ada").await;
    let mine = |key: String| {
        let gate = &desk.gate;
        async move { gate.send(Some(&key), "GET", "/api/v1/inbox?box=mine", None, &[]).await.1["count"].clone() }
    };
    assert_eq!(mine(tess.clone()).await, 0);
    for wrong in [
        json!({ "role": "watch" }),
        json!({ "role": "nobody-has-this" }),
        json!({ "role": "treasury", "to": "user:tess" }),
        json!({ "role": "Not A Role" }),
        json!({}),
    ] {
        let (status, answer) = desk.act(&tess, &call, "reassign", wrong.clone()).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{wrong}: {answer}");
    }
    for (key, status) in [(AGENT, 403), (&wilma, 404), (&desk.boss, 404)] {
        assert_eq!(desk.act(key, &call, "reassign", json!({ "role": "treasury" })).await.0, status);
    }
    let (status, given) = desk.act(&tess, &call, "reassign", json!({ "role": "treasury" })).await;
    assert_eq!((status, &given["review"]["assigned_role"]), (200, &json!("treasury")), "{given}");
    assert_eq!((mine(tess.clone()).await, mine(desk.boss.clone()).await), (json!(1), json!(0)));
    // The boss holds this role, and is no more allowed to decide for that.
    assert_eq!(desk.act(&tess, &call, "reassign", json!({ "role": "approver" })).await.0, 200);
    assert_eq!(mine(desk.boss.clone()).await, 0);
    assert_eq!(desk.act(&desk.boss, &call, "approve", json!({})).await.0, 404);
    let (_, person) = desk.act(&tess, &call, "reassign", json!({ "to": "user:tess" })).await;
    assert!(person["review"].get("assigned_role").is_none(), "{person}");
    assert_eq!(desk.act(&tess, &call, "approve", json!({})).await.0, 200);
    desk.gate.verify().await;
}

#[tokio::test]
async fn questions_and_someone_elses_turn_are_kept() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    assert_eq!(desk.act(&desk.boss, &call, "remarks", json!({ "text": "why 70?" })).await.0, 200);
    assert_eq!(desk.act(AGENT, &call, "remarks", json!({ "text": "<b>that</b> is the bill" })).await.0, 200);
    assert_eq!(desk.act(&desk.boss, &call, "reassign", json!({ "to": "user:deputy" })).await.0, 200);
    let row = desk.row(&call).await;
    assert_eq!(row["review"]["remarks"][1]["by"], "agent:helper");
    assert_eq!(row["review"]["assigned_to"], "user:deputy");
    let mine = |key: String| {
        let gate = &desk.gate;
        async move { gate.send(Some(&key), "GET", "/api/v1/inbox?box=mine", None, &[]).await.1["count"].clone() }
    };
    assert_eq!((mine(desk.deputy.clone()).await, mine(desk.boss.clone()).await), (json!(1), json!(0)));
    assert_eq!(desk.act(OTHER_USER, &call, "remarks", json!({ "text": "hm" })).await.0, 404);
    assert_eq!(desk.act(AGENT, &call, "reassign", json!({ "to": "user:deputy" })).await.0, 403);
    assert_eq!(desk.act(&desk.boss, &call, "remarks", json!({ "text": " " })).await.0, 400);
    assert_eq!(desk.act(&desk.boss, &call, "remarks", json!({ "text": "x".repeat(2_001) })).await.0, 400);
    desk.act(&desk.deputy, &call, "reject", json!({ "reason": "no" })).await;
    assert_eq!(desk.act(&desk.boss, &call, "remarks", json!({ "text": "late" })).await.0, 409);
}

#[tokio::test]
async fn a_standing_grant_lets_just_such_calls_run_until_it_is_taken_back() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    let bounds =
        json!({ "type": "object", "properties": { "amount": { "maximum": 100 }, "to": { "const": "ada" } } });
    let remember = json!({ "arguments": "within", "schema": bounds, "expires_in_seconds": 3600 });
    let (status, ran) = desk.act(&desk.boss, &call, "approve", json!({ "remember": remember })).await;
    assert_eq!(status, 200, "{ran}");
    let transfer = |key: String, amount: i64, to: &'static str| {
        let gate = &desk.gate;
        async move { gate.invoke_as(&key, "fixture__transfer", json!({ "amount": amount, "to": to })).await }
    };
    let (status, second) = transfer(AGENT.into(), 100, "ada").await;
    assert_eq!((status, &second["status"]), (200, &json!("completed")), "{second}");
    let row = desk.row(&second).await;
    assert_eq!((&row["approval"], &row["decided_by"]), (&json!("approved"), &json!("user:boss")));
    assert!(row["rule"].as_str().unwrap().starts_with("grant: "));
    assert_eq!(transfer(AGENT.into(), 101, "ada").await.0, 202, "more than was granted");
    assert_eq!(transfer(AGENT.into(), 1, "bob").await.0, 202, "someone else");
    assert_eq!(transfer(OTHER_USER.into(), 1, "ada").await.0, 202, "another caller");
    let (_, grants) = desk.gate.send(Some(&desk.boss), "GET", "/api/v1/grants", None, &[]).await;
    let name = grants["grants"][0]["name"].as_str().unwrap().to_owned();
    assert_eq!(grants["grants"][0]["used"], 1);
    let path = format!("/api/v1/grants/{name}");
    assert_eq!(desk.gate.send(Some(&desk.boss), "GET", &path, None, &[]).await.1["used"], 1);
    assert_eq!(desk.gate.send(Some(OTHER_USER), "GET", &path, None, &[]).await.0, 404);
    assert_eq!(desk.gate.send(Some(OTHER_TENANT), "DELETE", &path, None, &[]).await.0, 404);
    assert_eq!(desk.gate.send(Some(AGENT), "DELETE", &path, None, &[]).await.0, 403, "the agent is only let");
    assert_eq!(desk.gate.send(Some(&desk.boss), "DELETE", &path, None, &[]).await.0, 204);
    assert_eq!(transfer(AGENT.into(), 1, "ada").await.0, 202, "it asks again");
    desk.gate.verify().await;
}

#[tokio::test]
async fn grants_also_cover_what_writes_outside_and_never_a_quorum() {
    let desk = Desk::open().await;
    let outside = || desk.gate.invoke_as(AGENT, "fixture__write_outside", json!({ "effect_id": "out" }));
    let (_, call) = outside().await;
    let remember = json!({ "arguments": "same", "session_only": false, "expires_in_seconds": 60 });
    let (status, ran) = desk.act(&desk.boss, &call, "approve", json!({ "remember": remember })).await;
    assert_eq!(status, 200, "{ran}");
    let (status, again) = outside().await;
    assert_eq!(
        (status, &again["status"]),
        (200, &json!("completed")),
        "a person's standing grant says so: {again}"
    );
    let (_, other) =
        desk.gate.invoke_as(AGENT, "fixture__write_outside", json!({ "effect_id": "other" })).await;
    assert_eq!(other["status"], "pending");
    desk.put("/api/v1/approval-rules/two", json!({ "needed": 2 })).await;
    assert_eq!(outside().await.1["status"], "pending", "one person's word is none where two must decide");
    for bad in [
        json!({ "arguments": "within", "expires_in_seconds": 60 }),
        json!({ "arguments": "same", "expires_in_seconds": 0 }),
        json!({ "arguments": "same", "expires_in_seconds": 99_999_999 }),
        json!({ "arguments": "within", "schema": { "$ref": "http://evil.example" }, "expires_in_seconds": 60 }),
    ] {
        let (status, refused) = desk.act(&desk.boss, &other, "approve", json!({ "remember": bad })).await;
        assert_eq!(status, 400, "{refused}");
    }
    assert_eq!(desk.row(&other).await["status"], "pending", "nothing was decided");
}

#[tokio::test]
async fn many_deciding_at_once_have_one_outcome() {
    let desk = Desk::open().await;
    for round in 0..5 {
        let (_, call) = desk
            .gate
            .invoke_as(AGENT, "fixture__mutate", json!({ "effect_id": format!("race-{round}") }))
            .await;
        let approve = |key: String| {
            let (desk, call) = (&desk, &call);
            async move { desk.act(&key, call, "approve", json!({})).await.0 }
        };
        let reject = |key: String| {
            let (desk, call) = (&desk, &call);
            async move { desk.act(&key, call, "reject", json!({ "reason": "no" })).await.0 }
        };
        let (yes, no) = tokio::join!(
            join_all([&desk.boss, &desk.deputy].map(|key| approve(key.clone()))),
            join_all([&desk.boss, &desk.deputy].map(|key| reject(key.clone()))),
        );
        let said = yes.iter().chain(&no).filter(|status| **status == 200).count();
        assert_eq!(said, 1, "{yes:?} {no:?}");
        let row = desk.row(&call).await;
        let ran = desk.gate.receiver.counts().get(&format!("race-{round}")).copied().unwrap_or_default();
        assert_eq!(ran, u64::from(row["status"] == "completed"), "{row}");
    }
    desk.gate.verify().await;
}

#[tokio::test]
async fn an_edit_racing_an_approval_never_runs_what_nobody_saw() {
    let desk = Desk::open().await;
    for _ in 0..10 {
        let call = desk.ask(70, "ada").await;
        let digest = call["review"]["digest"].clone();
        let (approved, edited) = tokio::join!(
            desk.act(&desk.boss, &call, "approve", json!({ "digest": digest })),
            desk.act(&desk.deputy, &call, "edit", json!({ "input": { "amount": 9, "to": "ada" } })),
        );
        match (approved.0, edited.0) {
            (200, 409) => assert_eq!(approved.1["value"]["amount"], 70),
            (409, 200) => assert_eq!(desk.row(&call).await["status"], "pending"),
            other => panic!("{other:?} {} {}", approved.1, edited.1),
        }
    }
}

#[tokio::test]
async fn nobody_in_time_means_passed_on_and_then_expired() {
    let desk = Desk::open().await;
    desk.put("/api/v1/roles/night", json!({ "rules": [] })).await;
    desk.put(
        "/api/v1/approval-rules/slow",
        json!({ "tools": ["fixture__transfer"], "approvers": ["night"], "escalate_after_seconds": 1,
                "escalate_to": ["approver"], "expires_after_seconds": 4 }),
    )
    .await;
    let (late, soon) = (desk.ask(1, "ada").await, desk.ask(2, "ada").await);
    assert!(matches!(desk.act(&desk.boss, &soon, "approve", json!({})).await.0, 403 | 404), "not yet theirs");
    let mut decided = false;
    for _ in 0..400 {
        if !decided && desk.act(&desk.boss, &soon, "approve", json!({})).await.0 == 200 {
            decided = true;
        }
        if decided && desk.row(&late).await["status"] == "expired" {
            let row = desk.row(&late).await;
            let kinds: Vec<&str> = row["events"]
                .as_array()
                .unwrap()
                .iter()
                .map(|event| event["type"].as_str().unwrap())
                .collect();
            assert_eq!(kinds, ["tool.needs_approval", "tool.review_changed", "tool.expired"]);
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("decided: {decided}, late: {}", desk.row(&late).await);
}

#[tokio::test]
async fn a_model_decides_nothing() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    for (what, body) in [
        ("approve", json!({})),
        ("reject", json!({ "reason": "x" })),
        ("edit", json!({ "input": { "amount": 1, "to": "me" } })),
        ("settle", json!({ "outcome": "done" })),
    ] {
        let (status, refused) = desk.act(AGENT, &call, what, body).await;
        assert_eq!((status, code(&refused)), (403, "forbidden"), "{what}: {refused}");
    }
    let (status, _) = desk
        .gate
        .send(Some(&desk.boss), "GET", &format!("/api/v1/invocations/{}/approve", id(&call)), None, &[])
        .await;
    assert_eq!(status, 405, "a link that is only looked at decides nothing");
    assert_eq!(desk.row(&call).await["status"], "pending");
}

#[tokio::test]
async fn waiting_calls_are_rows_and_deciding_stays_flat() {
    let desk = Desk::open().await;
    let mut last = Value::Null;
    for number in 0..300 {
        last = desk
            .gate
            .invoke_as(AGENT, "fixture__mutate", json!({ "effect_id": format!("n{number}") }))
            .await
            .1;
    }
    let (_, inbox) = desk.gate.send(Some(&desk.boss), "GET", "/api/v1/inbox", None, &[]).await;
    assert_eq!((&inbox["count"], inbox["items"].as_array().unwrap().len()), (&json!(300), 200));
    let (status, _) = desk.act(&desk.boss, &last, "approve", json!({})).await;
    assert_eq!(status, 200);
    let due = desk.gate.runner.parts().store.due(Timestamp::from_micros(i64::MAX), 1_000).await.unwrap();
    assert_eq!(due.len(), 299, "each is a row with a deadline, and nothing else");
}

#[tokio::test]
async fn a_grant_stands_only_while_its_giver_could_give_it() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    let remember = json!({ "arguments": "any", "expires_in_seconds": 3600 });
    assert_eq!(desk.act(&desk.boss, &call, "approve", json!({ "remember": remember })).await.0, 200);
    let transfer = || desk.gate.invoke_as(AGENT, "fixture__transfer", json!({ "amount": 1, "to": "ada" }));
    assert_eq!(transfer().await.0, 200);
    let patch = |body: Value| {
        let gate = &desk.gate;
        async move { gate.send(Some(ADMIN), "PATCH", "/api/v1/principals/user:boss", Some(body), &[]).await.0 }
    };
    assert_eq!(patch(json!({ "roles": [] })).await, 200);
    assert_eq!(transfer().await.0, 202, "an approver no more");
    assert_eq!(patch(json!({ "roles": ["approver"] })).await, 200);
    assert_eq!(transfer().await.0, 200);
    assert_eq!(patch(json!({ "disabled": true })).await, 200);
    assert_eq!(transfer().await.0, 202, "switched off");
}

#[tokio::test]
async fn a_grant_comes_with_the_last_word_and_not_before() {
    let desk = Desk::open().await;
    desk.put("/api/v1/approval-rules/two", json!({ "tools": ["fixture__transfer"], "needed": 2 })).await;
    let call = desk.ask(70, "ada").await;
    let remember = json!({ "remember": { "arguments": "any", "expires_in_seconds": 3600 } });
    assert_eq!(desk.act(&desk.boss, &call, "approve", remember).await.0, 202);
    desk.act(&desk.deputy, &call, "reject", json!({ "reason": "no" })).await;
    let (_, grants) = desk.gate.send(Some(ADMIN), "GET", "/api/v1/grants", None, &[]).await;
    assert_eq!(grants["grants"], json!([]));
    let typo = json!({ "need": 2 });
    assert_eq!(desk.gate.send(Some(ADMIN), "PUT", "/api/v1/approval-rules/x", Some(typo), &[]).await.0, 400);
}

#[tokio::test]
async fn who_decides_on_small_ones_does_not_make_them_large() {
    let desk = Desk::open().await;
    let text = format!(
        "{}\n{}",
        toolgate_policy::cedar::Policies::default_set().0,
        r#"@id("approvers decide up to 100")
           forbid (principal in Toolgate::Role::"approver", action == Toolgate::Action::"approve",
                   resource == Toolgate::Tool::"fixture__transfer")
           when { context.input.amount > 100 };"#
    );
    desk.put("/api/v1/policy", json!({ "text": text })).await;
    let (small, large) = (desk.ask(7, "ada").await, desk.ask(500, "ada").await);
    assert!(matches!(desk.act(&desk.boss, &large, "approve", json!({})).await.0, 403 | 404));
    let more = json!({ "input": { "amount": 9999, "to": "ada" } });
    for what in ["approve", "edit"] {
        let (status, refused) = desk.act(&desk.boss, &small, what, more.clone()).await;
        assert_eq!(
            (status, &refused["error"]["details"]["rule"]),
            (403, &json!("approvers decide up to 100"))
        );
    }
    let row = desk.row(&small).await;
    assert!(row["status"] == "pending" && row["review"].get("input").is_none(), "nothing was changed: {row}");
    let remember = json!({ "remember": { "arguments": "any", "expires_in_seconds": 60 } });
    assert_eq!(desk.act(&desk.boss, &small, "approve", remember).await.0, 200);
    let transfer = |amount: i64| {
        desk.gate.invoke_as(AGENT, "fixture__transfer", json!({ "amount": amount, "to": "ada" }))
    };
    assert_eq!((transfer(100).await.0, transfer(101).await.0), (200, 202), "nor does their grant");
}

#[tokio::test]
async fn whoever_asks_is_none_of_the_several_and_grants_themselves_nothing() {
    let desk = Desk::open().await;
    let own = |key: String| {
        let gate = &desk.gate;
        async move { gate.invoke_as(&key, "fixture__transfer", json!({ "amount": 1, "to": "ada" })).await.1 }
    };
    let call = own(desk.boss.clone()).await;
    let remember = json!({ "remember": { "arguments": "any", "expires_in_seconds": 60 } });
    assert_eq!(desk.act(&desk.boss, &call, "approve", remember).await.0, 403);
    assert_eq!(desk.act(&desk.boss, &call, "approve", json!({})).await.0, 200, "their own, this once");
    desk.put("/api/v1/approval-rules/two", json!({ "needed": 2 })).await;
    let call = own(desk.boss.clone()).await;
    assert_eq!(desk.act(&desk.boss, &call, "approve", json!({})).await.0, 403);
    assert_eq!(desk.act(&desk.deputy, &call, "approve", json!({})).await.0, 202);
    // A vote of someone who is gone does not count.
    let off = json!({ "disabled": true });
    desk.gate.send(Some(ADMIN), "PATCH", "/api/v1/principals/user:deputy", Some(off), &[]).await;
    assert_eq!(desk.act(ADMIN, &call, "approve", json!({})).await.0, 202, "one of two still stands");
    assert_eq!(desk.row(&call).await["status"], "pending");
}

#[tokio::test]
async fn grants_waive_no_limit_and_keys_decide_within_their_tools() {
    let desk = Desk::open().await;
    let call = desk.ask(1, "ada").await;
    let remember = json!({ "remember": { "arguments": "any", "expires_in_seconds": 60 } });
    assert_eq!(desk.act(&desk.boss, &call, "approve", remember).await.0, 200);
    desk.put("/api/v1/limits/two", json!({ "per": "principal", "tools": ["fixture__transfer"], "rate_per_minute": 1, "on_overrun": "ask" })).await;
    let transfer = || desk.gate.invoke_as(AGENT, "fixture__transfer", json!({ "amount": 1, "to": "ada" }));
    assert_eq!(transfer().await.0, 200);
    assert_eq!(transfer().await.0, 202, "the limit asks, and no grant answers for it");
    let narrowed = NewCaller {
        tenant: "default",
        principal: "user:boss",
        roles: &["approver"],
        scopes: &["tool:core__*", "approve"],
        ..NewCaller::default()
    };
    let narrowed = desk.gate.caller(narrowed).await;
    let call = desk.ask(2, "bob").await;
    assert!(matches!(desk.act(&narrowed, &call, "approve", json!({})).await.0, 403 | 404));
}
