//! The short way for calls to servers of the newer era over HTTP. There each request stands for itself: nothing has to
//! be kept between them, so a call is one exchange, parsed once. Everything else goes through the library.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, Uri};
use rmcp::model::{ErrorCode, ProtocolVersion, RequestId};
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_core::number::has_wide_integer;
use toolgate_core::port::connection::Presented;
use toolgate_core::port::executor::ToolContext;
use toolgate_core::upstream::Questions;
use toolgate_egress::LeanClient;

use crate::connection::{Answered, Asked, Order};
use crate::door::{ANSWERS, Door, EVENTS, Failed, JSON};
use crate::events::events;
use crate::fault::{BadAnswer, HttpFault};
use crate::handler::report;
use crate::measure::too_deep;
use crate::reading::{Unread, read_whole, unreached};

const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Ids that the library, which counts from zero, won't come to.
const FIRST_ID: i64 = 1 << 40;
/// More reports than are recorded are not looked at.
const MOST_REPORTS: u32 = 1_000;

pub(crate) struct Direct {
    door: Door,
    http: LeanClient,
    address: Uri,
    headers: HeaderMap,
    next: AtomicI64,
    /// Whether people here can be shown forms.
    forms: bool,
}

#[derive(Serialize)]
struct Call<'a> {
    jsonrpc: &'static str,
    id: i64,
    method: &'static str,
    params: Params<'a>,
}

#[derive(Serialize)]
struct Params<'a> {
    name: &'a str,
    arguments: &'a Map<String, Value>,
    #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
    responses: &'a Option<BTreeMap<String, Value>>,
    #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
    state: &'a Option<String>,
    #[serde(rename = "_meta")]
    meta: Meta,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'static str,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client: Client,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Capabilities,
    #[serde(rename = "progressToken", skip_serializing_if = "Option::is_none")]
    progress: Option<i64>,
}

#[derive(Serialize)]
struct Client {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Capabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<Forms>,
}

#[derive(Serialize)]
struct Forms {
    form: Nothing,
}

#[derive(Serialize)]
struct Nothing {}

/// A message from a server, whichever it is.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Value,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    code: i32,
    #[serde(default)]
    message: String,
}

const VERSION: &str = "2026-07-28";

