//! Links by which anyone may look at one call, for a while: made by a person who may see it, and only as good as what
//! that person may still see.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::administration::Write;
use toolgate_core::id::{InvocationId, PrincipalId, PrincipalKind, ShareId, TenantId};
use toolgate_core::output::Kept;
use toolgate_core::share::Share;
use toolgate_core::{
    Actor, BoundTool, CallError, Credential, ErrorCode, Invocation, JsonText, Status, Timestamp,
};

use crate::attempts::address_bucket;
use crate::secret::Secret;
use crate::{App, AppError};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// How long a link lasts when nobody says.
const USUAL: Duration = Duration::from_secs(7 * 24 * 3600);
/// The most links to one call that work at once.
const MOST: u32 = 20;
/// More than can work at once, so that none is left out.
const MOST_LISTED: u32 = 1_000;
/// The most names of hidden fields that are told.
const MOST_HIDDEN: usize = 50;

/// What the operator decided about links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareSettings {
    /// Whether there are any: none can be made otherwise, and those made before show nothing.
    pub enabled: bool,
    /// The longest one may last.
    pub longest: Duration,
}

impl Default for ShareSettings {
    fn default() -> Self {
        Self { enabled: true, longest: DAY * 30 }
    }
}

/// A call as a link shows it: what was asked, what came of it, and nothing around it.
#[derive(Debug, Clone)]
pub struct SharedRun {
    /// What people call the tool.
    pub title: String,
    /// The contract's content address when it was called.
    pub version: Option<String>,
    /// How it stands.
    pub status: Status,
    /// What people call whoever called it.
    pub who: String,
    /// What people call the one it was called for.
    pub for_whom: Option<String>,
    /// When it was called.
    pub created_at: Timestamp,
    /// When it began to run.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// What it ran with.
    pub input: JsonText,
    /// What came of it, redacted as it was kept.
    pub output: Option<JsonText>,
    /// Fields that the tool promises and the output lacks.
    pub hidden: Vec<String>,
    /// How the tool wants its output drawn.
    pub sections: Value,
    /// Why it stopped: code and sentence alone.
    pub error: Option<CallError>,
    /// When the link ends.
    pub expires_at: Timestamp,
}

impl App {
    /// The same with what the operator decided about links.
    #[must_use]
    pub const fn with_shares(mut self, settings: ShareSettings) -> Self {
        self.shares = settings;
        self
    }

    /// Makes a link to a call. The secret is in the answer and nowhere else.
    ///
    /// # Errors
    /// "Not found" for a call that is not the caller's to see; "forbidden" for whoever is no person.
    pub async fn share_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        lasts: Option<Duration>,
    ) -> Result<(Share, Secret), AppError> {
        self.read_invocation(actor, id).await?;
        is_person(actor)?;
        let ShareSettings { enabled, longest } = self.shares;
        if !enabled {
            return Err(AppError::forbidden("links to runs are switched off on this server")
                .with_hint("whoever runs it can switch them on: `[shares] enabled = true`"));
        }
        let lasts = lasts.unwrap_or(USUAL.min(longest));
        if lasts.is_zero() || lasts > longest {
            return Err(AppError::invalid(format!(
                "`expires_in_seconds` must be from 1 to {}",
                longest.as_secs()
            )));
        }
        let now = self.now();
        if self.store().shares_of(&actor.tenant, id, now, MOST).await?.len() >= MOST as usize {
            return Err(full());
        }
        let secret = Secret::generate()?;
        let share = Share {
            id: ShareId::generate(),
            tenant: actor.tenant.clone(),
            call: id,
            hash: secret.hash(),
            by: actor.principal.clone(),
            key: actor.key(),
            created_at: now,
            expires_at: now.plus(lasts),
            revoked_at: None,
        };
        let summary = json!({
            "action": "share.created", "share": share.id, "call": id, "expires_at_micros": share.expires_at,
        });
        self.change(actor, summary, vec![Write::PutShare(Box::new(share.clone()))]).await?;
        // Several may have been made at once, each of which found room.
        let working = self.store().shares_of(&actor.tenant, id, now, MOST_LISTED).await?;
        if working.iter().rev().skip(MOST as usize).any(|other| other.id == share.id) {
            self.revoke_share(actor, share.id).await?;
            return Err(full());
        }
        Ok((share, secret))
    }

    /// The links to a call that still work, newest first.
    ///
    /// # Errors
    /// As [`App::share_invocation`].
    pub async fn list_shares(&self, actor: &Actor, id: InvocationId) -> Result<Vec<Share>, AppError> {
        self.read_invocation(actor, id).await?;
        is_person(actor)?;
        Ok(self.store().shares_of(&actor.tenant, id, self.now(), MOST_LISTED).await?)
    }

    /// Takes a link back, at once: by whoever made it, those whose call it shows, or administrators.
    ///
    /// # Errors
    /// "Not found" for one that is not there or not the caller's.
    pub async fn revoke_share(&self, actor: &Actor, id: ShareId) -> Result<(), AppError> {
        let not_found = AppError::NotFound { what: "share" };
        let Some(share) = self.store().share(&actor.tenant, id).await? else { return Err(not_found) };
        is_person(actor).map_err(|_| AppError::NotFound { what: "share" })?;
        if share.by != actor.principal {
            let row = self.store().get(&actor.tenant, share.call).await?;
            let theirs = row.is_some_and(|row| {
                actor.may_see(&row.opened.tenant, &row.opened.actor, row.opened.subject.as_ref())
            });
            if !theirs {
                return Err(not_found);
            }
        }
        if share.revoked_at.is_some() {
            return Ok(());
        }
        let summary = json!({ "action": "share.revoked", "share": id, "call": share.call });
        self.change(actor, summary, vec![Write::RevokeShare { id }]).await
    }

    /// What a link shows. Looking uses nothing up.
    ///
    /// # Errors
    /// The same for a link that never was, has run out, was taken back, or whose maker may no longer see the call.
    pub async fn read_share(&self, secret: &str, peer: IpAddr) -> Result<SharedRun, AppError> {
        let bucket = address_bucket(peer);
        // Links can't be guessed; asking for many costs, all the same.
        self.entrance.links.take(&bucket)?;
        let secret = Secret::given(secret).filter(|_| self.shares.enabled).ok_or(AppError::TokenInvalid)?;
        let share = self.store().share_by_hash(&secret.hash()).await?;
        let share = share.filter(|share| share.works(self.now())).ok_or(AppError::TokenInvalid)?;
        let maker = self.runner.parts().directory.actor(&share.tenant, &share.by, None, share.key).await?;
        let maker = maker.ok_or(AppError::TokenInvalid)?;
        let row = match self.read_invocation(&maker, share.call).await {
            Ok(row) => row,
            Err(AppError::NotFound { .. }) => return Err(AppError::TokenInvalid),
            Err(cause) => return Err(cause),
        };
        self.entrance.links.give_back(&bucket);
        self.shared_run(&row, share.expires_at).await
    }

    async fn shared_run(&self, row: &Invocation, expires_at: Timestamp) -> Result<SharedRun, AppError> {
        let opened = &row.opened;
        let catalog = self.runner.parts().tools.of(&opened.tenant);
        let tool = catalog.get(&opened.tool);
        // What another version promises says nothing about this output.
        let same = tool.filter(|tool| opened.tool_version.as_ref() == Some(&tool.version));
        let for_whom = match &opened.subject {
            Some(subject) => Some(self.called(&opened.tenant, subject).await?),
            None => None,
        };
        let kept = row.output.as_ref().map(Kept::of);
        Ok(SharedRun {
            title: tool.map_or_else(|| opened.tool.to_string(), |tool| tool.contract.title.clone()),
            version: opened.tool_version.as_ref().map(|version| version.0.clone()),
            status: row.status,
            who: self.called(&opened.tenant, &opened.actor).await?,
            for_whom,
            created_at: opened.created_at,
            started_at: row.started_at,
            completed_at: row.completed_at,
            input: row.input().clone(),
            hidden: kept.as_ref().map_or_else(Vec::new, |kept| hidden(same, &kept.value.to_value())),
            output: kept.map(Kept::together),
            sections: same.map_or(Value::Null, |tool| json!(tool.contract.output)),
            error: row.error.as_ref().map(told),
            expires_at,
        })
    }

    /// What people call a principal; its id is nobody's business.
    async fn called(&self, tenant: &TenantId, id: &PrincipalId) -> Result<String, AppError> {
        let title = self.store().principal(tenant, id).await?.map(|principal| principal.title);
        Ok(title.filter(|title| !title.is_empty()).unwrap_or_else(|| match id.kind() {
            PrincipalKind::User => "a person".to_owned(),
            PrincipalKind::Agent => "an agent".to_owned(),
            PrincipalKind::Service => "a service".to_owned(),
        }))
    }
}

