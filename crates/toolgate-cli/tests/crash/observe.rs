//! What a running gate shows of itself, and how it stops.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolgate_testkit::{ADMIN_KEY, CountingReceiver, Gate};

use crate::{Engine, setup};

/// A collector that keeps every byte it gets and says thanks.
async fn collector() -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let keep = Arc::clone(&keep);
            tokio::spawn(async move {
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(read) = stream.read(&mut buffer).await {
                    if read == 0 {
                        break;
                    }
                    keep.lock().unwrap().extend_from_slice(&buffer[..read]);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                }
            });
        }
    });
    (url, kept)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn traces_metrics_and_logs_tell_of_a_call_and_keep_secrets() {
    let receiver = CountingReceiver::start().await;
    let (collector, kept) = collector().await;
    let mut setup = setup(Engine::Sqlite, &receiver).await;
    setup.envs = vec![
        ("OTEL_EXPORTER_OTLP_ENDPOINT".into(), collector),
        ("TOOLGATE_LOG".into(), "debug".into()),
        ("TOOLGATE_LOG_FORMAT".into(), "json".into()),
    ];
    let mut gate = Gate::start(setup).await;
    let (status, _) = gate.invoke("core__get_current_time", json!({}), &[]).await;
    assert_eq!(status, 200);
    let (status, _) = gate.invoke("core__planted_name_7f3a", json!({}), &[]).await;
    assert_eq!(status, 404);
    let (_, metrics) = gate.get("/metrics").await;
    let metrics = metrics.as_str().unwrap();
    assert!(
        metrics.contains(r#"toolgate_calls_total{tool="core__get_current_time",status="completed"} 1"#),
        "{metrics}"
    );
    assert!(metrics.contains("toolgate_gate_seconds_bucket"), "{metrics}");
    assert!(!metrics.contains("planted_name"), "a name a caller made up is no label");
    assert!(gate.stop().await.success());

    let traces = kept.lock().unwrap().clone();
    assert!(contains(&traces, "POST /v1/traces"), "traces are sent, at the latest when the gate stops");
    assert!(contains(&traces, "execute_tool core__get_current_time"));
    assert!(contains(&traces, "gen_ai.tool.name"));
    let log = gate.log();
    assert!(
        log.lines()
            .filter(|line| line.starts_with('{'))
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    assert!(log.lines().any(|line| line.starts_with('{')));
    assert!(!log.contains(ADMIN_KEY) && !contains(&traces, ADMIN_KEY), "the key is in no log and no trace");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_lets_calls_finish() {
    let receiver = CountingReceiver::start().await;
    let mut gate = Gate::start(setup(Engine::Sqlite, &receiver).await).await;
    let url = format!("{}/api/v1/tools/fixture__slow_mutate/invoke", gate.url());
    let request =
        gate.client().post(url).bearer_auth(ADMIN_KEY).json(&json!({ "input": { "milliseconds": 800 } }));
    let call = tokio::spawn(request.send());
    while !gate.get("/api/v1/invocations?status=running").await.1["invocations"].is_array()
        || gate.get("/api/v1/invocations?status=running").await.1["invocations"]
            .as_array()
            .unwrap()
            .is_empty()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(gate.stop().await.success());
    let answer: Value = call.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(answer["status"], "completed", "{answer}");
    gate.start_again(&[]);
    gate.ready().await;
    crate::settle_and_verify(&gate).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_shows_a_key_once() {
    let receiver = CountingReceiver::start().await;
    let mut setup = setup(Engine::Sqlite, &receiver).await;
    setup.envs.push(("TOOLGATE_ADMIN_KEY".into(), String::new()));
    let mut gate = Gate::start(setup).await;
    let key =
        gate.log().lines().find_map(|line| line.trim().starts_with("tgk_").then(|| line.trim().to_owned()));
    let key = key.expect("the first start shows a key");
    let me = gate.client().get(format!("{}/api/v1/me", gate.url())).bearer_auth(&key).send().await.unwrap();
    assert_eq!(me.status(), 200);
    assert!(gate.stop().await.success());
    gate.start_again(&[]);
    gate.ready().await;
    assert_eq!(gate.log().matches("tgk_").count(), 1, "and never again");
    let me = gate.client().get(format!("{}/api/v1/me", gate.url())).bearer_auth(&key).send().await.unwrap();
    assert_eq!(me.status(), 200);
}
