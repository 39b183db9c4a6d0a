//! What is wrong with a value, in words that hold nothing of the value.
//!
//! Whether a value is valid is for the `jsonschema` crate to say. Its own account of why holds the value, copies it for
//! each alternative that was tried, and takes twice as long per level under schemas that describe a part twice. So the
//! reasons are looked for here, with a bound on the work. A reason that is not found is told as "does not match".

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

    fn visit_object(
        &mut self,
        keyword: &str,
        wanted: &'a Value,
        keywords: &'a Keywords,
        fields: &Keywords,
        value: &Value,
    ) -> bool {
        let mut holds = true;
        match (keyword, wanted) {
            ("required", Value::Array(names)) => {
                for name in names.iter().filter_map(Value::as_str).filter(|name| !fields.contains_key(*name))
                {
                    holds = self.tell(format!("needs the field `{}`", shown::name(name)));
                    if self.enough() {
                        break;
                    }
                }
            }
            ("properties", Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    if let Some(field) = fields.get(name) {
                        holds &= self.visit_part(name, schema, field);
                    }
                    if !holds && self.enough() {
                        break;
                    }
                }
            }
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, schema) in schemas {
                    for (name, field) in fields {
                        if self.compiled.checked.patterns.matches(pattern, name) {
                            holds &= self.visit_part(name, schema, field);
                        }
                        if !holds && self.enough() {
                            return false;
                        }
                    }
                }
            }
            ("additionalProperties", schema) => {
                for (name, field) in fields {
                    if !self.is_named(keywords, name) {
                        holds &= self.visit_unnamed(name, schema, field);
                    }
                    if !holds && self.enough() {
                        break;
                    }
                }
            }
            ("propertyNames", schema) => {
                for name in fields.keys() {
                    let remember = std::mem::replace(&mut self.remember, false);
                    let allowed = self.holds(schema, &Value::String(name.clone()));
                    self.remember = remember;
                    if !allowed {
                        let name = shown::name(name);
                        holds = self.tell(format!("has a field whose name is not allowed: `{name}`"));
                        if self.enough() {
                            break;
                        }
                    }
                }
            }
            ("dependentRequired" | "dependentSchemas" | "dependencies", Value::Object(dependencies)) => {
                // Each dialect has its own.
                if (keyword == "dependencies") != self.draft_07() {
                    return true;
                }
                for (name, dependency) in dependencies.iter().filter(|(name, _)| fields.contains_key(*name)) {
                    holds &= match dependency {
                        Value::Array(names) => self.visit_dependents(name, names, fields),
                        schema => self.visit(schema, value),
                    };
                    if !holds && self.enough() {
                        break;
                    }
                }
            }
            _ => {}
        }
        holds
    }

    fn visit_dependents(&mut self, name: &str, dependents: &[Value], fields: &Keywords) -> bool {
        let missing = dependents.iter().filter_map(Value::as_str).find(|name| !fields.contains_key(*name));
        missing.is_none_or(|missing| {
            let (missing, name) = (shown::name(missing), shown::name(name));
            self.tell(format!("needs the field `{missing}` beside `{name}`"))
        })
    }

    /// A field that no name or pattern of the schema speaks of.
    fn visit_unnamed(&mut self, name: &str, schema: &'a Value, field: &Value) -> bool {
        if *schema == Value::Bool(false) {
            return self.tell(format!("has a field the schema does not name: `{}`", shown::name(name)));
        }
        self.visit_part(name, schema, field)
    }

    fn is_named(&self, keywords: &Keywords, name: &str) -> bool {
        let schemas = |keyword| keywords.get(keyword).and_then(Value::as_object);
        schemas("properties").is_some_and(|schemas| schemas.contains_key(name))
            || schemas("patternProperties").is_some_and(|schemas| {
                schemas.keys().any(|pattern| self.compiled.checked.patterns.matches(pattern, name))
            })
    }

    fn visit_array(
        &mut self,
        keyword: &str,
        wanted: &'a Value,
        keywords: &'a Keywords,
        items: &[Value],
    ) -> bool {
        let listed = |keyword| keywords.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
        match (keyword, wanted) {
            ("prefixItems", Value::Array(schemas)) if !self.draft_07() => self.visit_tuple(schemas, items),
            ("items", Value::Array(schemas)) if self.draft_07() => self.visit_tuple(schemas, items),
            ("items", schema @ (Value::Object(_) | Value::Bool(_))) => {
                let skip = if self.draft_07() { 0 } else { listed("prefixItems") };
                self.visit_rest(schema, items, skip)
            }
            ("additionalItems", schema)
                if self.draft_07() && keywords.get("items").is_some_and(Value::is_array) =>
            {
                self.visit_rest(schema, items, listed("items"))
            }
            ("contains", schema) => self.visit_contains(schema, keywords, items),
            _ => true,
        }
    }

    fn visit_tuple(&mut self, schemas: &'a [Value], items: &[Value]) -> bool {
        let mut holds = true;
        for (i, (schema, item)) in schemas.iter().zip(items).enumerate() {
            holds &= self.visit_item(i, schema, item);
            if !holds && self.enough() {
                return false;
            }
        }
        holds
    }

    fn visit_rest(&mut self, schema: &'a Value, items: &[Value], skip: usize) -> bool {
        if *schema == Value::Bool(false) && items.len() > skip {
            let plural = if skip == 1 { "" } else { "s" };
            return self.tell(format!("must have at most {skip} item{plural}"));
        }
        let mut holds = true;
        for (i, item) in items.iter().enumerate().skip(skip) {
            holds &= self.visit_item(i, schema, item);
            if !holds && self.enough() {
                return false;
            }
        }
        holds
    }

    fn visit_contains(&mut self, schema: &'a Value, keywords: &Keywords, items: &[Value]) -> bool {
        let limit = |keyword| {
            let limit = keywords.get(keyword).and_then(Value::as_f64).filter(|_| !self.draft_07());
            limit.map(|limit| limit as usize)
        };
        let (least, most) = (limit("minContains").unwrap_or(1), limit("maxContains"));
        let count = items.iter().filter(|item| self.holds(schema, item)).count();
        if count < least {
            return self.tell(format!("must have at least {least} items of the form in `contains`"));
        }
        match most {
            Some(most) if count > most => {
                self.tell(format!("must have at most {most} items of the form in `contains`"))
            }
            _ => true,
        }
    }

    /// The parts that no keyword speaks of, should the schema have a say about them.
    fn visit_unevaluated(&mut self, keywords: &'a Keywords, value: &Value) -> bool {
        let keyword = if value.is_object() { "unevaluatedProperties" } else { "unevaluatedItems" };
        let Some(schema) = keywords.get(keyword) else { return true };
        let parts: Vec<(Option<&str>, &Value)> = match value {
            Value::Object(fields) => {
                fields.iter().map(|(name, field)| (Some(name.as_str()), field)).collect()
            }
            Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
            _ => return true,
        };
        let mut evaluated = vec![false; parts.len()];
        self.mark_evaluated(keywords, keyword, value, &mut evaluated);
        let mut holds = true;
        for (i, (name, part)) in parts.into_iter().enumerate().filter(|(i, _)| !evaluated[*i]) {
            holds &= match name {
                Some(name) => self.visit_unnamed(name, schema, part),
                None => self.visit_item(i, schema, part),
            };
            if !holds && self.enough() {
                break;
            }
        }
        holds
    }

    /// Marks the parts that the schema speaks of, itself or through schemas that hold at the same place.
    fn mark_evaluated(
        &mut self,
        keywords: &'a Keywords,
        keyword: &str,
        value: &Value,
        evaluated: &mut [bool],
    ) {
        match value {
            Value::Object(fields) => {
                let rest = keywords.contains_key("additionalProperties");
                for (name, evaluated) in fields.keys().zip(evaluated.iter_mut()) {
                    *evaluated |= rest || self.is_named(keywords, name);
                }
            }
            Value::Array(items) => {
                let rest = keywords.contains_key("items");
                let listed = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                let contained = keywords.get("contains");
                for (i, evaluated) in evaluated.iter_mut().enumerate() {
                    let contained = contained.is_some_and(|schema| self.holds(schema, &items[i]));
                    *evaluated |= rest || i < listed || contained;
                }
            }
            _ => {}
        }
        for schema in self.applied(keywords, value) {
            let Value::Object(keywords) = schema else { continue };
            if self.visits < MOST_VISITS && self.holds(schema, value) {
                self.visits += 1;
                if keywords.contains_key(keyword) {
                    evaluated.fill(true);
                }
                self.mark_evaluated(keywords, keyword, value, evaluated);
            }
        }
    }

    /// The schemas that a schema applies to the same value.
    fn applied(&mut self, keywords: &'a Keywords, value: &Value) -> Vec<&'a Value> {
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let mut applied: Vec<&'a Value> = Vec::new();
        applied.extend(reference.and_then(|reference| resolve(&self.compiled.schema, reference)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            applied.extend(keywords.get(keyword).and_then(Value::as_array).into_iter().flatten());
        }
        if let Some(condition) = keywords.get("if") {
            let branch = if self.holds(condition, value) { "then" } else { "else" };
            applied.push(condition);
            applied.extend(keywords.get(branch));
        }
        let dependent = keywords.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten();
        applied.extend(dependent.filter(|(name, _)| value.get(name).is_some()).map(|(_, schema)| schema));
        applied
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
