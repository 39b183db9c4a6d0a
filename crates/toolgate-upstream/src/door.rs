//! A server's HTTP endpoint: what we send there and how much we read from it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio_util::sync::CancellationToken;
use toolgate_core::number::has_wide_integer;
use toolgate_core::port::connection::Presented;

use crate::clean::quoted;
use crate::events::events;
use crate::fault::{BadAnswer, BadAnswers, HttpFault};
use crate::interaction::Calls;
use crate::keys::{Keys, Refusal};
use crate::measure::too_deep;
use crate::reading::{Unread, content_type, read, unsent};
use crate::task::kept_whole;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";
pub(crate) const ANSWERS: &str = "application/json, text/event-stream";
/// How long a server may ponder on a question that older ones don't know, before it is taken for one of those.
const DISCOVER_WITHIN: Duration = Duration::from_secs(8);
/// How long a server of the older transport may take to say that it has heard.
const TOLD_WITHIN: Duration = Duration::from_secs(60);
/// A request that is refused this often is refused.
const MOST_TRIES: u32 = 5;

/// A server's endpoint, with what opens it.
#[derive(Clone)]
pub(crate) struct Door {
    http: reqwest::Client,
    keys: Arc<dyn Keys>,
    most: usize,
    bad: BadAnswers,
    hears: CancellationToken,
    /// Where a question's stream has to tell which call it belongs to.
    calls: Option<Calls>,
}

pub(crate) type Failed = StreamableHttpError<HttpFault>;

impl Door {
    pub(crate) fn new(
        http: reqwest::Client,
        keys: Arc<dyn Keys>,
        most: usize,
        bad: BadAnswers,
        calls: Option<Calls>,
    ) -> Self {
        Self { http, keys, most, bad, hears: CancellationToken::new(), calls }
    }

    /// A request to this address, without anything that opens the door.
    fn to(&self, url: &str) -> RequestBuilder {
        self.http.post(url).header(ACCEPT, ANSWERS).header(CONTENT_TYPE, JSON)
    }

    /// The largest answer, and where those that can't be taken are noted.
    pub(crate) const fn bounds(&self) -> (usize, &BadAnswers) {
        (self.most, &self.bad)
    }

    /// Ends when an older server's own stream is open, or is known not to be.
    pub(crate) fn hears(&self) -> CancellationToken {
        self.hears.clone()
    }

    /// Sends a request with what opens the door, and once more with something else where that may do.
    pub(crate) async fn send(
        &self,
        request: impl Fn() -> RequestBuilder + Send + Sync,
    ) -> Result<Response, Failed> {
        let mut before = 0;
        loop {
            let mut request = request();
            for presented in self.presented().await? {
                request = match presented {
                    Presented::Bearer(token) => request.bearer_auth(token.reveal()),
                    Presented::Header(name, value) => request.header(name, value.reveal()),
                    // For processes.
                    Presented::Env(..) => request,
                };
            }
            let response =
                request.send().await.map_err(|error| StreamableHttpError::Client(unsent(&error)))?;
            if self.is_open(response.status(), response.headers(), before).await? {
                return Ok(response);
            }
            before += 1;
        }
    }

    /// Opens the stream on which servers of the older transport speak.
    pub(crate) async fn listen(&self, url: &str, headers: &HeaderMap) -> Result<Response, Failed> {
        let get = || self.http.get(url).header(ACCEPT, EVENTS).headers(headers.clone());
        let response = self.send(get).await?;
        let status = response.status();
        if !status.is_success() || !content_type(&response).starts_with(EVENTS) {
            return Err(StreamableHttpError::Client(HttpFault::Status(status.as_u16())));
        }
        Ok(response)
    }

    /// Says something to a server of the older transport, which answers elsewhere.
    pub(crate) async fn tell(
        &self,
        url: &str,
        headers: &HeaderMap,
        body: bytes::Bytes,
    ) -> Result<(), Failed> {
        let post = || self.to(url).headers(headers.clone()).timeout(TOLD_WITHIN).body(body.clone());
        let status = self.send(post).await?.status();
        match status.is_success() {
            true => Ok(()),
            false => Err(StreamableHttpError::Client(HttpFault::Status(status.as_u16()))),
        }
    }

