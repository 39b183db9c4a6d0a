//! What a tool returned: a value that fits its output schema and, where a server told it in words, pictures or files
//! beside, that content. Both are kept in one text, and what the content only repeats of the value is kept once.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json::JsonText;

/// How the kept text of a value with content begins. A value that begins so by itself is put inside, so that nothing a
/// tool returns can pass for content that was looked at.
const MARK: &str = "{\"toolgate/content\":";
/// Shorter texts are kept twice: to say where they stand would take as much.
const WORTH_NAMING: usize = 64;
/// Fields of a value that are compared with the words beside it.
const MOST_COMPARED: usize = 100;

/// What a tool returned.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// What the tool's output schema describes.
    pub value: Value,
    /// The content blocks that came beside it, as MCP has them; none where the value is all there is.
    pub content: Option<Vec<Value>>,
    /// The notes that a server put on the result as a whole (`_meta`); none where it put none.
    pub meta: Option<Map<String, Value>>,
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self { value, content: None, meta: None }
    }
}

impl ToolOutput {
    /// How many bytes of it are pictures, sounds and files: in the content beside the value, or in a value that is
    /// content itself.
    pub(crate) fn media(&self) -> usize {
        let within = self.value.get("content").and_then(Value::as_array);
        let blocks = self.content.iter().flatten().chain(within.into_iter().flatten());
        let bytes = |block: &Value| {
            let data = match block.get("type").and_then(Value::as_str) {
                Some("image" | "audio") => block.get("data"),
                Some("resource") => block.get("resource").and_then(|resource| resource.get("blob")),
                _ => None,
            };
            data.and_then(Value::as_str).map_or(0, str::len)
        };
        blocks.map(bytes).sum()
    }

    /// The one text that is kept, and how many bytes it has when it is told in full.
    #[must_use]
    pub(crate) fn kept(self) -> (JsonText, usize) {
        let value = JsonText::from_value(&self.value);
        let text = value.as_str();
        let meta = self.meta.filter(|notes| !notes.is_empty());
        let meta = meta.map(|notes| format!(",\"meta\":{}", Value::Object(notes))).unwrap_or_default();
        let bare = !text.starts_with(MARK) && meta.is_empty();
        match self.content {
            None if bare => {
                let whole = text.len();
                (value, whole)
            }
            // The usual copy in words says nothing more; whoever wants one makes it from the value.
            Some(content) if bare && !is_told(&self.value) && is_copy(&content, text) => {
                let whole = text.len() * 2;
                (value, whole)
            }
            None => {
                let kept = format!("{MARK}null,\"value\":{text}{meta}}}");
                let whole = kept.len();
                (JsonText::from_store(kept), whole)
            }
            Some(mut content) => {
                let saved: usize = content.iter_mut().map(|block| fold(block, &self.value, text)).sum();
                let content = Value::Array(content);
                let kept = format!("{MARK}{content},\"value\":{text}{meta}}}");
                let whole = kept.len() + saved;
                (JsonText::from_store(kept), whole)
            }
        }
    }
}

/// What is kept of a result, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What the tool's output schema describes.
    pub value: JsonText,
    /// The list of content blocks that came beside it, where it says more than a copy of the value would.
    pub content: Option<JsonText>,
    /// The notes that a server put on the result as a whole, as one object.
    pub meta: Option<JsonText>,
}

#[derive(Deserialize)]
struct Both<'a> {
    #[serde(rename = "toolgate/content", borrow)]
    content: &'a RawValue,
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(borrow, default)]
    meta: Option<&'a RawValue>,
}

impl Kept {
    /// Takes a kept text apart.
    #[must_use]
    pub fn of(text: &JsonText) -> Self {
        let whole = || Self { value: text.clone(), content: None, meta: None };
        if !text.as_str().starts_with(MARK) {
            return whole();
        }
        let Ok(both) = serde_json::from_str::<Both<'_>>(text.as_str()) else { return whole() };
        let content = match both.content.get() {
            "null" => None,
            // Only a text that was folded is an object.
            content if content.contains("\"text\":{") => Some(unfolded(content, both.value.get())),
            content => Some(JsonText::from_store(content.to_owned())),
        };
        let meta = both.meta.map(|notes| JsonText::from_store(notes.get().to_owned()));
        Self { value: JsonText::from_store(both.value.get().to_owned()), content, meta }
    }

