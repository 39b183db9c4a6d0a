//! The suite's prompts, resources and completions, as the server asks for them.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use toolgate_mcp::{Asker, OfferError, Offered, Offerings};

use super::{prompts, resources};

/// Offers what the suite asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixtures;

#[async_trait]
impl Offerings for Fixtures {
    async fn prompts(&self, _: &Asker<'_>) -> Result<Vec<Value>, OfferError> {
        Ok(prompts::prompts())
    }

    async fn prompt(
        &self,
        asker: &Asker<'_>,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Offered, OfferError> {
        let answer = prompts::get_prompt(name, arguments, asker.context);
        let mut answer = answer.ok_or_else(|| unknown("prompt", "name", name))?;
        match answer["input_required"]["requests"].take() {
            Value::Object(requests) => Ok(Offered::InputRequired { requests, state: None }),
            _ => Ok(Offered::Complete(answer)),
        }
    }

    async fn resources(&self, _: &Asker<'_>) -> Result<Vec<Value>, OfferError> {
        Ok(resources::resources())
    }

    async fn templates(&self, _: &Asker<'_>) -> Result<Vec<Value>, OfferError> {
        Ok(resources::resource_templates())
    }

    async fn read(&self, _: &Asker<'_>, uri: &str) -> Result<Offered, OfferError> {
        let contents = resources::read_resource(uri).ok_or_else(|| unknown("resource", "uri", uri))?;
        Ok(Offered::Complete(json!({ "contents": contents })))
    }

    async fn complete(
        &self,
        _: &Asker<'_>,
        reference: &Value,
        argument: &str,
        value: &str,
    ) -> Result<Value, OfferError> {
        let values = prompts::complete(reference, argument, value);
        Ok(json!({ "total": values.len(), "values": values, "hasMore": false }))
    }

    fn subscribable(&self, uri: &str) -> bool {
        resources::read_resource(uri).is_some()
    }
}

fn unknown(what: &'static str, field: &'static str, value: &str) -> OfferError {
    OfferError::Unknown { what, field, value: value.to_owned() }
}
