//! Kill switches: what is stopped at once, whatever policy says. They stop calls, never managing.

use std::time::Duration;

use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::{
    ConnectionId, InvocationId, PrincipalId, PrincipalKind, SessionId, TenantId, ToolName,
};
use toolgate_core::kill::{Kill, KillKind};
use toolgate_core::port::store::{InvocationFilter, Page, StoreError};
use toolgate_core::{Acting, Actor, Status};

use crate::stored::{Stored, part_of};
use crate::{App, AppError, bounds};

const KIND: DocumentKind = DocumentKind::Kill;
/// By then every node has heard of the switch, and nothing new begins.
const HEARD: Duration = Duration::from_secs(2);

/// A switch just thrown.
#[derive(Debug, Clone)]
pub struct ThrownKill {
    /// The switch.
    pub kill: Stored<Kill>,
    /// Whether there is what it names.
    pub known: bool,
}

impl App {
    /// The thrown switches after `after`, ordered by kind and target, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage kill switches.
    pub async fn list_kills(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Stored<Kill>>, Option<String>), AppError> {
        self.require(actor, Area::Kills)?;
        let all = self.stored(actor, KIND).await?;
        Ok(part_of(all, |kill: &Stored<Kill>| &kill.name, after, limit))
    }

    /// Throws a switch: nothing it concerns begins any more, and what runs is asked to stop. Throwing it again is no
    /// error, nor is one for what is not there: it may come.
    ///
    /// # Errors
    /// When the target is not an id of its kind.
    pub async fn throw_kill(
        &self,
        actor: &Actor,
        kind: KillKind,
        target: Option<&str>,
        reason: &str,
    ) -> Result<ThrownKill, AppError> {
        self.require(actor, Area::Kills)?;
        let target = self.kill_target(actor, kind, target)?;
        let kill = Kill { kind, target, reason: bounds::reason(reason)? };
        let name = Kill::document_name(kind, &kill.target);
        let thrown = match self.stored_one::<Kill>(actor, KIND, &name).await {
            Ok(thrown) if thrown.body == kill => thrown,
            Ok(_) | Err(AppError::NotFound { .. }) => {
                self.put_stored(actor, KIND, &name, &kill, Expect::Anything).await?
            }
            Err(other) => return Err(other),
        };
        let known = self.is_there(actor, &kill).await?;
        self.close_connection(actor, &kill).await;
        let (app, actor) = (self.clone(), actor.clone());
        tokio::spawn(async move {
            app.stop_running(&actor, &kill).await;
            // What another node let through a moment ago runs by now.
            tokio::time::sleep(HEARD).await;
            app.stop_running(&actor, &kill).await;
        });
        Ok(ThrownKill { kill: thrown, known })
    }

    /// Whether there is what a switch names.
    async fn is_there(&self, actor: &Actor, kill: &Kill) -> Result<bool, AppError> {
        let there = match kill.kind {
            KillKind::Tool => match kill.target.parse() {
                Ok(id) => self.registered(actor, &id).is_some(),
                Err(_) => false,
            },
            KillKind::Principal => match kill.target.parse() {
                Ok(id) => self.store().principal(&actor.tenant, &id).await?.is_some(),
                Err(_) => false,
            },
            KillKind::Session => match kill.target.parse() {
                Ok(id) => self.store().session(&actor.tenant, id).await?.is_some(),
                Err(_) => false,
            },
            KillKind::Tenant => true,
            KillKind::Connection => match kill.target.parse() {
                Ok(id) => self.connection_by_id(&actor.tenant, id).await?.is_some(),
                Err(_) => false,
            },
        };
        Ok(there)
    }

    /// What is open with a connection that is stopped is let go of: a program holds its secret for as long as it runs.
    async fn close_connection(&self, actor: &Actor, kill: &Kill) {
        let id = (kill.kind == KillKind::Connection).then(|| kill.target.parse().ok()).flatten();
        let Some(id) = id else { return };
        match self.connection_by_id(&actor.tenant, id).await {
            Ok(Some(connection)) => self.renew_service(actor, &connection.service, &connection.owner).await,
            Ok(None) => {}
            Err(cause) => tracing::warn!(error = %cause, "what is open with a stopped connection stays so"),
        }
    }