    /// Both in one document, as a tool that names no output schema returns them.
    #[must_use]
    pub fn together(self) -> JsonText {
        match self.content {
            None => self.value,
            Some(content) => JsonText::from_store(format!(
                "{{\"content\":{},\"structured\":{}}}",
                content.as_str(),
                self.value.as_str()
            )),
        }
    }
}

/// The usual copy of a value in words.
pub(crate) fn copy_of(value: &Value) -> Vec<Value> {
    vec![json!({ "type": "text", "text": value.to_string() })]
}

/// Whether a value looks like content and structure in one. Kept bare, it is read as just that, so one that only looks
/// so is kept with its copy.
fn is_told(value: &Value) -> bool {
    let parts =
        |fields: &Map<String, Value>| fields.keys().all(|key| key == "content" || key == "structured");
    value.as_object().is_some_and(parts)
}

/// Whether content is one text, and the text is the value's own.
fn is_copy(content: &[Value], value: &str) -> bool {
    match content {
        [Value::Object(block)] => {
            block.len() == 2
                && block.get("type").and_then(Value::as_str) == Some("text")
                && block.get("text").and_then(Value::as_str) == Some(value)
        }
        _ => false,
    }
}

/// Names where a text stands in the value, in the place of the text; answers how many bytes that saves.
fn fold(block: &mut Value, value: &Value, written: &str) -> usize {
    let Some(Value::String(text)) = block.get("text") else { return 0 };
    if text.len() < WORTH_NAMING {
        return 0;
    }
    let said = text.len();
    let Some(place) = place_of(text, value, written) else { return 0 };
    block["text"] = place;
    said
}

fn place_of(text: &str, value: &Value, written: &str) -> Option<Value> {
    if text == written {
        return Some(json!({ "json": "compact" }));
    }
    // A pretty copy is a little longer than a compact one, and begins with the same letter.
    if text.len() > written.len()
        && text.len() < written.len().saturating_mul(8)
        && text.as_bytes().first() == written.as_bytes().first()
        && serde_json::to_string_pretty(value).is_ok_and(|pretty| pretty == text)
    {
        return Some(json!({ "json": "pretty" }));
    }
    let fields = value.as_object()?;
    let field = fields.iter().take(MOST_COMPARED).find(|(_, field)| field.as_str() == Some(text));
    field.map(|(name, _)| json!({ "field": name }))
}

