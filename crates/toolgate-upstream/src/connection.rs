//! One connection to one server: listing over it, calling over it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientNotification, ClientRequest, ErrorCode as RpcCode, ListToolsRequest, PaginatedRequestParams,
    RequestId, ServerResult, SubscriptionFilter,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolgate_core::ToolOutput;
use toolgate_core::id::Slug;
use toolgate_core::port::executor::{ToolContext, ToolFailure};
use toolgate_core::port::upstream::Listing;
use toolgate_core::upstream::Offer;

use crate::clean::quoted;
use crate::direct::Direct;
use crate::fault::{BadAnswer, BadAnswers, Fault, HttpFault};
use crate::handler::Handler;
use crate::interaction::Interaction;
use crate::listing::Gathered;
use crate::opening::{Dial, Era, Opened, Way, era_of};
use crate::outcome::{Output, not_asked, outcome, rpc_error};
use crate::question::Refusal;

/// An open connection. Dropping the last handle closes it.
pub(crate) struct Connection {
    name: Slug,
    service: RunningService<RoleClient, Handler>,
    bad: BadAnswers,
    most: usize,
    hears: Option<CancellationToken>,
    direct: Option<Direct>,
    way: Way,
    tools: RwLock<HashMap<String, Known>>,
}

/// What is remembered of an offer.
struct Known {
    output: Output,
    digest: String,
    /// Whether parts of its input go into headers.
    in_headers: bool,
    /// Whether its server runs it only as a task.
    as_task: bool,
}

impl Known {
    fn of(offer: &Offer, as_task: bool) -> Self {
        let output = if offer.output_schema.is_some() { Output::Declared } else { Output::Undeclared };
        let in_headers = offer.input_schema.to_string().contains("x-mcp-header");
        Self { output, digest: offer.digest(), in_headers, as_task }
    }
}

/// What a call takes along.
pub(crate) struct Order<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Map<String, Value>,
    /// Where progress goes; none drops it.
    pub(crate) context: Option<&'a ToolContext>,
    pub(crate) cancelled: CancellationToken,
    /// Who answers what the server asks; none refuses it.
    pub(crate) interaction: Option<Arc<dyn Interaction>>,
}

/// What goes along when a call is sent again: what was answered, and what the server wanted to be reminded of. It never
/// leaves this process but to the server.
#[derive(Default)]
pub(crate) struct Answered {
    pub(crate) responses: Option<BTreeMap<String, Value>>,
    pub(crate) state: Option<String>,
}

/// How often a call may be sent again before it has to end.
const MOST_ROUNDS: usize = 10;

impl Connection {
    /// Connects. The caller sets the time limit.
    pub(crate) async fn open(dial: Dial) -> Result<Self, Fault> {
        let Opened { service, bad, hears, direct, way } = dial.open().await?;
        let most = dial.settings.largest_message;
        let connection =
            Self { name: dial.name, service, bad, most, hears, direct, way, tools: RwLock::default() };
        connection.listen();
        Ok(connection)
    }

    /// Whether requests can still be sent.
    pub(crate) fn is_open(&self) -> bool {
        !self.service.is_transport_closed() && !self.service.is_closed()
    }

    pub(crate) fn era(&self) -> Era {
        era_of(&self.service)
    }

    pub(crate) const fn way(&self) -> Way {
        self.way
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
        let tasks = pages.take_tasks();
        let (tools, problems) = pages.finish();
        let known = |offer: &Offer| Known::of(offer, tasks.contains(&offer.name));
        let known = tools.iter().map(|offer| (offer.name.clone(), known(offer))).collect();
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = known;
        let server = self.service.peer_info().and_then(|info| info.server_info.clone());
        let server = server.map(|info| quoted(&format!("{} {}", info.name, info.version), 200));
        Ok(Listing { protocol: self.protocol(), server: server.unwrap_or_default(), tools, problems })
    }

    /// Whether what was last offered here under this name has this digest.
    pub(crate) fn offers(&self, tool: &str, digest: &str) -> bool {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(tool).is_some_and(|known| known.digest == digest)
    }

    /// Calls a tool, and again with what was answered for as long as it asks.
    pub(crate) async fn call(&self, order: Order<'_>) -> Result<ToolOutput, CallFault> {
        let output = {
            let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
            tools.get(order.tool).map_or(Output::Undeclared, |known| known.output)
        };
        let mut answered = Answered::default();
        for _ in 0..MOST_ROUNDS {
            let result = self.once(&order, &answered).await?;
            let asks = result.get("resultType").and_then(Value::as_str) == Some("input_required");
            let Some(interaction) = order.interaction.as_ref().filter(|_| asks) else {
                return outcome(self.name.as_str(), result, output).map_err(CallFault::Failure);
            };
            let answers = answers(interaction.as_ref(), &result).await;
            // It waits for an answer, not at work, and gets none.
            if order.cancelled.is_cancelled() {
                return Err(CallFault::Failure(ToolFailure::Cancelled));
            }
            let responses =
                answers.map_err(|refusal| CallFault::Failure(not_asked(self.name.as_str(), refusal)))?;
            let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
            answered = Answered { responses: Some(responses), state };
        }
        Err(CallFault::Failure(not_asked(self.name.as_str(), Refusal::TooMany)))
    }

