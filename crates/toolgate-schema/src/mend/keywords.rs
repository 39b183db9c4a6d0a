//! One schema, keyword by keyword.

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use super::{Keywords, Mender, own_id, reason};
use crate::error::SchemaError;
use crate::keyword::{Takes, is_count, is_number, is_schema, limit_keyword, names, takes, types, values};
use crate::names::forbidden_name;
use crate::pattern::BadPattern;
use crate::shown;

/// A schema that is being written.
#[derive(Default)]
struct Writing {
    out: Keywords,
    /// Lets more through than it was meant to.
    loose: bool,
    /// A pattern for names was left out, so that which names are additional can't be told.
    unnamed: bool,
    /// More items than meant may be of the form in `contains`.
    contains_more: bool,
}

impl<'a> Mender<'a> {
    /// A schema in the form that is checked, and whether it lets more through than it was meant to.
    pub(super) fn write(
        &mut self,
        schema: &'a Value,
        within: &'a Value,
    ) -> Result<(Value, bool), SchemaError> {
        let Value::Object(keywords) = schema else { return Ok((schema.clone(), false)) };
        let within = if own_id(schema).is_some() { schema } else { within };
        let mut writing = Writing::default();
        let alone = self.older && keywords.get("$ref").is_some_and(Value::is_string);
        for (keyword, held) in keywords.iter().filter(|(keyword, _)| !alone || *keyword == "$ref") {
            // Some libraries write everything they have no word for as `null`.
            if held.is_null() && keyword != "const" {
                continue;
            }
            self.path.push(shown::schema_key(keyword).to_owned());
            self.write_keyword(keyword, held, keywords, within, &mut writing)?;
            self.path.pop();
        }
        Ok(self.finish(writing, keywords))
    }

