//! Where in a tool's input a file is named: the places whose schema says `"format": "file"`.
//!
//! The places are found once, when the tool is bound, so that a tool without any pays nothing on a call, and one with
//! some is walked only where they can be.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use crate::accept::Accept;
use crate::id::FileId;

/// A string that stands where a file is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// A JSON pointer to it.
    pub path: String,
    /// The file; none where the text is no id.
    pub id: Option<FileId>,
    /// Of which kinds it has to be: of one of each.
    pub accept: Vec<Accept>,
}

/// The places of one schema.
#[derive(Debug, Clone, Default)]
pub struct FilePlaces {
    places: Vec<Place>,
}

/// Whether what a schema says of a place holds whatever the value is. Under `anyOf` and its like, a text that is no id
/// may be meant otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    Perhaps,
    Surely,
}

#[derive(Debug, Clone, Default)]
struct Place {
    is_file: bool,
    accept: Option<Accept>,
    properties: HashMap<String, usize>,
    /// Properties that `rest` does not speak of.
    declared: Vec<String>,
    rest: Vec<(usize, Certainty)>,
    first_items: Vec<usize>,
    items: Vec<(usize, Certainty)>,
    /// Schemas that speak of the same value.
    same: Vec<(usize, Certainty)>,
}

impl FilePlaces {
    /// The places of an input schema.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        if !mentions_files(schema) {
            return Self::default();
        }
        let mut finder = Finder { root: schema, places: Vec::new(), known: HashMap::new(), todo: Vec::new() };
        finder.place(schema);
        // Not by recursion: references can lead further than the stack.
        while let Some((number, keywords)) = finder.todo.pop() {
            finder.places[number] = finder.describe(keywords);
        }
        finder.prune();
        Self { places: finder.places }
    }

    /// Whether no file is ever named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Every text in `input` that stands where a file is named, in the order of the input. The input is within bounds.
    #[must_use]
    pub fn named(&self, input: &Value) -> Vec<NamedFile> {
        let mut found = Vec::new();
        if !self.is_empty() {
            self.walk(input, &mut String::new(), &[(0, Certainty::Surely)], &mut found);
        }
        found
    }

    fn walk(
        &self,
        value: &Value,
        path: &mut String,
        places: &[(usize, Certainty)],
        found: &mut Vec<NamedFile>,
    ) {
        let places = self.all_of(places);
        match value {
            Value::String(text) => {
                let files = places.iter().filter(|(place, _)| self.places[**place].is_file);
                let Some(certainty) = files.map(|(_, certainty)| *certainty).max() else { return };
                let id = text.parse().ok();
                if id.is_some() || certainty == Certainty::Surely {
                    found.push(NamedFile { path: path.clone(), id, accept: self.accepted(&places) });
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let below: Vec<_> = self.of_field(&places, name);
                    let step = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.step(field, path, &step, &below, found);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let below: Vec<_> = self.of_item(&places, at);
                    self.step(item, path, &format!("/{at}"), &below, found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn step(
        &self,
        value: &Value,
        path: &mut String,
        step: &str,
        below: &[(usize, Certainty)],
        found: &mut Vec<NamedFile>,
    ) {
        if below.is_empty() {
            return;
        }
        let length = path.len();
        path.push_str(step);
        self.walk(value, path, below, found);
        path.truncate(length);
    }

    /// What a file at these places has to be: all that is surely meant, and one of what is perhaps.
    fn accepted(&self, places: &BTreeMap<usize, Certainty>) -> Vec<Accept> {
        let of = |wanted: Certainty| {
            let files = places.iter().map(|(place, certainty)| (&self.places[*place], *certainty));
            files.filter(move |(place, certainty)| place.is_file && *certainty == wanted)
        };
        let mut accept: Vec<Accept> =
            of(Certainty::Surely).filter_map(|(place, _)| place.accept.clone()).collect();
        // One of several that takes any file is enough.
        if of(Certainty::Perhaps).all(|(place, _)| place.accept.is_some()) {
            let perhaps = of(Certainty::Perhaps).filter_map(|(place, _)| place.accept.as_ref());
            accept.extend(Accept::any_of(perhaps));
        }
        accept
    }

    /// These places and all that speak of the same value, each once: references may go in circles.
    fn all_of(&self, places: &[(usize, Certainty)]) -> BTreeMap<usize, Certainty> {
        let mut all = BTreeMap::new();
        let mut rest = places.to_vec();
        while let Some((place, certainty)) = rest.pop() {
            if all.get(&place).is_some_and(|known| *known >= certainty) {
                continue;
            }
            all.insert(place, certainty);
            rest.extend(self.places[place].same.iter().map(|(other, own)| (*other, certainty.min(*own))));
        }
        all
    }

    fn of_field(&self, places: &BTreeMap<usize, Certainty>, name: &str) -> Vec<(usize, Certainty)> {
        let mut below = Vec::new();
        for (place, certainty) in places {
            let place = &self.places[*place];
            if let Some(property) = place.properties.get(name) {
                below.push((*property, *certainty));
            } else if !place.declared.iter().any(|declared| declared == name) {
                below.extend(place.rest.iter().map(|(rest, own)| (*rest, (*certainty).min(*own))));
            }
        }
        below
    }

    fn of_item(&self, places: &BTreeMap<usize, Certainty>, at: usize) -> Vec<(usize, Certainty)> {
        let mut below = Vec::new();
        for (place, certainty) in places {
            let place = &self.places[*place];
            match place.first_items.get(at) {
                Some(item) => below.push((*item, *certainty)),
                None => below.extend(place.items.iter().map(|(item, own)| (*item, (*certainty).min(*own)))),
            }
        }
        below
    }
}

fn mentions_files(schema: &Value) -> bool {
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                if fields.get("format").is_some_and(|format| format == "file") {
                    return true;
                }
                rest.extend(fields.values());
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    false
}

/// Goes through a schema that was registered, and so is small, shallow and refers only to itself.
struct Finder<'a> {
    root: &'a Value,
    places: Vec<Place>,
    known: HashMap<*const Value, usize>,
    todo: Vec<(usize, &'a Map<String, Value>)>,
}

impl<'a> Finder<'a> {
    /// The place a schema describes; found once however often it is referred to.
    fn place(&mut self, schema: &'a Value) -> usize {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        let number = self.places.len();
        self.known.insert(std::ptr::from_ref(schema), number);
        self.places.push(Place::default());
        if let Value::Object(keywords) = schema {
            self.todo.push((number, keywords));
        }
        number
    }

    fn describe(&mut self, keywords: &'a Map<String, Value>) -> Place {
        use Certainty::{Perhaps, Surely};
        let mut place = Place {
            is_file: keywords.get("format").is_some_and(|format| format == "file"),
            accept: keywords.get("x-accept").and_then(Accept::of),
            ..Place::default()
        };
        for (name, property) in object(keywords.get("properties")) {
            place.declared.push(name.clone());
            let property = self.place(property);
            place.properties.insert(name.clone(), property);
        }
        let mut rest = Surely;
        for (_, property) in object(keywords.get("patternProperties")) {
            rest = Perhaps;
            place.rest.push((self.place(property), Perhaps));
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if let Some(schema) = keywords.get(keyword) {
                place.rest.push((self.place(schema), rest));
            }
        }
        // Draft-07 writes the first items as an array of `items`.
        let first = keywords.get("prefixItems").or_else(|| keywords.get("items")).and_then(Value::as_array);
        for item in first.into_iter().flatten() {
            let item = self.place(item);
            place.first_items.push(item);
        }
        for (keyword, certainty) in [
            ("items", Surely),
            ("additionalItems", Perhaps),
            ("unevaluatedItems", Perhaps),
            ("contains", Perhaps),
        ] {
            if let Some(schema @ Value::Object(_)) = keywords.get(keyword) {
                place.items.push((self.place(schema), certainty));
            }
        }
        for (keyword, certainty) in [("allOf", Surely), ("anyOf", Perhaps), ("oneOf", Perhaps)] {
            for schema in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                place.same.push((self.place(schema), certainty));
            }
        }
        for keyword in ["if", "then", "else"] {
            if let Some(schema) = keywords.get(keyword) {
                place.same.push((self.place(schema), Perhaps));
            }
        }
        for (_, schema) in object(keywords.get("dependentSchemas")) {
            place.same.push((self.place(schema), Perhaps));
        }
        for keyword in ["$ref", "$dynamicRef"] {
            let target = keywords.get(keyword).and_then(Value::as_str).and_then(|target| self.target(target));
            if let Some(schema) = target {
                place.same.push((self.place(schema), Surely));
            }
        }
        place
    }

    /// What a reference within the schema leads to.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&unescaped(fragment));
        }
        let mut rest = vec![self.root];
        while let Some(value) = rest.pop() {
            match value {
                Value::Object(fields) => {
                    let named = |key: &str| fields.get(key).and_then(Value::as_str) == Some(fragment);
                    if named("$anchor") || named("$dynamicAnchor") {
                        return Some(value);
                    }
                    rest.extend(fields.values());
                }
                Value::Array(items) => rest.extend(items),
                _ => {}
            }
        }
        None
    }

    /// Cuts off what does not lead to a file.
    fn prune(&mut self) {
        let mut leads: Vec<bool> = self.places.iter().map(|place| place.is_file).collect();
        loop {
            let mut changed = false;
            for (number, place) in self.places.iter().enumerate() {
                let mut next = (place.properties.values())
                    .chain(&place.first_items)
                    .chain(place.rest.iter().chain(&place.items).chain(&place.same).map(|(other, _)| other));
                if !leads[number] && next.any(|other| leads[*other]) {
                    (leads[number], changed) = (true, true);
                }
            }
            if !changed {
                break;
            }
        }
        for place in &mut self.places {
            place.properties.retain(|_, other| leads[*other]);
            for edges in [&mut place.rest, &mut place.items, &mut place.same] {
                edges.retain(|(other, _)| leads[*other]);
            }
            // The first items keep their places, whether they lead anywhere or not.
        }
    }
}

fn object(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

/// A pointer as it stands in an address, where anything may be written as `%xx`.
fn unescaped(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &more[2..];
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
#[path = "file_place_tests.rs"]
mod tests;
