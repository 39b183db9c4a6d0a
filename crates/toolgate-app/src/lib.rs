//! Use cases, one file each. Doors take in, call one of these, and show the result; the rules live below, in core.

mod approval_rule;
mod approve_invocation;
mod assignment;
mod attempts;
mod audit;
mod authenticate;
mod background;
mod bounds;
mod cancel_invocation;
mod connect_service;
mod connection;
mod connection_kill;
mod connections;
mod directory;
mod entity;
mod entity_file;
mod entity_principal;
mod entrance;
mod error;
mod event_list;
mod explain;
mod file;
mod file_sweep;
mod file_upload;
mod grant;
mod identity;
mod inbox;
mod input_request;
mod invite;
mod invoke_tool;
mod journey;
mod key;
mod kill;
mod limit;
mod limits;
mod list_tools;
mod manage;
mod mcp_request;
mod mcp_session;
mod notification;
mod oauth;
mod outbox;
mod outbox_message;
mod outbox_news;
mod outbox_send;
mod outbox_slack;
mod own_call;
mod password;
mod policy;
mod policy_work;
mod powers;
mod principal;
mod profile;
mod read_invocation;
mod reading;
mod reassign;
mod report;
mod review;
mod role;
mod secret;
mod server_question;
mod services;
mod session;
mod set_up;
mod settle_invocation;
mod share;
mod sign_in;
mod signed_in;
mod snapshot;
mod stored;
mod switch_tenant;
mod tenant;
mod tenant_link;
mod tool_setting;
mod toolset;
mod try_policy;
mod upstream;
mod upstream_check;
mod upstream_lookalike;
mod upstream_reading;
mod upstream_secret;
mod upstream_tool;
mod usage;

use std::sync::Arc;

use toolgate_core::Runner;
use toolgate_core::port::store::Store;

pub use attempts::{Attempts, address_bucket};
pub use audit::{AuditReport, BrokenRecord, verify};
pub use authenticate::{ApiKeySecret, hash_key};
pub use background::Background;
pub use connections::Connections;
pub use directory::Records;
pub use entity::{Entity, EntityQuery, EntityType};
pub use error::AppError;
pub use event_list::EventQuery;
pub use explain::{ExplainRequest, ExplainStep, Explanation};
pub use file::FilesOf;
pub use file_upload::{FileSettings, Upload};
pub use grant::{Remember, RememberArguments};
pub use identity::{ConnectedProvider, IdentityFault};
pub use inbox::{Chores, Inbox};
pub use input_request::OpenRequest;
pub use invite::{Acceptance, Invitation};
pub use invoke_tool::InvokeRequest;
pub use journey::{Departure, Return};
pub use key::{KeyEnd, NewKey};
pub use kill::ThrownKill;
pub use limits::Limits;
pub use list_tools::source_of;
pub use mcp_session::set_up_service;
pub use oauth::{
    Address, Authorization, AuthorizeFault, AuthorizeRequest, ClientProof, ConnectedIssuer,
    DynamicRegistration, NewOauthClient, OauthCode, OauthError, OauthSettings, Registered, RegisteredClient,
    Registration, TokenRequest, Tokens, TokensOnly,
};
pub use outbox::{Channel, Outbox, Pace, Shape};
pub use password::Password;
pub use policy::{PolicyState, PolicyVersion};
pub use principal::{NewPrincipal, PrincipalChange};
pub use read_invocation::{InvocationPart, InvocationQuery, SearchedInputs};
pub use reassign::Assignee;
pub use review::Decision;
pub use role::TenantRole;
pub use secret::Secret;
pub use services::StoredServices;
pub use set_up::{AdminKey, ToolSetUpError, set_up_admin, set_up_tools};
pub use settle_invocation::Settlement;
pub use share::{ShareSettings, SharedRun};
pub use sign_in::{Arrival, SignInMethods, SignedIn};
pub use snapshot::{RegistryEntry, Snapshot, Snapshots};
pub use stored::Stored;
pub use switch_tenant::{OwnTenant, Reach};
pub use tenant::TenantChange;
pub use tenant_link::PendingLink;
pub use toolset::ToolsetWithTools;
pub use try_policy::{PolicyTrial, TriedCall};
pub use upstream::KnownUpstream;
pub use upstream_tool::{Looked, ReviewedTool};

use authenticate::KnownKeys;
use entrance::Entrance;
use oauth::Oauth;
use policy_work::PolicyWork;

/// The product behind its doors. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    runner: Runner,
    snapshots: Arc<Snapshots>,
    known_keys: Arc<KnownKeys>,
    entrance: Arc<Entrance>,
    policy_work: Arc<PolicyWork>,
    oauth: Arc<Oauth>,
    outbox: Arc<Outbox>,
    accounts: connection::Accounts,
    files: Arc<file_upload::Files>,
    shares: ShareSettings,
}

impl App {
    /// The product around a runner and the snapshots it works with.
    #[must_use]
    pub fn new(runner: Runner, snapshots: Arc<Snapshots>) -> Self {
        Self {
            runner,
            snapshots,
            known_keys: Arc::default(),
            entrance: Arc::default(),
            policy_work: Arc::default(),
            oauth: Arc::default(),
            outbox: Arc::default(),
            accounts: connection::Accounts::default(),
            files: Arc::default(),
            shares: ShareSettings::default(),
        }
    }

    /// The runner.
    #[must_use]
    pub const fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.runner.parts().store
    }
}
