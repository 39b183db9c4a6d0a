//! Where a page starts, opaque to clients.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::rpc_error::RpcError;

/// The cursor after this name.
#[must_use]
pub(crate) fn after(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

/// The name that a request's cursor stands after; empty without one.
///
/// # Errors
/// When the cursor is none of ours.
pub(crate) fn of(params: &Map<String, Value>) -> Result<String, RpcError> {
    let bad = || RpcError::invalid_params("`cursor` is not one that was given out here");
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(cursor)) if cursor.len() <= 1024 => {
            let name = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| bad())?;
            String::from_utf8(name).map_err(|_| bad())
        }
        Some(_) => Err(bad()),
    }
}
