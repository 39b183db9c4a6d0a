//! Keywords that hold schemas or refer to them.

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use super::keywords::{Word, Writing};
use super::{Keywords, Mender, reason};
use crate::error::SchemaError;
use crate::keyword::{is_schema, names};
use crate::names::forbidden_name;
use crate::pattern::BadPattern;
use crate::shown;

impl<'a> Mender<'a> {
    /// A keyword with one schema.
    pub(super) fn write_held(&mut self, word: Word<'a>, writing: &mut Writing) -> Result<(), SchemaError> {
        let Word { keyword, held, within, .. } = word;
        if !is_schema(held) {
            self.keep(keyword, None, writing);
            return Ok(());
        }
        let (schema, loose) = self.write_here(held, within)?;
        match keyword {
            // It would refuse what it was not meant to refuse.
            "not" if loose => {}
            "contains" => {
                writing.contains_more |= loose;
                writing.out.insert(keyword.to_owned(), schema);
            }
            "additionalItems" => {
                writing.out.insert("items".to_owned(), schema);
            }
            _ => {
                writing.out.insert(keyword.to_owned(), schema);
            }
        }
        writing.loose |= loose;
        Ok(())
    }

    /// A keyword with schemas in a list.
    pub(super) fn write_list(&mut self, word: Word<'a>, writing: &mut Writing) -> Result<(), SchemaError> {
        let Word { keyword, held, beside, within } = word;
        let items = held.as_array().filter(|items| items.iter().all(is_schema));
        let Some(items) = items.filter(|items| !items.is_empty()) else {
            // A tuple of nothing is common and says nothing.
            if held.as_array().is_none_or(|items| !items.is_empty()) {
                self.keep(keyword, None, writing);
            }
            return Ok(());
        };
        let (mut list, mut any_loose) = (Vec::with_capacity(items.len()), false);
        for (i, item) in items.iter().enumerate() {
            self.path.push(i.to_string());
            let (schema, loose) = self.write_here(item, within)?;
            self.path.pop();
            list.push(schema);
            any_loose |= loose;
        }
        writing.loose |= any_loose;
        let list = Value::Array(list);
        match keyword {
            // More than one may hold now.
            "oneOf" if any_loose && beside.contains_key("anyOf") => {
                also(&mut writing.out, json!({ "anyOf": list }));
            }
            "oneOf" if any_loose => {
                writing.out.insert("anyOf".to_owned(), list);
            }
            "allOf" => {
                for schema in list.as_array().into_iter().flatten() {
                    also(&mut writing.out, schema.clone());
                }
            }
            "items" => {
                writing.out.entry("prefixItems").or_insert(list);
            }
            _ => {
                writing.out.insert(keyword.to_owned(), list);
            }
        }
        Ok(())
    }

    /// A keyword with schemas by name.
    pub(super) fn write_schemas(&mut self, word: Word<'a>, writing: &mut Writing) -> Result<(), SchemaError> {
        let Word { keyword, held, within, .. } = word;
        let Value::Object(schemas) = held else {
            self.keep(keyword, None, writing);
            return Ok(());
        };
        let mut written = Map::new();
        for (name, schema) in schemas {
            self.path.push(shown::schema_key(name).to_owned());
            if keyword == "patternProperties" && !self.runs(name)? {
                writing.unnamed = true;
                self.found.open = true;
                self.loosen(writing);
            } else if is_schema(schema) {
                let (schema, loose) = self.write_here(schema, within)?;
                writing.loose |= loose;
                written.insert(name.clone(), schema);
            } else {
                // The name counts all the same.
                self.left_out(writing);
                written.insert(name.clone(), Value::Bool(true));
            }
            self.path.pop();
            if let Some(kind) = forbidden_name(name).filter(|_| keyword == "properties") {
                self.names.insert((reason(kind), name));
            }
        }
        writing.out.insert(keyword.to_owned(), Value::Object(written));
        Ok(())
    }

    pub(super) fn write_dependents(
        &mut self,
        word: Word<'a>,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
        let Word { held, within, .. } = word;
        let Value::Object(dependents) = held else {
            self.left_out(writing);
            return Ok(());
        };
        for (name, dependent) in dependents {
            self.path.push(shown::schema_key(name).to_owned());
            let (keyword, dependent) = if is_schema(dependent) {
                let (schema, loose) = self.write_here(dependent, within)?;
                writing.loose |= loose;
                ("dependentSchemas", Some(schema))
            } else {
                ("dependentRequired", names(dependent))
            };
            match dependent {
                Some(dependent) => {
                    let all = writing.out.entry(keyword).or_insert_with(|| json!({}));
                    all.as_object_mut().map(|all| all.insert(name.clone(), dependent));
                }
                None => self.left_out(writing),
            }
            self.path.pop();
        }
        Ok(())
    }

    pub(super) fn write_condition(
        &mut self,
        word: Word<'a>,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
        let Word { held, beside, within, .. } = word;
        if !is_schema(held) {
            self.left_out(writing);
            return Ok(());
        }
        let (condition, loose) = self.write_here(held, within)?;
        if loose {
            // Which branch is meant can't be told.
            self.found.open = true;
            self.loosen(writing);
            return Ok(());
        }
        writing.out.insert("if".to_owned(), condition);
        for keyword in ["then", "else"] {
            if let Some(held) = beside.get(keyword).filter(|branch| !branch.is_null()) {
                self.path.pop();
                self.path.push(keyword.to_owned());
                self.write_held(Word { keyword, held, ..word }, writing)?;
            }
        }
        Ok(())
    }

    pub(super) fn write_reference(
        &mut self,
        word: Word<'a>,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
        let Word { keyword, held, within, .. } = word;
        let Some(reference) = held.as_str() else {
            self.left_out(writing);
            return Ok(());
        };
        let varies = keyword != "$ref" && self.places.varies(reference, within);
        match self.follow(reference, within)?.filter(|_| !varies) {
            None => {
                let path = self.shown_path();
                let what = if varies { "to more than one thing" } else { "to nothing" };
                self.note(format!("has a reference {what} at `{path}`: anything goes there"));
                self.found.open = true;
                self.loosen(writing);
            }
            Some(target) => {
                writing.loose |= self.known.loose;
                match writing.out.get("$ref") {
                    Some(_) => also(&mut writing.out, target),
                    None => writing.out.extend(target.as_object().cloned().unwrap_or_default()),
                }
            }
        }
        Ok(())
    }

    /// Whether the engine can run a regular expression.
    pub(super) fn runs(&mut self, pattern: &'a str) -> Result<bool, SchemaError> {
        if !self.unfit.contains(pattern) {
            match self.patterns.add(pattern, Draft::Draft202012) {
                Ok(()) => return Ok(true),
                Err(BadPattern::TooMany) => return Err(SchemaError::TooManyPatterns),
                Err(BadPattern::Unfit) => {
                    self.unfit.insert(pattern);
                }
            }
        }
        let path = self.shown_path();
        self.note(format!(
            "has a regular expression at `{path}` that is not run here (look-around, back-references, or past \
             bounds): the server alone checks it"
        ));
        Ok(false)
    }
}

/// Adds a schema that has to hold as well.
fn also(out: &mut Keywords, schema: Value) {
    let all = out.entry("allOf").or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.push(schema);
    }
}
