//! Schemas that were written by others, put into the form that is checked here.
//!
//! Nobody here can change what another's server says of its tools, and the server checks its own input. So a schema of
//! any dialect is read for what it means and written anew in 2020-12, with every reference by place; what can't be run
//! or makes no sense is left out and noted. What is left out makes the copy let more through, never less.

mod held;
mod keywords;

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::check::Role;
use crate::error::SchemaError;
use crate::names::ForbiddenName;
use crate::pattern::Patterns;
use crate::place::{Places, Target, own_id};
use crate::shown;

/// The most notes on one schema.
const MOST_NOTES: usize = 8;

/// A schema in the form that is checked here.
#[derive(Debug)]
pub(crate) struct Mended {
    pub(crate) schema: Value,
    /// What a reviewer should know, each as a part of a sentence that begins with the schema.
    pub(crate) notes: Vec<String>,
}

type Keywords = Map<String, Value>;

/// Puts a schema whose bounds were checked into the form that is checked here.
///
/// # Errors
/// When a reference leaves it, it has too many regular expressions, or it is an input's and no object's.
pub(crate) fn mended(schema: &Value, role: Role) -> Result<Mended, SchemaError> {
    let mut mender = Mender {
        root: schema,
        places: Places::of(schema),
        older: false,
        targets: Vec::new(),
        numbers: HashMap::new(),
        patterns: Patterns::default(),
        unfit: HashSet::new(),
        known: Softened::default(),
        found: Softened::default(),
        path: Vec::new(),
        names: BTreeSet::new(),
        notes: Vec::new(),
    };
    // What is left out in one place changes what can be said in another, and what is referred to has to be known before
    // it is written where it stands. Each round knows more than the one before.
    let (mut whole, definitions) = loop {
        let targets = mender.targets.len();
        let written = mender.write_all()?;
        if !mender.learn() && targets == mender.targets.len() {
            break written;
        }
    };
    if role == Role::Input {
        whole = as_object(whole)?;
    }
    if let Value::Object(keywords) = &mut whole
        && !definitions.is_empty()
    {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    mender.note_names();
    Ok(Mended { schema: whole, notes: mender.notes })
}

/// Arguments are an object, whether the schema says so or not.
fn as_object(schema: Value) -> Result<Value, SchemaError> {
    let Value::Object(mut keywords) = schema else { return Err(SchemaError::InputNotObject) };
    let object = Value::from("object");
    match keywords.get("type") {
        None => {}
        Some(Value::Array(types)) if types.contains(&object) => {}
        Some(named) if *named == object => {}
        Some(_) => return Err(SchemaError::InputNotObject),
    }
    keywords.insert("type".to_owned(), object);
    Ok(Value::Object(keywords))
}

/// What was left out of a schema, anywhere.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Softened {
    /// Something that would have refused values. Where such a part decides by not holding, it can't be asked.
    loose: bool,
    /// Something that speaks of parts of a value. What no keyword speaks of can't be told any more.
    open: bool,
}

/// Something that references lead to.
struct Referred<'a> {
    schema: &'a Value,
    /// What references within it are read from.
    within: &'a Value,
    path: Vec<String>,
}

struct Mender<'a> {
    root: &'a Value,
    places: Places<'a>,
    /// Whether the dialect is one in which nothing counts beside a reference.
    older: bool,
    targets: Vec<Referred<'a>>,
    /// The place of each among the targets, by its address.
    numbers: HashMap<usize, usize>,
    patterns: Patterns,
    unfit: HashSet<&'a str>,
    /// What the rounds before found out.
    known: Softened,
    /// What this round finds out.
    found: Softened,
    path: Vec<String>,
    names: BTreeSet<(&'static str, &'a str)>,
    notes: Vec<String>,
}

