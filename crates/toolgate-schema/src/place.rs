//! What references mean in schemas that name their parts: by place, by anchor, or by an id of their own.

use std::collections::HashMap;

use serde_json::Value;

use crate::graph::percent_decoded;

/// What a reference leads to.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    /// A schema, and the whole that references within it are read from.
    Schema(&'a Value, &'a Value),
    /// A place of this document where no schema is.
    Nothing,
    /// Somewhere else.
    Elsewhere,
}

/// The named parts of a schema.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    root: &'a Value,
    ids: HashMap<&'a str, &'a Value>,
    /// By the end of an id, with the whole of it.
    ends: HashMap<&'a str, (&'a str, &'a Value)>,
    /// By name, with the whole each belongs to.
    anchors: HashMap<&'a str, Vec<(&'a Value, &'a Value)>>,
}

impl<'a> Places<'a> {
    /// Walks a schema whose bounds were checked.
    pub(crate) fn of(root: &'a Value) -> Self {
        let mut places = Self { root, ids: HashMap::new(), ends: HashMap::new(), anchors: HashMap::new() };
        let mut rest = vec![(root, root)];
        while let Some((value, whole)) = rest.pop() {
            match value {
                Value::Array(items) => rest.extend(items.iter().map(|item| (item, whole))),
                Value::Object(keywords) => {
                    let whole = if own_id(value).is_some() { value } else { whole };
                    places.name(value, whole);
                    let held = keywords.iter().filter(|(keyword, _)| !holds_values(keyword));
                    rest.extend(held.map(|(_, held)| (held, whole)));
                }
                _ => {}
            }
        }
        places
    }

    fn name(&mut self, value: &'a Value, whole: &'a Value) {
        for keyword in ["$id", "id"] {
            let Some(id) = value.get(keyword).and_then(Value::as_str) else { continue };
            match id.strip_prefix('#') {
                // Before `$anchor` there were ids of this form.
                Some(anchor) => {
                    self.anchors.entry(anchor).or_default().push((value, whole));
                }
                None => {
                    let id = id.trim_end_matches('#');
                    self.ids.entry(id).or_insert(value);
                    self.ends.entry(end_of(id)).or_insert((id, value));
                }
            }
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(anchor) = value.get(keyword).and_then(Value::as_str) {
                self.anchors.entry(anchor).or_default().push((value, whole));
            }
        }
    }

    /// Whether a `$dynamicRef` or `$recursiveRef` may mean something else each time: what it names is in more than one
    /// of the schemas that were put together here. Else it means what a `$ref` would.
    pub(crate) fn varies(&self, reference: &str, whole: &'a Value) -> bool {
        match reference.split_once('#') {
            Some((_, name)) if !name.is_empty() && !name.starts_with('/') => {
                self.anchors.get(name).is_some_and(|anchors| anchors.len() > 1)
            }
            _ => !std::ptr::eq(whole, self.root),
        }
    }

    /// What a reference within `whole` leads to.
    pub(crate) fn target(&self, reference: &str, whole: &'a Value) -> Target<'a> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let wholes = match address {
            // Servers that put schemas together forget that an id moves the start of what is within.
            "" => [whole, self.root],
            address => match self.by_id(address) {
                Some(whole) => [whole, whole],
                // Counted upwards from where it stands, as one library can write them and none reads them.
                None if address.starts_with(|c: char| c.is_ascii_digit()) && !address.contains(':') => {
                    return Target::Nothing;
                }
                None => return Target::Elsewhere,
            },
        };
        let found = wholes.into_iter().find_map(|whole| self.within(whole, fragment));
        found.map_or(Target::Nothing, |(schema, whole)| Target::Schema(schema, whole))
    }

    fn by_id(&self, address: &str) -> Option<&'a Value> {
        self.ids.get(address).copied().or_else(|| {
            // An id is read from the one around it: `node` may be `https://example.com/node`.
            let (id, value) = self.ends.get(end_of(address))?;
            (!id.contains("://") || !address.contains("://")).then_some(*value)
        })
    }

    fn within(&self, whole: &'a Value, fragment: &str) -> Option<(&'a Value, &'a Value)> {
        let fragment = percent_decoded(fragment)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let anchors = self.anchors.get(fragment.as_str())?;
            let own = anchors.iter().find(|(_, of)| std::ptr::eq(*of, whole));
            return own.or(anchors.first()).copied();
        }
        let schema = whole.pointer(&fragment).filter(|found| crate::keyword::is_schema(found))?;
        Some((schema, if own_id(schema).is_some() { schema } else { whole }))
    }
}

/// The id a schema has, if it is one that moves the start of the references within.
pub(crate) fn own_id(schema: &Value) -> Option<&str> {
    let id = schema.get("$id").or_else(|| schema.get("id"))?.as_str()?;
    (!id.starts_with('#')).then_some(id)
}

fn end_of(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(_, end)| end)
}

/// Keywords that hold values, in which nothing is a schema.
pub(crate) fn holds_values(keyword: &str) -> bool {
    matches!(keyword, "const" | "enum" | "default" | "examples")
}
