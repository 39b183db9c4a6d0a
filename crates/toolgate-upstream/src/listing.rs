//! A server's tools, read page by page and cut to what a reviewer can be asked to look at.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use toolgate_core::id::Slug;
use toolgate_core::upstream::{Offer, tool_id};

use crate::clean::{described, quoted};
use crate::task::is_only_task;

const MOST_TOOLS: usize = 1_000;
const MOST_PAGES: usize = 100;
const LONGEST_NAME: usize = 256;
const LONGEST_TITLE: usize = 1_024;
const LONGEST_DESCRIPTION: usize = 16 * 1024;
const LARGEST_SCHEMA: usize = 256 * 1024;
const LARGEST_ANNOTATIONS: usize = 4 * 1024;
const LARGEST_LISTING: usize = 8 * 1024 * 1024;
const LONGEST_CURSOR: usize = 4 * 1024;
/// A server with a thousand faults needs no thousand sentences.
const MOST_PROBLEMS: usize = 50;

/// Gathers the pages of one listing.
pub(crate) struct Gathered {
    server: Slug,
    offers: Vec<Offer>,
    problems: Vec<String>,
    places: HashMap<String, usize>,
    twice: HashSet<String>,
    cursors: HashSet<String>,
    bytes: usize,
    pages: usize,
    /// Tools that are run only as tasks.
    tasks: HashSet<String>,
}

impl Gathered {
    pub(crate) fn new(server: &Slug) -> Self {
        Self {
            server: server.clone(),
            offers: Vec::new(),
            problems: Vec::new(),
            places: HashMap::new(),
            twice: HashSet::new(),
            cursors: HashSet::new(),
            bytes: 0,
            pages: 0,
            tasks: HashSet::new(),
        }
    }

    /// Takes a page; answers the cursor of the next one, if there is one to be asked for.
    pub(crate) fn page(&mut self, tools: Vec<Value>, cursor: Option<String>) -> Option<String> {
        self.pages += 1;
        for tool in tools {
            let as_task = is_only_task(&tool);
            if self.offers.len() >= MOST_TOOLS {
                self.stop(format!("it has more than {MOST_TOOLS} tools; the rest is left out"));
                return None;
            }
            match self.offer(tool) {
                Ok((offer, bytes)) => {
                    self.bytes += bytes;
                    if self.bytes > LARGEST_LISTING {
                        self.stop(format!(
                            "its tools take more than {LARGEST_LISTING} bytes; the rest is left out"
                        ));
                        return None;
                    }
                    if as_task {
                        self.tasks.insert(offer.name.clone());
                    }
                    self.keep(offer);
                }
                Err(problem) => self.problem(problem),
            }
        }
        let cursor = cursor?;
        if cursor.len() > LONGEST_CURSOR || !self.cursors.insert(cursor.clone()) {
            self.stop("it goes around in circles; the rest is left out".to_owned());
            return None;
        }
        if self.pages >= MOST_PAGES {
            self.stop(format!("it has more than {MOST_PAGES} pages; the rest is left out"));
            return None;
        }
        Some(cursor)
    }

