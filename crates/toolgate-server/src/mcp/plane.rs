//! The product as the protocol sees it: each question is one use case.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::Value;
use toolgate_app::{App, AppError, Decision, InvokeRequest};
use toolgate_core::contract::Audience;
use toolgate_core::id::{InvocationId, Slug, ToolName};
use toolgate_core::port::store::StoreError;
use toolgate_core::runner::RunError;
use toolgate_core::toolset::Toolset;
use toolgate_core::{
    Actor, BoundTool, CallError, CallResult, ErrorCode, Invocation, Source, Timestamp, ToolContract,
};
use toolgate_mcp::{Order, Plane, PlaneError, RpcError, Selection, Verdict};

use crate::error::ApiError;

/// The most toolsets, and callers of them, that are remembered.
const MOST: usize = 1000;
/// How long it is remembered that an endpoint has something for a caller.
const FRESH: Duration = Duration::from_secs(5);

type Known = HashMap<(String, String), (u64, Option<Arc<Toolset>>)>;

/// The product behind the MCP door.
#[derive(Debug)]
pub(crate) struct AppPlane {
    app: App,
    /// Toolsets as they were when nothing had changed since.
    toolsets: Mutex<Known>,
    /// Which endpoints have something for whom.
    shown: Mutex<HashMap<(String, String), (u64, Instant)>>,
}

impl AppPlane {
    pub(crate) fn new(app: App) -> Self {
        Self { app, toolsets: Mutex::default(), shown: Mutex::default() }
    }

    /// The tools of an endpoint: none where there is no such toolset, or nothing in it for this caller.
    pub(super) async fn endpoint(&self, actor: &Actor, name: &str) -> Result<Option<Selection>, AppError> {
        let Ok(slug) = name.parse::<Slug>() else { return Ok(None) };
        let Some(toolset) = self.toolset(actor, &slug).await? else { return Ok(None) };
        let selection = Selection::Toolset(toolset);
        Ok(self.shows_any(actor, name, &selection).then_some(selection))
    }

    /// Whether an endpoint has anything for this caller. A call must not cost more the more tools there are, so a yes
    /// stands for a moment; each tool is asked about when it is called.
    fn shows_any(&self, actor: &Actor, name: &str, selection: &Selection) -> bool {
        let subject = actor.subject_id().map(ToString::to_string).unwrap_or_default();
        let credential = format!("{:?}", actor.credential);
        let key = (format!("{} {} {subject} {credential}", actor.tenant, actor.principal), name.to_owned());
        let moves = self.app.moves();
        let shown = || self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown().get(&key).is_some_and(|(at, since)| *at == moves && since.elapsed() < FRESH) {
            return true;
        }
        let any = !self.tools(actor, selection, "", 1).is_empty();
        let mut known = shown();
        if known.len() >= MOST {
            known.clear();
        }
        if any {
            known.insert(key, (moves, Instant::now()));
        }
        any
    }

    async fn toolset(&self, actor: &Actor, name: &Slug) -> Result<Option<Arc<Toolset>>, AppError> {
        let key = (actor.tenant.to_string(), name.to_string());
        let moves = self.app.moves();
        let known = || self.toolsets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, toolset)) = known().get(&key)
            && *at == moves
        {
            return Ok(toolset.clone());
        }
        let toolset = self.app.endpoint_toolset(actor, name).await?.map(Arc::new);
        let mut toolsets = known();
        if toolsets.len() >= MOST {
            toolsets.clear();
        }
        toolsets.insert(key, (moves, toolset.clone()));
        Ok(toolset)
    }
}

fn offered(selection: &Selection, tool: &ToolContract) -> bool {
    // Internal tools never reach an MCP client, however it proved who it is.
    tool.audience != Audience::Internal && selection.holds(tool)
}

#[async_trait]
impl Plane for AppPlane {
    fn now(&self) -> i64 {
        self.app.runner().parts().clock.now().as_micros() / 1_000_000
    }

    fn in_force(&self, actor: &Actor) -> Option<Arc<dyn Any + Send + Sync>> {
        self.app.in_force(&actor.tenant).map(|snapshot| snapshot as _)
    }

    fn tools(&self, actor: &Actor, selection: &Selection, after: &str, limit: usize) -> Vec<Arc<BoundTool>> {
        self.app.list_tools_of(actor, Source::Mcp, |tool| offered(selection, tool), after, limit)
    }

    fn tool(&self, actor: &Actor, selection: &Selection, id: &ToolName) -> Option<Arc<BoundTool>> {
        self.app.read_tool(actor, Source::Mcp, id).ok().filter(|tool| offered(selection, &tool.contract))
    }

    async fn call(&self, actor: &Actor, order: Order) -> Result<CallResult, PlaneError> {
        let request = InvokeRequest {
            tool: order.tool,
            input: order.input,
            session: None,
            parent: None,
            idempotency_key: order.idempotency_key,
            connection: None,
            source: Source::Mcp,
            wait: order.wait,
            watch: Some(order.watch),
        };
        self.app.invoke_tool(actor, request).await.map_err(refused)
    }

