//! Files made to hurt.

use std::num::NonZeroU32;
use std::time::Duration;

use futures::future::join_all;
use futures::stream;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolgate_app::FileSettings;
use toolgate_server::ServerSettings;

use super::{CSV, all_room_is_back, code, content, gate_with, own, send, sent};
use crate::gate::{ADMIN, TestGate};

#[tokio::test]
async fn names_made_to_hurt_are_cleaned_or_refused() {
    let gate = TestGate::permissive().await;
    for (given, kept) in [
        ("../../../etc/passwd", "passwd"),
        ("C:\\Windows\\system32\\cmd.exe", "cmd.exe"),
        ("a\r\nSet-Cookie: x=1.txt", "aSet-Cookie_ x=1.txt"),
        ("photo\u{202e}gpj.exe", "photogpj.exe"),
        ("\u{200b}.htaccess", "htaccess"),
        ("<script>alert(1)<.csv", "_script_alert(1)_.csv"),
    ] {
        let (status, file) = send(&gate, ADMIN, given, "text/csv", CSV).await;
        assert_eq!((status, file["name"].as_str().unwrap()), (201, kept), "{given:?}");
        let path = format!("/api/v1/files/{}/content", file["id"].as_str().unwrap());
        let answer = content(&gate, ADMIN, &path).await;
        assert!(!answer.headers().contains_key("set-cookie"), "{given:?}");
        assert!(answer.headers()["content-disposition"].to_str().unwrap().starts_with("attachment; "));
    }
    for given in ["", "..", "/", "\u{202e}", "\0", "   "] {
        let (status, refused) = send(&gate, ADMIN, given, "text/csv", CSV).await;
        assert_eq!((status, code(&refused)), (400, "bad_request"), "{given:?}");
    }
    let (status, _) = send(&gate, ADMIN, &"x".repeat(5000), "text/csv", CSV).await;
    assert_eq!(status, 400);
    let (status, file) = send(&gate, ADMIN, &format!("{}.csv", "x".repeat(300)), "text/csv", CSV).await;
    assert_eq!((status, file["name"].as_str().unwrap().len()), (201, 120));
    let (status, _) = gate.send(Some(ADMIN), "POST", "/api/v1/files", Some(json!({})), &[]).await;
    assert_eq!(status, 400, "without a name");
}

/// Whatever its sender calls it, a browser is handed nothing it would run.
#[tokio::test]
async fn a_page_that_calls_itself_a_picture_is_bytes() {
    let gate = TestGate::permissive().await;
    let page = "<html><script>alert(document.cookie)</script>";
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    // A picture by its first bytes, whatever follows: it is served as a picture and as nothing else.
    let both = [&b"GIF89a/*"[..], page.as_bytes()].concat();
    for (kind, bytes, served, shown) in [
        ("image/png", page.as_bytes().to_vec(), "application/octet-stream", "attachment"),
        ("text/html", page.as_bytes().to_vec(), "application/octet-stream", "attachment"),
        ("image/svg+xml", b"<svg onload=alert(1)>".to_vec(), "application/octet-stream", "attachment"),
        ("text/html", png, "image/png", "inline"),
        ("text/html", both, "image/gif", "inline"),
    ] {
        let (_, file) = send(&gate, ADMIN, "x.png", kind, bytes).await;
        assert_eq!(file["image"], json!(shown == "inline"), "{kind}");
        let path = format!("/api/v1/files/{}/content", file["id"].as_str().unwrap());
        let answer = content(&gate, ADMIN, &path).await;
        assert_eq!(answer.headers()["content-type"], served, "{kind}");
        assert!(answer.headers()["content-disposition"].to_str().unwrap().starts_with(shown), "{kind}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
        assert!(answer.headers()["content-security-policy"].to_str().unwrap().starts_with("sandbox;"));
    }
}

/// Too large by its own word, and too large without one: neither leaves anything behind.
#[tokio::test]
async fn a_body_without_end_is_cut_off() {
    let gate = gate_with(FileSettings { max_bytes: 600_000, ..FileSettings::default() }).await;
    let (status, refused) = send(&gate, ADMIN, "large.bin", "", vec![7; 600_001]).await;
    assert_eq!((status, code(&refused)), (413, "payload_too_large"));
    assert_eq!(refused["error"]["details"]["max_bytes"], 600_000);
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'x'; 64 << 10]));
    let url = format!("{}/api/v1/files?name=endless", gate.url);
    let answer =
        gate.client.post(url).bearer_auth(ADMIN).body(reqwest::Body::wrap_stream(endless)).send().await;
    // The gate answers and hangs up; a client that still sends may see only the latter.
    if let Ok(answer) = answer {
        assert_eq!(answer.status(), 413);
    }
    assert_eq!(send(&gate, ADMIN, "fits.bin", "", vec![7; 600_000]).await.0, 201);
    let (_, fits) = gate.get("/api/v1/files").await;
    assert_eq!(fits["files"].as_array().unwrap().len(), 1);
    let id = own(&gate).await.pop().unwrap();
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/files/{id}"), None, &[]).await.0, 204);
    all_room_is_back(&gate).await;
}

