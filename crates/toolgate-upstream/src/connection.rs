//! One connection to one server: making it, listing over it, calling over it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientNotification, ClientRequest, ErrorCode as RpcCode, ListToolsRequest, PaginatedRequestParams,
    ProtocolVersion, RequestId, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, PeerRequestOptions, RoleClient,
    RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolgate_core::id::Slug;
use toolgate_core::port::executor::ToolContext;
use toolgate_core::port::upstream::Listing;
use toolgate_core::upstream::{Offer, Transport};
use url::Url;

use crate::child::{Stderr, start};
use crate::clean::quoted;
use crate::door::Door;
use crate::fault::{BadAnswers, Fault};
use crate::handler::{Changed, Handler, Interaction};
use crate::keys::Keys;
use crate::listing::Gathered;
use crate::outcome::{Output, outcome};
use crate::pipe::Pipe;
use crate::settings::Settings;

/// How a server greets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Each request stands for itself.
    Modern,
    /// A handshake first.
    Legacy,
}

/// What is needed to connect.
pub(crate) struct Dial {
    pub(crate) name: Slug,
    pub(crate) transport: Transport,
    pub(crate) concurrency: u32,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) egress: toolgate_egress::EgressClient,
    pub(crate) settings: Settings,
    pub(crate) era: Option<Era>,
    pub(crate) stderr: Stderr,
    pub(crate) changed: Changed,
    pub(crate) interaction: Option<Arc<dyn Interaction>>,
}

/// An open connection. Dropping the last handle closes it.
pub(crate) struct Connection {
    name: Slug,
    service: RunningService<RoleClient, Handler>,
    bad: BadAnswers,
    most: usize,
    hears: Option<CancellationToken>,
    tools: RwLock<HashMap<String, Known>>,
}

/// What is remembered of an offer.
struct Known {
    output: Output,
    digest: String,
}

impl Known {
    fn of(offer: &Offer) -> Self {
        let output = if offer.output_schema.is_some() { Output::Declared } else { Output::Undeclared };
        Self { output, digest: offer.digest() }
    }
}

/// What a call takes along.
pub(crate) struct Order<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Map<String, Value>,
    /// Where progress goes; none drops it.
    pub(crate) context: Option<&'a ToolContext>,
    pub(crate) cancelled: CancellationToken,
}

/// Questions a server may ask before a call has to end.
const MOST_ROUNDS: usize = 10;

impl Connection {
    /// Connects. The caller sets the time limit.
    pub(crate) async fn open(dial: Dial) -> Result<Self, Fault> {
        match Self::attempt(&dial, dial.era).await {
            // Of older servers some answer a question they don't know with something, or leave. They get another chance
            // to be greeted the way they know.
            Err(Unopened::Greeting(_)) if dial.era.is_none() => {
                Self::attempt(&dial, Some(Era::Legacy)).await.map_err(|unopened| unopened.into_fault(&dial))
            }
            opened => opened.map_err(|unopened| unopened.into_fault(&dial)),
        }
    }

