//! Logging in at the authorization server of an MCP server: found by what the server says of itself (RFC 9728, RFC
//! 8414), with PKCE, a resource (RFC 8707) and a check of who answers (RFC 9207). Everything goes through the egress
//! client; nothing that is said is believed beyond what the standards let it say.

mod discover;
mod register;
mod token;

pub(crate) use discover::{Server, discover};
pub(crate) use register::{Client, register};
pub use register::{ClientRegistry, KnownClient};
pub(crate) use token::{Grant, TokenFault, Tokens, redeem};

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use toolgate_core::{CallError, ErrorCode};
use toolgate_egress::{EgressError, EgressRequest, EgressResponse};

/// How long one request to an authorization server may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Metadata and token answers are a few KiB.
const MOST_BYTES: usize = 256 << 10;

/// The PKCE challenge of a verifier (RFC 7636, S256).
pub(crate) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

async fn send(request: EgressRequest) -> Result<EgressResponse, EgressError> {
    request.header("accept", "application/json").timeout(PATIENCE).max_bytes(MOST_BYTES).send().await
}

/// What went wrong, in a call's words. `what` says with whom.
pub(crate) fn unreachable(what: &str, cause: &EgressError) -> CallError {
    CallError::new(ErrorCode::UpstreamFailed, format!("{what} can't be asked: {cause}"))
        .hint(cause.hint())
        .details(serde_json::json!({ "egress": cause.code() }))
}

/// Something that does not speak the protocol.
pub(crate) fn unusable(message: impl Into<String>) -> CallError {
    CallError::new(ErrorCode::UpstreamFailed, message)
        .hint("give the service a token instead: `toolgate connection set <service> --kind token`")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(super::challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
