//! What a tenant's managers decide, as documents: each has a kind, a name, a body and a history.
//!
//! One shape for all of them means one place where a change is checked against the revision that was seen, bumps the
//! tenant's generation, keeps the version before it, and is written into the record.

use serde::{Deserialize, Serialize};

use crate::contract::text_form;
use crate::id::PrincipalId;
use crate::json::JsonText;
use crate::time::Timestamp;

/// What can be managed. Policy decides who may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// The tenants of this server.
    Tenants,
    /// Users, agents and services.
    Principals,
    /// Other principals' keys.
    Keys,
    /// Roles.
    Roles,
    /// Policies.
    Policies,
    /// Which tools are on.
    Tools,
    /// Toolsets.
    Toolsets,
    /// Profiles and assignments.
    Profiles,
    /// Limits.
    Limits,
    /// Kill switches.
    Kills,
    /// Approval rules, and other people's standing grants.
    Approvals,
    /// The record, and other people's calls.
    Audit,
    /// MCP servers this gate calls, and the review of their tools.
    Upstreams,
    /// The commands this gate starts as MCP servers: who may name one runs it here.
    UpstreamCommands,
    /// Other people's connections, and those shared by all.
    Connections,
    /// Applications that may ask people to let them in, and what people let them do.
    OauthClients,
    /// Other people's files.
    Files,
}

text_form!(Area {
    Tenants = "tenants",
    Principals = "principals",
    Keys = "keys",
    Roles = "roles",
    Policies = "policies",
    Tools = "tools",
    Toolsets = "toolsets",
    Profiles = "profiles",
    Limits = "limits",
    Kills = "kills",
    Approvals = "approvals",
    Audit = "audit",
    Upstreams = "upstreams",
    UpstreamCommands = "upstream_commands",
    Connections = "connections",
    OauthClients = "oauth_clients",
    Files = "files"
});

impl Area {
    /// Every area.
    pub const ALL: [Self; 17] = [
        Self::Tenants,
        Self::Principals,
        Self::Keys,
        Self::Roles,
        Self::Policies,
        Self::Tools,
        Self::Toolsets,
        Self::Profiles,
        Self::Limits,
        Self::Kills,
        Self::Approvals,
        Self::Audit,
        Self::Upstreams,
        Self::UpstreamCommands,
        Self::Connections,
        Self::OauthClients,
        Self::Files,
    ];
}

/// The kinds of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentKind {
    /// [`Role`](crate::role::Role).
    Role,
    /// The tenant's Cedar policies, one text.
    Policy,
    /// [`Toolset`](crate::toolset::Toolset).
    Toolset,
    /// [`Profile`](crate::profile::Profile).
    Profile,
    /// [`Assignment`](crate::assignment::Assignment).
    Assignment,
    /// [`Limit`](crate::limit::Limit).
    Limit,
    /// [`Kill`](crate::kill::Kill).
    Kill,
    /// [`ApprovalRule`](crate::approval_rule::ApprovalRule).
    ApprovalRule,
    /// [`Grant`](crate::grant::Grant).
    Grant,
    /// [`ToolSetting`](crate::tool_setting::ToolSetting): a tenant's word on a tool.
    Tool,
    /// [`Upstream`](crate::upstream::Upstream): an MCP server this gate calls.
    Upstream,
    /// [`UpstreamTool`](crate::upstream::UpstreamTool): what was accepted of one of its tools.
    UpstreamTool,
    /// An application that may ask people to let it in.
    OauthClient,
    /// An account at an outside service, without its secret.
    Connection,
}

text_form!(DocumentKind {
    Role = "role",
    Policy = "policy",
    Toolset = "toolset",
    Profile = "profile",
    Assignment = "assignment",
    Limit = "limit",
    Kill = "kill",
    ApprovalRule = "approval_rule",
    Grant = "grant",
    Tool = "tool",
    Upstream = "upstream",
    UpstreamTool = "upstream_tool",
    OauthClient = "oauth_client",
    Connection = "connection"
});

/// A document as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is.
    pub kind: DocumentKind,
    /// What it is called, within its kind.
    pub name: String,
    /// What it says.
    pub body: JsonText,
    /// How often it was written, from 1. Goes on counting when a removed document comes back.
    pub revision: u64,
    /// Who wrote it last.
    pub by: PrincipalId,
    /// When.
    pub at: Timestamp,
}

/// One version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVersion {
    /// Its number, from 1.
    pub revision: u64,
    /// What it said; none when it was removed.
    pub body: Option<JsonText>,
    /// Who wrote it.
    pub by: PrincipalId,
    /// When.
    pub at: Timestamp,
}

/// What must be true of a document for a change to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Anything,
    /// There is none.
    Absent,
    /// It still has this revision.
    Revision(u64),
}