    /// Which tools their server runs only as tasks. How a tool is run is between the server and us: nothing of it is shown
    /// or reviewed, so it is no part of an offer.
    pub(crate) fn take_tasks(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.tasks)
    }

    /// What was gathered: tools in the order they came, and what is wrong.
    pub(crate) fn finish(mut self) -> (Vec<Offer>, Vec<String>) {
        let twice = std::mem::take(&mut self.twice);
        // Which of two tools with one name would answer a call, nobody could say.
        self.offers.retain(|offer| !twice.contains(&offer.name));
        let mut twice: Vec<_> = twice.into_iter().collect();
        twice.sort_unstable();
        for name in twice {
            self.problem(format!("it has more than one `{}`; all of them are left out", quoted(&name, 80)));
        }
        (self.offers, self.problems)
    }

    fn keep(&mut self, offer: Offer) {
        match self.places.get(&offer.name) {
            // The same once more says nothing new.
            Some(place) if self.offers[*place] == offer => {}
            Some(_) => {
                self.twice.insert(offer.name);
            }
            None => {
                self.places.insert(offer.name.clone(), self.offers.len());
                self.offers.push(offer);
            }
        }
    }

    fn stop(&mut self, problem: String) {
        self.problems.push(problem);
    }

    fn problem(&mut self, problem: String) {
        match self.problems.len() {
            MOST_PROBLEMS => self.problems.push("there are more faults; they are left out".to_owned()),
            seen if seen < MOST_PROBLEMS => self.problems.push(problem),
            _ => {}
        }
    }

    fn offer(&self, tool: Value) -> Result<(Offer, usize), String> {
        let Value::Object(mut tool) = tool else {
            return Err("one of its tools is not described by an object; it is left out".to_owned());
        };
        let name = match tool.remove("name") {
            Some(Value::String(name)) if !name.is_empty() => name,
            _ => return Err("one of its tools has no name; it is left out".to_owned()),
        };
        let shown = quoted(&name, 80);
        let left_out = |why: String| Err(format!("`{shown}` {why}; it is left out"));
        if name.len() > LONGEST_NAME {
            return left_out(format!("has a name longer than {LONGEST_NAME} bytes"));
        }
        if described(&name) != name || name.trim() != name || name.contains(['\n', '\t']) {
            return left_out("has a name with characters that are not seen".to_owned());
        }
        if tool_id(&self.server, &name).is_none() {
            return left_out("can't be given an id here".to_owned());
        }
        let (description, title) = (text(&mut tool, "description"), text(&mut tool, "title"));
        if description.as_ref().is_some_and(|text| text.len() > LONGEST_DESCRIPTION) {
            return left_out(format!("has a description longer than {LONGEST_DESCRIPTION} bytes"));
        }
        if title.as_ref().is_some_and(|text| text.len() > LONGEST_TITLE) {
            return left_out(format!("has a title longer than {LONGEST_TITLE} bytes"));
        }
        let input = match tool.remove("inputSchema") {
            Some(schema @ Value::Object(_)) => schema,
            Some(_) => return left_out("has an input schema that is no object".to_owned()),
            None => return left_out("has no input schema".to_owned()),
        };
        let output = match tool.remove("outputSchema") {
            None | Some(Value::Null) => None,
            Some(schema @ (Value::Object(_) | Value::Bool(_))) => Some(schema),
            Some(_) => return left_out("has an output schema that is none".to_owned()),
        };
        let annotations = match tool.remove("annotations") {
            Some(Value::Object(annotations)) => annotations,
            _ => Map::new(),
        };
        let mut bytes = name.len() + description.as_ref().map_or(0, String::len);
        for schema in [Some(&input), output.as_ref()].into_iter().flatten() {
            let size = size_of(schema);
            if size > LARGEST_SCHEMA {
                return left_out(format!("has a schema larger than {LARGEST_SCHEMA} bytes"));
            }
            bytes += size;
        }
        let annotations = Value::Object(annotations);
        let Value::Object(annotations) = (if size_of(&annotations) > LARGEST_ANNOTATIONS {
            Value::Object(Map::new())
        } else {
            readable(annotations, Words::All)
        }) else {
            return left_out("has annotations that can't be read".to_owned());
        };
        let offer = Offer {
            name,
            title: title.map(|text| described(&text)),
            description: described(&description.unwrap_or_default()),
            input_schema: readable(input, Words::Notes),
            output_schema: output.map(|schema| readable(schema, Words::Notes)),
            annotations,
        };
        Ok((offer, bytes))
    }
}

fn text(tool: &mut Map<String, Value>, key: &str) -> Option<String> {
    match tool.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// How large a value is as text, without making the text.
fn size_of(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Writing to a counter can't fail, and a value always has a JSON form.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[derive(Clone, Copy, PartialEq)]
enum Words {
    /// Every string.
    All,
    /// Only what a schema says to its readers; what it demands of values stays as it is.
    Notes,
}

/// Makes what a model or reviewer reads in a value visible. It came through the JSON parser, so it is not deep.
fn readable(value: Value, words: Words) -> Value {
    match value {
        Value::String(text) if words == Words::All => Value::String(described(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| readable(item, words)).collect()),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, field)| {
                    let field = match (key.as_str(), field) {
                        ("title" | "description" | "$comment", Value::String(text)) => {
                            Value::String(described(&text))
                        }
                        ("const" | "enum" | "default" | "examples", field) if words == Words::Notes => field,
                        (_, field) => readable(field, words),
                    };
                    (key, field)
                })
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
