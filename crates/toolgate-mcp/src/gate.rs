//! The methods, and where each is answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::watch;
use toolgate_core::id::InvocationId;

use crate::capability::{ClientCapabilities, TASKS};
use crate::conformance::Fixtures;
use crate::cursor;
use crate::era::{self, Client, Era};
use crate::exchange::Exchange;
use crate::jsonrpc::{Id, Request, RpcError};
use crate::listen::Changes;
use crate::offering::{Asker, Offered, Offerings};
use crate::plane::{Plane, PlaneError, Selection};
use crate::product::ProductOfferings;
use crate::question::Questions;
use crate::result::{ResultText, server_info};
use crate::seal::{CannotSeal, Sealer};
use crate::session::Session;
use crate::state::{RequestState, request_digest};
use crate::tool::ToolEntries;
use crate::{seal, search_mode};

/// How many tools one page lists.
const PAGE: usize = 1000;

const INSTRUCTIONS: &str = "The tools of this organisation, as far as you may use them. Every call is checked and \
recorded. Some calls wait for a person: then the answer says so, with the call's id and a link; do not repeat them. \
Read `toolgate://calls/{id}` to see how a call stands.";

/// Answers requests. One for a process; it keeps nothing of a client between requests but what only concerns requests
/// that are still open here.
pub struct McpGate {
    pub(crate) plane: Arc<dyn Plane>,
    pub(crate) sealer: Sealer,
    pub(crate) entries: ToolEntries,
    pub(crate) fixtures: Option<Fixtures>,
    pub(crate) questions: Questions,
    pub(crate) changes: watch::Sender<Changes>,
    /// Calls of clients of the handshake era that run here, for when they are to be stopped.
    open: Mutex<HashMap<(String, Id), InvocationId>>,
}

impl std::fmt::Debug for McpGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpGate").finish_non_exhaustive()
    }
}

/// The begin of a session of the handshake era.
#[derive(Debug)]
pub struct Opening {
    /// The session.
    pub session: Session,
    /// The answer to `initialize`.
    pub result: String,
}

impl McpGate {
    /// A gate over the product.
    #[must_use]
    pub fn new(plane: Arc<dyn Plane>, sealer: Sealer, fixtures: Option<Fixtures>) -> Self {
        Self {
            plane,
            sealer,
            entries: ToolEntries::default(),
            fixtures,
            questions: Questions::default(),
            changes: watch::Sender::new(Changes::default()),
            open: Mutex::default(),
        }
    }