    async fn attempt(dial: &Dial, era: Option<Era>) -> Result<Self, Unopened> {
        let bad = BadAnswers::default();
        let handler = Handler::new(Arc::clone(&dial.changed), dial.interaction.clone());
        let most = dial.settings.largest_message;
        let mode = match (era, &dial.transport) {
            (Some(Era::Legacy), _) => ClientLifecycleMode::Initialize,
            (None, Transport::Stdio { .. }) => ClientLifecycleMode::Auto {
                preferred_versions: modern(),
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            // The library would count the time that a log-in takes against the server. The door has a limit of its own,
            // and trying the other way is cheap.
            (Some(Era::Modern), _) | (None, Transport::Http { .. }) => {
                ClientLifecycleMode::Discover { preferred_versions: modern() }
            }
        };
        let mut hears = None;
        let service = match &dial.transport {
            Transport::Stdio { command, args, env } => {
                let presented =
                    dial.keys.present().await.map_err(|error| Fault::Answered(Box::new(error)))?;
                let started = start(command, args, env, &presented, dial.stderr.clone(), &dial.settings)
                    .map_err(Fault::NotSent)?;
                let pipe = Pipe::new(started, most, bad.clone());
                handler.serve_with_lifecycle(pipe, mode).await
            }
            Transport::Http { url, headers } => {
                let target = Url::parse(url).map_err(|_| Fault::NotSent("its address is none".to_owned()))?;
                dial.egress.check_url(&target).map_err(|error| Fault::NotSent(error.to_string()))?;
                let door = Door::new(dial.egress.http(), Arc::clone(&dial.keys), most, bad.clone());
                hears = Some(door.hears());
                let config = http_config(&target, headers, dial.concurrency, most);
                handler
                    .serve_with_lifecycle(StreamableHttpClientTransport::with_client(door, config), mode)
                    .await
            }
        };
        let service = service.map_err(Unopened::from)?;
        let connection =
            Self { name: dial.name.clone(), service, bad, most, hears, tools: RwLock::default() };
        connection.listen();
        Ok(connection)
    }

    /// Whether requests can still be sent.
    pub(crate) fn is_open(&self) -> bool {
        !self.service.is_transport_closed() && !self.service.is_closed()
    }

    pub(crate) fn era(&self) -> Era {
        let modern = self.service.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
        if modern { Era::Modern } else { Era::Legacy }
    }

    /// Waits until the stream on which an older server speaks unasked is open, where it has one.
    pub(crate) async fn heard(&self) {
        if let (Era::Legacy, Some(hears)) = (self.era(), &self.hears) {
            hears.cancelled().await;
        }
    }

    /// The protocol version, as it is written.
    pub(crate) fn protocol(&self) -> String {
        let version = self.service.peer_info().map(|info| info.protocol_version.as_str().to_owned());
        quoted(&version.unwrap_or_default(), 40)
    }

    /// Asks for the tools, and remembers which of them name an output.
    pub(crate) async fn list(&self) -> Result<Listing, Fault> {
        let mut pages = Gathered::new(&self.name);
        let mut cursor = None;
        loop {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let mut page = match self.ask(request).await? {
                Value::Object(page) => page,
                _ => Map::new(),
            };
            let Some(Value::Array(tools)) = page.remove("tools") else {
                let error = ServiceError::UnexpectedResponse;
                return Err(Fault::of_request(self.name.as_str(), &error));
            };
            let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            cursor = pages.page(tools, next);
            if cursor.is_none() {
                break;
            }
        }
        let (tools, problems) = pages.finish();
        let known = tools.iter().map(|offer| (offer.name.clone(), Known::of(offer))).collect();
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = known;
        let server = self.service.peer_info().and_then(|info| info.server_info.clone());
        let server = server.map(|info| quoted(&format!("{} {}", info.name, info.version), 200));
        Ok(Listing { protocol: self.protocol(), server: server.unwrap_or_default(), tools, problems })
    }

    /// The digest of what was last offered here under this name.
    pub(crate) fn offered(&self, tool: &str) -> Option<String> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(tool).map(|known| known.digest.clone())
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, order: Order<'_>) -> Result<Value, CallFault> {
        let output = {
            let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
            tools.get(order.tool).map_or(Output::Undeclared, |known| known.output)
        };
        let mut params = CallToolRequestParams::new(order.tool.to_owned());
        params.arguments = Some(order.arguments);
        let mut renewed = false;
        for _ in 0..MOST_ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            let result = match self.request(request, order.context, &order.cancelled).await {
                // The server wants parts of the input as headers, and says so in a list this connection has not seen.
                Err(Asked::Refused(RpcCode::HEADER_MISMATCH, _)) if !renewed => {
                    renewed = true;
                    self.list().await.map_err(CallFault::Fault)?;
                    continue;
                }
                Err(error) => return Err(CallFault::Fault(error.into_fault(self.name.as_str(), self.most))),
                Ok(result) => result,
            };
            let asks = result.get("resultType").and_then(Value::as_str) == Some("input_required");
            match (asks, self.service.service().interaction()) {
                (true, Some(interaction)) => {
                    params.input_responses = Some(answers(interaction.as_ref(), &result).await);
                    params.request_state =
                        result.get("requestState").and_then(Value::as_str).map(str::to_owned);
                }
                _ => {
                    return outcome(self.name.as_str(), result, output).map_err(CallFault::Failure);
                }
            }
        }
        Err(CallFault::Fault(Fault::of_request(self.name.as_str(), &ServiceError::UnexpectedResponse)))
    }

    /// Ends the connection and waits until it is ended.
    pub(crate) fn close(&self) {
        self.service.cancellation_token().cancel();
    }

    async fn ask(&self, request: ClientRequest) -> Result<Value, Fault> {
        let never = CancellationToken::new();
        let answer = self.request(request, None, &never).await;
        answer.map_err(|error| error.into_fault(self.name.as_str(), self.most))
    }

    /// Sends a request and waits for its answer, passing progress on. A caller who leaves cancels it there; one who
    /// asks to stop does too, and still gets the answer if there is one.
    async fn request(
        &self,
        request: ClientRequest,
        context: Option<&ToolContext>,
        cancelled: &CancellationToken,
    ) -> Result<Value, Asked> {
        let options = PeerRequestOptions::no_options();
        let Ok(mut handle) = self.service.send_cancellable_request(request, options).await else {
            return Err(Asked::NotSent);
        };
        let id = handle.id.clone();
        let mut watch = self.service.service().watch(handle.progress_token.clone());
        let mut guard = Guard { peer: self.service.peer().clone(), id: Some(id.clone()) };
        let mut asked_to_stop = false;
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => break answer.unwrap_or(Err(ServiceError::TransportClosed)),
                () = cancelled.cancelled(), if !asked_to_stop => {
                    asked_to_stop = true;
                    guard.cancel();
                }
                report = watch.next() => {
                    if let Some(context) = context {
                        // What can't be recorded is lost; the call goes on.
                        let _ = context.progress(&report).await;
                    }
                }
            }
        };
        guard.id = None;
        let bad = self.bad.take(&id);
        match answer {
            Ok(result) => Ok(value_of(result)),
            Err(error) => Err(match (bad, error) {
                (Some(bad), _) => Asked::Bad(bad),
                (None, ServiceError::McpError(error)) => {
                    Asked::Refused(error.code, error.message.into_owned())
                }
                (None, error) => Asked::Failed(error),
            }),
        }
    }

    /// Follows the stream on which newer servers tell of changes.
    fn listen(&self) {
        let tells = self.service.peer_info().and_then(|info| info.capabilities.tools.clone());
        let tells = tells.is_some_and(|tools| tools.list_changed == Some(true));
        if self.era() == Era::Legacy || !tells {
            return;
        }
        let peer = self.service.peer().clone();
        let changed = self.service.service().changed();
        // Ends with the connection, and without it there is nobody to listen to.
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            if let Ok(mut told) = peer.listen(filter).await {
                while let Ok(Some(_)) = told.next().await {
                    changed();
                }
            }
        });
    }
}