    /// The id of the tool that goes by this name here, switched on or not: its own, or an old one.
    fn registered(&self, actor: &Actor, name: &ToolName) -> Option<ToolName> {
        let snapshot = self.snapshots.get(&actor.tenant)?;
        let contracts = || snapshot.registry().iter().map(|entry| &entry.tool.contract);
        let by_id = contracts().find(|contract| contract.id == *name);
        let old = || contracts().find(|contract| contract.aliases.iter().any(|alias| alias.id == *name));
        by_id.or_else(old).map(|contract| contract.id.clone())
    }

    /// Takes a switch back.
    ///
    /// # Errors
    /// "Not found" when it is not thrown.
    pub async fn lift_kill(
        &self,
        actor: &Actor,
        kind: KillKind,
        target: Option<&str>,
    ) -> Result<(), AppError> {
        self.require(actor, Area::Kills)?;
        let target = self.kill_target(actor, kind, target)?;
        self.remove_stored(actor, KIND, &Kill::document_name(kind, &target), Expect::Anything).await
    }

    fn kill_target(&self, actor: &Actor, kind: KillKind, target: Option<&str>) -> Result<String, AppError> {
        let bad = |expected: &dyn std::fmt::Display| AppError::invalid(format!("`target`: {expected}"));
        let target = match (kind, target) {
            (KillKind::Tenant, None) => return Ok(actor.tenant.to_string()),
            (_, None) => return Err(AppError::invalid("`target` must say what is stopped")),
            (_, Some(target)) => target,
        };
        match kind {
            KillKind::Tool => {
                let id: ToolName = target.parse().map_err(|cause| bad(&cause))?;
                // By an old name the same tool is meant.
                Ok(self.registered(actor, &id).unwrap_or(id).to_string())
            }
            KillKind::Principal => {
                target.parse::<PrincipalId>().map(|id| id.to_string()).map_err(|cause| bad(&cause))
            }
            KillKind::Connection => {
                target.parse::<ConnectionId>().map(|id| id.to_string()).map_err(|cause| bad(&cause))
            }
            KillKind::Session => {
                target.parse::<SessionId>().map(|id| id.to_string()).map_err(|cause| bad(&cause))
            }
            KillKind::Tenant => {
                let id: TenantId = target.parse().map_err(|cause| bad(&cause))?;
                if id == actor.tenant {
                    return Ok(id.to_string());
                }
                Err(AppError::NotFound { what: "tenant" })
            }
        }
    }

    /// Asks every running call that a switch concerns to stop. What can't be reached now meets the switch later.
    async fn stop_running(&self, actor: &Actor, kill: &Kill) {
        const PART: u32 = 200;
        let Some(filter) = concerned(kill) else {
            if let Err(cause) = self.stop_through_connections().await {
                tracing::warn!(error = %cause, "running calls could not be asked to stop");
            }
            return;
        };
        let reason = format!("kill switch: {}", kill.reason);
        let mut after: Option<InvocationId> = None;
        loop {
            let page = Page { after, limit: PART };
            let part = match self.store().list(&actor.tenant, &filter, page).await {
                Ok(part) => part,
                Err(cause) => {
                    tracing::warn!(error = %cause, "running calls could not be asked to stop");
                    return;
                }
            };
            let Some(last) = part.last() else { return };
            after = Some(last.id());
            for call in &part {
                match self.runner.cancel(call, &actor.principal, Some(reason.clone())).await {
                    // It came to its end by itself.
                    Ok(_) | Err(StoreError::Conflict) => {}
                    Err(cause) => tracing::warn!(error = %cause, "a running call could not be asked to stop"),
                }
            }
        }
    }
}

fn concerned(kill: &Kill) -> Option<InvocationFilter> {
    let running = InvocationFilter { status: Some(Status::Running), ..InvocationFilter::default() };
    Some(match kill.kind {
        KillKind::Tenant => running,
        KillKind::Tool => InvocationFilter { tool: Some(kill.target.parse().ok()?), ..running },
        // Calls by it and calls on its behalf.
        KillKind::Principal => {
            let principal: PrincipalId = kill.target.parse().ok()?;
            match principal.kind() {
                // Also what is done for them.
                PrincipalKind::User => {
                    InvocationFilter { visible_to: Some(Acting { principal, subject: None }), ..running }
                }
                PrincipalKind::Agent | PrincipalKind::Service => {
                    InvocationFilter { actor: Some(principal), ..running }
                }
            }
        }
        KillKind::Session => InvocationFilter { session: Some(kill.target.parse().ok()?), ..running },
        // Which connection a running call uses is known where it runs.
        KillKind::Connection => return None,
    })
}