fn unfolded(content: &str, written: &str) -> JsonText {
    let mut blocks: Vec<Map<String, Value>> = serde_json::from_str(content).unwrap_or_default();
    let value: Value = serde_json::from_str(written).unwrap_or_default();
    for block in &mut blocks {
        let Some(Value::Object(place)) = block.get("text") else { continue };
        let word = |key: &str| place.get(key).and_then(Value::as_str);
        let text = match (word("json"), word("field")) {
            (Some("compact"), _) => written.to_owned(),
            (Some(_), _) => serde_json::to_string_pretty(&value).unwrap_or_default(),
            (None, name) => {
                let field = name.and_then(|name| value.get(name)).and_then(Value::as_str);
                field.unwrap_or_default().to_owned()
            }
        };
        block.insert("text".to_owned(), Value::String(text));
    }
    JsonText::from_serialize(&blocks).unwrap_or_else(|_| JsonText::from_value(&Value::Array(Vec::new())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value, content: Option<Value>) -> JsonText {
        let blocks = content.clone().map(|content| content.as_array().unwrap().clone());
        let (text, whole) = ToolOutput { value: value.clone(), content: blocks, meta: None }.kept();
        assert!(serde_json::from_str::<Value>(text.as_str()).is_ok());
        assert!(whole >= text.as_str().len());
        let kept = Kept::of(&text);
        assert_eq!(kept.value.as_str(), value.to_string());
        assert_eq!(kept.content.as_ref().map(JsonText::to_value), content);
        text
    }

    #[test]
    fn a_value_alone_is_kept_as_it_stands() {
        for value in [json!({ "a": 1 }), json!([1]), json!("x"), json!({ "content": [], "value": 1 })] {
            assert_eq!(check(value.clone(), None).as_str(), value.to_string());
        }
    }

    #[test]
    fn content_comes_back_as_it_was() {
        let image =
            json!({ "type": "image", "data": "aGk=", "mimeType": "image/png", "_meta": { "text": {} } });
        check(json!({ "n": 1 }), Some(json!([{ "type": "text", "text": "one\r\n\0" }, image])));
        check(json!({ "n": 1 }), Some(json!([])));
    }

    #[test]
    fn what_is_said_twice_is_kept_once() {
        let long = "line\r\n\"quoted\" ".repeat(1_000);
        let value = json!({ "result": long, "rows": [1.5, { "a": [], "b": {} }] });
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let text = |text: &str| json!({ "type": "text", "text": text, "annotations": { "priority": 1 } });
        let content = json!([text(&long), text(&value.to_string()), text(&pretty), text("short")]);
        let kept = check(value.clone(), Some(content));
        assert!(kept.as_str().len() < value.to_string().len() + 400, "{}", kept.as_str().len());
    }

    #[test]
    fn the_usual_copy_is_not_kept_at_all() {
        let value = json!({ "n": 1 });
        let copy = vec![json!({ "type": "text", "text": value.to_string() })];
        let (text, _) = ToolOutput { value: value.clone(), content: Some(copy), meta: None }.kept();
        assert_eq!(text.as_str(), value.to_string());
    }

    #[test]
    fn a_structure_that_looks_like_content_is_none() {
        for value in [json!({}), json!({ "content": [{ "type": "image" }] }), json!({ "structured": 1 })] {
            let content = copy_of(&value);
            check(value, Some(Value::Array(content)));
        }
    }

    #[test]
    fn notes_on_a_result_come_back_beside_it() {
        let notes = json!({ "vendor/trace": "7", "n": [1] });
        for content in [None, Some(copy_of(&json!({ "a": 1 })))] {
            let meta = notes.as_object().cloned();
            let (text, whole) =
                ToolOutput { value: json!({ "a": 1 }), content: content.clone(), meta }.kept();
            assert!(whole >= text.as_str().len());
            let kept = Kept::of(&text);
            assert_eq!(kept.value.to_value(), json!({ "a": 1 }));
            assert_eq!(kept.content.as_ref().map(JsonText::to_value), content.map(Value::Array));
            assert_eq!(kept.meta.map(|meta| meta.to_value()), Some(notes.clone()));
        }
        let none = ToolOutput { value: json!(1), content: None, meta: Some(Map::new()) };
        assert_eq!(none.kept().0.as_str(), "1", "an empty note is none");
        let forged = json!({ "toolgate/content": null, "value": 1, "meta": { "a": 1 } });
        let (text, _) = ToolOutput::from(forged.clone()).kept();
        assert_eq!(Kept::of(&text).value.to_value(), forged);
        assert_eq!(Kept::of(&text).meta, None);
    }

    #[test]
    fn a_value_can_not_pass_for_content() {
        let forged = json!({ "toolgate/content": [{ "type": "resource" }], "value": 1 });
        check(forged.clone(), None);
        check(forged.clone(), Some(json!([])));
        check(forged.clone(), Some(json!([{ "type": "text", "text": forged.to_string() }])));
    }

    #[test]
    fn both_are_told_together() {
        let content = vec![json!({ "type": "text", "text": "one" })];
        let (text, _) = ToolOutput { value: json!(1), content: Some(content), meta: None }.kept();
        let together = json!({ "content": [{ "type": "text", "text": "one" }], "structured": 1 });
        assert_eq!(Kept::of(&text).together().to_value(), together);
    }
}
