//! What comes back over HTTP, read within bounds.

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use reqwest::Response;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use toolgate_egress::EgressError;

use crate::clean::quoted;
use crate::fault::{HttpFault, UNTRUSTED};

/// What a body says it is, in small letters.
pub(crate) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().trim_start().to_ascii_lowercase()
}

/// Whether a request that failed had left. The fault itself may name the address with all it holds.
pub(crate) fn unsent(error: &reqwest::Error) -> HttpFault {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if let Some(egress) = one.downcast_ref::<EgressError>() {
            return HttpFault::NotSent(egress.to_string());
        }
        cause = one.source();
    }
    match error.is_connect() || error.is_builder() {
        true => HttpFault::NotSent(unreached(error)),
        false => HttpFault::Broken,
    }
}

/// Why there was no connection, in words of ours.
pub(crate) fn unreached(error: &(dyn std::error::Error + 'static)) -> String {
    // Which layers are in between, and whether they show what is below, is theirs to change; how it is put is not.
    const PUT: &str = "invalid peer certificate: ";
    let mut cause = Some(error);
    while let Some(one) = cause {
        let text = one.to_string();
        if let Some((_, why)) = text.split_once(PUT) {
            // Some are wrapped: `Other(OtherError(CaUsedAsEndEntity))`.
            let why = why.trim_end_matches(')').rsplit("Error(").next().unwrap_or(why);
            return format!("{UNTRUSTED}: {}", quoted(why, 160));
        }
        cause = one.source();
    }
    "it can't be reached".to_owned()
}

/// Why a body was not read to its end.
pub(crate) enum Unread {
    TooLarge,
    Broken,
}

/// A whole body as it comes off the wire, if it is no larger than this. Most come in one piece, which is taken as it is.
pub(crate) async fn read_whole(mut body: Incoming, most: usize) -> Result<Bytes, Unread> {
    let too_large = |length: usize| length > most;
    if body.size_hint().exact().is_some_and(|length| usize::try_from(length).map_or(true, too_large)) {
        return Err(Unread::TooLarge);
    }
    let (mut first, mut all) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let Ok(chunk) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        if too_large(first.len().max(all.len()) + chunk.len()) {
            return Err(Unread::TooLarge);
        }
        match first.is_empty() {
            true => first = chunk,
            false => {
                if all.is_empty() {
                    all.extend_from_slice(&first);
                }
                all.extend_from_slice(&chunk);
            }
        }
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

/// A whole body, if it is no larger than this.
pub(crate) async fn read(response: Response, most: usize) -> Result<Vec<u8>, Unread> {
    let length = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > most) {
        return Err(Unread::TooLarge);
    }
    let mut body = Vec::with_capacity(length.unwrap_or_default());
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Unread::Broken)?;
        if body.len() + chunk.len() > most {
            return Err(Unread::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