    /// Sends a call once.
    async fn once(&self, order: &Order<'_>, answered: &Answered) -> Result<Value, CallFault> {
        let (in_headers, as_task) = {
            let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
            tools.get(order.tool).map_or((true, false), |known| (known.in_headers, known.as_task))
        };
        let failed = |error: Asked| self.failed(error);
        if as_task && self.era() == Era::Legacy {
            return self.call_as_task(order, order.interaction.as_ref()).await;
        }
        if let Some(direct) = self.direct.as_ref().filter(|_| !in_headers) {
            match direct.call(order, answered).await {
                // It wants something in headers after all; the library knows how.
                Err(Asked::Refused(RpcCode::HEADER_MISMATCH, _)) => {}
                result => return result.map_err(failed),
            }
        }
        let mut params = CallToolRequestParams::new(order.tool.to_owned());
        params.arguments = Some(order.arguments.clone());
        params.input_responses.clone_from(&answered.responses);
        params.request_state.clone_from(&answered.state);
        let request = || ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
        // Newer servers ask in their results, and nowhere else.
        let interaction = order.interaction.as_ref().filter(|_| self.era() == Era::Legacy);
        match self.request(request(), order.context, &order.cancelled, interaction).await {
            // The server wants parts of the input as headers, and says so in a list this connection has not seen.
            Err(Asked::Refused(RpcCode::HEADER_MISMATCH, _)) => {
                self.list().await.map_err(CallFault::Fault)?;
                self.request(request(), order.context, &order.cancelled, interaction).await.map_err(failed)
            }
            result => result.map_err(failed),
        }
    }

    /// Ends the connection and waits until it is ended.
    pub(crate) fn close(&self) {
        self.service.cancellation_token().cancel();
    }

    pub(crate) fn name(&self) -> &Slug {
        &self.name
    }

    pub(crate) fn peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    /// A request that went wrong, as far as the call goes.
    pub(crate) fn failed(&self, error: Asked) -> CallFault {
        CallFault::Fault(error.into_fault(self.name.as_str(), self.most))
    }

    async fn ask(&self, request: ClientRequest) -> Result<Value, Fault> {
        let never = CancellationToken::new();
        let answer = self.request(request, None, &never, None).await;
        answer.map_err(|error| match error {
            Asked::Bad(bad) => Fault::bad_list(self.name.as_str(), bad, self.most),
            error => error.into_fault(self.name.as_str(), self.most),
        })
    }

    /// Sends a request and waits for its answer, passing progress on. A caller who leaves cancels it there; one who
    /// asks to stop does too, and still gets the answer if there is one.
    pub(crate) async fn request(
        &self,
        request: ClientRequest,
        context: Option<&ToolContext>,
        cancelled: &CancellationToken,
        interaction: Option<&Arc<dyn Interaction>>,
    ) -> Result<Value, Asked> {
        let calls = self.service.service().calls();
        let entered = interaction.map(|interaction| calls.enter(Arc::clone(interaction)));
        // In a list such a number is some bound in a schema; in a result it is what was asked for.
        let exact = !matches!(request, ClientRequest::ListToolsRequest(_));
        let options = PeerRequestOptions::no_options();
        let Ok(mut handle) = self.service.send_cancellable_request(request, options).await else {
            return Err(Asked::NotSent);
        };
        let id = handle.id.clone();
        if let Some(entered) = &entered {
            entered.sent(id.clone());
        }
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
        if let (true, Err(ServiceError::Cancelled { .. })) = (asked_to_stop, &answer) {
            // The library waits no longer for what it was told to call off. Whether it had an effect can't be known, and
            // the runner says so.
            return std::future::pending().await;
        }
        match answer {
            Ok(_) if exact && bad == Some(BadAnswer::Inexact) => Err(Asked::Bad(BadAnswer::Inexact)),
            Ok(result) => Ok(value_of(result)),
            Err(error) => Err(match (bad, error) {
                (Some(bad), _) if bad != BadAnswer::Inexact => Asked::Bad(bad),
                (_, ServiceError::McpError(error)) => Asked::Refused(error.code, error.message.into_owned()),
                (_, error) => Asked::Failed(error),
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

/// How a call went wrong.
pub(crate) enum CallFault {
    /// Between us and the server.
    Fault(Fault),
    /// At the server, which said so.
    Failure(ToolFailure),
}

/// How a request went wrong.
pub(crate) enum Asked {
    NotSent,
    Bad(BadAnswer),
    Refused(RpcCode, String),
    Failed(ServiceError),
    Http(StreamableHttpError<HttpFault>),
}

impl Asked {
    fn into_fault(self, server: &str, most: usize) -> Fault {
        match self {
            Self::NotSent => Fault::NotSent("the connection ended".to_owned()),
            Self::Bad(bad) => Fault::bad_answer(server, bad, most),
            Self::Refused(code, words) => Fault::Answered(Box::new(rpc_error(server, code.0.into(), &words))),
            Self::Failed(error) => Fault::of_request(server, &error),
            Self::Http(error) => Fault::of_http(server, &error),
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

/// Answers all questions of a result. One that can't be answered leaves nothing to go on with.
async fn answers(interaction: &dyn Interaction, result: &Value) -> Result<BTreeMap<String, Value>, Refusal> {
    let mut answers = BTreeMap::new();
    let Some(Value::Object(requests)) = result.get("inputRequests") else { return Ok(answers) };
    for (key, request) in requests {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = request.get("params").cloned().unwrap_or(Value::Null);
        answers.insert(key.clone(), interaction.answer(method, &params).await?);
    }
    Ok(answers)
}