    /// What seals.
    #[must_use]
    pub const fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Begins a session of the handshake era.
    ///
    /// # Errors
    /// When the parameters can't be used.
    pub fn initialize(&self, actor: &toolgate_core::Actor, request: &Request) -> Result<Opening, RpcError> {
        let params = &request.params;
        let Some(asked) = params.get("protocolVersion").and_then(Value::as_str) else {
            return Err(RpcError::invalid_params(
                "`protocolVersion` must say which version the client speaks",
            ));
        };
        // A version unknown here is answered with the newest there is; the client then decides.
        let version = era::legacy_version(asked).unwrap_or(era::LEGACY[0]);
        let declared = params.get("capabilities").cloned().unwrap_or_else(|| json!({}));
        let client = Client {
            era: Era::Legacy,
            version,
            capabilities: ClientCapabilities::of(&declared),
            log_level: None,
        };
        let session = Session::begin(actor, &client, params.get("clientInfo"), self.plane.now());
        let result = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities(&client),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        });
        Ok(Opening { session, result: result.to_string() })
    }

    /// Answers a request of either era.
    ///
    /// # Errors
    /// As the specification has them.
    pub async fn answer(&self, x: &Exchange<'_>, mut request: Request) -> Result<String, RpcError> {
        let params = std::mem::take(&mut request.params);
        match (x.client.era, request.method.as_str()) {
            (Era::Modern, "server/discover") => Ok(self.discover(x)),
            (Era::Legacy, "ping") => Ok("{}".to_owned()),
            (Era::Legacy, "logging/setLevel") if self.fixtures.is_some() => Ok("{}".to_owned()),
            (Era::Legacy, "resources/subscribe" | "resources/unsubscribe") => self.subscribe(x, &params),
            (_, "tools/list") => self.list_tools(x, &params),
            (_, "tools/call") => self.call_tool(x, params).await,
            (_, "prompts/list") => self.list(x, "prompts", &params).await,
            (_, "prompts/get") => self.prompt(x, params).await,
            (_, "resources/list") => self.list(x, "resources", &params).await,
            (_, "resources/templates/list") => self.list(x, "resourceTemplates", &params).await,
            (_, "resources/read") => self.read_resource(x, &params).await,
            (_, "completion/complete") => self.complete(x, &params).await,
            (Era::Modern, "tasks/get") => self.task(x, &params).await,
            (Era::Modern, "tasks/update") => self.update_task(x, &params).await,
            (Era::Modern, "tasks/cancel") => self.cancel_task(x, &params).await,
            (era, method) => {
                let status = if era == Era::Modern { 404 } else { 200 };
                Err(RpcError::method_not_found(method).with_status(status))
            }
        }
    }

    fn capabilities(&self, client: &Client) -> Value {
        let mut offered = json!({
            "tools": { "listChanged": true },
            "prompts": {},
            "resources": {},
            "completions": {},
        });
        if client.is_modern() {
            offered["extensions"] = json!({ TASKS: {} });
        }
        if self.fixtures.is_some() {
            offered["prompts"] = json!({ "listChanged": true });
            if !client.is_modern() {
                offered["resources"] = json!({ "subscribe": true });
                offered["logging"] = json!({});
            }
        }
        offered
    }

    fn discover(&self, x: &Exchange<'_>) -> String {
        let mut result = ResultText::complete(x.client);
        result.field("supportedVersions", &era::SUPPORTED);
        result.field("capabilities", &self.capabilities(x.client));
        result.field("instructions", INSTRUCTIONS);
        result.cacheable();
        result.finish()
    }

    fn list_tools(&self, x: &Exchange<'_>, params: &Map<String, Value>) -> Result<String, RpcError> {
        let after = cursor::of(params)?;
        let mut result = ResultText::complete(x.client);
        if x.selection.searches() {
            result.raw("tools", &search_mode::entries());
            result.cacheable();
            return Ok(result.finish());
        }
        // One more than is shown tells whether there are more.
        let tools = self.plane.tools(x.actor, x.selection, &after, PAGE + 1);
        let entries: Vec<_> = tools.iter().take(PAGE).map(|tool| self.entry(x.selection, tool)).collect();
        let modern = x.client.is_modern();
        let texts = entries.iter().map(|entry| if modern { &*entry.modern } else { &*entry.legacy });
        result.list("tools", texts);
        if let Some(last) = tools.get(PAGE - 1).filter(|_| tools.len() > PAGE) {
            result.field("nextCursor", &cursor::after(last.contract.id.as_str()));
        }
        result.cacheable();
        Ok(result.finish())
    }

    pub(crate) fn entry(
        &self,
        selection: &Selection,
        tool: &toolgate_core::BoundTool,
    ) -> Arc<crate::tool::ToolEntry> {
        let hidden = matches!(selection, Selection::Fixtures).then_some(crate::conformance::INJECTED);
        self.entries.get(tool, selection.name_of(&tool.contract), hidden)
    }

    /// What this endpoint offers beside tools.
    fn offerings<'a>(&'a self, x: &'a Exchange<'a>) -> Offering<'a> {
        match &self.fixtures {
            Some(fixtures) => Offering::Fixtures(fixtures.offerings.as_ref()),
            None => Offering::Product(ProductOfferings::new(self, x.selection)),
        }
    }

    async fn list(
        &self,
        x: &Exchange<'_>,
        what: &str,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        if !cursor::of(params)?.is_empty() {
            return Err(RpcError::invalid_params("`cursor` is not one that was given out here"));
        }
        let context = x.context(params, None);
        let asker = Asker { actor: x.actor, context: &context };
        let offerings = self.offerings(x);
        let entries = match what {
            "prompts" => offerings.prompts(&asker).await?,
            "resources" => offerings.resources(&asker).await?,
            _ => offerings.templates(&asker).await?,
        };
        let mut result = ResultText::complete(x.client);
        result.field(what, &entries);
        result.cacheable();
        Ok(result.finish())
    }

    async fn prompt(&self, x: &Exchange<'_>, params: Map<String, Value>) -> Result<String, RpcError> {
        let name = text(&params, "name")?;
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(RpcError::invalid_params("`arguments` must be an object")),
        };
        let digest = request_digest("prompts/get", name, &Value::Object(arguments.clone()));
        let kept = self.brought_back(x, &params, &digest)?.and_then(|state| state.kept);
        let context = x.context(&params, kept.as_ref());
        let asker = Asker { actor: x.actor, context: &context };
        match self.offerings(x).prompt(&asker, name, &arguments).await? {
            Offered::Complete(body) => Ok(whole(x, &body, false)),
            Offered::InputRequired { requests, state } => self.ask_client(x, &digest, &requests, state),
        }
    }

    async fn read_resource(&self, x: &Exchange<'_>, params: &Map<String, Value>) -> Result<String, RpcError> {
        let uri = text(params, "uri")?;
        let digest = request_digest("resources/read", uri, &Value::Null);
        let kept = self.brought_back(x, params, &digest)?.and_then(|state| state.kept);
        let context = x.context(params, kept.as_ref());
        let asker = Asker { actor: x.actor, context: &context };
        match self.offerings(x).read(&asker, uri).await? {
            Offered::Complete(body) => Ok(whole(x, &body, true)),
            Offered::InputRequired { requests, state } => self.ask_client(x, &digest, &requests, state),
        }
    }

    async fn complete(&self, x: &Exchange<'_>, params: &Map<String, Value>) -> Result<String, RpcError> {
        let reference = params.get("ref").filter(|reference| reference.is_object());
        let reference =
            reference.ok_or_else(|| RpcError::invalid_params("`ref` must name a prompt or a resource"))?;
        let argument = params.get("argument").and_then(Value::as_object);
        let argument = argument.ok_or_else(|| RpcError::invalid_params("`argument` must be an object"))?;
        let context = x.context(params, None);
        let asker = Asker { actor: x.actor, context: &context };
        let (name, value) = (text(argument, "name")?, text(argument, "value")?);
        let completion = self.offerings(x).complete(&asker, reference, name, value).await?;
        let mut result = ResultText::complete(x.client);
        result.field("completion", &completion);
        Ok(result.finish())
    }

    fn subscribe(&self, x: &Exchange<'_>, params: &Map<String, Value>) -> Result<String, RpcError> {
        let uri = text(params, "uri")?;
        match self.fixtures.is_some() && self.offerings(x).subscribable(uri) {
            true => Ok("{}".to_owned()),
            false => Err(RpcError::method_not_found("resources/subscribe")),
        }
    }

    /// The state that a request tried again brings back; none where it brings none.
    pub(crate) fn brought_back(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
        digest: &str,
    ) -> Result<Option<RequestState>, RpcError> {
        if params.get("inputResponses").is_some_and(|responses| !responses.is_object()) {
            return Err(RpcError::invalid_params("`inputResponses` must be an object"));
        }
        match params.get("requestState") {
            None => Ok(None),
            Some(Value::String(text)) => {
                RequestState::open(&self.sealer, text, x.actor, digest, self.plane.now()).map(Some)
            }
            Some(_) => Err(RpcError::invalid_params("`requestState` must be a text")),
        }
    }

    /// A result that asks the client for something first.
    pub(crate) fn ask_client(
        &self,
        x: &Exchange<'_>,
        digest: &str,
        requests: &Map<String, Value>,
        kept: Option<Value>,
    ) -> Result<String, RpcError> {
        let state = RequestState { kept, ..RequestState::new(x.actor, digest.to_owned(), self.plane.now()) };
        self.input_required(x, requests, &state)
    }

    pub(crate) fn input_required(
        &self,
        x: &Exchange<'_>,
        requests: &Map<String, Value>,
        state: &RequestState,
    ) -> Result<String, RpcError> {
        let mut result = ResultText::of_type(x.client, "input_required");
        result.field("inputRequests", requests);
        result.field("requestState", &state.seal(&self.sealer, seal::Purpose::State)?);
        Ok(result.finish())
    }

    /// Notes which call a request of the handshake era led to, for as long as the returned note is kept.
    pub(crate) fn note_open(&self, x: &Exchange<'_>, call: InvocationId) -> Option<OpenNote<'_>> {
        let key = (x.session?.to_owned(), x.id.clone());
        self.opened().insert(key.clone(), call);
        Some(OpenNote { gate: self, key, call })
    }

    /// The call that a request of this session led to, while it is open here.
    pub(crate) fn open_call(&self, session: &str, id: &Id) -> Option<InvocationId> {
        self.opened().get(&(session.to_owned(), id.clone())).copied()
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, HashMap<(String, Id), InvocationId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request of the handshake era that is open here; forgotten when dropped, however it ends.
pub(crate) struct OpenNote<'a> {
    gate: &'a McpGate,
    key: (String, Id),
    call: InvocationId,
}

impl OpenNote<'_> {
    /// The call.
    pub(crate) const fn call(&self) -> InvocationId {
        self.call
    }
}

