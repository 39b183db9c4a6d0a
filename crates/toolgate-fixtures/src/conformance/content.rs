//! Tools that answer at once, one for each kind of content.

use serde_json::{Value, json};

use super::{Body, Fixture, PICTURE, SOUND, fixture, says};

pub(super) fn fixtures() -> Vec<Fixture> {
    let plain = |name, description, says| fixture(name, description, json!({}), Body::Says(says));
    vec![
        plain("test_simple_text", "Answers with a text.", |_| {
            says("This is a simple text response for testing.")
        }),
        plain("test_image_content", "Answers with a picture.", |_| json!({ "content": [picture()] })),
        plain(
            "test_audio_content",
            "Answers with a sound.",
            |_| json!({ "content": [{ "type": "audio", "data": SOUND, "mimeType": "audio/wav" }] }),
        ),
        plain("test_embedded_resource", "Answers with a resource.", |_| {
            let text = "This is an embedded resource content.";
            json!({ "content": [resource("test://embedded-resource", "text/plain", text)] })
        }),
        plain("test_multiple_content_types", "Answers with a text, a picture and a resource.", |_| {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            json!({ "content": [
                { "type": "text", "text": "Multiple content types test:" },
                picture(),
                resource("test://mixed-content-resource", "application/json", &data),
            ] })
        }),
        plain("test_error_handling", "Fails on purpose.", |_| {
            let mut failed = says("This tool intentionally returns an error for testing");
            failed["is_error"] = true.into();
            failed
        }),
    ]
}

fn picture() -> Value {
    json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" })
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } })
}
