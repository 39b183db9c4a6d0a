//! What every change by a manager goes through: policy first, then one transaction, then the new state in force here.

use serde_json::Value;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{Area, Document, DocumentKind};
use toolgate_core::{Actor, Timestamp};

use crate::{App, AppError};

impl App {
    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        self.runner.parts().clock.now()
    }

    /// Asks whether this caller manages this area: its credential's scopes, then policy.
    pub(crate) fn require(&self, actor: &Actor, area: Area) -> Result<(), AppError> {
        if !actor.scopes.may_manage(area) {
            return Err(AppError::Forbidden {
                message: format!("this key's scopes do not let it manage {}", area.as_str()),
                rule: Some("key scopes".to_owned()),
                hint: Some(format!(
                    "use a key with the scope `manage:{}`, or one without scopes",
                    area.as_str()
                )),
            });
        }
        let decision = self.runner.parts().policy.decide_manage(actor, area, self.now());
        if decision.verdict.permits() {
            return Ok(());
        }
        Err(AppError::Forbidden {
            message: decision.reason,
            rule: Some(decision.rule.to_string()),
            hint: decision.hint,
        })
    }

    /// Makes a change in the caller's tenant and brings it into force on this node; the others follow within a second.
    /// `summary` goes into the record: what was done to what, never a secret.
    pub(crate) async fn change(
        &self,
        actor: &Actor,
        summary: Value,
        writes: Vec<Write>,
    ) -> Result<(), AppError> {
        let change =
            AdminChange::new(actor.tenant.clone(), actor.principal.clone(), self.now(), &summary, writes);
        self.commit(change).await
    }

    /// The same for a change in whatever tenant it names.
    pub(crate) async fn commit(&self, change: AdminChange) -> Result<(), AppError> {
        self.committed(change).await.map(drop)
    }

    /// The same, and returns the tenant's new generation.
    pub(crate) async fn committed(&self, change: AdminChange) -> Result<u64, AppError> {
        let tenant = change.tenant.clone();
        let generation = self.store().change(change).await?;
        // It is made and can't be taken back: to call it failed would lose what its answer holds, a key's secret above
        // all. The refresh brings it into force, or lets nobody in.
        if let Err(cause) = self.snapshots.reload(&tenant).await {
            tracing::error!(%tenant, error = %cause, "a change is made and not yet in force here");
        }
        Ok(generation)
    }

    /// One document of the caller's tenant.
    pub(crate) async fn document(
        &self,
        actor: &Actor,
        kind: DocumentKind,
        name: &str,
        what: &'static str,
    ) -> Result<Document, AppError> {
        self.store().document(&actor.tenant, kind, name).await?.ok_or(AppError::NotFound { what })
    }

    /// All documents of one kind in the caller's tenant, ordered by name.
    pub(crate) async fn documents(
        &self,
        actor: &Actor,
        kind: DocumentKind,
    ) -> Result<Vec<Document>, AppError> {
        let mut all = self.store().documents(&actor.tenant).await?;
        all.retain(|document| document.kind == kind);
        Ok(all)
    }
}
