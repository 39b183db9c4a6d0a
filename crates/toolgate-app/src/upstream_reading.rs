//! From what was accepted of MCP servers to tools. What did not change keeps its compiled parts.

use std::collections::HashMap;
use std::sync::Arc;

use toolgate_core::BoundTool;
use toolgate_core::document::{Document, DocumentKind};
use toolgate_core::id::{Slug, TenantId, ToolName};
use toolgate_core::port::upstream::Upstreams;
use toolgate_core::upstream::{CommandRule, Upstream, UpstreamTool};

/// The tools of a tenant's MCP servers that are on.
#[derive(Debug, Default)]
pub(crate) struct FromUpstreams(HashMap<ToolName, Made>);

/// What a document came to.
#[derive(Debug, Clone)]
enum Became {
    /// A tool that is on.
    Tool(Arc<BoundTool>),
    /// Something that someone has to look at.
    Waiting,
    /// Nothing, for now.
    Nothing,
}

#[derive(Debug)]
struct Made {
    /// The revisions of the server's and the tool's documents.
    from: (u64, u64),
    became: Became,
}

impl FromUpstreams {
    /// The tools that were accepted as they are offered now, of servers that are switched on.
    pub(crate) fn read(
        tenant: &TenantId,
        documents: &[Document],
        pool: &dyn Upstreams,
        commands: &CommandRule,
        before: Option<&Self>,
    ) -> Self {
        let servers = servers(tenant, documents, commands);
        let mut found = HashMap::new();
        for document in documents.iter().filter(|document| document.kind == DocumentKind::UpstreamTool) {
            let Ok(id) = document.name.parse::<ToolName>() else { continue };
            // The name says whose it is before its body is read: most are as they were.
            let Some(name) = document.name.split("__").nth(1) else { continue };
            let Some((upstream, revision)) = servers.get(name) else { continue };
            let from = (*revision, document.revision);
            if let Some(made) = before.and_then(|before| before.0.get(&id)).filter(|made| made.from == from) {
                found.insert(id, Made { from, became: made.became.clone() });
                continue;
            }
            let became = bound(tenant, document, upstream, pool).unwrap_or_else(|fault| {
                tracing::error!(%tenant, tool = %id, fault, "ALERT: an accepted tool can't be used; it is off");
                Became::Nothing
            });
            found.insert(id, Made { from, became });
        }
        Self(found)
    }

    /// Whether one of them has this id.
    pub(crate) fn holds(&self, id: &ToolName) -> bool {
        self.0.contains_key(id)
    }

    /// All of them.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<BoundTool>> {
        self.0.values().filter_map(|made| match &made.became {
            Became::Tool(tool) => Some(tool),
            Became::Waiting | Became::Nothing => None,
        })
    }

    /// How many offers of servers that are switched on wait for review.
    pub(crate) fn waiting(&self) -> usize {
        self.0.values().filter(|made| matches!(made.became, Became::Waiting)).count()
    }
}

fn servers(
    tenant: &TenantId,
    documents: &[Document],
    commands: &CommandRule,
) -> HashMap<String, (Arc<Upstream>, u64)> {
    let revisions: HashMap<&str, u64> = documents
        .iter()
        .filter(|document| document.kind == DocumentKind::Upstream)
        .map(|document| (document.name.as_str(), document.revision))
        .collect();
    // A server whose document can't be read is off.
    crate::reading::parsed::<Upstream>(tenant, documents, DocumentKind::Upstream)
        .filter_map(Result::ok)
        .filter(|(_, upstream)| upstream.enabled && commands.permits(tenant, &upstream.transport))
        .map(|(name, upstream)| {
            let revision = revisions.get(name.as_str()).copied().unwrap_or_default();
            (name, (Arc::new(upstream), revision))
        })
        .collect()
}

fn bound(
    tenant: &TenantId,
    document: &Document,
    upstream: &Arc<Upstream>,
    pool: &dyn Upstreams,
) -> Result<Became, String> {
    let tool: UpstreamTool =
        serde_json::from_str(document.body.as_str()).map_err(|cause| cause.to_string())?;
    let Some(contract) = tool.contract() else {
        return Ok(if tool.waits_for_review() { Became::Waiting } else { Became::Nothing });
    };
    let name: &Slug = &tool.upstream;
    let Some(accepted) = &tool.accepted else { return Ok(Became::Nothing) };
    let executor = pool.executor(tenant, name, upstream, &accepted.offer);
    let bound = toolgate_schema::register(contract, Vec::new(), executor);
    bound.map(|tool| Became::Tool(Arc::new(tool))).map_err(|error| error.to_string())
}
