//! What is wrong with a value, in words that hold nothing of the value.
//!
//! Whether a value is valid is for the `jsonschema` crate to say. Its own account of why holds the value, copies it for
//! each alternative that was tried, and takes twice as long per level under schemas that describe a part twice. So the
//! reasons are looked for here, with a bound on the work. A reason that is not found is told as "does not match".

mod parts;

use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value};
use toolgate_core::port::validator::Violation;

use crate::assertion::{broken, is_of_type, same};
use crate::compile::Compiled;
use crate::graph::resolve;
use crate::shown;

/// The most reasons that are told.
pub(crate) const MOST_VIOLATIONS: usize = 8;
/// The most schemas that are tried while looking for reasons.
const MOST_VISITS: usize = 100_000;

/// Says what is wrong with a value that is not valid: at least one thing.
pub(crate) fn explain(compiled: &Compiled, value: &Value) -> Vec<Violation> {
    let mut explainer = Explainer {
        compiled,
        path: Vec::new(),
        found: Vec::new(),
        seen: HashMap::new(),
        remember: true,
        quiet: 0,
        visits: 0,
    };
    explainer.visit(&compiled.schema, value);
    if explainer.found.is_empty() {
        explainer.tell("does not match the schema".to_owned());
    }
    explainer.found
}

struct Explainer<'a> {
    compiled: &'a Compiled,
    /// Where in the value, as it may be shown.
    path: Vec<String>,
    found: Vec<Violation>,
    /// What came of a schema at a place of the value, so that no two are tried twice.
    seen: HashMap<(usize, usize), Seen>,
    /// Off while looking at a value that is made up here: its address means nothing.
    remember: bool,
    /// Above zero while finding out, rather than telling.
    quiet: usize,
    visits: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Holds,
    Broken,
    /// Broken, and the reason is told.
    Told,
}

type Keywords = Map<String, Value>;

impl<'a> Explainer<'a> {
    /// Whether the value holds against the schema, as far as is known here; if not, the reasons are told.
    fn visit(&mut self, schema: &'a Value, value: &Value) -> bool {
        if self.visits >= MOST_VISITS {
            return true;
        }
        self.visits += 1;
        let key = (std::ptr::from_ref(schema).addr(), std::ptr::from_ref(value).addr());
        if self.remember {
            match self.seen.get(&key) {
                Some(Seen::Holds) => return true,
                Some(Seen::Told) => return false,
                Some(Seen::Broken) if self.quiet > 0 => return false,
                Some(Seen::Broken) | None => {}
            }
        }
        let holds = match schema {
            Value::Bool(false) => self.tell("is not allowed".to_owned()),
            Value::Object(keywords) => self.visit_keywords(keywords, value),
            _ => true,
        };
        if self.remember && self.visits < MOST_VISITS {
            let seen = match (holds, self.quiet) {
                (true, _) => Seen::Holds,
                (false, 0) => Seen::Told,
                (false, _) => Seen::Broken,
            };
            self.seen.insert(key, seen);
        }
        holds
    }

    fn visit_keywords(&mut self, keywords: &'a Keywords, value: &Value) -> bool {
        // Draft-07 does not look at what stands beside a reference.
        if self.draft_07() && keywords.contains_key("$ref") {
            return self.visit_reference(keywords, value);
        }
        let mut holds = true;
        for (keyword, wanted) in keywords {
            if let Some(message) = broken(&self.compiled.checked, keyword, wanted, value) {
                holds = self.tell(message);
            } else {
                holds &= self.visit_keyword(keyword, wanted, keywords, value);
            }
            if !holds && self.enough() {
                return false;
            }
        }
        // Last, for it depends on all the others.
        holds && (self.draft_07() || self.visit_unevaluated(keywords, value))
    }

