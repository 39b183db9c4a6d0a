//! The review of an MCP server's tools: what it offers is looked at, then accepted with an effect and an egress of our
//! own choosing, or turned down. What changes later waits again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::{PrincipalId, Slug, TenantId, ToolName};
use toolgate_core::port::executor::HandOn;
use toolgate_core::port::store::{StoreError, ToolRow};
use toolgate_core::port::upstream::Listing;
use toolgate_core::upstream::{Acceptance, Accepted, Offer, ToolState, Upstream, UpstreamTool, tool_id};
use toolgate_core::{Actor, JsonText};

use crate::stored::{Stored, part_of};
use crate::upstream::account_of;
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::UpstreamTool;
/// The most tools of all servers of a tenant.
const MOST: usize = 5_000;
/// How often a look is taken again that others were quicker with.
const LOOKS: u32 = 5;
const DIFF_TIME: Duration = Duration::from_millis(200);

/// What a look at a server's tools brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// Tools never seen before.
    pub new: Vec<ToolName>,
    /// Accepted tools that are offered otherwise now: held until someone looks.
    pub changed: Vec<ToolName>,
    /// Tools that are no longer there.
    pub gone: Vec<ToolName>,
    /// How many are as they were.
    pub same: usize,
    /// What was left out, and why.
    pub problems: Vec<String>,
    /// The protocol the server was spoken to with.
    pub protocol: String,
    /// How the server names itself.
    pub server: String,
}

/// One tool under review.
#[derive(Debug, Clone)]
pub struct ReviewedTool {
    /// The tool.
    pub stored: Stored<UpstreamTool>,
    /// What reads otherwise than what was accepted, line by line; all of it when nothing was.
    pub diff: String,
    /// Why it can't be accepted as it is, if so.
    pub unusable: Option<String>,
}

impl App {
    /// The tools of all servers, or of one, after `after`, ordered by id, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage upstreams.
    pub async fn list_upstream_tools(
        &self,
        actor: &Actor,
        upstream: Option<&Slug>,
        state: Option<ToolState>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Stored<UpstreamTool>>, Option<String>), AppError> {
        self.require(actor, Area::Upstreams)?;
        let documents = self.documents(actor, KIND).await?;
        let names = self.names(actor, &documents);
        let mut all = documents.into_iter().map(Stored::<UpstreamTool>::of).collect::<Result<Vec<_>, _>>()?;
        // Databases have orders of their own; pages are cut in this one.
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.retain(|tool| upstream.is_none_or(|name| tool.body.upstream == *name));
        all.retain(|tool| state.is_none_or(|state| tool.body.state() == state));
        let (mut part, next) = part_of(all, |tool| &tool.name, after, limit);
        if let Some(names) = names {
            part.iter_mut().for_each(|tool| names.note(&mut tool.body));
        }
        Ok((part, next))
    }

    /// One tool, with what a reviewer has to know.
    ///
    /// # Errors
    /// As [`App::list_upstream_tools`], and "not found".
    pub async fn review_upstream_tool(&self, actor: &Actor, id: &ToolName) -> Result<ReviewedTool, AppError> {
        self.require(actor, Area::Upstreams)?;
        let mut stored = self.stored_one::<UpstreamTool>(actor, KIND, id.as_str()).await?;
        // What is known of schemas may have grown since the tool was listed.
        for note in stored.body.offer.iter().flat_map(notes).collect::<Vec<_>>() {
            if !stored.body.warnings.contains(&note) {
                stored.body.warnings.push(note);
            }
        }
        let documents = self.documents(actor, KIND).await?;
        if let Some(names) = self.names(actor, &documents) {
            names.note(&mut stored.body);
        }
        let unusable = stored.body.offer.as_ref().and_then(|offer| {
            let decision = careful(offer);
            let accepted = Some(Accepted { offer: offer.clone(), decision });
            bindable(&UpstreamTool { accepted, refused: None, ..stored.body.clone() }).err()
        });
        Ok(ReviewedTool { diff: diff(&stored.body), unusable, stored })
    }

