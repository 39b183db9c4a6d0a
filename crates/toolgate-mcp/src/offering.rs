//! What a server offers beside tools: prompts, resources, completions. The gate's own offerings and a test's fixtures
//! are two implementations of one trait.

use async_trait::async_trait;
use serde_json::{Map, Value};
use toolgate_core::Actor;

use crate::rpc_error::RpcError;

/// Whoever asks for an offering.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The caller.
    pub actor: &'a Actor,
    /// What the client said of itself: `era`, `capabilities`, and where there are such, `log_level`, `input_responses` and
    /// `request_state`.
    pub context: &'a Value,
}

/// Prompts, resources and completions.
#[async_trait]
pub trait Offerings: Send + Sync {
    /// The entries of `prompts/list`, in a stable order.
    async fn prompts(&self, asker: &Asker<'_>) -> Result<Vec<Value>, OfferError>;

    /// One prompt: `{description?, messages}`.
    async fn prompt(
        &self,
        asker: &Asker<'_>,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Offered, OfferError>;

    /// The entries of `resources/list`, in a stable order.
    async fn resources(&self, asker: &Asker<'_>) -> Result<Vec<Value>, OfferError>;

    /// The entries of `resources/templates/list`, in a stable order.
    async fn templates(&self, asker: &Asker<'_>) -> Result<Vec<Value>, OfferError>;

    /// One resource: `{contents}`.
    async fn read(&self, asker: &Asker<'_>, uri: &str) -> Result<Offered, OfferError>;

    /// What could stand for an argument that begins so: `{values, total?, hasMore?}`.
    async fn complete(
        &self,
        asker: &Asker<'_>,
        reference: &Value,
        argument: &str,
        value: &str,
    ) -> Result<Value, OfferError>;

    /// Whether a client of the handshake era may subscribe to this resource.
    fn subscribable(&self, _uri: &str) -> bool {
        false
    }
}

/// What asking for an offering led to.
#[derive(Debug, Clone)]
pub enum Offered {
    /// The fields of the result.
    Complete(Value),
    /// The client must answer something first.
    InputRequired {
        /// What is asked, by key: `{method, params}`.
        requests: Map<String, Value>,
        /// What to remember until then.
        state: Option<Value>,
    },
}

/// Why there is nothing to offer.
#[derive(Debug, Clone)]
pub enum OfferError {
    /// There is none, or none the caller may see.
    Unknown {
        /// What was asked for, such as `resource`.
        what: &'static str,
        /// The field that named it.
        field: &'static str,
        /// How.
        value: String,
    },
    /// Something else.
    Rpc {
        /// The JSON-RPC code.
        code: i64,
        /// One sentence.
        message: String,
        /// More.
        data: Option<Value>,
    },
}

impl From<OfferError> for RpcError {
    fn from(error: OfferError) -> Self {
        match error {
            OfferError::Unknown { what, field, value } => {
                let mut data = Map::new();
                data.insert("code".to_owned(), Value::from("not_found"));
                data.insert(
                    "hint".to_owned(),
                    Value::from(format!("list what there is; each {what} has an entry")),
                );
                data.insert(field.to_owned(), Value::from(value));
                Self::invalid_params(format!("there is no such {what}")).with_data(Value::Object(data))
            }
            OfferError::Rpc { code, message, data } => Self::new(code, message, data),
        }
    }
}

/// What tools that run as tasks still want to know from the client.
pub trait TaskInputs: Send + Sync {
    /// What is asked and not answered yet, by key: `{method, params}`.
    fn pending(&self, call: &str) -> Map<String, Value>;

    /// Takes answers. Unknown keys are ignored.
    fn answer(&self, call: &str, responses: &Map<String, Value>);
}