    fn visit_keyword(
        &mut self,
        keyword: &str,
        wanted: &'a Value,
        keywords: &'a Keywords,
        value: &Value,
    ) -> bool {
        match (keyword, wanted, value) {
            ("$ref", _, _) => self.visit_reference(keywords, value),
            ("allOf", Value::Array(schemas), _) => self.visit_each(schemas, value),
            ("anyOf", Value::Array(schemas), _) => self.visit_any(schemas, value),
            ("oneOf", Value::Array(schemas), _) => self.visit_one(schemas, value),
            ("not", schema, _) => {
                !self.holds(schema, value) || self.tell("must not match what the schema excludes".to_owned())
            }
            ("if", schema, _) => {
                let branch = if self.holds(schema, value) { "then" } else { "else" };
                keywords.get(branch).is_none_or(|schema| self.visit(schema, value))
            }
            (_, _, Value::Object(fields)) => self.visit_object(keyword, wanted, keywords, fields, value),
            (_, _, Value::Array(items)) => self.visit_array(keyword, wanted, keywords, items),
            _ => true,
        }
    }

    fn visit_reference(&mut self, keywords: &'a Keywords, value: &Value) -> bool {
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| resolve(&self.compiled.schema, reference));
        target.is_none_or(|schema| self.visit(schema, value))
    }

    fn visit_each(&mut self, schemas: &'a [Value], value: &Value) -> bool {
        let mut holds = true;
        for schema in schemas {
            holds &= self.visit(schema, value);
            if !holds && self.enough() {
                return false;
            }
        }
        holds
    }

    fn visit_any(&mut self, schemas: &'a [Value], value: &Value) -> bool {
        schemas.iter().any(|schema| self.holds(schema, value)) || self.tell_closest(schemas, value)
    }

    fn visit_one(&mut self, schemas: &'a [Value], value: &Value) -> bool {
        match schemas.iter().filter(|schema| self.holds(schema, value)).take(2).count() {
            0 => self.tell_closest(schemas, value),
            1 => true,
            _ => self.tell("matches more than one of the allowed forms".to_owned()),
        }
    }

    /// When just one form can be meant, what is wrong with that one; else that none fits.
    fn tell_closest(&mut self, schemas: &'a [Value], value: &Value) -> bool {
        if self.quiet > 0 {
            return false;
        }
        let root = &self.compiled.schema;
        let mut meant = schemas.iter().filter(|schema| can_be_meant(root, schema, value));
        if let (Some(schema), None) = (meant.next(), meant.next()) {
            let before = self.found.len();
            if !self.visit(schema, value) && self.found.len() > before {
                return false;
            }
        }
        self.tell("matches none of the allowed forms".to_owned())
    }

    fn visit_part(&mut self, name: &str, schema: &'a Value, part: &Value) -> bool {
        self.path.push(shown::name(name).to_owned());
        let holds = self.visit(schema, part);
        self.path.pop();
        holds
    }

    fn visit_item(&mut self, i: usize, schema: &'a Value, item: &Value) -> bool {
        self.path.push(i.to_string());
        let holds = self.visit(schema, item);
        self.path.pop();
        holds
    }

    /// Whether the value holds against the schema, without telling why not.
    fn holds(&mut self, schema: &'a Value, value: &Value) -> bool {
        self.quiet += 1;
        let holds = self.visit(schema, value);
        self.quiet -= 1;
        holds
    }

    /// Tells a reason, if this is the time; always false, for there is one.
    fn tell(&mut self, message: String) -> bool {
        if self.quiet == 0 && self.found.len() < MOST_VIOLATIONS {
            let path = shown::pointer(self.path.iter().map(String::as_str));
            self.found.push(Violation { path, message });
        }
        false
    }

    /// Whether more reasons would change nothing.
    fn enough(&self) -> bool {
        self.quiet > 0 || self.found.len() == MOST_VIOLATIONS
    }

    fn draft_07(&self) -> bool {
        self.compiled.checked.draft == Draft::Draft7
    }
}

/// Whether a form could be the one that was meant: the type fits, and so do the fields that tell forms apart.
fn can_be_meant(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut schema = schema;
    // As many references in a row as a schema may have, and no more.
    for _ in 0..crate::check::MAX_CHAIN {
        if schema.get("type").is_some_and(|wanted| !is_of_type(wanted, value)) {
            return false;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let told_apart = properties.into_iter().flatten().any(|(name, property)| {
            let wanted = property.get("const");
            wanted.is_some_and(|wanted| value.get(name).is_some_and(|given| !same(wanted, given)))
        });
        if told_apart {
            return false;
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        match reference.and_then(|reference| resolve(root, reference)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema != &Value::Bool(false)
}
