//! The two eras of the protocol: the handshake of old, and requests that carry all there is to know.

use serde_json::{Map, Value, json};

use crate::capability::ClientCapabilities;
use crate::header::{self, Headers};
use crate::jsonrpc::Request;
use crate::rpc_error::RpcError;

/// The version in which every request stands for itself.
pub const MODERN: &str = "2026-07-28";
/// The versions that begin with `initialize`, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Every version spoken here, newest first.
pub const SUPPORTED: [&str; 5] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2], LEGACY[3]];

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_INFO: &str = "io.modelcontextprotocol/clientInfo";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Each request stands for itself.
    Modern,
    /// A handshake first.
    Legacy,
}

/// A client, as far as it said who it is.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its era.
    pub era: Era,
    /// Its version.
    pub version: &'static str,
    /// What it can do.
    pub capabilities: ClientCapabilities,
    /// The least grave log entry it wants; none when it wants none.
    pub log_level: Option<String>,
}

impl Client {
    /// A client of the handshake era of whom nothing is known.
    #[must_use]
    pub fn unknown(version: &'static str) -> Self {
        let capabilities = ClientCapabilities::none();
        Self { era: Era::Legacy, version, capabilities, log_level: None }
    }

    /// Whether it is of the modern era.
    #[must_use]
    pub fn is_modern(&self) -> bool {
        self.era == Era::Modern
    }

    /// Whether it knows what a piece of a stream without a message is: the mark it goes on after.
    #[must_use]
    pub fn knows_marks(&self) -> bool {
        self.version == LEGACY[0]
    }

    /// The text for the era, as tools of the conformance suite see it.
    #[must_use]
    pub const fn era_text(&self) -> &'static str {
        match self.era {
            Era::Modern => "modern",
            Era::Legacy => "legacy",
        }
    }
}

/// The legacy version a text names.
#[must_use]
pub fn legacy_version(text: &str) -> Option<&'static str> {
    LEGACY.into_iter().find(|version| *version == text)
}

/// Whether a request is of the modern era: it says a version in its `_meta`, or its header names one that has no
/// handshake.
#[must_use]
pub fn is_modern(request: &Request, headers: Option<&dyn Headers>) -> bool {
    if meta(&request.params).is_some_and(|meta| meta.contains_key(META_VERSION)) {
        return true;
    }
    headers
        .and_then(|headers| header::text(headers, header::VERSION))
        .is_some_and(|version| version == MODERN)
}

/// The client of a modern request, after its `_meta` and its headers are found to be right.
///
/// # Errors
/// What is wrong with them, as the specification wants it said.
pub fn modern_client(request: &Request, headers: Option<&dyn Headers>) -> Result<Client, RpcError> {
    let missing = |field: &str| {
        RpcError::coded(
            RpcError::INVALID_PARAMS,
            "bad_request",
            format!("`_meta` must have `{field}`"),
            "every request says which version it speaks and what its client can do",
        )
        .with_status(400)
    };
    let meta = meta(&request.params).ok_or_else(|| missing(META_VERSION))?;
    let version = meta.get(META_VERSION).and_then(Value::as_str).ok_or_else(|| missing(META_VERSION))?;
    if let Some(headers) = headers {
        header::check_version(headers, version)?;
    }
    if version != MODERN {
        return Err(unsupported(version));
    }
    let capabilities =
        meta.get(META_CAPABILITIES).filter(|c| c.is_object()).ok_or_else(|| missing(META_CAPABILITIES))?;
    if let Some(headers) = headers {
        header::check_standard(headers, request)?;
    }
    if meta.get(META_INFO).is_some_and(|info| !info.is_object()) {
        return Err(missing(META_INFO));
    }
    Ok(Client {
        era: Era::Modern,
        version: MODERN,
        capabilities: ClientCapabilities::of(capabilities),
        log_level: meta.get(META_LOG_LEVEL).and_then(Value::as_str).map(str::to_owned),
    })
}

/// The answer to a version that is not spoken here.
#[must_use]
pub fn unsupported(requested: &str) -> RpcError {
    let requested: String = requested.chars().take(64).collect();
    let data = json!({
        "code": "bad_request",
        "hint": "use one of the supported versions",
        "supported": SUPPORTED,
        "requested": requested,
    });
    RpcError::new(
        RpcError::UNSUPPORTED_VERSION,
        "this version of the protocol is not spoken here",
        Some(data),
    )
}

/// The `_meta` of parameters.
#[must_use]
pub(crate) fn meta(params: &Map<String, Value>) -> Option<&Map<String, Value>> {
    params.get("_meta").and_then(Value::as_object)
}