    /// What opens the door.
    pub(crate) async fn presented(&self) -> Result<Vec<Presented>, Failed> {
        self.keys.present().await.map_err(refused)
    }

    /// Whether a request was let in; where it was not, whether something else may do is an error or a no.
    pub(crate) async fn is_open(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        before: u32,
    ) -> Result<bool, Failed> {
        if status.is_redirection() {
            let place = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            return Err(StreamableHttpError::Client(HttpFault::NotSent(format!(
                "it sends requests on to `{}`, which is not followed; name that address if you trust it",
                quoted(place, 200)
            ))));
        }
        let challenge = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let closed =
            status == StatusCode::UNAUTHORIZED || (status == StatusCode::FORBIDDEN && challenge.is_some());
        if !closed {
            return Ok(true);
        }
        let refusal = Refusal { status: status.as_u16(), challenge, before };
        self.keys.refused(refusal).await.map_err(refused)?;
        match before + 1 >= MOST_TRIES {
            true => Err(StreamableHttpError::Client(HttpFault::Status(status.as_u16()))),
            false => Ok(false),
        }
    }

    async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = bytes::Bytes::from(serde_json::to_vec(&message)?);
        let asked = Asked::of(&message);
        let sent = self.send(|| {
            let mut request = self.to(uri.as_ref());
            for (name, value) in &headers {
                request = request.header(name, value);
            }
            if let Some(session) = &session {
                request = request.header(SESSION, session.as_ref());
            }
            if let Asked::Discover(_) = &asked {
                request = request.timeout(DISCOVER_WITHIN);
            }
            request.body(body.clone())
        });
        let response = match (&asked, sent.await) {
            (Asked::Discover(id), Ok(response)) if session.is_none() && is_unknown(response.status()) => {
                return Ok(self.legacy(response, id.clone()).await);
            }
            (Asked::Discover(id), Err(StreamableHttpError::Client(HttpFault::Broken))) => {
                return Ok(error(id.clone(), "no answer in time"));
            }
            (_, response) => response?,
        };
        let answer = self.answer(response, asked.id(), session.is_some()).await;
        if let (Asked::Initialize(_), Ok(answer)) = (&asked, &answer)
            && !has_session(answer)
        {
            // Without a session there is no stream of its own.
            self.hears.cancel();
        }
        answer
    }

    async fn answer(
        &self,
        response: Response,
        id: Option<&RequestId>,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let kind = content_type(&response);
        let header = response.headers().get(SESSION).and_then(|value| value.to_str().ok());
        let session = header.map(str::to_owned);
        if status.is_success() && kind.starts_with(EVENTS) {
            let mut events = events(response, id.cloned(), self.most, self.bad.clone());
            if let (Some(calls), Some(id)) = (&self.calls, id) {
                events = calls.marked(events, id);
            }
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let Some(id) = id else {
            // Nothing is waited for, so whatever came is as good as nothing.
            return if status.is_success() {
                Ok(StreamableHttpPostResponse::Accepted)
            } else {
                Err(StreamableHttpError::Client(HttpFault::Status(status.as_u16())))
            };
        };
        // Many servers say so where they should answer that there is none.
        let refused = in_session && status == StatusCode::BAD_REQUEST;
        if !kind.starts_with(JSON) && !refused {
            return Err(match status.is_success() {
                true => StreamableHttpError::UnexpectedContentType(None),
                false => StreamableHttpError::Client(HttpFault::Status(status.as_u16())),
            });
        }
        let body = match read(response, self.most).await {
            Ok(body) => body,
            Err(Unread::TooLarge) => return Ok(self.bad(id, BadAnswer::TooLarge)),
            Err(Unread::Broken) => return Err(StreamableHttpError::Client(HttpFault::Broken)),
        };
        if refused && speaks_of_session(&body) {
            return Err(StreamableHttpError::SessionExpired);
        }
        let message = match too_deep(&body) {
            true => None,
            false => serde_json::from_slice::<ServerJsonRpcMessage>(&kept_whole(&body)).ok(),
        };
        if has_wide_integer(&body) {
            self.bad.note(id.clone(), BadAnswer::Inexact);
        }
        match message {
            Some(message) if status.is_success() => Ok(StreamableHttpPostResponse::Json(message, session)),
            // An error that came with an error status is still the server's answer.
            Some(ServerJsonRpcMessage::Error(error)) => {
                let message = ServerJsonRpcMessage::error(error.error, Some(id.clone()));
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            Some(_) | None if !status.is_success() => {
                Err(StreamableHttpError::Client(HttpFault::Status(status.as_u16())))
            }
            Some(_) | None => Ok(self.bad(id, BadAnswer::Unreadable)),
        }
    }

    fn bad(&self, id: &RequestId, answer: BadAnswer) -> StreamableHttpPostResponse {
        self.bad.note(id.clone(), answer);
        error(id.clone(), "the answer can't be taken")
    }

    /// What an older server makes of a question it does not know, as an error to that question: which error it is
    /// tells whether the server is older, or only speaks another version.
    async fn legacy(&self, response: Response, id: RequestId) -> StreamableHttpPostResponse {
        let body = read(response, self.most).await.unwrap_or_default();
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(ServerJsonRpcMessage::Error(error)) => {
                StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error.error, Some(id)), None)
            }
            _ => error(id, "the server does not know the question"),
        }
    }
}

