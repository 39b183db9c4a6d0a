//! What an endpoint offers beside tools: prompts, resources and completion, as methods.

use serde_json::{Map, Value};

use crate::cursor;
use crate::exchange::Exchange;
use crate::gate::{McpGate, text};
use crate::offering::{Asker, Offered, Offerings};
use crate::product::ProductOfferings;
use crate::result::ResultText;
use crate::rpc_error::RpcError;
use crate::state::request_digest;

impl McpGate {
    /// What this endpoint offers beside tools.
    fn offerings<'a>(&'a self, x: &'a Exchange<'a>) -> Offering<'a> {
        match &self.fixtures {
            Some(fixtures) => Offering::Fixtures(fixtures.offerings.as_ref()),
            None => Offering::Product(ProductOfferings::new(self, x.selection)),
        }
    }

    pub(crate) async fn list(
        &self,
        x: &Exchange<'_>,
        what: &str,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        if !cursor::of(params)?.is_empty() {
            return Err(RpcError::invalid_params("`cursor` is not one that was given out here"));
        }
        let context = x.context(params, None);
        let asker = Asker { actor: x.actor, context: &context };
        let offerings = self.offerings(x);
        let entries = match what {
            "prompts" => offerings.prompts(&asker).await?,
            "resources" => offerings.resources(&asker).await?,
            _ => offerings.templates(&asker).await?,
        };
        let mut result = ResultText::complete(x.client);
        result.field(what, &entries);
        result.cacheable();
        Ok(result.finish())
    }

    pub(crate) async fn prompt(
        &self,
        x: &Exchange<'_>,
        params: Map<String, Value>,
    ) -> Result<String, RpcError> {
        let name = text(&params, "name")?;
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(RpcError::invalid_params("`arguments` must be an object")),
        };
        let digest = request_digest("prompts/get", name, &Value::Object(arguments.clone()));
        let kept = self.brought_back(x, &params, &digest)?.and_then(|state| state.kept);
        let context = x.context(&params, kept.as_ref());
        let asker = Asker { actor: x.actor, context: &context };
        match self.offerings(x).prompt(&asker, name, &arguments).await? {
            Offered::Complete(body) => Ok(whole(x, &body, false)),
            Offered::InputRequired { requests, state } => self.ask_client(x, &digest, &requests, state),
        }
    }

    pub(crate) async fn read_resource(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let uri = text(params, "uri")?;
        let digest = request_digest("resources/read", uri, &Value::Null);
        let kept = self.brought_back(x, params, &digest)?.and_then(|state| state.kept);
        let context = x.context(params, kept.as_ref());
        let asker = Asker { actor: x.actor, context: &context };
        let offered = self.offerings(x).read(&asker, uri).await.map_err(|cause| {
            let error = RpcError::from(cause);
            // The handshake era has a code of its own for this.
            let missing = error.data.as_ref().is_some_and(|data| data["code"] == "not_found");
            match x.client.is_modern() || !missing {
                true => error,
                false => RpcError { code: RpcError::RESOURCE_NOT_FOUND, ..error },
            }
        })?;
        match offered {
            Offered::Complete(body) => Ok(whole(x, &body, true)),
            Offered::InputRequired { requests, state } => self.ask_client(x, &digest, &requests, state),
        }
    }

    pub(crate) async fn complete(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let reference = params.get("ref").filter(|reference| reference.is_object());
        let reference =
            reference.ok_or_else(|| RpcError::invalid_params("`ref` must name a prompt or a resource"))?;
        let argument = params.get("argument").and_then(Value::as_object);
        let argument = argument.ok_or_else(|| RpcError::invalid_params("`argument` must be an object"))?;
        let context = x.context(params, None);
        let asker = Asker { actor: x.actor, context: &context };
        let (name, value) = (text(argument, "name")?, text(argument, "value")?);
        let completion = self.offerings(x).complete(&asker, reference, name, value).await?;
        let mut result = ResultText::complete(x.client);
        result.field("completion", &completion);
        Ok(result.finish())
    }

    pub(crate) fn subscribe(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let uri = text(params, "uri")?;
        match self.fixtures.is_some() && self.offerings(x).subscribable(uri) {
            true => Ok("{}".to_owned()),
            false => Err(RpcError::method_not_found("resources/subscribe")),
        }
    }
}

/// What an endpoint offers beside tools.
enum Offering<'a> {
    Fixtures(&'a dyn Offerings),
    Product(ProductOfferings<'a>),
}

impl<'a> std::ops::Deref for Offering<'a> {
    type Target = dyn Offerings + 'a;
    fn deref(&self) -> &Self::Target {
        match self {
            Self::Fixtures(offerings) => *offerings,
            Self::Product(offerings) => offerings,
        }
    }
}

/// A result with the fields of an object.
fn whole(x: &Exchange<'_>, body: &Value, cacheable: bool) -> String {
    let mut result = ResultText::complete(x.client);
    for (key, value) in body.as_object().into_iter().flatten() {
        if key.bytes().all(|b| b.is_ascii_alphanumeric()) {
            result.field(key, value);
        }
    }
    if cacheable {
        result.cacheable();
    }
    result.finish()
}
