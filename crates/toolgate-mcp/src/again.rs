//! Requests that ask their client for something first, and are tried again with it.

use serde_json::{Map, Value};

use crate::exchange::Exchange;
use crate::gate::McpGate;
use crate::result::ResultText;
use crate::rpc_error::RpcError;
use crate::seal;
use crate::state::RequestState;

impl McpGate {
    /// The state that a request tried again brings back; none where it brings none.
    pub(crate) fn brought_back(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
        digest: &str,
    ) -> Result<Option<RequestState>, RpcError> {
        if params.get("inputResponses").is_some_and(|responses| !responses.is_object()) {
            return Err(RpcError::invalid_params("`inputResponses` must be an object"));
        }
        match params.get("requestState") {
            None => Ok(None),
            Some(Value::String(text)) => {
                RequestState::open(&self.sealer, text, x.actor, digest, self.plane.now()).map(Some)
            }
            Some(_) => Err(RpcError::invalid_params("`requestState` must be a text")),
        }
    }

    /// A result that asks the client for something first.
    pub(crate) fn ask_client(
        &self,
        x: &Exchange<'_>,
        digest: &str,
        requests: &Map<String, Value>,
        kept: Option<Value>,
    ) -> Result<String, RpcError> {
        let state = RequestState { kept, ..RequestState::new(x.actor, digest.to_owned(), self.plane.now()) };
        self.input_required(x, requests, &state)
    }

    pub(crate) fn input_required(
        &self,
        x: &Exchange<'_>,
        requests: &Map<String, Value>,
        state: &RequestState,
    ) -> Result<String, RpcError> {
        let mut result = ResultText::of_type(x.client, "input_required");
        result.field("inputRequests", requests);
        result.field("requestState", &state.seal(&self.sealer, seal::Purpose::State)?);
        Ok(result.finish())
    }
}
