//! What strikes a careful reader in an offer. Nothing here decides: a reviewer does, and should see these first.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgate_core::upstream::Offer;

use crate::clean::{described, hides};

/// What a reviewer should look at, each as one sentence.
#[must_use]
pub fn warnings(offer: &Offer) -> Vec<String> {
    let mut texts = vec![(offer.description.as_str(), "its description")];
    texts.extend(offer.title.as_deref().map(|title| (title, "its title")));
    let mut found = BTreeSet::new();
    collect(&offer.input_schema, "its input schema", &mut texts);
    if let Some(schema) = &offer.output_schema {
        collect(schema, "its output schema", &mut texts);
    }
    for value in offer.annotations.values() {
        collect(value, "its annotations", &mut texts);
    }
    for (text, place) in &texts {
        for what in read(text) {
            found.insert(format!("{place} {what}"));
        }
    }
    if !offer.name.chars().all(|c| c.is_ascii_graphic()) {
        found.insert("its name has characters that can pass for others".to_owned());
    }
    for name in parameters(&offer.input_schema) {
        let plain: String = name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
        if CONFIDENCES.contains(&plain.as_str()) {
            found.insert(format!("its input `{}` asks for what a model knows beside the task", shown(&name)));
        }
        if SECRETS.iter().any(|secret| plain.contains(&secret.replace(' ', ""))) {
            found.insert(format!("its input `{}` asks for a secret", shown(&name)));
        }
    }
    found.into_iter().collect()
}

/// Phrases that speak to a model, not to a reader.
const ORDERS: &[&str] = &[
    "ignore previous",
    "ignore all previous",
    "ignore the previous",
    "ignore any previous",
    "disregard",
    "previous instructions",
    "do not tell",
    "don't tell",
    "do not mention",
    "don't mention",
    "do not inform",
    "without telling",
    "without informing",
    "without asking",
    "keep this secret",
    "never reveal",
    "system prompt",
    "you must first",
    "you must always",
    "always call",
    "always use this",
    "highest priority",
    "overrides all",
    "override",
    "the user must not",
    "the user has already",
    "has already been approved",
    "no confirmation",
];

/// Phrases about what else a model could call.
const OTHERS: &[&str] = &[
    "other tool",
    "another tool",
    "any tool",
    "all tools",
    "every tool",
    "instead of the",
    "before using any",
    "before calling any",
    "before any",
    "after calling",
    "when using the",
    "mcp__",
];

/// What nobody's tool has to speak of.
const SECRETS: &[&str] = &[
    "password",
    "passphrase",
    "api key",
    "apikey",
    "secret key",
    "private key",
    "access token",
    "refresh token",
    "bearer token",
    "credential",
    "id_rsa",
    ".ssh",
    ".env",
    ".aws",
    "mcp.json",
    "/etc/passwd",
    "cookie",
];

/// Inputs through which a conversation leaks.
const CONFIDENCES: &[&str] = &[
    "sidenote",
    "conversation",
    "conversationhistory",
    "chathistory",
    "messagehistory",
    "systemprompt",
    "chainofthought",
    "reasoning",
    "toolslist",
    "availabletools",
    "modelname",
];

fn read(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if has_hidden(text) {
        found.push("holds characters that are not seen".to_owned());
    }
    let plain = text.to_lowercase();
    if has_tag(text) {
        found.push("holds markup such as `<IMPORTANT>`, which speaks to a model".to_owned());
    }
    let any = |phrases: &[&'static str]| phrases.iter().find(|phrase| plain.contains(*phrase)).copied();
    if let Some(phrase) = any(ORDERS) {
        found.push(format!("gives orders to a model: `{phrase}`"));
    }
    if let Some(phrase) = any(OTHERS) {
        found.push(format!("speaks of other tools: `{phrase}`"));
    }
    if let Some(phrase) = any(SECRETS) {
        found.push(format!("speaks of secrets: `{phrase}`"));
    }
    if let Some(at) = plain.find("http://").or_else(|| plain.find("https://")) {
        let url: String =
            plain[at..].chars().take_while(|c| !c.is_whitespace() && !"\"'`<>)".contains(*c)).collect();
        found.push(format!("holds an address: `{}`", shown(&url)));
    }
    found
}

/// Hidden characters, as they came or as [`described`](crate::clean::described) wrote them.
fn has_hidden(text: &str) -> bool {
    let written = |text: &str| text.matches("\\u{").count();
    text.chars().any(hides) && written(&described(text)) > written(text)
        || text.match_indices("\\u{").any(|(at, _)| {
            let rest = &text[at + 3..];
            let code = rest.split('}').next().and_then(|hex| u32::from_str_radix(hex, 16).ok());
            code.and_then(char::from_u32).is_some_and(hides)
        })
}

/// An opening tag of two or more capitals, or one of the words that prompts are built with.
fn has_tag(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let name: String =
            text[at + 1..].chars().take_while(|c| c.is_ascii_alphabetic() || *c == '_').collect();
        let closed = text[at + 1 + name.len()..].starts_with(['>', ' ', '/']);
        let loud = name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let known =
            ["important", "system", "instructions", "instruction", "secret", "critical", "assistant", "user"];
        closed && (loud || known.contains(&name.to_ascii_lowercase().as_str()))
    })
}

/// All strings of a value, keys too.
fn collect<'a>(value: &'a Value, place: &'static str, texts: &mut Vec<(&'a str, &'static str)>) {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) => texts.push((text, place)),
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => {
                for (key, field) in fields {
                    // Where a schema says what it is written in is no address to go to.
                    if !matches!(key.as_str(), "$schema" | "$id" | "$ref") {
                        texts.push((key, place));
                        rest.push(field);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The names of all inputs, nested ones too.
fn parameters(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::Object(properties)) = fields.get("properties") {
                    names.extend(properties.keys().cloned());
                }
                rest.extend(fields.values());
            }
            Value::Array(items) => rest.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    names
}

fn shown(text: &str) -> String {
    crate::clean::quoted(text, 80)
}

#[cfg(test)]
#[path = "suspicion_tests.rs"]
mod tests;
