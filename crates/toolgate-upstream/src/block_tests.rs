use serde_json::{Value, json};

use super::blocks;

fn check_block(block: Value, expected: Value) {
    assert_eq!(blocks("files", vec![block]), [expected]);
}

fn check_kept(block: Value) {
    check_block(block.clone(), block);
}

#[test]
fn blocks_are_kept_as_they_came() {
    let notes = json!({ "audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z" });
    let meta = json!({ "com.example/cell": 7, "toolgates": 1 });
    for mut block in [
        json!({ "type": "text", "text": "a\r\nb\u{0}\u{1b}[31mc\u{e0041} \u{200c}" }),
        json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" }),
        json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" }),
        json!({ "type": "resource_link", "uri": "https://example.com/a", "name": "n", "title": "t\n", "description": "d",
            "mimeType": "text/csv", "size": 12 }),
        json!({ "type": "resource", "resource": { "uri": "https://example.com/a", "text": "a\r\n", "_meta": meta } }),
        json!({ "type": "resource", "resource": { "uri": "https://example.com/a", "mimeType": "application/pdf", "blob": "aGk=" } }),
    ] {
        check_kept(block.clone());
        block["annotations"] = notes.clone();
        block["_meta"] = meta.clone();
        check_kept(block);
    }
}

#[test]
fn what_is_ours_or_unknown_is_left_out() {
    check_block(
        json!({ "type": "text", "text": "hi", "href": "x", "annotations": { "audience": ["all"], "priority": 7, "x": 1 },
            "_meta": { "toolgate/call_id": "inv_x", "ui": { "resourceUri": "ui://x" }, "openai/outputTemplate": "ui://x" } }),
        json!({ "type": "text", "text": "hi", "annotations": {}, "_meta": {} }),
    );
    check_block(
        json!({ "type": "text", "text": "hi", "annotations": 1, "_meta": [] }),
        json!({ "type": "text", "text": "hi" }),
    );
}

#[test]
fn pictures_are_pictures() {
    check_block(
        json!({ "type": "image", "data": "<svg onload=x>", "mimeType": "image/svg+xml" }),
        json!({ "type": "text", "text": "[withheld: an image that is none]" }),
    );
    check_block(
        json!({ "type": "audio", "data": "aGk=", "mimeType": "text/html" }),
        json!({ "type": "text", "text": "[withheld: an audio that is none]" }),
    );
}

#[test]
fn links_lead_only_where_anyone_could_go() {
    let link = |uri: &str| json!({ "type": "resource_link", "uri": uri, "name": "n", "icons": [{ "src": "file:x" }] });
    check_block(
        link("https://example.com/a"),
        json!({ "type": "resource_link", "uri": "https://example.com/a", "name": "n" }),
    );
    for uri in [
        "file:///etc/passwd",
        "ui://app/page",
        "javascript:alert(1)",
        "http://169.254.169.254/latest",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://localhost/",
        "http://db.internal/",
        "http://intranet/",
        "https://user:pass@example.com/",
        "demo://resource/1",
        "not an address",
    ] {
        check_block(link(uri), json!({ "type": "text", "text": format!("[withheld: a link to `{uri}`]") }));
    }
}

#[test]
fn resources_keep_their_bytes_and_pages_are_not_shown() {
    let resource = |uri: &str, mime: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": "body" } });
    for (uri, inert) in [
        ("demo://1", "toolgate://servers/files/demo://1"),
        ("file:///a b?.pdf", "toolgate://servers/files/file:///a%20b%3F.pdf"),
        ("toolgate://calls/inv_1", "toolgate://servers/files/toolgate://calls/inv_1"),
        ("http://127.0.0.1/", "toolgate://servers/files/http://127.0.0.1/"),
    ] {
        check_block(resource(uri, "text/plain"), resource(inert, "text/plain"));
        check_block(
            json!({ "type": "resource", "resource": { "uri": uri, "mimeType": "application/pdf", "blob": "aGk=" } }),
            json!({ "type": "resource", "resource": { "uri": inert, "mimeType": "application/pdf", "blob": "aGk=" } }),
        );
    }
    for (uri, mime) in [
        ("ui://app", "text/plain"),
        ("UI://app", "text/html"),
        ("https://example.com/", "text/html;profile=mcp-app"),
        ("https://example.com/", "text/html+skybridge"),
    ] {
        check_block(
            resource(uri, mime),
            json!({ "type": "text", "text": format!("[withheld: the page `{uri}`]") }),
        );
    }
    check_block(
        resource("https://example.com/", "text/html; charset=utf-8"),
        resource("https://example.com/", "text/plain"),
    );
    check_block(
        json!({ "type": "resource", "resource": { "uri": "demo://1", "blob": "<svg>" } }),
        json!({ "type": "text", "text": "[withheld: the resource `demo://1`]" }),
    );
}

#[test]
fn what_is_unknown_is_named() {
    check_block(
        json!({ "type": "hologram", "x": 1 }),
        json!({ "type": "text", "text": "[withheld: a part of the unknown kind `hologram`]" }),
    );
    check_block(json!(3), json!({ "type": "text", "text": "[withheld: a part that is no content]" }));
    let many: Vec<Value> = (0..1_005).map(|_| json!({ "type": "text", "text": "x" })).collect();
    let kept = blocks("files", many);
    assert_eq!(kept.len(), 1_001);
    assert_eq!(kept[1_000]["text"], "[withheld: 5 further parts]");
}
