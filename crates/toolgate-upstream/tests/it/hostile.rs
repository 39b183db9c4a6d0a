//! Servers that lie, flood and hang, over standard input and output. Each costs its own call and nothing else.

use serde_json::json;
use toolgate_core::contract::Effect;
use toolgate_core::port::upstream::Upstreams;
use toolgate_core::{ErrorCode, Status};

use crate::plane::{Plane, hostile, name, tenant};

/// A plane whose server has one tool that does what it is told.
async fn plane(modes: &[&str], effect: Effect) -> Plane {
    let plane = Plane::new(hostile(modes)).await;
    plane.accept(effect).await;
    plane
}

/// That a server still works after what was done to it.
async fn still_works(plane: &Plane) {
    assert_eq!(
        plane.value("act", json!({})).await,
        json!({ "content": [{ "type": "text", "text": "done" }] })
    );
}

#[tokio::test]
async fn results_within_bounds_are_data() {
    let plane = plane(&[], Effect::Read).await;
    still_works(&plane).await;
    let value = plane.value("act", json!({ "do": "controls" })).await;
    // Data is data; whoever displays it looks after their display.
    assert_eq!(value["content"][0]["text"], "a\0b\u{1b}[2Jc\u{e0041}");
    let links = plane.value("act", json!({ "do": "links" })).await;
    let texts: Vec<_> =
        links["content"].as_array().unwrap().iter().map(|block| block["text"].as_str()).collect();
    assert_eq!(
        texts,
        [
            Some("[withheld: a link to `http://169.254.169.254/latest`]"),
            None,
            Some("[withheld: the page `ui://app`]"),
            Some("[withheld: a part of the unknown kind `hologram`]"),
        ]
    );
    assert_eq!(links["content"][1]["uri"], "https://example.com/x");
    assert!(links.get("_meta").is_none());
}

#[tokio::test]
async fn an_answer_that_can_not_be_taken_fails_its_call_alone() {
    let plane = plane(&[], Effect::Read).await;
    plane.error("act", json!({ "do": "big" }), ErrorCode::ResultTooLarge).await;
    plane.error("act", json!({ "do": "deep" }), ErrorCode::UpstreamFailed).await;
    plane.error("act", json!({ "do": "garbled" }), ErrorCode::UpstreamFailed).await;
    // Beside one another: each finds out which answer was its own.
    let (big, fine, deep) = tokio::join!(
        plane.call("act", json!({ "do": "big" })),
        plane.call("act", json!({})),
        plane.call("act", json!({ "do": "deep" })),
    );
    assert_eq!(big.error.unwrap().code, ErrorCode::ResultTooLarge);
    assert!(fine.ok, "{:?}", fine.error);
    assert_eq!(deep.error.unwrap().code, ErrorCode::UpstreamFailed);
    still_works(&plane).await;
    assert!(!plane.pool.health(&tenant(), &name()).unwrap().resting);
}

#[tokio::test]
async fn talk_on_the_line_goes_by() {
    let plane = plane(&[], Effect::Read).await;
    assert!(plane.call("act", json!({ "do": "noise" })).await.ok);
    still_works(&plane).await;
}

#[tokio::test]
async fn failures_are_the_servers_own_words() {
    let plane = plane(&[], Effect::Read).await;
    let failed = plane.error("act", json!({ "do": "fail" }), ErrorCode::Execution).await;
    assert!(
        failed.message.starts_with("the tool failed at `peer`, which says: no such thing xxx"),
        "{failed:?}"
    );
    assert!(failed.message.len() < 2_200);
    let said = &failed.details.as_ref().unwrap()["content"][0]["text"];
    assert_eq!(said.as_str().unwrap(), format!("no\u{1b}[31m such\0 thing {}", "x".repeat(10_000)));
    let refused = plane.error("act", json!({ "do": "refuse" }), ErrorCode::Execution).await;
    assert_eq!(refused.message, "`peer` refused the call; it says: bad arguments");
    assert!(!serde_json::to_string(&refused).unwrap().contains("secret"));
}

#[tokio::test]
async fn what_lies_about_its_output_is_not_passed_on() {
    let plane = plane(&["lying"], Effect::Read).await;
    plane.error("add", json!({}), ErrorCode::OutputInvalid).await;
    plane.error("silent", json!({}), ErrorCode::OutputInvalid).await;
}

#[tokio::test]
async fn what_can_not_be_reviewed_is_left_out() {
    let plane =
        Plane::new(hostile(&["twice", "bomb", "broken-tool", "circle", "poisoned", "deep-list"])).await;
    let listing = plane.list().await.unwrap();
    let names: Vec<_> = listing.tools.iter().map(|offer| offer.name.as_str()).collect();
    assert_eq!(names, ["act", "odd", "p", "d"], "{:?}", listing.problems);
    assert_eq!(listing.tools[2].description, "a\\u{200b}\\u{e0041}b");
    assert_eq!(listing.server, "hostile 1");
    assert_eq!(listing.protocol, "2025-06-18");
    for part in
        ["more than one `same`", "`bomb` has a schema larger", "`schemaless` has no input schema", "circles"]
    {
        assert!(
            listing.problems.iter().any(|problem| problem.contains(part)),
            "{part}: {:?}",
            listing.problems
        );
    }
}

