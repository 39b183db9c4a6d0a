//! Where everything is kept. Every adapter passes `toolgate-store-contract`.

use async_trait::async_trait;

use crate::actor::Acting;
use crate::administration::AdminChange;
use crate::change::{Change, NewCall};
use crate::contract::{ContractVersion, Effect, Egress};
use crate::document::{Document, DocumentKind, DocumentVersion};
use crate::event::{Anchor, Event};
use crate::id::{
    ApiKeyId, IdempotencyKey, InvocationId, PrincipalId, PrincipalKind, SessionId, SignInId, TenantId,
    ToolName, WorkerId,
};
use crate::invocation::{Invocation, Status};
use crate::json::JsonText;
use crate::port::connection_store::ConnectionStore;
use crate::port::gate::SharedMeters;
use crate::port::oauth::OauthStore;
use crate::port::outbox::OutboxStore;
use crate::port::tenant_link::TenantLinkStore;
use crate::principal::{ApiKey, KeyHolder, OneTimeToken, Principal, SignIn};
use crate::tenant::Tenant;
use crate::time::Timestamp;

/// Why a store could not do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The row changed since it was seen; nothing was written.
    #[error("the record changed in the meantime")]
    Conflict,
    /// There is no such row.
    #[error("there is no such record")]
    NotFound,
    /// The store itself refused the row, by a constraint or trigger.
    #[error("the store refused: {0}")]
    Refused(String),
    /// The store can't be reached or is broken.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Wraps a driver's error.
    pub fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }
}

/// What became of a new call.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "made once per call and taken apart at once")]
pub enum Begun {
    /// It was written.
    Fresh(Invocation),
    /// Its idempotency key is taken; this is the call that took it. Nothing was written.
    Repeat(Invocation),
}

/// Which calls to list.
#[derive(Debug, Clone, Default)]
pub struct InvocationFilter {
    /// Of one tool.
    pub tool: Option<ToolName>,
    /// In one status.
    pub status: Option<Status>,
    /// By one actor.
    pub actor: Option<PrincipalId>,
    /// In one session.
    pub session: Option<SessionId>,
    /// Seen by these: calls they made (for the same person), or that were made for them.
    pub visible_to: Option<Acting>,
    /// Made at or after this moment.
    pub since: Option<Timestamp>,
    /// Made before this moment.
    pub until: Option<Timestamp>,
}

/// A part of a list: newest first, after `after`, at most `limit`.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The last id of the part before.
    pub after: Option<InvocationId>,
    /// How many.
    pub limit: u32,
}

/// Calls and their events.
#[async_trait]
pub trait InvocationStore: Send + Sync {
    /// Writes a new call's row and events as one. A taken idempotency key answers [`Begun::Repeat`] and writes
    /// nothing; a session that is not there, or not the owner's, answers [`StoreError::NotFound`]. Asked again with
    /// the same call id, after an answer was lost, it answers [`Begun::Fresh`] with what the first try wrote.
    async fn begin(&self, call: NewCall) -> Result<Begun, StoreError>;

    /// Writes one step's row and event as one, if the row still has the revision that was seen. Otherwise answers
    /// [`StoreError::Conflict`] and writes nothing.
    async fn advance(&self, change: Change) -> Result<Invocation, StoreError>;

    /// The call that took this key, if any.
    async fn find_by_key(
        &self,
        tenant: &TenantId,
        acting: &Acting,
        tool: &ToolName,
        key: &IdempotencyKey,
    ) -> Result<Option<Invocation>, StoreError>;

    /// One call of this tenant.
    async fn get(&self, tenant: &TenantId, id: InvocationId) -> Result<Option<Invocation>, StoreError>;

