//! The suite's resources.

use serde_json::{Value, json};

use super::PICTURE;

/// The resources, as `resources/list` shows them.
pub(super) fn resources() -> Vec<Value> {
    let resource = |uri: &str, name: &str, description: &str, kind: &str| json!({ "uri": uri, "name": name, "description": description, "mimeType": kind });
    vec![
        resource("test://static-text", "Static text", "A text that never changes", "text/plain"),
        resource("test://static-binary", "Static picture", "A picture that never changes", "image/png"),
        resource("test://watched-resource", "Watched", "A text one may subscribe to", "text/plain"),
    ]
}

/// The templates, as `resources/templates/list` shows them.
pub(super) fn resource_templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": "test://template/{id}/data",
        "name": "Templated data",
        "description": "Data for any id",
        "mimeType": "application/json",
    })]
}

/// The contents of one resource, as `resources/read` answers them. None where there is no such resource.
pub(super) fn read_resource(uri: &str) -> Option<Vec<Value>> {
    let text = |kind: &str, text: &str| json!({ "uri": uri, "mimeType": kind, "text": text });
    let content = match uri {
        "test://static-text" => text("text/plain", "This is the content of the static text resource."),
        "test://static-binary" => json!({ "uri": uri, "mimeType": "image/png", "blob": PICTURE }),
        "test://watched-resource" => text("text/plain", "This is the content of the watched resource."),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            text("application/json", &data.to_string())
        }
    };
    Some(vec![content])
}