    async fn refuse(&self, actor: &Actor, tool: ToolName, input: Value) -> Result<(), PlaneError> {
        let request = InvokeRequest {
            tool,
            input,
            session: None,
            parent: None,
            idempotency_key: None,
            connection: None,
            source: Source::Mcp,
            wait: Duration::ZERO,
            watch: None,
        };
        self.app.refuse_tool(actor, request).await.map_err(refused)
    }

    async fn read(&self, actor: &Actor, id: InvocationId) -> Result<Invocation, PlaneError> {
        self.app.read_invocation(actor, id).await.map_err(refused)
    }

    async fn follow(
        &self,
        actor: &Actor,
        id: InvocationId,
        wait: Duration,
    ) -> Result<Invocation, PlaneError> {
        self.app.await_invocation(actor, id, wait).await.map_err(refused)
    }

    async fn cancel(&self, actor: &Actor, id: InvocationId) -> Result<(), PlaneError> {
        let reason = Some("the client wants it no more".to_owned());
        self.app.cancel_invocation(actor, id, reason).await.map(drop).map_err(refused)
    }

    async fn reports(&self, invocation: &Invocation) -> Result<Vec<Value>, PlaneError> {
        self.app.invocation_reports(invocation).await.map_err(refused)
    }

    async fn note_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
        call: InvocationId,
        began: Timestamp,
    ) -> Result<bool, PlaneError> {
        self.app.note_mcp_request(actor, key, call, began).await.map_err(refused)
    }

    async fn give_up_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
    ) -> Result<Option<InvocationId>, PlaneError> {
        self.app.give_up_mcp_request(actor, key).await.map_err(refused)
    }

    async fn may_confirm(&self, actor: &Actor, invocation: &Invocation) -> bool {
        self.app.may_confirm(actor, invocation).await
    }

    async fn decide(
        &self,
        actor: &Actor,
        id: InvocationId,
        verdict: Verdict,
    ) -> Result<CallResult, PlaneError> {
        let Verdict { approve, reason, digest, confirm, wait } = verdict;
        // Invariant: what is asked of a client is its person's own call; nobody decides on another's here.
        let invocation = self.read(actor, id).await?;
        if !self.app.may_confirm(actor, &invocation).await {
            return Err(PlaneError::Unfit("the call no longer waits for your word".to_owned()));
        }
        if approve {
            let decision = Decision { reason, digest, confirm, wait, ..Decision::default() };
            return self.app.approve_invocation(actor, id, decision).await.map_err(refused);
        }
        let reason = reason.unwrap_or_else(|| "rejected in the client".to_owned());
        let row = self.app.reject_invocation(actor, id, reason, digest.as_deref()).await;
        row.map(|row| CallResult::of(&row)).map_err(refused)
    }

    async fn answer(
        &self,
        actor: &Actor,
        id: InvocationId,
        answers: &Value,
    ) -> Result<CallResult, PlaneError> {
        self.app.answer_own_request(actor, id, answers).await.map_err(refused)
    }

    async fn question_of(&self, invocation: &Invocation) -> Result<Option<Invocation>, PlaneError> {
        self.app.question_of(invocation).await.map_err(refused)
    }

    async fn decline(&self, actor: &Actor, id: InvocationId) -> Result<(), PlaneError> {
        self.app.decline_own_request(actor, id).await.map_err(refused)
    }

    async fn question_path(&self, actor: &Actor, id: InvocationId) -> Result<Option<String>, PlaneError> {
        let invocation = self.read(actor, id).await?;
        if !self.app.asks_a_person(actor, &invocation) {
            return Ok(None);
        }
        let secret = self.app.share_input_request(&actor.tenant, id).await.map_err(refused)?;
        Ok(secret.map(|secret| format!("/embed/v/{secret}")))
    }
}

fn refused(cause: AppError) -> PlaneError {
    match cause {
        AppError::NotFound { .. } => PlaneError::NotFound,
        AppError::Run(RunError::Refused(error)) => PlaneError::Refused(error),
        AppError::Run(RunError::KeyReused { first }) => PlaneError::Refused(
            CallError::new(
                ErrorCode::IdempotencyConflict,
                "this idempotency key came with other arguments before",
            )
            .hint("use a new key for a new call, or send the first arguments again")
            .details(serde_json::json!({ "first_call_id": first })),
        ),
        AppError::Conflict { message } | AppError::Invalid { message, .. } => PlaneError::Unfit(message),
        AppError::Run(RunError::Store(StoreError::Conflict)) => {
            PlaneError::Unfit("it changed in the meantime".to_owned())
        }
        AppError::Forbidden { message, .. } => PlaneError::Forbidden(message),
        other => {
            let error = ApiError::from(other);
            let view = error.view();
            let hint = view.hint.as_deref().unwrap_or("try again in a moment");
            PlaneError::Rpc(RpcError::coded(RpcError::INTERNAL, &view.code, view.message.clone(), hint))
        }
    }
}
