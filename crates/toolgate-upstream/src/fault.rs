//! What goes wrong between us and a server, and what a caller is told of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ServiceError;
use rmcp::model::RequestId;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::number::TOO_WIDE;
use toolgate_core::port::executor::ToolFailure;

use crate::outcome::rpc_error;

/// How what is said of a certificate begins that is not trusted.
pub(crate) const UNTRUSTED: &str = "its certificate is not trusted here";
/// How what is said of a variable ends that is nowhere.
pub(crate) const NOT_HELD: &str = "which the connection to it does not hold";

/// An answer that came and could not be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadAnswer {
    /// It is larger than we read.
    TooLarge,
    /// It is no JSON, no text, or too deep.
    Unreadable,
    /// It holds a number that would be another by the time it is passed on.
    Inexact,
}

/// Bad answers by request. The transport notes them here and answers the request with any error; that way nothing a
/// server sends can pass for such a note.
#[derive(Debug, Clone, Default)]
pub(crate) struct BadAnswers(Arc<Mutex<HashMap<RequestId, BadAnswer>>>);

impl BadAnswers {
    pub(crate) fn note(&self, id: RequestId, answer: BadAnswer) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of requests that nobody waits for any more stay; a server that makes many is not served with memory.
        if noted.len() >= 1_000 {
            noted.clear();
        }
        noted.insert(id, answer);
    }

    pub(crate) fn take(&self, id: &RequestId) -> Option<BadAnswer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

/// Why an exchange over HTTP had no usable answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFault {
    /// The request never left.
    #[error("{0}")]
    NotSent(String),
    /// The request may have arrived; its answer did not.
    #[error("the exchange broke")]
    Broken,
    /// The server answered with a status and nothing else of use.
    #[error("it answered with HTTP {0}")]
    Status(u16),
    /// There is no credential, or the server does not take it.
    #[error("{}", .0.message)]
    Refused(Box<CallError>),
}

/// What went wrong, as far as the call goes.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The connection does not stand; nothing was sent.
    NotSent(String),
    /// It broke after the request was sent.
    Lost(String),
    /// The server answered, with something that has a code of its own.
    Answered(Box<CallError>),
}

impl Fault {
    /// Whether it is the connection that failed, not the call.
    pub(crate) const fn is_of_connection(&self) -> bool {
        matches!(self, Self::NotSent(_) | Self::Lost(_))
    }

    /// What the runner is told.
    pub(crate) fn into_failure(self, server: &str) -> ToolFailure {
        match self {
            Self::NotSent(why) => ToolFailure::Coded(Box::new(unreachable(server, &why))),
            Self::Lost(why) => ToolFailure::Lost(Box::new(
                CallError::new(
                    ErrorCode::UpstreamFailed,
                    format!("`{server}` broke off before it answered: {why}"),
                )
                .hint("whether the call had an effect there can't be known here"),
            )),
            Self::Answered(error) => ToolFailure::Coded(error),
        }
    }

    /// The same for what is no call.
    pub(crate) fn into_error(self, server: &str) -> CallError {
        match self {
            Self::NotSent(why) | Self::Lost(why) => unreachable(server, &why),
            Self::Answered(error) => *error,
        }
    }

    /// From an answer that could not be taken.
    pub(crate) fn bad_answer(server: &str, answer: BadAnswer, most: usize) -> Self {
        Self::Answered(Box::new(match answer {
            BadAnswer::TooLarge => CallError::new(
                ErrorCode::ResultTooLarge,
                format!("`{server}` answered with more than {most} bytes"),
            )
            .hint("ask for less; the tool's effect, if any, has happened"),
            BadAnswer::Unreadable => {
                CallError::new(ErrorCode::UpstreamFailed, format!("the answer of `{server}` can't be read"))
                    .hint("this is a fault of the server; the tool's effect, if any, has happened")
            }
            BadAnswer::Inexact => {
                CallError::new(ErrorCode::OutputInvalid, format!("what `{server}` returned {TOO_WIDE}"))
                    .hint("its server has to write it as a text; the tool's effect, if any, has happened")
            }
        }))
    }

    /// The same for a list of tools, which has no effect to speak of.
    pub(crate) fn bad_list(server: &str, answer: BadAnswer, most: usize) -> Self {
        let (code, message, hint) = match answer {
            BadAnswer::TooLarge => (
                ErrorCode::ResultTooLarge,
                format!("the list of `{server}`'s tools has more than {most} bytes on one page"),
                "its server has to offer less, or in several pages",
            ),
            BadAnswer::Unreadable | BadAnswer::Inexact => (
                ErrorCode::UpstreamFailed,
                format!("the list of `{server}`'s tools can't be read"),
                "this is a fault of the server: it is no JSON, or nested too deep",
            ),
        };
        Self::Answered(Box::new(CallError::new(code, message).hint(hint)))
    }