    /// Accepts a tool as it was shown: `decision.digest` says which offer was looked at.
    ///
    /// # Errors
    /// A conflict when it is offered otherwise by now; what keeps it from being a tool.
    pub async fn accept_upstream_tool(
        &self,
        actor: &Actor,
        id: &ToolName,
        decision: Acceptance,
    ) -> Result<Stored<UpstreamTool>, AppError> {
        self.require(actor, Area::Upstreams)?;
        let found = self.stored_one::<UpstreamTool>(actor, KIND, id.as_str()).await?;
        let offer = seen(&found.body, &decision.digest)?;
        let accepted = Some(Accepted { offer: offer.clone(), decision });
        let tool = UpstreamTool { accepted, refused: None, ..found.body };
        let row = bindable(&tool).map_err(|why| {
            AppError::invalid(format!("the tool can't be accepted: {why}"))
                .with_hint("its server has to offer it otherwise, or the decision has to be another")
        })?;
        // Every contract that was ever in force can be read again, and the database has its word on approval.
        self.store().record_tools(&actor.tenant, vec![row], self.now()).await?;
        self.decide_on_tool(actor, "upstream_tool.accepted", found.revision, &tool).await
    }

    /// Turns a tool down as it was shown.
    ///
    /// # Errors
    /// A conflict when it is offered otherwise by now.
    pub async fn refuse_upstream_tool(
        &self,
        actor: &Actor,
        id: &ToolName,
        digest: &str,
    ) -> Result<Stored<UpstreamTool>, AppError> {
        self.require(actor, Area::Upstreams)?;
        let found = self.stored_one::<UpstreamTool>(actor, KIND, id.as_str()).await?;
        seen(&found.body, digest)?;
        let tool = UpstreamTool { refused: Some(digest.to_owned()), ..found.body };
        self.decide_on_tool(actor, "upstream_tool.refused", found.revision, &tool).await
    }

    async fn decide_on_tool(
        &self,
        actor: &Actor,
        action: &str,
        revision: u64,
        tool: &UpstreamTool,
    ) -> Result<Stored<UpstreamTool>, AppError> {
        let decision = tool.accepted.as_ref().map(|accepted| &accepted.decision);
        let summary = json!({
            "action": action, "name": tool.id, "upstream": tool.upstream,
            "digest": tool.offer.as_ref().map(Offer::digest),
            "effect": decision.map(|decision| decision.effect), "egress": decision.map(|decision| decision.egress),
        });
        let write = put(tool, Expect::Revision(revision))?;
        self.change(actor, summary, vec![write]).await?;
        self.stored_one(actor, KIND, tool.id.as_str()).await
    }

    /// Holds what was accepted of a server until someone looks again.
    pub(crate) async fn hold_tools(&self, actor: &Actor, name: &Slug) -> Result<(), AppError> {
        let mut writes = Vec::new();
        for found in self.tools_of_upstream(actor, name).await? {
            let mut tool = found.body;
            if let Some(accepted) = &mut tool.accepted {
                accepted.decision.digest = String::new();
                writes.push(put(&tool, Expect::Revision(found.revision))?);
            }
        }
        if writes.is_empty() {
            return Ok(());
        }
        let summary = json!({ "action": "upstream_tool.held", "upstream": name, "tools": writes.len() });
        self.change(actor, summary, writes).await
    }

    /// Asks a server for its tools and keeps what it offers. Nothing is switched on by this; what reads otherwise than
    /// what was accepted is held from now on.
    ///
    /// # Errors
    /// What kept the server from answering.
    pub async fn refresh_upstream(&self, actor: &Actor, name: &Slug) -> Result<Looked, AppError> {
        self.require(actor, Area::Upstreams)?;
        let upstream = self.stored_one::<Upstream>(actor, DocumentKind::Upstream, name.as_str()).await?.body;
        let listing = self.ask_upstream(actor, name, &Arc::new(upstream)).await?;
        self.keep_listing(&actor.tenant, &actor.principal, name, listing).await
    }

    /// Keeps what a server offers. Whoever looks at the same moment keeps the same: the later one looks again at what is
    /// kept, and tells of it as if it had been first.
    pub(crate) async fn keep_listing(
        &self,
        tenant: &TenantId,
        by: &PrincipalId,
        name: &Slug,
        listing: Listing,
    ) -> Result<Looked, AppError> {
        let mut tries = 0;
        loop {
            match self.keep_seen(tenant, by, name, listing.clone(), tries > 0).await {
                Err(AppError::Conflict { .. }) if tries < LOOKS => tries += 1,
                other => return other,
            }
        }
    }

