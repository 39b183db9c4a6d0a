//! The methods, and where each is answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tokio::sync::watch;
use toolgate_core::id::InvocationId;

use crate::capability::{ClientCapabilities, TASKS};
use crate::conformance::Fixtures;
use crate::cursor;
use crate::era::{self, Client, Era};
use crate::exchange::Exchange;
use crate::jsonrpc::{Id, Request};
use crate::listen::Changes;
use crate::plane::{Plane, Selection};
use crate::question::Questions;
use crate::result::{ResultText, server_info};
use crate::rpc_error::RpcError;
use crate::seal::Sealer;
use crate::search_mode;
use crate::session::Session;
use crate::tool::ToolEntries;

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
    pub(crate) open: Mutex<HashMap<(String, Id), InvocationId>>,
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
}

/// A field that must be a text.
pub(crate) fn text<'a>(params: &'a Map<String, Value>, field: &str) -> Result<&'a str, RpcError> {
    let found = params.get(field).and_then(Value::as_str);
    found.ok_or_else(|| RpcError::invalid_params(format!("`{field}` must be a text")))
}