    /// From a request that failed.
    pub(crate) fn of_request(server: &str, error: &ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => {
                Self::Answered(Box::new(rpc_error(server, error.code.0.into(), &error.message)))
            }
            ServiceError::TransportSend(error) => Self::of_transport(server, error),
            ServiceError::UnexpectedResponse => Self::Answered(Box::new(CallError::new(
                ErrorCode::UpstreamFailed,
                format!("`{server}` answered with something else than was asked for"),
            ))),
            // Which of these are left is the library's business; none says that nothing was sent.
            _ => Self::Lost("the connection ended".to_owned()),
        }
    }

    /// From a connection that did not come about.
    pub(crate) fn of_connecting(server: &str, error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::TransportError { error, .. } => match Self::of_transport(server, error) {
                Self::Lost(why) => Self::NotSent(why),
                other => other,
            },
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
                Self::of_connecting(server, fallback)
            }
            ClientInitializeError::JsonRpcError(error) => Self::NotSent(format!(
                "it refused to begin; it says: {}",
                crate::clean::quoted(&error.message, 400)
            )),
            ClientInitializeError::ConnectionClosed(_) => {
                Self::NotSent("it ended before it had answered".to_owned())
            }
            ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
                Self::NotSent("it speaks no protocol version that is known here".to_owned())
            }
            _ => Self::NotSent("it does not keep to the protocol".to_owned()),
        }
    }

    /// Whether a connection did not come about because nothing at the address takes requests.
    pub(crate) fn is_not_there(error: &ClientInitializeError) -> bool {
        match error {
            ClientInitializeError::TransportError { error, .. } => {
                let error: &(dyn std::error::Error + 'static) = error.error.as_ref();
                let status = error.downcast_ref::<StreamableHttpError<HttpFault>>();
                matches!(status, Some(StreamableHttpError::Client(HttpFault::Status(404 | 405))))
            }
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => Self::is_not_there(fallback),
            _ => false,
        }
    }

    /// From an exchange over HTTP.
    pub(crate) fn of_http(server: &str, error: &StreamableHttpError<HttpFault>) -> Self {
        match error {
            StreamableHttpError::Client(HttpFault::NotSent(why)) => Self::NotSent(why.clone()),
            StreamableHttpError::Client(HttpFault::Refused(error)) => Self::Answered(error.clone()),
            // A proxy that lost its way says nothing about what the server behind it did.
            StreamableHttpError::Client(HttpFault::Status(status @ (502 | 504))) => {
                Self::Lost(format!("HTTP {status}"))
            }
            StreamableHttpError::Client(HttpFault::Status(status @ (404 | 405))) => {
                let why =
                    "there is no MCP server at this address, neither a streamable one nor one of before 2025";
                Self::Answered(Box::new(unreachable(
                    server,
                    &format!("it answered with HTTP {status}: {why}"),
                )))
            }
            StreamableHttpError::Client(HttpFault::Status(status)) => {
                Self::Answered(Box::new(unreachable(server, &format!("it answered with HTTP {status}"))))
            }
            StreamableHttpError::SessionExpired => {
                Self::NotSent("its session ended, and no new one was given".to_owned())
            }
            _ => Self::Lost("the exchange broke".to_owned()),
        }
    }

    fn of_transport(server: &str, error: &DynamicTransportError) -> Self {
        let error: &(dyn std::error::Error + 'static) = error.error.as_ref();
        if let Some(error) = error.downcast_ref::<StreamableHttpError<HttpFault>>() {
            return Self::of_http(server, error);
        }
        // A line that could not be written whole is one that nobody can read.
        if error.is::<std::io::Error>() {
            return Self::NotSent("its process no longer listens".to_owned());
        }
        Self::Lost("the connection ended".to_owned())
    }
}

/// The server is away.
pub(crate) fn unreachable(server: &str, why: &str) -> CallError {
    let hint = if why.starts_with(UNTRUSTED) {
        "add its authority to the machine's store, or start the gate with `SSL_CERT_FILE` naming a file that holds it"
    } else if why.ends_with(NOT_HELD) {
        "`toolgate connection set mcp:<server> --kind env --name <variable>` keeps it"
    } else {
        "check its address or program, and what `[egress]` lets through (a proxy is named there); where they are right, try again later"
    };
    CallError::new(ErrorCode::UpstreamFailed, format!("`{server}` can't be used: {why}")).hint(hint)
}