/// What a message waits for.
enum Asked {
    Discover(RequestId),
    Initialize(RequestId),
    Request(RequestId),
    Nothing,
}

impl Asked {
    fn of(message: &ClientJsonRpcMessage) -> Self {
        match message {
            ClientJsonRpcMessage::Request(request) => match &request.request {
                ClientRequest::DiscoverRequest(_) => Self::Discover(request.id.clone()),
                ClientRequest::InitializeRequest(_) => Self::Initialize(request.id.clone()),
                _ => Self::Request(request.id.clone()),
            },
            _ => Self::Nothing,
        }
    }

    const fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Discover(id) | Self::Initialize(id) | Self::Request(id) => Some(id),
            Self::Nothing => None,
        }
    }
}

fn has_session(answer: &StreamableHttpPostResponse) -> bool {
    match answer {
        StreamableHttpPostResponse::Json(_, session) | StreamableHttpPostResponse::Sse(_, session) => {
            session.is_some()
        }
        _ => false,
    }
}

/// Whether a refusal is about the session: a server that was started anew does not know those of before.
fn speaks_of_session(body: &[u8]) -> bool {
    body.get(..2_048).unwrap_or(body).to_ascii_lowercase().windows(7).any(|word| word == b"session")
}

/// A status that an older server may have for a question it does not know.
fn is_unknown(status: StatusCode) -> bool {
    status.is_client_error() || matches!(status.as_u16(), 500 | 501)
}

fn error(id: RequestId, words: &'static str) -> StreamableHttpPostResponse {
    let error = ErrorData::invalid_request(words, None);
    StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(id)), None)
}

fn refused(error: toolgate_core::CallError) -> Failed {
    StreamableHttpError::Client(HttpFault::Refused(Box::new(error)))
}

// The library hands a token along with each call; ours comes from the keys, fresh for each request.
impl StreamableHttpClient for Door {
    type Error = HttpFault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.post(uri, message, session_id, custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        self.send(|| {
            let mut request = self.http.delete(uri.as_ref()).header(SESSION, session_id.as_ref());
            for (name, value) in &custom_headers {
                request = request.header(name, value);
            }
            request
        })
        .await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let response = self
            .send(|| {
                let mut request = self.http.get(uri.as_ref()).header(ACCEPT, EVENTS);
                for (name, value) in &custom_headers {
                    request = request.header(name, value);
                }
                if let Some(session) = &session_id {
                    request = request.header(SESSION, session.as_ref());
                }
                if let Some(last) = &last_event_id {
                    request = request.header(LAST_EVENT, last);
                }
                request
            })
            .await;
        if last_event_id.is_none() {
            self.hears.cancel();
        }
        let response = response?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED || status == StatusCode::NOT_FOUND {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !status.is_success() {
            return Err(StreamableHttpError::Client(HttpFault::Status(status.as_u16())));
        }
        if !content_type(&response).starts_with(EVENTS) {
            return Err(StreamableHttpError::UnexpectedContentType(None));
        }
        Ok(events(response, None, self.most, self.bad.clone()))
    }
}
