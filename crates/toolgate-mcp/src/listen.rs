//! Streams that tell a client when what it may see has changed: `subscriptions/listen`, and the open stream of the
//! handshake era.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use toolgate_core::Actor;
use toolgate_core::id::InvocationId;

use crate::capability::TASKS;
use crate::exchange::Exchange;
use crate::gate::McpGate;
use crate::jsonrpc::{Id, RpcError, notification};
use crate::plane::Selection;
use crate::result::ResultText;

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
    tasks: Vec<(InvocationId, u64)>,
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
            for id in ids.iter().filter_map(Value::as_str).take(MAX_TASKS) {
                if let Some(invocation) = self.own_call(x, id).await {
                    wanted.tasks.push((invocation.id(), invocation.revision));
                }
            }
            let ids: Vec<String> = wanted.tasks.iter().map(|(id, _)| id.to_string()).collect();
            agreed.insert("taskIds".to_owned(), json!(ids));
        }
        let told = json!({ "_meta": { SUBSCRIPTION: x.id }, "notifications": agreed });
        x.out.send(notification("notifications/subscriptions/acknowledged", &told));
        self.watch_lists(x, &mut wanted, Some(x.id), standing).await;
        let mut result = ResultText::complete(x.client);
        result.meta(SUBSCRIPTION, x.id);
        Ok(result.finish())
    }

    /// Serves the open stream of a session of the handshake era, as long as someone may listen.
    pub async fn listen_legacy(&self, x: &Exchange<'_>, standing: &dyn Standing) {
        let prompts = self.fixtures.is_some();
        let mut wanted = Wanted { tools: true, prompts, tasks: Vec::new() };
        self.watch_lists(x, &mut wanted, None, standing).await;
    }

    async fn watch_lists(
        &self,
        x: &Exchange<'_>,
        wanted: &mut Wanted,
        subscription: Option<&Id>,
        standing: &dyn Standing,
    ) {
        let tell = |what: &str| {
            let params = match subscription {
                Some(id) => json!({ "_meta": { SUBSCRIPTION: id } }),
                None => json!({}),
            };
            x.out.send(notification(what, &params));
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
                tell("notifications/tools/list_changed");
            }
            if wanted.prompts && now.prompts != seen.prompts {
                tell("notifications/prompts/list_changed");
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
                    tell("notifications/tools/list_changed");
                }
            }
            for (id, revision) in &mut wanted.tasks {
                let Ok(invocation) = self.plane.read(&actor, *id).await else { continue };
                if invocation.revision != *revision {
                    *revision = invocation.revision;
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