impl Drop for OpenNote<'_> {
    fn drop(&mut self) {
        self.gate.opened().remove(&self.key);
    }
}

/// What an endpoint offers beside tools.
enum Offering<'a> {
    Fixtures(&'a dyn Offerings),
    Product(ProductOfferings<'a>),
}

impl<'a> std::ops::Deref for Offering<'a> {
    type Target = dyn Offerings + 'a;
    fn deref(&self) -> &Self::Target {
        match self {
            Self::Fixtures(offerings) => *offerings,
            Self::Product(offerings) => offerings,
        }
    }
}

/// A result with the fields of an object.
fn whole(x: &Exchange<'_>, body: &Value, cacheable: bool) -> String {
    let mut result = ResultText::complete(x.client);
    for (key, value) in body.as_object().into_iter().flatten() {
        if key.bytes().all(|b| b.is_ascii_alphanumeric()) {
            result.field(key, value);
        }
    }
    if cacheable {
        result.cacheable();
    }
    result.finish()
}

/// A field that must be a text.
pub(crate) fn text<'a>(params: &'a Map<String, Value>, field: &str) -> Result<&'a str, RpcError> {
    let found = params.get(field).and_then(Value::as_str);
    found.ok_or_else(|| RpcError::invalid_params(format!("`{field}` must be a text")))
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