impl Direct {
    /// The short way to this address; none where it can't be written as a request has it.
    pub(crate) fn new(
        door: Door,
        http: LeanClient,
        config: &StreamableHttpClientTransportConfig,
        questions: Questions,
    ) -> Option<Self> {
        debug_assert_eq!(ProtocolVersion::V_2026_07_28.as_str(), VERSION);
        let address = config.uri.parse().ok()?;
        let mut headers: HeaderMap =
            config.custom_headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        headers.insert("mcp-protocol-version", HeaderValue::from_static(VERSION));
        headers.insert("mcp-method", HeaderValue::from_static("tools/call"));
        headers.insert(ACCEPT, HeaderValue::from_static(ANSWERS));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let agent = concat!("toolgate/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        let forms = questions == Questions::Ask;
        Some(Self { door, http, address, headers, next: AtomicI64::new(FIRST_ID), forms })
    }

    /// Calls a tool. Leaving closes the exchange, which is how a call is cancelled there.
    pub(crate) async fn call(&self, order: &Order<'_>, answered: &Answered) -> Result<Value, Asked> {
        let called = self.exchange(order, answered);
        tokio::select! {
            biased;
            answer = called => answer,
            () = order.cancelled.cancelled() => {
                // The exchange is closed by now. Whether it had an effect can't be known, and the runner says so.
                std::future::pending().await
            }
        }
    }

    async fn exchange(&self, order: &Order<'_>, answered: &Answered) -> Result<Value, Asked> {
        // A name that has to be written otherwise in a header is the library's business.
        let plain = order.tool.bytes().all(|byte| byte.is_ascii_graphic()) && !order.tool.starts_with('=');
        let name = HeaderValue::from_str(order.tool).ok().filter(|_| plain);
        let Some(name) = name else { return Err(Asked::Refused(ErrorCode::HEADER_MISMATCH, String::new())) };
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let body = self.body(id, order, answered).map_err(|error| Asked::Http(error.into()))?;
        let response = self.send(name, body).await.map_err(Asked::Http)?;
        let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        let streams =
            kind.get(..EVENTS.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(EVENTS.as_bytes()));
        if response.status().is_success() && streams {
            let response = reqwest::Response::from(response.map(reqwest::Body::wrap));
            return self.follow(response, id, order.context).await;
        }
        self.answer(response).await
    }

    /// Sends a request with what opens the door, and once more with something else where that may do.
    async fn send(&self, name: HeaderValue, body: Bytes) -> Result<Response<Incoming>, Failed> {
        let mut before = 0;
        loop {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = Method::POST;
            *request.uri_mut() = self.address.clone();
            let mut headers = self.headers.clone();
            headers.insert(MCP_NAME, name.clone());
            for presented in self.door.presented().await? {
                let (name, value) = match presented {
                    Presented::Bearer(token) => (AUTHORIZATION, format!("Bearer {}", token.reveal())),
                    Presented::Header(name, value) => match name.parse() {
                        Ok(name) => (name, value.reveal().to_owned()),
                        Err(_) => return Err(StreamableHttpError::Client(unwritable())),
                    },
                    // For processes.
                    Presented::Env(..) => continue,
                };
                let Ok(mut value) = HeaderValue::try_from(value) else {
                    return Err(StreamableHttpError::Client(unwritable()));
                };
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            *request.headers_mut() = headers;
            let response = self.http.send(request).await.map_err(|error| {
                StreamableHttpError::Client(match error.is_connect() {
                    true => HttpFault::NotSent(unreached(&error)),
                    false => HttpFault::Broken,
                })
            })?;
            if self.door.is_open(response.status(), response.headers(), before).await? {
                return Ok(response);
            }
            before += 1;
        }
    }

    fn body(&self, id: i64, order: &Order<'_>, answered: &Answered) -> serde_json::Result<Bytes> {
        let meta = Meta {
            version: VERSION,
            client: Client { name: "toolgate", version: env!("CARGO_PKG_VERSION") },
            capabilities: Capabilities { elicitation: self.forms.then_some(Forms { form: Nothing {} }) },
            progress: order.context.map(|_| id),
        };
        let Answered { responses, state } = answered;
        let params = Params { name: order.tool, arguments: order.arguments, responses, state, meta };
        serde_json::to_vec(&Call { jsonrpc: "2.0", id, method: "tools/call", params }).map(Into::into)
    }

    /// An answer that came whole.
    async fn answer(&self, response: Response<Incoming>) -> Result<Value, Asked> {
        let status = response.status();
        let (most, _) = self.door.bounds();
        let body = match read_whole(response.into_body(), most).await {
            Ok(body) => body,
            Err(Unread::TooLarge) => return Err(Asked::Bad(BadAnswer::TooLarge)),
            Err(Unread::Broken) => return Err(broken()),
        };
        let message = match too_deep(&body) {
            true => None,
            false => serde_json::from_slice::<Message>(&body).ok(),
        };
        match message {
            Some(Message { error: Some(error), .. }) => Err(error.into()),
            Some(Message { result: Some(_), .. }) if has_wide_integer(&body) => {
                Err(Asked::Bad(BadAnswer::Inexact))
            }
            Some(Message { result: Some(result), .. }) if status.is_success() => Ok(result),
            _ if status.is_success() && status != StatusCode::ACCEPTED => {
                Err(Asked::Bad(BadAnswer::Unreadable))
            }
            _ => Err(Asked::Http(StreamableHttpError::Client(HttpFault::Status(status.as_u16())))),
        }
    }

    /// An answer that comes with reports before it.
    async fn follow(
        &self,
        response: reqwest::Response,
        id: i64,
        context: Option<&ToolContext>,
    ) -> Result<Value, Asked> {
        let (most, bad) = self.door.bounds();
        let wanted = RequestId::Number(id);
        let mut events = events(response, Some(wanted.clone()), most, bad.clone());
        let mut reports = 0;
        while let Some(event) = events.next().await {
            let Ok(event) = event else { return Err(broken()) };
            let Some(data) = event.data else { continue };
            let Ok(message) = serde_json::from_str::<Message>(&data) else { continue };
            if let Some(bad) = bad.take(&wanted) {
                return Err(Asked::Bad(bad));
            }
            match message {
                Message { method: Some(method), params, .. } => {
                    reports += 1;
                    if let (true, Some(context)) = (reports <= MOST_REPORTS, context)
                        && let Some(report) = progress(&method, params, id)
                    {
                        // What can't be recorded is lost; the call goes on.
                        let _ = context.progress(&report).await;
                    }
                }
                Message { error: Some(error), .. } => return Err(error.into()),
                Message { id: about, .. } if about != id => {}
                Message { result: Some(result), .. } => return Ok(result),
                Message { .. } => return Err(Asked::Bad(BadAnswer::Unreadable)),
            }
        }
        Err(broken())
    }
}

impl From<Refused> for Asked {
    fn from(refused: Refused) -> Self {
        Self::Refused(ErrorCode(refused.code), refused.message)
    }
}

fn unwritable() -> HttpFault {
    HttpFault::NotSent("what opens it can't be sent in a header".to_owned())
}

fn broken() -> Asked {
    Asked::Http(StreamableHttpError::Client(HttpFault::Broken))
}

/// A report on this call, if a message is one.
fn progress(method: &str, params: Option<Value>, id: i64) -> Option<Value> {
    let params =
        params.filter(|params| method == "notifications/progress" && params["progressToken"] == id)?;
    let number = |key: &str| params.get(key).and_then(Value::as_f64);
    Some(report(number("progress")?, number("total"), params.get("message").and_then(Value::as_str)))
}