impl<'a> Mender<'a> {
    /// Writes the whole schema, and everything that is referred to.
    fn write_all(&mut self) -> Result<(Value, Keywords), SchemaError> {
        self.notes.clear();
        self.read_dialect();
        let (whole, _) = self.write(self.root, self.root)?;
        let mut definitions = Map::new();
        let mut next = 0;
        while let Some(Referred { schema, within, path }) = self.targets.get_mut(next) {
            let (schema, within) = (*schema, *within);
            self.path.clone_from(path);
            if !std::ptr::eq(schema, self.root) {
                definitions.insert(format!("r{next}"), self.write(schema, within)?.0);
            }
            next += 1;
        }
        self.path.clear();
        Ok((whole, definitions))
    }

    /// Keeps what this round found out; whether it is more than was known.
    fn learn(&mut self) -> bool {
        let (before, found) = (self.known, std::mem::take(&mut self.found));
        self.known = Softened { loose: before.loose || found.loose, open: before.open || found.open };
        self.known != before
    }

    fn read_dialect(&mut self) {
        let Some(named) = self.root.get("$schema").filter(|named| !named.is_null()) else { return };
        let bare = named.as_str().map(|uri| uri.trim_end_matches(['#', '/']));
        let bare = bare.and_then(|uri| uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://")));
        match bare.and_then(|uri| uri.strip_prefix("json-schema.org/")) {
            Some("draft-04/schema" | "draft-06/schema" | "draft-07/schema") => self.older = true,
            Some("draft/2019-09/schema" | "draft/2020-12/schema" | "schema") => {}
            _ => self
                .note("names a dialect that is not known here: it is read as JSON Schema 2020-12".to_owned()),
        }
    }

    /// A schema where it stands: itself, or a reference if others refer to it too.
    fn write_here(&mut self, schema: &'a Value, within: &'a Value) -> Result<(Value, bool), SchemaError> {
        match self.numbers.get(&address(schema)) {
            Some(number) => Ok((self.reference_to(*number), self.known.loose)),
            None => self.write(schema, within),
        }
    }

    /// What a reference leads to, by place; none for one that leads nowhere.
    fn follow(&mut self, reference: &str, within: &'a Value) -> Result<Option<Value>, SchemaError> {
        let (schema, within) = match self.places.target(reference, within) {
            Target::Schema(schema, within) => (schema, within),
            Target::Nothing => return Ok(None),
            Target::Elsewhere => return Err(SchemaError::RemoteRef { path: self.shown_path() }),
        };
        let number = match self.numbers.get(&address(schema)) {
            Some(number) => *number,
            None => {
                let number = self.targets.len();
                let fragment = reference.split_once('#').map_or(reference, |(_, fragment)| fragment);
                let path = fragment.split('/').filter(|segment| !segment.is_empty());
                let path = path.map(|segment| shown::schema_key(segment).to_owned()).collect();
                self.targets.push(Referred { schema, within, path });
                self.numbers.insert(address(schema), number);
                number
            }
        };
        Ok(Some(self.reference_to(number)))
    }

    fn reference_to(&self, number: usize) -> Value {
        match self.targets.get(number) {
            Some(target) if !std::ptr::eq(target.schema, self.root) => {
                json!({ "$ref": format!("#/$defs/r{number}") })
            }
            _ => json!({ "$ref": "#" }),
        }
    }

    fn note_names(&mut self) {
        for (reason, name) in std::mem::take(&mut self.names) {
            self.note(format!("names `{}`{reason}", shown::name(name)));
        }
    }

    fn note(&mut self, note: String) {
        match self.notes.len() {
            MOST_NOTES => self.notes.push("has more of the kind".to_owned()),
            seen if seen < MOST_NOTES => self.notes.push(note),
            _ => {}
        }
    }

    fn shown_path(&self) -> String {
        shown::pointer(self.path.iter().map(String::as_str))
    }
}

/// How a note on a name ends.
fn reason(kind: ForbiddenName) -> &'static str {
    match kind {
        ForbiddenName::Connection => ", a connection of the server's own and none of this gate",
        ForbiddenName::Secret => {
            ", which looks like a secret: what is there is recorded like everything else"
        }
    }
}

fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}
