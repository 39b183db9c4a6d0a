//! Streams that tell a client when what it may see has changed: `subscriptions/listen`, and the open stream of the
//! handshake era.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use toolgate_core::id::InvocationId;
use toolgate_core::{Actor, Invocation};

use crate::capability::TASKS;
use crate::exchange::Exchange;
use crate::gate::McpGate;
use crate::jsonrpc::{Id, notification};
use crate::plane::Selection;
use crate::result::ResultText;
use crate::rpc_error::RpcError;
use crate::thread;

/// How late a change may be seen.
const LOOK: Duration = Duration::from_millis(250);
/// How late it is noticed that whoever listens may listen no more.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// The most tasks that one stream follows.
const MAX_TASKS: usize = 32;
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// How often lists have changed by a fixture's hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) tools: u64,
    pub(crate) prompts: u64,
}

/// Whether a listener may go on listening.
#[async_trait]
pub trait Standing: Send + Sync {
    /// The caller as they stand now; none when their credential works no more.
    async fn caller(&self) -> Option<Actor>;
}

struct Wanted {
    tools: bool,
    prompts: bool,
    tasks: Vec<Followed>,
}

/// A task that is listened to, as it was last seen.
struct Followed {
    id: InvocationId,
    revision: u64,
    settled: bool,
}

impl Followed {
    fn of(invocation: &Invocation) -> Self {
        // In doubt is an end for the machine and none for people, who settle it later.
        let settled = invocation.status.is_terminal();
        Self { id: invocation.id(), revision: invocation.revision, settled }
    }
}

impl McpGate {
    /// Serves `subscriptions/listen` until nobody listens, or nobody may.
    ///
    /// # Errors
    /// When the request can't be used.
    pub async fn listen(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
        standing: &dyn Standing,
    ) -> Result<String, RpcError> {
        let filter = params.get("notifications").and_then(Value::as_object);
        let filter = filter.ok_or_else(|| RpcError::invalid_params("`notifications` must be an object"))?;
        let wants = |key: &str| filter.get(key).and_then(Value::as_bool).unwrap_or(false);
        let mut wanted = Wanted {
            tools: wants("toolsListChanged"),
            prompts: wants("promptsListChanged"),
            tasks: Vec::new(),
        };
        let mut agreed = Map::new();
        if wanted.tools {
            agreed.insert("toolsListChanged".to_owned(), true.into());
        }
        if wanted.prompts && self.fixtures.is_some() {
            agreed.insert("promptsListChanged".to_owned(), true.into());
        }
        if let Some(ids) = filter.get("taskIds").and_then(Value::as_array) {
            if !x.client.capabilities.tasks {
                return Err(RpcError::missing_capability(json!({ "extensions": { TASKS: {} } })));
            }
            for id in ids.iter().filter_map(|id| id.as_str()?.parse().ok()).take(MAX_TASKS) {
                if let Some(invocation) = self.own_call(x, id).await {
                    wanted.tasks.push(Followed::of(&invocation));
                }
            }
            let ids: Vec<String> = wanted.tasks.iter().map(|task| task.id.to_string()).collect();
            agreed.insert("taskIds".to_owned(), json!(ids));
        }
        let told = json!({ "_meta": { SUBSCRIPTION: x.id }, "notifications": agreed });
        x.out.send(notification("notifications/subscriptions/acknowledged", &told));
        self.watch_lists(x, &mut wanted, Some(x.id), standing).await;
        let mut result = ResultText::complete(x.client);
        result.meta(SUBSCRIPTION, x.id);
        Ok(result.finish())
    }

    /// Serves the open stream of a session of the handshake era, as long as someone may listen. `last` is what the
    /// caller could see when an earlier stream broke off: what changed since is told at once.
    pub async fn listen_legacy(&self, x: &Exchange<'_>, standing: &dyn Standing, last: Option<u64>) {
        let prompts = self.fixtures.is_some();
        let mut wanted = Wanted { tools: true, prompts, tasks: Vec::new() };
        let visible = self.visible(x.actor, x.selection);
        if last.is_some_and(|last| last != visible) {
            let changed = notification("notifications/tools/list_changed", &json!({}));
            x.out.send_as(Some(changed), thread::listening(visible));
        } else if x.client.knows_marks() {
            x.out.send_as(None, thread::listening(visible));
        }
        self.watch_lists(x, &mut wanted, None, standing).await;
    }

    async fn watch_lists(
        &self,
        x: &Exchange<'_>,
        wanted: &mut Wanted,
        subscription: Option<&Id>,
        standing: &dyn Standing,
    ) {
        let tell = |what: &str, visible: u64| match subscription {
            Some(id) => x.out.send(notification(what, &json!({ "_meta": { SUBSCRIPTION: id } }))),
            None => x.out.send_as(Some(notification(what, &json!({}))), thread::listening(visible)),
        };
        let mut actor = x.actor.clone();
        let mut changes = self.changes.subscribe();
        let mut seen = *changes.borrow_and_update();
        let mut force = self.plane.in_force(&actor);
        let mut visible = self.visible(&actor, x.selection);
        let mut asked = tokio::time::Instant::now();
        while !x.gone.is_cancelled() && x.out.is_open() {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                _ = changes.changed() => {}
                () = x.gone.cancelled() => return,
            }
            let now = *changes.borrow_and_update();
            if wanted.tools && now.tools != seen.tools {
                tell("notifications/tools/list_changed", visible);
            }
            if wanted.prompts && now.prompts != seen.prompts {
                tell("notifications/prompts/list_changed", visible);
            }
            seen = now;
            let now_in_force = self.plane.in_force(&actor);
            let moved = match (&force, &now_in_force) {
                (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
                (before, now) => before.is_some() != now.is_some(),
            };
            force = now_in_force;
            if moved || asked.elapsed() >= ASK_AGAIN {
                asked = tokio::time::Instant::now();
                match standing.caller().await {
                    Some(caller) => actor = caller,
                    None => return,
                }
            }
            if wanted.tools && moved {
                // Most of what changes in a tenant changes nothing for one caller.
                let visible_now = self.visible(&actor, x.selection);
                if visible_now != visible {
                    visible = visible_now;
                    tell("notifications/tools/list_changed", visible);
                }
            }
            // What is over changes no more and is not read again.
            for followed in wanted.tasks.iter_mut().filter(|task| !task.settled) {
                let Ok(invocation) = self.plane.read(&actor, followed.id).await else { continue };
                if invocation.revision != followed.revision {
                    *followed = Followed::of(&invocation);
                    let mut task = self.detailed(x, &invocation).await;
                    if let Some(id) = subscription {
                        task.insert("_meta".to_owned(), json!({ SUBSCRIPTION: id }));
                    }
                    x.out.send(notification("notifications/tasks", &Value::Object(task)));
                }
            }
        }
    }

    /// What a caller sees, in short: another list of tools gives another number.
    fn visible(&self, actor: &Actor, selection: &Selection) -> u64 {
        let mut hasher = DefaultHasher::new();
        for tool in self.plane.tools(actor, selection, "", usize::MAX) {
            tool.version.0.hash(&mut hasher);
        }
        hasher.finish()
    }
}