/// Sends a request's head and a part of its body, and then what `end` does.
async fn half(gate: &TestGate, length: usize, part: &[u8]) -> TcpStream {
    let address = gate.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/v1/files?name=half.csv HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {ADMIN}\r\n\
         content-type: text/csv\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(part).await.unwrap();
    stream
}

#[tokio::test]
async fn a_length_that_is_not_true_leaves_nothing() {
    let settings = ServerSettings { body_timeout: Duration::from_millis(300), ..ServerSettings::default() };
    let gate = TestGate::with(settings, crate::gate::PERMISSIVE).await;
    // Fewer bytes than announced, and then silence: it is told so.
    let mut silent = half(&gate, 500_000, &[b'a'; 300_000]).await;
    let mut answer = String::new();
    silent.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    // Fewer, and then gone.
    let mut gone = half(&gate, 500_000, &[b'a'; 300_000]).await;
    gone.shutdown().await.unwrap();
    drop(gone);
    assert_eq!(own(&gate).await, [""; 0]);
    // More than announced is another request, which is none: the file ends where it said.
    let mut more = half(&gate, 5, b"abcdefghij").await;
    let mut answer = [0; 12];
    more.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 201");
    let (_, list) = gate.get("/api/v1/files").await;
    assert_eq!(list["files"][0]["size"], 5);
    // What was begun and given up without a word is found by its time.
    let hour = gate.runner.parts().clock.now().plus(Duration::from_secs(3600));
    gate.app.sweep_files(hour).await.unwrap();
    let id = own(&gate).await.pop().unwrap();
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/files/{id}"), None, &[]).await.0, 204);
    all_room_is_back(&gate).await;
}

/// Many at once never take more room than there is, and each that was taken is whole.
#[tokio::test]
async fn racing_senders_share_the_room() {
    let gate =
        gate_with(FileSettings { tenant_bytes: 10 * (100_000 + 1024), ..FileSettings::default() }).await;
    let mut taken = 0;
    for _ in 0..5 {
        let answers = join_all((0..6).map(|_| send(&gate, ADMIN, "part.bin", "", vec![1; 100_000]))).await;
        for (status, answer) in answers {
            match status {
                201 => taken += 1,
                _ => assert_eq!((status, code(&answer)), (409, "storage_full"), "{answer}"),
            }
        }
    }
    // A file that is cut off for lack of room may have held some of it for a moment: fewer may fit, never more.
    assert!((1..=10).contains(&taken), "{taken}");
    assert_eq!(own(&gate).await.len(), taken);
    for id in own(&gate).await {
        assert_eq!(gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/files/{id}"), None, &[]).await.0, 204);
    }
    all_room_is_back(&gate).await;
}

#[tokio::test]
async fn who_sends_too_many_is_told_to_wait() {
    let per_minute = NonZeroU32::new(5).unwrap();
    let gate = gate_with(FileSettings { per_minute, ..FileSettings::default() }).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let (status, answer) = send(&gate, ADMIN, "x.csv", "text/csv", CSV).await;
        if status == 429 {
            assert_eq!(code(&answer), "rate_limited");
            assert!(answer["error"]["details"]["retry_after_seconds"].as_u64().is_some_and(|wait| wait > 0));
        }
        statuses.push(status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 5, "{statuses:?}");
    sent(&gate, crate::gate::OTHER_USER).await;
}

/// Ids made to hurt are ids of nothing.
#[tokio::test]
async fn ids_made_to_hurt_are_not_found() {
    let gate = TestGate::permissive().await;
    for id in [
        "x",
        "fil_",
        "..%2f..%2fetc",
        "fil_0199C0DE0199C0DE0199C0DE0199C0DE",
        "%00",
        "inv_0199c0de0199c0de0199c0de0199c0de",
    ] {
        for path in [format!("/api/v1/files/{id}"), format!("/api/v1/files/{id}/content")] {
            let (status, answer) = gate.get(&path).await;
            assert_eq!((status, code(&answer)), (404, "not_found"), "{path}");
        }
    }
    for query in ["limit=0", "limit=1001", "cursor=x", "owner=nobody", "all=maybe", "x=y"] {
        assert_eq!(gate.get(&format!("/api/v1/files?{query}")).await.0, 400, "{query}");
    }
}

#[tokio::test]
async fn a_form_is_not_taken_for_the_file_in_it() {
    let gate = TestGate::permissive().await;
    let form = "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\na,b\r\n--x--\r\n";
    let (status, refused) = send(&gate, ADMIN, "x.csv", "Multipart/Form-Data; boundary=x", form).await;
    assert_eq!((status, code(&refused)), (415, "unsupported_media_type"));
    assert!(refused["error"]["hint"].as_str().unwrap().contains("--data-binary"), "{refused}");
}