    fn write_keyword(
        &mut self,
        keyword: &'a str,
        held: &'a Value,
        beside: &'a Keywords,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                return self.write_reference(keyword, held, within, writing);
            }
            // Notes to readers, here: most servers' libraries do not check them, and what they send would be lost.
            "format" | "contentEncoding" | "contentMediaType" => self.loosen(writing),
            "if" => return self.write_condition(held, beside, within, writing),
            // Written with `if`, or where something refers to them.
            "then" | "else" | "$defs" | "definitions" => {}
            "nullable" | "deprecated" | "readOnly" | "writeOnly" | "title" | "description" | "$comment"
            | "$id" | "$schema" | "$anchor" | "$dynamicAnchor" | "examples" | "default" | "contentSchema" => {
            }
            // Words that the dialect does not know.
            "minContains" | "maxContains" | "unevaluatedItems" | "unevaluatedProperties" if self.older => {}
            "pattern" => match held.as_str() {
                Some(pattern) if self.runs(pattern)? => self.keep(keyword, Some(held.clone()), writing),
                Some(_) => self.loosen(writing),
                None => self.keep(keyword, None, writing),
            },
            "dependencies" | "dependentRequired" => return self.write_dependents(held, within, writing),
            "additionalItems" if !is_tuple(beside) => {}
            _ => return self.write_taken(keyword, held, beside, within, writing),
        }
        Ok(())
    }

    fn write_taken(
        &mut self,
        keyword: &'a str,
        held: &'a Value,
        beside: &'a Keywords,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
        let kept = match takes(keyword) {
            None => return Ok(()),
            Some(Takes::Schema | Takes::Rest) => return self.write_held(keyword, held, within, writing),
            Some(Takes::SchemaOrList) if is_schema(held) => {
                return self.write_held(keyword, held, within, writing);
            }
            Some(Takes::List | Takes::SchemaOrList) => {
                return self.write_list(keyword, held, beside, within, writing);
            }
            Some(Takes::Schemas) => return self.write_schemas(keyword, held, within, writing),
            Some(Takes::Types) => types(held),
            Some(Takes::Names) => names(held),
            Some(Takes::Values) => values(held),
            Some(Takes::Exclusive) if held.is_boolean() => return Ok(()),
            Some(Takes::Number | Takes::Exclusive) => is_number(keyword, held).then(|| held.clone()),
            Some(Takes::Count) => is_count(held).then(|| held.clone()),
            Some(Takes::Flag) => held.is_boolean().then(|| held.clone()),
            Some(Takes::Anything) => Some(held.clone()),
            Some(Takes::Text | Takes::Dependents) => return Ok(()),
        };
        let keyword = limit_keyword(keyword, |other| beside.get(other) == Some(&Value::Bool(true)));
        self.keep(keyword, kept, writing);
        Ok(())
    }

    /// A keyword with one schema.
    fn write_held(
        &mut self,
        keyword: &str,
        held: &'a Value,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
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
    fn write_list(
        &mut self,
        keyword: &str,
        held: &'a Value,
        beside: &Keywords,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
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
    fn write_schemas(
        &mut self,
        keyword: &str,
        held: &'a Value,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
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

    fn write_dependents(
        &mut self,
        held: &'a Value,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
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

    fn write_condition(
        &mut self,
        held: &'a Value,
        beside: &'a Keywords,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
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
            if let Some(branch) = beside.get(keyword).filter(|branch| !branch.is_null()) {
                self.path.pop();
                self.path.push(keyword.to_owned());
                self.write_held(keyword, branch, within, writing)?;
            }
        }
        Ok(())
    }

    fn write_reference(
        &mut self,
        keyword: &str,
        held: &'a Value,
        within: &'a Value,
        writing: &mut Writing,
    ) -> Result<(), SchemaError> {
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
    fn runs(&mut self, pattern: &'a str) -> Result<bool, SchemaError> {
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

    fn keep(&mut self, keyword: &str, kept: Option<Value>, writing: &mut Writing) {
        match kept {
            Some(kept) => {
                writing.out.insert(keyword.to_owned(), kept);
            }
            None => self.left_out(writing),
        }
    }

    /// Notes that something in the schema makes no sense.
    fn left_out(&mut self, writing: &mut Writing) {
        let path = self.shown_path();
        self.note(format!("has what no dialect of JSON Schema takes at `{path}`: it is not checked here"));
        self.found.open = true;
        self.loosen(writing);
    }

    fn loosen(&mut self, writing: &mut Writing) {
        writing.loose = true;
        self.found.loose = true;
    }

    fn finish(&mut self, mut writing: Writing, keywords: &Keywords) -> (Value, bool) {
        let out = &mut writing.out;
        if writing.unnamed {
            out.shift_remove("additionalProperties");
        }
        if writing.contains_more {
            out.shift_remove("maxContains");
        }
        if self.known.open {
            for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
                writing.loose |= out.shift_remove(keyword).is_some();
            }
        }
        // OpenAPI's word; the most used validator knows it too. Arguments themselves are never null.
        if keywords.get("nullable") == Some(&Value::Bool(true)) && !self.path.is_empty() {
            let whole = Value::Object(std::mem::take(out));
            return (or_null(whole), writing.loose);
        }
        (Value::Object(writing.out), writing.loose)
    }
}

/// Whether `items` is a list, one schema for each place, as it was before `prefixItems`.
fn is_tuple(keywords: &Keywords) -> bool {
    keywords.get("items").is_some_and(Value::is_array) && !keywords.contains_key("prefixItems")
}

/// Adds a schema that has to hold as well.
fn also(out: &mut Keywords, schema: Value) {
    let all = out.entry("allOf").or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.push(schema);
    }
}

fn or_null(schema: Value) -> Value {
    const DECIDES: [&str; 8] = ["enum", "const", "$ref", "allOf", "anyOf", "oneOf", "not", "if"];
    if let Value::Object(mut keywords) = schema.clone()
        && !DECIDES.iter().any(|keyword| keywords.contains_key(*keyword))
        && let Some(Value::String(name)) = keywords.get("type")
    {
        let both = if name == "null" { json!("null") } else { json!([name, "null"]) };
        keywords.insert("type".to_owned(), both);
        return Value::Object(keywords);
    }
    json!({ "anyOf": [schema, { "type": "null" }] })
}
