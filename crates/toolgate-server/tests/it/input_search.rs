//! Calls found by what they were called with.

use serde_json::{Value, json};

use crate::gate::{ADMIN, OTHER_TENANT, OTHER_USER, TestGate};

#[tokio::test]
async fn a_search_of_inputs_says_how_far_it_went() {
    let gate = TestGate::start().await;
    let mut calls = Vec::new();
    for zone in ["Europe/Berlin", "Asia/Tokyo", "Europe/Oslo"] {
        let (status, call) = gate.invoke("core__get_current_time", json!({ "timezone": zone })).await;
        assert_eq!(status, 200, "{call}");
        calls.push(call["call_id"].clone());
    }
    let search = async |key: &str, query: &str| -> Value {
        let path = format!("/api/v1/invocations?{query}");
        let (status, list) = gate.send(Some(key), "GET", &path, None, &[]).await;
        assert_eq!(status, 200, "{list}");
        list
    };
    let ids = |list: &Value| -> Vec<Value> {
        list["invocations"].as_array().unwrap().iter().map(|call| call["id"].clone()).collect()
    };

    let found = search(ADMIN, "text=EUROPE").await;
    assert_eq!(ids(&found), [calls[2].clone(), calls[0].clone()]);
    assert_eq!(found["searched"]["calls"], 3);
    assert!(found["searched"]["back_to"].is_string() && found.get("next_cursor").is_none(), "{found}");

    let first = search(ADMIN, "text=europe&limit=1").await;
    assert_eq!((ids(&first), &first["searched"]["calls"]), (vec![calls[2].clone()], &json!(1)));
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = search(ADMIN, &format!("text=europe&limit=1&cursor={cursor}")).await;
    assert_eq!((ids(&second), &second["searched"]["calls"]), (vec![calls[0].clone()], &json!(2)));

    let nothing = search(ADMIN, "text=nowhere").await;
    assert_eq!((ids(&nothing), &nothing["searched"]["calls"]), (Vec::new(), &json!(3)));
    assert!(search(ADMIN, "").await.get("searched").is_none(), "nothing was searched for");

    // What others may not see is not even counted for them.
    for key in [OTHER_USER, OTHER_TENANT] {
        let list = search(key, "text=europe").await;
        assert_eq!((ids(&list), &list["searched"]), (Vec::new(), &json!({ "calls": 0 })), "{key}");
    }
}
