//! Errors on the wire: JSON-RPC's code, and beside it our own with a hint.

use serde_json::{Value, json};

use crate::jsonrpc::Id;
use crate::plane::PlaneError;
use crate::seal::CannotSeal;

/// An error on the wire: a code, a sentence, and our own stable code and hint in `data`.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i64,
    /// One sentence.
    pub message: String,
    /// More, for programs.
    pub data: Option<Value>,
    /// The HTTP status it travels with.
    pub status: u16,
}

impl RpcError {
    /// Not JSON.
    pub const PARSE: i64 = -32700;
    /// Not a message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters can't be used.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something went wrong on our side.
    pub const INTERNAL: i64 = -32603;
    /// There is no such resource, in the words of the handshake era.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A header says something else than the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client did not declare what this needs.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// We don't speak this version.
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// An error with the HTTP status its code asks for.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>, data: Option<Value>) -> Self {
        let status = match code {
            Self::PARSE | Self::INVALID_REQUEST => 400,
            Self::HEADER_MISMATCH | Self::MISSING_CAPABILITY | Self::UNSUPPORTED_VERSION => 400,
            _ => 200,
        };
        Self { code, message: message.into(), data, status }
    }

    /// An error with our own code and hint.
    #[must_use]
    pub fn coded(code: i64, ours: &str, message: impl Into<String>, hint: &str) -> Self {
        Self::new(code, message, Some(json!({ "code": ours, "hint": hint })))
    }

    /// The parameters can't be used.
    #[must_use]
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::coded(Self::INVALID_PARAMS, "bad_request", message, "see the specification of this method")
    }

    /// There is no such method.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        let shown: String = method.chars().filter(|c| c.is_ascii_graphic()).take(64).collect();
        Self::coded(
            Self::METHOD_NOT_FOUND,
            "not_found",
            format!("there is no method `{shown}` here"),
            "ask `server/discover` or `initialize` what there is",
        )
    }

    /// The client did not declare what this needs.
    #[must_use]
    pub fn missing_capability(required: Value) -> Self {
        let data = json!({
            "code": "bad_request",
            "hint": "declare the capability, and be ready to serve it",
            "requiredCapabilities": required,
        });
        Self::new(
            Self::MISSING_CAPABILITY,
            "this needs a capability that the client did not declare",
            Some(data),
        )
    }

    /// The same with other data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The same with another HTTP status.
    #[must_use]
    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The error as a whole message.
    #[must_use]
    pub fn to_message(&self, id: Option<&Id>) -> String {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        match id {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
            None => json!({ "jsonrpc": "2.0", "error": error }).to_string(),
        }
    }
}

impl From<CannotSeal> for RpcError {
    fn from(_: CannotSeal) -> Self {
        internal()
    }
}

/// Something went wrong on our side.
pub(crate) fn internal() -> RpcError {
    let hint = "whoever runs this server finds the cause in its log";
    RpcError::coded(RpcError::INTERNAL, "internal", "something went wrong on our side", hint)
}

impl From<PlaneError> for RpcError {
    fn from(error: PlaneError) -> Self {
        match error {
            PlaneError::Rpc(error) => error,
            PlaneError::NotFound => {
                let hint = "check the id; what belongs to someone else is not shown either";
                Self::coded(Self::INVALID_PARAMS, "not_found", "there is no such call", hint)
            }
            PlaneError::Refused(error) => {
                let hint = error.hint.as_deref().unwrap_or("see the page of this code");
                Self::coded(Self::INVALID_PARAMS, error.code.as_str(), error.message, hint)
            }
            PlaneError::Unfit(message) => Self::invalid_params(message),
            PlaneError::Forbidden(message) => {
                Self::coded(Self::INVALID_PARAMS, "forbidden", message, "ask someone who may")
            }
        }
    }
}
