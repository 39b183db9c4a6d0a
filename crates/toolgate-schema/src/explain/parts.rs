//! The parts of a value: the fields of an object, the items of an array, and those that no keyword speaks of.

use serde_json::Value;

use super::{Explainer, Keywords, MOST_VISITS};
use crate::graph::resolve;
use crate::shown;

impl<'a> Explainer<'a> {
    pub(super) fn visit_object(
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

    pub(super) fn visit_array(
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
    pub(super) fn visit_unevaluated(&mut self, keywords: &'a Keywords, value: &Value) -> bool {
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
}