fn full() -> AppError {
    AppError::Conflict { message: format!("{MOST} links to this run work already; revoke one first") }
}

/// Whether it is a person who asks, by themselves and with nothing narrowed: what is shown to anyone is theirs to decide.
fn is_person(actor: &Actor) -> Result<(), AppError> {
    if actor.principal.kind() != PrincipalKind::User || matches!(actor.credential, Credential::Token(_)) {
        return Err(AppError::forbidden("only a person shows a run to others")
            .with_hint("sign in, or use a key of your own"));
    }
    if !actor.scopes.is_all() {
        return Err(AppError::forbidden("this key's scopes do not let it show a run to others")
            .with_hint("sign in, or use a key without scopes"));
    }
    Ok(())
}

/// An error as strangers may read it: without a word on rules, limits and accounts, and without what helps only those inside.
fn told(error: &CallError) -> CallError {
    let message = match error.code {
        ErrorCode::PolicyDenied
        | ErrorCode::AuthzDenied
        | ErrorCode::RateLimited
        | ErrorCode::BudgetExceeded
        | ErrorCode::ConnectionNeeded
        | ErrorCode::Unavailable => "the gate did not let it run",
        _ => error.message.as_str(),
    };
    CallError::new(error.code, message)
}

/// The fields that a tool promises and an output lacks: what redaction took out, as far as the contract can tell.
fn hidden(tool: Option<&std::sync::Arc<BoundTool>>, output: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(tool) = tool
        && !tool.contract.redaction.allow.iter().any(|path| path == "*")
    {
        look(&tool.contract.output_schema.to_value(), output, "", &mut found, 0);
    }
    found
}

fn look(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>, depth: usize) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    if depth > 6 || found.len() >= MOST_HIDDEN {
        return;
    }
    match value {
        Value::Array(items) => {
            if let Some(first) = items.first() {
                look(&schema["items"], first, &below("*"), found, depth + 1);
            }
        }
        Value::Object(fields) => {
            for (name, part) in schema["properties"].as_object().into_iter().flatten() {
                match fields.get(name) {
                    None => found.push(below(name)),
                    Some(field) => look(part, field, &below(name), found, depth + 1),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_promised_and_lacks_is_named() {
        let schema = json!({ "properties": {
            "total": { "type": "number" },
            "secret": { "type": "string" },
            "rows": { "items": { "properties": { "name": {}, "salary": {} } } },
        } });
        let mut found = Vec::new();
        look(&schema, &json!({ "total": 1, "rows": [{ "name": "x" }] }), "", &mut found, 0);
        found.sort();
        assert_eq!(found, ["rows.*.salary", "secret"]);
    }
}