    /// Newest first, ordered by id, so pages never overlap. Inputs and outputs larger than 8 KiB are left out, so that
    /// a page has a bounded size.
    async fn list(
        &self,
        tenant: &TenantId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Vec<Invocation>, StoreError>;

    /// Calls that this person decided on or said yes to, in the same order and as much of them.
    async fn decided_by(
        &self,
        tenant: &TenantId,
        person: &PrincipalId,
        page: Page,
    ) -> Result<Vec<Invocation>, StoreError>;

    /// Calls of all tenants whose lease or deadline has passed, most overdue first.
    async fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<Invocation>, StoreError>;

    /// Puts off when an approved call that waits for a place is looked at again, if it has not changed. Not part of the
    /// record.
    async fn put_off(&self, invocation: &Invocation, until: Timestamp) -> Result<(), StoreError>;

    /// Puts off the leases of these running calls, as far as `worker` still holds them. Returns the ones that
    /// someone asked to stop.
    async fn renew(
        &self,
        worker: WorkerId,
        calls: &[InvocationId],
        until: Timestamp,
    ) -> Result<Vec<InvocationId>, StoreError>;

    /// Ends all leases when no other worker can be alive (an embedded store just opened); otherwise does nothing.
    async fn end_foreign_leases(&self) -> Result<(), StoreError>;

    /// What calls made at or after `since` have cost so far: of one actor, of one tool, or of all.
    async fn spent(
        &self,
        tenant: &TenantId,
        actor: Option<&PrincipalId>,
        tool: Option<&ToolName>,
        since: Timestamp,
    ) -> Result<i64, StoreError>;

    /// A call's events, oldest first.
    async fn invocation_events(&self, invocation: &Invocation) -> Result<Vec<Event>, StoreError>;
}

/// A thread of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Whose wall it stands within.
    pub tenant: TenantId,
    /// Who began it.
    pub owner: PrincipalId,
    /// For whom.
    pub subject: Option<PrincipalId>,
    /// What policy knows it by; never changed.
    pub labels: Vec<String>,
    /// When.
    pub created_at: Timestamp,
}

/// Sessions and their event chains.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Makes an empty session.
    async fn create_session(&self, session: Session) -> Result<(), StoreError>;

    /// One session of this tenant.
    async fn session(&self, tenant: &TenantId, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// A session's events after number `after`, oldest first.
    async fn session_events(&self, id: SessionId, after: i64, limit: u32) -> Result<Vec<Event>, StoreError>;
}

/// The record as a whole, for those who check it.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Sessions that have events, after `after`, in order of id.
    async fn sessions_after(
        &self,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionId>, StoreError>;

    /// Calls after `after` in order of id: for comparing rows with their events.
    async fn invocations_after(
        &self,
        after: Option<InvocationId>,
        limit: u32,
    ) -> Result<Vec<Invocation>, StoreError>;

    /// Anchors after number `after`, in order.
    async fn anchors_after(&self, after: i64, limit: u32) -> Result<Vec<Anchor>, StoreError>;

    /// Writes an anchor over the heads of all sessions touched since the last one, at most `limit` of them.
    /// Returns how many it covered; with none, writes nothing.
    async fn write_anchor(&self, at: Timestamp, limit: u32) -> Result<usize, StoreError>;
}

/// A tool's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    /// Its id.
    pub id: ToolName,
    /// Its contract's content address.
    pub version: ContractVersion,
    /// What it does to state.
    pub effect: Effect,
    /// What leaves the house.
    pub egress: Egress,
    /// Whether every call waits for a person. The database sets it for `egress: write`, whatever is written.
    pub requires_approval: bool,
    /// The contract.
    pub contract: JsonText,
}

/// Tools and the history of their contracts.
#[async_trait]
pub trait ToolStore: Send + Sync {
    /// Writes the tenant's tools and a version row for each contract not seen before. Returns the rows as the
    /// database keeps them.
    async fn record_tools(
        &self,
        tenant: &TenantId,
        tools: Vec<ToolRow>,
        at: Timestamp,
    ) -> Result<Vec<ToolRow>, StoreError>;
}

/// Changes by those who manage tenants, and what they decided.
#[async_trait]
pub trait AdminStore: Send + Sync {
    /// Makes all writes of a change, or none: bumps the tenant's generation and appends the change's event to the
    /// tenant's administration session in the same transaction. Returns the new generation. What is expected and not
    /// so answers [`StoreError::Conflict`]; a tenant that is not there (and not made here) [`StoreError::NotFound`].
    async fn change(&self, change: AdminChange) -> Result<u64, StoreError>;

    /// One tenant.
    async fn tenant(&self, id: &TenantId) -> Result<Option<Tenant>, StoreError>;

    /// Tenants after `after`, in order of id.
    async fn tenants(&self, after: Option<&TenantId>, limit: u32) -> Result<Vec<Tenant>, StoreError>;

    /// The generations of these tenants now; those that are not there are left out.
    async fn generations(&self, tenants: &[TenantId]) -> Result<Vec<(TenantId, u64)>, StoreError>;

    /// All documents of a tenant, ordered by kind and name.
    async fn documents(&self, tenant: &TenantId) -> Result<Vec<Document>, StoreError>;