#[tokio::test]
async fn nobody_is_asked_in_a_strangers_name() {
    let plane = plane(&[], Effect::Read).await;
    let value = plane.value("act", json!({ "do": "phish" })).await;
    // All three were refused: the answers are the codes of errors.
    assert_eq!(value["content"][0]["text"], "[-32601,-32601,-32601]");
    let asked = plane.error("act", json!({ "do": "question" }), ErrorCode::UpstreamFailed).await;
    assert_eq!(asked.details.unwrap()["asks"], json!(["elicitation/create"]));
    let task = plane.error("act", json!({ "do": "task" }), ErrorCode::UpstreamFailed).await;
    assert_eq!(task.details.unwrap()["result_type"], "task");
}

#[tokio::test]
async fn progress_is_passed_on_and_floods_are_not() {
    let plane = plane(&[], Effect::Read).await;
    assert!(plane.call("act", json!({ "do": "progress" })).await.ok);
    assert!(plane.call("act", json!({ "do": "flood" })).await.ok);
    still_works(&plane).await;
}

#[tokio::test]
async fn a_server_that_never_answers_runs_into_the_time_limit() {
    let plane = Plane::new(hostile(&[])).await;
    plane.accept_within(Effect::Read, 300).await;
    plane.error("act", json!({ "do": "mute" }), ErrorCode::Timeout).await;
    still_works(&plane).await;
}

#[tokio::test]
async fn a_server_that_does_not_greet_is_given_up() {
    for modes in [["mute"], ["mute-list"]] {
        let mut upstream = hostile(&modes);
        upstream.connect_timeout_ms = 500;
        let plane = Plane::new(upstream).await;
        let error = plane.list().await.unwrap_err();
        assert_eq!(error.code, ErrorCode::UpstreamFailed);
        assert!(error.message.contains("within 500 ms"), "{error:?}");
    }
}

#[tokio::test]
async fn what_broke_off_is_in_doubt_if_it_writes() {
    let reads = plane(&[], Effect::Read).await;
    let error = reads.error("act", json!({ "do": "die" }), ErrorCode::UpstreamFailed).await;
    assert!(error.message.contains("broke off"), "{error:?}");
    // The next call starts it again.
    still_works(&reads).await;

    let writes = plane(&[], Effect::Mutate).await;
    let result = writes.call("act", json!({ "do": "die" })).await;
    assert_eq!(result.status, Status::InDoubt, "{:?}", result.error);
}

#[tokio::test]
async fn a_server_that_keeps_dying_rests() {
    let plane = plane(&[], Effect::Read).await;
    for _ in 0..3 {
        plane.error("act", json!({ "do": "die" }), ErrorCode::UpstreamFailed).await;
    }
    let resting = plane.error("act", json!({}), ErrorCode::UpstreamFailed).await;
    assert!(resting.message.contains("failed too often and rests"), "{resting:?}");
    assert!(plane.pool.health(&tenant(), &name()).unwrap().resting);
    // Asking for its tools is a test, and a test is not put off.
    plane.list().await.unwrap();
    still_works(&plane).await;
}

#[tokio::test]
async fn changed_tools_are_told_and_held() {
    let plane = plane(&[], Effect::Read).await;
    let changed = || plane.pool.take_changed();
    assert_eq!(changed(), [(tenant(), name())], "it was reached anew");
    assert!(plane.call("act", json!({ "do": "turn" })).await.ok);
    while changed().is_empty() {
        tokio::task::yield_now().await;
    }
    let listing = plane.list().await.unwrap();
    let warnings = plane.pool.warnings(&listing.tools[0]);
    assert!(warnings.iter().any(|line| line.contains("markup")), "{warnings:?}");
    assert!(warnings.iter().any(|line| line.contains("secrets")), "{warnings:?}");
}

#[tokio::test]
async fn a_tool_that_changed_behind_our_back_is_not_called() {
    let plane = plane(&[], Effect::Read).await;
    // It comes back as another: the document is the same, what it starts is not.
    assert!(plane.call("act", json!({ "do": "turn-quietly" })).await.ok);
    still_works(&plane).await;
    let shown = plane.list().await.unwrap();
    assert!(shown.tools[0].description.contains("IMPORTANT"));
    plane.error("act", json!({ "do": "die" }), ErrorCode::UpstreamFailed).await;
    let held = plane.error("act", json!({}), ErrorCode::UpstreamFailed).await;
    assert_eq!(held.message, "`peer` no longer offers this tool as it was accepted");
}

#[tokio::test]
async fn a_list_that_can_not_be_read_says_nothing_of_effects() {
    let plane = Plane::new(hostile(&["unreadable-list"])).await;
    let error = plane.list().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::UpstreamFailed);
    assert!(error.message.contains("the list of `peer`'s tools can't be read"), "{error:?}");
    assert!(!error.hint.unwrap().contains("effect"));
}

#[tokio::test]
async fn a_fault_that_is_over_is_forgotten() {
    let plane = plane(&[], Effect::Mutate).await;
    let fault = || plane.pool.health(&tenant(), &name()).unwrap().last_error;
    plane.call("act", json!({ "do": "die" })).await;
    assert!(fault().is_some());
    still_works(&plane).await;
    assert_eq!(fault(), None);
}