    async fn keep_seen(
        &self,
        tenant: &TenantId,
        by: &PrincipalId,
        name: &Slug,
        listing: Listing,
        again: bool,
    ) -> Result<Looked, AppError> {
        let all = self.upstream_tools(tenant).await?;
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|tool| tool.body.upstream == *name);
        let mut looked = Looked {
            problems: listing.problems,
            protocol: listing.protocol,
            server: listing.server,
            ..Looked::default()
        };
        let (mut writes, mut there, mut diffs) = (Vec::new(), HashSet::new(), Vec::new());
        for offer in listing.tools {
            let Some(id) = tool_id(name, &offer.name) else { continue };
            there.insert(id.clone());
            let before = own.iter().find(|tool| tool.body.id == id);
            if let Some(before) = before.filter(|before| before.body.offer.as_ref() == Some(&offer)) {
                match before.body.state() {
                    ToolState::New if again => looked.new.push(id),
                    _ => looked.same += 1,
                }
                continue;
            }
            if before.is_none() && others.len() + own.len() + looked.new.len() >= MOST {
                looked.problems.push(format!(
                    "`{id}` was left out: the tenant has {MOST} such tools, the most there may be"
                ));
                continue;
            }
            let mut warnings = self.upstreams().map(|pool| pool.warnings(&offer)).unwrap_or_default();
            warnings.extend(notes(&offer));
            let tool = UpstreamTool {
                upstream: name.clone(),
                id: id.clone(),
                offer: Some(offer),
                warnings,
                accepted: before.and_then(|before| before.body.accepted.clone()),
                refused: before.and_then(|before| before.body.refused.clone()),
            };
            match tool.state() {
                ToolState::New => looked.new.push(id),
                ToolState::Changed => {
                    diffs.push(json!({ "tool": id, "diff": cut(diff(&tool)) }));
                    looked.changed.push(id);
                }
                ToolState::Accepted | ToolState::Refused | ToolState::Gone => looked.same += 1,
            }
            writes
                .push(put(&tool, before.map_or(Expect::Absent, |before| Expect::Revision(before.revision)))?);
        }
        for tool in own.iter().filter(|tool| tool.body.offer.is_some() && !there.contains(&tool.body.id)) {
            looked.gone.push(tool.body.id.clone());
            // Nobody decided on it, so there is nothing to remember.
            if tool.body.accepted.is_none() && tool.body.refused.is_none() {
                let (name, expect) = (tool.body.id.to_string(), Expect::Revision(tool.revision));
                writes.push(Write::RemoveDocument { kind: KIND, name, expect });
                continue;
            }
            let gone = UpstreamTool { offer: None, warnings: Vec::new(), ..tool.body.clone() };
            writes.push(put(&gone, Expect::Revision(tool.revision))?);
        }
        if !writes.is_empty() {
            let summary = json!({
                "action": "upstream.listed", "name": name, "new": looked.new, "changed": looked.changed,
                "gone": looked.gone, "diffs": diffs.into_iter().take(20).collect::<Vec<_>>(),
            });
            let change = AdminChange::new(tenant.clone(), by.clone(), self.now(), &summary, writes);
            self.commit(change).await?;
        }
        Ok(looked)
    }

    pub(crate) async fn tools_of_upstream(
        &self,
        actor: &Actor,
        name: &Slug,
    ) -> Result<Vec<Stored<UpstreamTool>>, AppError> {
        let mut all = self.upstream_tools(&actor.tenant).await?;
        all.retain(|tool| tool.body.upstream == *name);
        Ok(all)
    }

    async fn upstream_tools(&self, tenant: &TenantId) -> Result<Vec<Stored<UpstreamTool>>, AppError> {
        let documents = self.store().documents(tenant).await?;
        documents.into_iter().filter(|document| document.kind == KIND).map(Stored::of).collect()
    }

    /// Looks again at servers that said their tools changed, or that were reached anew.
    ///
    /// # Errors
    /// When the store can't be read. A server that does not answer is said in its health.
    pub(crate) async fn follow_upstreams(&self) -> Result<(), StoreError> {
        let Some(pool) = self.upstreams() else { return Ok(()) };
        let Ok(gate) = "service:toolgate".parse::<PrincipalId>() else { return Ok(()) };
        for (tenant, name) in pool.take_changed() {
            let Some(document) =
                self.store().document(&tenant, DocumentKind::Upstream, name.as_str()).await?
            else {
                continue;
            };
            let Ok(found) = Stored::<Upstream>::of(document) else { continue };
            if !found.body.enabled || !self.snapshots.commands().permits(&tenant, &found.body.transport) {
                continue;
            }
            let owner = account_of(&found.body, None);
            let kept = match self.not_stopped(&tenant, &format!("mcp:{name}"), owner).await {
                Err(stopped) => Err(stopped),
                Ok(()) => match pool.list(&tenant, &name, &Arc::new(found.body), None).await {
                    Ok(listing) => self.keep_listing(&tenant, &gate, &name, listing).await,
                    Err(error) => Err(AppError::Call(error)),
                },
            };
            match kept {
                Ok(looked)
                    if looked.new.is_empty() && looked.changed.is_empty() && looked.gone.is_empty() => {}
                Ok(looked) => tracing::warn!(%tenant, upstream = %name, new = looked.new.len(),
                    changed = looked.changed.len(), gone = looked.gone.len(), "an MCP server's tools changed"),
                Err(cause) => tracing::warn!(%tenant, upstream = %name, error = %cause,
                    "an MCP server's tools could not be looked at"),
            }
        }
        Ok(())
    }
}

