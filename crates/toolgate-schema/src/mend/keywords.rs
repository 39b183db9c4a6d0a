//! One schema, keyword by keyword.

use serde_json::{Value, json};

use super::{Keywords, Mender, own_id};
use crate::error::SchemaError;
use crate::keyword::{Takes, is_count, is_number, is_schema, limit_keyword, names, takes, types, values};
use crate::shown;

/// A schema that is being written.
#[derive(Default)]
pub(super) struct Writing {
    pub(super) out: Keywords,
    /// Lets more through than it was meant to.
    pub(super) loose: bool,
    /// A pattern for names was left out, so that which names are additional can't be told.
    pub(super) unnamed: bool,
    /// More items than meant may be of the form in `contains`.
    pub(super) contains_more: bool,
}

/// A keyword of a schema, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) keyword: &'a str,
    /// What it holds.
    pub(super) held: &'a Value,
    /// All keywords of that schema.
    pub(super) beside: &'a Keywords,
    /// The schema that its references begin at.
    pub(super) within: &'a Value,
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
            self.write_keyword(Word { keyword, held, beside: keywords, within }, &mut writing)?;
            self.path.pop();
        }
        Ok(self.finish(writing, keywords))
    }

    fn write_keyword(&mut self, word: Word<'a>, writing: &mut Writing) -> Result<(), SchemaError> {
        let Word { keyword, held, .. } = word;
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => return self.write_reference(word, writing),
            // Notes to readers, here: most servers' libraries do not check them, and what they send would be lost.
            "format" | "contentEncoding" | "contentMediaType" => self.loosen(writing),
            "if" => return self.write_condition(word, writing),
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
            "dependencies" | "dependentRequired" => return self.write_dependents(word, writing),
            "additionalItems" if !is_tuple(word.beside) => {}
            _ => return self.write_taken(word, writing),
        }
        Ok(())
    }

    fn write_taken(&mut self, word: Word<'a>, writing: &mut Writing) -> Result<(), SchemaError> {
        let Word { keyword, held, beside, .. } = word;
        let kept = match takes(keyword) {
            None => return Ok(()),
            Some(Takes::Schema | Takes::Rest) => return self.write_held(word, writing),
            Some(Takes::SchemaOrList) if is_schema(held) => return self.write_held(word, writing),
            Some(Takes::List | Takes::SchemaOrList) => return self.write_list(word, writing),
            Some(Takes::Schemas) => return self.write_schemas(word, writing),
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

    pub(super) fn keep(&mut self, keyword: &str, kept: Option<Value>, writing: &mut Writing) {
        match kept {
            Some(kept) => {
                writing.out.insert(keyword.to_owned(), kept);
            }
            None => self.left_out(writing),
        }
    }

    /// Notes that something in the schema makes no sense.
    pub(super) fn left_out(&mut self, writing: &mut Writing) {
        let path = self.shown_path();
        self.note(format!("has what no dialect of JSON Schema takes at `{path}`: it is not checked here"));
        self.found.open = true;
        self.loosen(writing);
    }

    pub(super) fn loosen(&mut self, writing: &mut Writing) {
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