fn http_config(
    target: &Url,
    headers: &BTreeMap<String, String>,
    concurrency: u32,
    most: usize,
) -> StreamableHttpClientTransportConfig {
    let mut config = StreamableHttpClientTransportConfig::with_uri(target.as_str())
        .max_concurrent_requests(concurrency as usize);
    config.max_sse_event_size = most;
    let mut again = ExponentialBackoff::default();
    again.max_times = Some(5);
    again.max_delay = Some(Duration::from_secs(10));
    config.retry_config = Arc::new(again);
    for (name, value) in headers {
        // Documents are checked when they are written; what does not fit is not sent.
        if let (Ok(name), Ok(value)) = (name.parse(), value.parse()) {
            config.custom_headers.insert(name, value);
        }
    }
    config
}

/// Why a connection did not come about.
enum Unopened {
    Fault(Fault),
    /// What came in answer to the greeting is not what was hoped for.
    Greeting(Box<ClientInitializeError>),
    /// The library's other faults.
    Failed(Box<ClientInitializeError>),
}

impl From<Fault> for Unopened {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<ClientInitializeError> for Unopened {
    fn from(error: ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::ConflictInitResponseId(..)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
            | ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::JsonRpcError(_)
            | ClientInitializeError::NoCompatibleProtocolVersion { .. } => Self::Greeting(Box::new(error)),
            other => Self::Failed(Box::new(other)),
        }
    }
}

impl Unopened {
    fn into_fault(self, dial: &Dial) -> Fault {
        match self {
            Self::Fault(fault) => fault,
            Self::Greeting(error) | Self::Failed(error) => Fault::of_connecting(dial.name.as_str(), &error),
        }
    }
}

fn modern() -> Vec<ProtocolVersion> {
    vec![ProtocolVersion::V_2026_07_28]
}

/// How a call went wrong.
pub(crate) enum CallFault {
    /// Between us and the server.
    Fault(Fault),
    /// At the server, which said so.
    Failure(toolgate_core::port::executor::ToolFailure),
}

/// How a request went wrong.
enum Asked {
    NotSent,
    Bad(crate::fault::BadAnswer),
    Refused(RpcCode, String),
    Failed(ServiceError),
}

impl Asked {
    fn into_fault(self, server: &str, most: usize) -> Fault {
        match self {
            Self::NotSent => Fault::NotSent("the connection ended".to_owned()),
            Self::Bad(bad) => Fault::bad_answer(server, bad, most),
            Self::Refused(code, words) => {
                Fault::Answered(Box::new(crate::outcome::rpc_error(server, code.0.into(), &words)))
            }
            Self::Failed(error) => Fault::of_request(server, &error),
        }
    }
}

/// Cancels a request at the server when its caller leaves.
struct Guard {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Guard {
    fn cancel(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        tokio::spawn(async move {
            let params = CancelledNotificationParam::new(Some(id), Some("the caller left".to_owned()));
            let cancelled = ClientNotification::CancelledNotification(CancelledNotification::new(params));
            // A connection that is gone has cancelled everything.
            let _ = peer.send_notification(cancelled).await;
        });
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// A result as it came. The library sorts results by how they look, not by what was asked.
fn value_of(result: ServerResult) -> Value {
    match result {
        ServerResult::CustomResult(result) => result.0,
        other => serde_json::to_value(other).unwrap_or(Value::Null),
    }
}

/// Answers all questions of a result.
async fn answers(interaction: &dyn Interaction, result: &Value) -> BTreeMap<String, Value> {
    let mut answers = BTreeMap::new();
    let Some(Value::Object(requests)) = result.get("inputRequests") else { return answers };
    for (key, request) in requests {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = request.get("params").cloned().unwrap_or(Value::Null);
        if let Some(answer) = interaction.answer(method, &params).await {
            answers.insert(key.clone(), answer);
        }
    }
    answers
}