fn put(tool: &UpstreamTool, expect: Expect) -> Result<Write, AppError> {
    let body =
        JsonText::from_serialize(tool).map_err(|cause| AppError::Store(StoreError::unavailable(cause)))?;
    Ok(Write::PutDocument { kind: KIND, name: tool.id.to_string(), body, expect })
}

fn seen<'a>(tool: &'a UpstreamTool, digest: &str) -> Result<&'a Offer, AppError> {
    match &tool.offer {
        Some(offer) if offer.digest() == digest => Ok(offer),
        Some(_) => Err(AppError::Conflict {
            message: "the server offers the tool otherwise than what was looked at; look again, then decide"
                .to_owned(),
        }),
        None => Err(AppError::Conflict { message: "the server does not have the tool any more".to_owned() }),
    }
}

/// What a reviewer should know of an offer's schemas.
fn notes(offer: &Offer) -> Vec<String> {
    toolgate_schema::notes(&offer.input_schema, offer.output_schema.as_ref())
}

/// What nobody would regret, to see whether the schemas can be used at all.
fn careful(offer: &Offer) -> Acceptance {
    use toolgate_core::contract::{ApprovalMode, Effect, Egress, Limits, Redaction};
    Acceptance {
        digest: offer.digest(),
        effect: Effect::Destructive,
        egress: Egress::Write,
        idempotent: false,
        redaction: Redaction { allow: vec!["*".to_owned()] },
        permissions: Vec::new(),
        approval: ApprovalMode::AlwaysAsk,
        limits: Limits::default(),
    }
}

/// The tool's row, if it can become a tool.
fn bindable(tool: &UpstreamTool) -> Result<ToolRow, String> {
    let contract = tool.contract().ok_or_else(|| "it is not as it was looked at".to_owned())?;
    let nowhere = Arc::new(HandOn { to: "nothing", within: Duration::ZERO });
    let bound =
        toolgate_schema::register(contract, Vec::new(), nowhere).map_err(|error| error.to_string())?;
    Ok(ToolRow {
        id: bound.contract.id.clone(),
        version: bound.version.clone(),
        effect: bound.contract.effect,
        egress: bound.contract.egress,
        requires_approval: bound.requires_approval,
        contract: JsonText::from_serialize(&*bound.contract).map_err(|cause| cause.to_string())?,
    })
}

/// What a reviewer reads: the accepted offer against the one there is now, field by field.
fn diff(tool: &UpstreamTool) -> String {
    let before = tool.accepted.as_ref().map(|accepted| readable(&accepted.offer)).unwrap_or_default();
    let after = tool.offer.as_ref().map(readable).unwrap_or_default();
    if before == after {
        return String::new();
    }
    let diff = similar::TextDiff::configure().timeout(DIFF_TIME).diff_lines(&before, &after);
    diff.unified_diff().context_radius(3).header("accepted", "offered now").to_string()
}

fn readable(offer: &Offer) -> String {
    let json = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let mut text = format!("name: {}\n", offer.name);
    if let Some(title) = &offer.title {
        text += &format!("title: {title}\n");
    }
    text += &format!("description:\n{}\n", offer.description);
    text += &format!("input schema:\n{}\n", json(&offer.input_schema));
    if let Some(schema) = &offer.output_schema {
        text += &format!("output schema:\n{}\n", json(schema));
    }
    if !offer.annotations.is_empty() {
        text +=
            &format!("annotations (its own word):\n{}\n", json(&Value::Object(offer.annotations.clone())));
    }
    text
}

fn cut(text: String) -> String {
    const MOST: usize = 2_000;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