    /// One document.
    async fn document(
        &self,
        tenant: &TenantId,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Option<Document>, StoreError>;

    /// A document's versions before revision `before`, newest first.
    async fn document_versions(
        &self,
        tenant: &TenantId,
        kind: DocumentKind,
        name: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<DocumentVersion>, StoreError>;
}

/// Principals and their keys.
#[async_trait]
pub trait PrincipalStore: Send + Sync {
    /// One principal of this tenant.
    async fn principal(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<Principal>, StoreError>;

    /// Principals of one kind (or all) after `after`, in order of id.
    async fn principals(
        &self,
        tenant: &TenantId,
        kind: Option<PrincipalKind>,
        after: Option<&PrincipalId>,
        limit: u32,
    ) -> Result<Vec<Principal>, StoreError>;

    /// A user's password hash, if they have one.
    async fn password(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<String>, StoreError>;

    /// Whether anyone in this tenant has a password or an identity elsewhere.
    async fn anyone_signs_in(&self, tenant: &TenantId) -> Result<bool, StoreError>;

    /// Who a person at an identity provider is in this tenant.
    async fn principal_by_identity(
        &self,
        tenant: &TenantId,
        issuer: &str,
        sub: &str,
    ) -> Result<Option<Principal>, StoreError>;

    /// Whether any key exists.
    async fn any_key(&self) -> Result<bool, StoreError>;

    /// The key with this hash and who it speaks for, whether it still works or not.
    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyHolder>, StoreError>;

    /// One key of this tenant.
    async fn key(&self, tenant: &TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Keys of a principal (or all), after `after`, in order of id.
    async fn keys(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError>;

    /// Notes when these keys were last used. Never moves a time back.
    async fn touch_keys(&self, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError>;
}

/// People signed in with browsers, and secrets that work once.
#[async_trait]
pub trait SignInStore: Send + Sync {
    /// Writes a new sign-in.
    async fn put_sign_in(&self, sign_in: SignIn) -> Result<(), StoreError>;

    /// The sign-in with this hash and who signed in, whether it has ended by time or not.
    async fn sign_in_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(SignIn, Principal)>, StoreError>;

    /// A person's sign-ins, newest first: as themselves, and where they switched to another tenant from here.
    async fn sign_ins(&self, tenant: &TenantId, principal: &PrincipalId) -> Result<Vec<SignIn>, StoreError>;

    /// Notes that a sign-in was used, and puts off its end.
    async fn touch_sign_in(
        &self,
        id: SignInId,
        seen: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Ends a person's sign-ins (the same as are listed): one, or all but one, or all.
    async fn end_sign_ins(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        which: EndSignIns,
    ) -> Result<(), StoreError>;

    /// Writes a secret that works once, and forgets those whose time is over at `now`.
    async fn put_token(&self, token: OneTimeToken, now: Timestamp) -> Result<(), StoreError>;

    /// Uses a secret: answers once, and only within its time and for its purpose. Whoever else asks gets none.
    async fn take_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Result<Option<OneTimeToken>, StoreError>;

    /// Forgets all of a principal's secrets for this purpose: none of them works any more.
    async fn void_tokens(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        purpose: &str,
    ) -> Result<(), StoreError>;

    /// Looks at a secret without using it, within its time and for its purpose.
    async fn read_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Result<Option<OneTimeToken>, StoreError>;

    /// Forgets sign-ins whose time is over at `now`.
    async fn forget_sign_ins(&self, now: Timestamp) -> Result<(), StoreError>;
}

/// Which sign-ins to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSignIns {
    /// This one.
    One(SignInId),
    /// All but this one.
    AllBut(SignInId),
    /// All.
    All,
}

/// Everything a store does.
#[async_trait]
pub trait Store:
    InvocationStore
    + SessionStore
    + AuditStore
    + ToolStore
    + AdminStore
    + PrincipalStore
    + SignInStore
    + crate::port::usage::UsageStore
    + crate::port::input_search::InputSearchStore
    + crate::port::grant_use::GrantUseStore
    + crate::port::event_list::EventListStore
    + crate::port::share::ShareStore
    + ConnectionStore
    + crate::port::file::FileStore
    + OauthStore
    + OutboxStore
    + TenantLinkStore
    + Send
    + Sync
    + 'static
{
    /// The engine's name, for people.
    fn engine(&self) -> &'static str;

    /// Whether the store answers now.
    async fn ping(&self) -> Result<(), StoreError>;

    /// What nodes that share this store measure together; none where there is one node only.
    fn shared_meters(&self) -> Option<&dyn SharedMeters> {
        None
    }
}
