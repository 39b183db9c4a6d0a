//! Content blocks on a terminal: words as words, anything else by what it is and how large.

use serde_json::Value;
use toolgate_core::JsonText;

use super::show;

/// A result that is told in content blocks, beside its value or within it; none for any other.
pub(super) fn render(value: &Value, content: Option<&JsonText>) -> Option<String> {
    let (blocks, structured) = match content.map(JsonText::to_value) {
        Some(Value::Array(blocks)) => (blocks, Some(value)),
        _ => (value.get("content")?.as_array()?.clone(), value.get("structured")),
    };
    let only_told = |key: &String| matches!(key.as_str(), "content" | "structured");
    let known = content.is_some() || value.as_object().is_some_and(|fields| fields.keys().all(only_told));
    if !known || !blocks.iter().all(|block| block.get("type").is_some_and(Value::is_string)) {
        return None;
    }
    let mut parts: Vec<String> = blocks.iter().map(block).collect();
    if let Some(structured) = structured {
        parts.push(format!("# Structured\n{}", show::pretty(structured)));
    }
    Some(parts.join("\n\n"))
}

/// All that a server said of a failure, where the sentence holds less.
pub(super) fn of_failure(details: Option<&Value>, sentence: &str) -> Option<String> {
    let blocks = details?.get("content")?.as_array()?;
    let said = blocks.iter().map(block).collect::<Vec<_>>().join("\n\n");
    (!said.is_empty() && !sentence.ends_with(said.trim())).then_some(said)
}

fn block(block: &Value) -> String {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    let of = |key: &str| block["resource"].get(key).and_then(Value::as_str);
    match text("type") {
        "text" => words(text("text")),
        kind @ ("image" | "audio") => {
            format!("[{kind}, {}, {} bytes]", show::plain(text("mimeType")), bytes(text("data")))
        }
        "resource_link" => format!("[link to {}: {}]", show::plain(text("uri")), show::plain(text("name"))),
        "resource" => {
            let uri = show::plain(of("uri").unwrap_or_default());
            match (of("text"), of("blob")) {
                (Some(text), _) => format!("[{uri}]\n{}", words(text)),
                (None, blob) => {
                    let mime = show::plain(of("mimeType").unwrap_or("file"));
                    format!("[{uri}, {mime}, {} bytes]", bytes(blob.unwrap_or_default()))
                }
            }
        }
        _ => show::pretty(block),
    }
}

/// Text with its lines, and without what a terminal would obey.
fn words(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            letter if letter.is_control() => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => shown.push(letter),
        }
    }
    shown
}

/// How many bytes a base64 text holds.
fn bytes(data: &str) -> usize {
    data.bytes().filter(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte)).count() * 3 / 4
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_told_in_words() {
        let content = json!([
            { "type": "text", "text": "a\r\nb\u{1b}[2J" },
            { "type": "image", "data": "aGk=", "mimeType": "image/png" },
            { "type": "resource", "resource": { "uri": "https://example.com/x.pdf", "mimeType": "application/pdf", "blob": "aGVsbG8=" } },
            { "type": "resource_link", "uri": "https://example.com/", "name": "there" },
        ]);
        let shown = "a\nb\\u001b[2J\n\n[image, image/png, 2 bytes]\n\n\
            [https://example.com/x.pdf, application/pdf, 5 bytes]\n\n[link to https://example.com/: there]";
        assert_eq!(render(&json!({ "content": content }), None).as_deref(), Some(shown));
        let text = JsonText::from_value(&content);
        let both = render(&json!({ "n": 1 }), Some(&text)).unwrap();
        assert_eq!(both, format!("{shown}\n\n# Structured\n{{\n  \"n\": 1\n}}"));
        for other in [json!({ "content": "hi" }), json!({ "content": [], "more": 1 }), json!(1)] {
            assert_eq!(render(&other, None), None);
        }
    }

    #[test]
    fn a_failure_is_told_in_full_where_the_sentence_is_not() {
        let details = json!({ "content": [{ "type": "text", "text": "line 1\nline 2" }] });
        let said = of_failure(Some(&details), "it says: line 1 line 2");
        assert_eq!(said.as_deref(), Some("line 1\nline 2"));
        let short = json!({ "content": [{ "type": "text", "text": "no" }] });
        assert_eq!(of_failure(Some(&short), "it says: no"), None);
        assert_eq!(of_failure(None, "it says: no"), None);
    }
}
