//! A store that does what it is asked and then loses its answer: what a broken connection looks like from here.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_core::administration::AdminChange;
use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::document::{Document, DocumentKind, DocumentVersion};
use toolgate_core::event::{Anchor, Event};
use toolgate_core::id::NotificationId;
use toolgate_core::id::{
    ApiKeyId, IdempotencyKey, InvocationId, PrincipalId, PrincipalKind, SessionId, SignInId, TenantId,
    ToolName, WorkerId,
};
use toolgate_core::invocation::{Opened, Step};
use toolgate_core::notification::{Notification, NotificationState, Tried};
use toolgate_core::port::grant_use::{GrantUse, GrantUseStore};
use toolgate_core::port::input_search::{InputSearch, InputSearchStore, Searched};
use toolgate_core::port::outbox::{News, OutboxStore};
use toolgate_core::port::store::{
    AdminStore, AuditStore, Begun, EndSignIns, InvocationFilter, InvocationStore, Page, PrincipalStore,
    Session, SessionStore, SignInStore, Store, StoreError, ToolRow, ToolStore,
};
use toolgate_core::port::usage::{UsageQuery, UsageRow, UsageStore};
use toolgate_core::principal::{ApiKey, KeyHolder, OneTimeToken, Principal, SignIn};
use toolgate_core::tenant::Tenant;
use toolgate_core::{Acting, Invocation, Timestamp};

use crate::gate::TestGate;

#[path = "losing_connection.rs"]
mod connection;
#[path = "losing_event_list.rs"]
mod event_list;
#[path = "losing_file.rs"]
mod file;
#[path = "losing_oauth.rs"]
mod oauth;
#[path = "losing_share.rs"]
mod share;
#[path = "losing_tenant_link.rs"]
mod tenant_link;

type Answer<T> = Result<T, StoreError>;

/// Loses so many of the next answers to `begin` and to `advance`. The work is done all the same.
pub(crate) struct Losing {
    store: Arc<dyn Store>,
    begins: AtomicU32,
    advances: AtomicU32,
    /// How often a call was read.
    pub(crate) reads: AtomicU32,
    /// How many of the next changes are not made.
    pub(crate) refused_changes: AtomicU32,
    /// What happens just before the next sign-in is written.
    before_sign_in: Mutex<Option<BoxFuture<'static, ()>>>,
    /// Whose documents can't be read.
    unreadable: Mutex<Option<TenantId>>,
}

impl Losing {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            begins: AtomicU32::new(0),
            advances: AtomicU32::new(0),
            reads: AtomicU32::new(0),
            refused_changes: AtomicU32::new(0),
            before_sign_in: Mutex::default(),
            unreadable: Mutex::default(),
        }
    }
}

impl Losing {
    /// What happens just before the next sign-in is written.
    pub(crate) fn before_next_sign_in(&self, what: impl Future<Output = ()> + Send + 'static) {
        *self.before_sign_in.lock().unwrap() = Some(Box::pin(what));
    }

    /// Whose documents can't be read from now on; none for everyone's can.
    pub(crate) fn break_documents_of(&self, tenant: Option<&str>) {
        *self.unreadable.lock().unwrap() = tenant.map(|tenant| tenant.parse().unwrap());
    }
}

fn lose<T>(left: &AtomicU32, answer: Answer<T>) -> Answer<T> {
    match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
        Ok(_) => Err(StoreError::unavailable("the answer was lost")),
        Err(_) => answer,
    }
}

#[async_trait]
impl InvocationStore for Losing {
    async fn begin(&self, call: NewCall) -> Answer<Begun> {
        lose(&self.begins, self.store.begin(call).await)
    }
    async fn advance(&self, change: Change) -> Answer<Invocation> {
        lose(&self.advances, self.store.advance(change).await)
    }
    async fn find_by_key(
        &self,
        tenant: &TenantId,
        acting: &Acting,
        tool: &ToolName,
        key: &IdempotencyKey,
    ) -> Answer<Option<Invocation>> {
        self.store.find_by_key(tenant, acting, tool, key).await
    }
    async fn get(&self, tenant: &TenantId, id: InvocationId) -> Answer<Option<Invocation>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.get(tenant, id).await
    }
    async fn list(
        &self,
        tenant: &TenantId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Answer<Vec<Invocation>> {
        self.store.list(tenant, filter, page).await
    }
    async fn decided_by(&self, tenant: &TenantId, by: &PrincipalId, page: Page) -> Answer<Vec<Invocation>> {
        self.store.decided_by(tenant, by, page).await
    }
    async fn due(&self, now: Timestamp, limit: u32) -> Answer<Vec<Invocation>> {
        self.store.due(now, limit).await
    }
    async fn renew(
        &self,
        worker: WorkerId,
        ids: &[InvocationId],
        until: Timestamp,
    ) -> Answer<Vec<InvocationId>> {
        self.store.renew(worker, ids, until).await
    }
    async fn put_off(&self, invocation: &Invocation, until: Timestamp) -> Answer<()> {
        self.store.put_off(invocation, until).await
    }
    async fn end_foreign_leases(&self) -> Answer<()> {
        self.store.end_foreign_leases().await
    }
    async fn spent(
        &self,
        tenant: &TenantId,
        actor: Option<&PrincipalId>,
        tool: Option<&ToolName>,
        since: Timestamp,
    ) -> Answer<i64> {
        self.store.spent(tenant, actor, tool, since).await
    }
    async fn invocation_events(&self, invocation: &Invocation) -> Answer<Vec<Event>> {
        self.store.invocation_events(invocation).await
    }
}

#[async_trait]
impl SessionStore for Losing {
    async fn create_session(&self, session: Session) -> Answer<()> {
        self.store.create_session(session).await
    }
    async fn session(&self, tenant: &TenantId, id: SessionId) -> Answer<Option<Session>> {
        self.store.session(tenant, id).await
    }
    async fn session_events(&self, id: SessionId, after: i64, limit: u32) -> Answer<Vec<Event>> {
        self.store.session_events(id, after, limit).await
    }
}

#[async_trait]
impl UsageStore for Losing {
    async fn usage(&self, tenant: &TenantId, query: &UsageQuery) -> Answer<Vec<UsageRow>> {
        self.store.usage(tenant, query).await
    }
}

#[async_trait]
impl InputSearchStore for Losing {
    async fn search_inputs(&self, tenant: &TenantId, search: InputSearch<'_>) -> Answer<Searched> {
        self.store.search_inputs(tenant, search).await
    }
}

#[async_trait]
impl GrantUseStore for Losing {
    async fn grant_uses(&self, tenant: &TenantId, grants: &[GrantUse]) -> Answer<Vec<u64>> {
        self.store.grant_uses(tenant, grants).await
    }
}

#[async_trait]
impl AuditStore for Losing {
    async fn sessions_after(&self, after: Option<SessionId>, limit: u32) -> Answer<Vec<SessionId>> {
        self.store.sessions_after(after, limit).await
    }
    async fn invocations_after(&self, after: Option<InvocationId>, limit: u32) -> Answer<Vec<Invocation>> {
        self.store.invocations_after(after, limit).await
    }
    async fn anchors_after(&self, after: i64, limit: u32) -> Answer<Vec<Anchor>> {
        self.store.anchors_after(after, limit).await
    }
    async fn write_anchor(&self, at: Timestamp, limit: u32) -> Answer<usize> {
        self.store.write_anchor(at, limit).await
    }
}

#[async_trait]
impl ToolStore for Losing {
    async fn record_tools(
        &self,
        tenant: &TenantId,
        tools: Vec<ToolRow>,
        at: Timestamp,
    ) -> Answer<Vec<ToolRow>> {
        self.store.record_tools(tenant, tools, at).await
    }
}

#[async_trait]
impl AdminStore for Losing {
    async fn change(&self, change: AdminChange) -> Answer<u64> {
        lose(&self.refused_changes, Ok(()))?;
        self.store.change(change).await
    }
    async fn tenant(&self, id: &TenantId) -> Answer<Option<Tenant>> {
        self.store.tenant(id).await
    }
    async fn tenants(&self, after: Option<&TenantId>, limit: u32) -> Answer<Vec<Tenant>> {
        self.store.tenants(after, limit).await
    }
    async fn generations(&self, tenants: &[TenantId]) -> Answer<Vec<(TenantId, u64)>> {
        self.store.generations(tenants).await
    }
    async fn documents(&self, tenant: &TenantId) -> Answer<Vec<Document>> {
        if self.unreadable.lock().unwrap().as_ref() == Some(tenant) {
            return Err(StoreError::unavailable("a damaged row"));
        }
        self.store.documents(tenant).await
    }
    async fn document(&self, tenant: &TenantId, kind: DocumentKind, name: &str) -> Answer<Option<Document>> {
        self.store.document(tenant, kind, name).await
    }
    async fn document_versions(
        &self,
        tenant: &TenantId,
        kind: DocumentKind,
        name: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Answer<Vec<DocumentVersion>> {
        self.store.document_versions(tenant, kind, name, before, limit).await
    }
}

#[async_trait]
impl PrincipalStore for Losing {
    async fn principal(&self, tenant: &TenantId, principal: &PrincipalId) -> Answer<Option<Principal>> {
        self.store.principal(tenant, principal).await
    }
    async fn principals(
        &self,
        tenant: &TenantId,
        kind: Option<PrincipalKind>,
        after: Option<&PrincipalId>,
        limit: u32,
    ) -> Answer<Vec<Principal>> {
        self.store.principals(tenant, kind, after, limit).await
    }
    async fn password(&self, tenant: &TenantId, principal: &PrincipalId) -> Answer<Option<String>> {
        self.store.password(tenant, principal).await
    }
    async fn anyone_signs_in(&self, tenant: &TenantId) -> Answer<bool> {
        self.store.anyone_signs_in(tenant).await
    }
    async fn principal_by_identity(
        &self,
        tenant: &TenantId,
        issuer: &str,
        sub: &str,
    ) -> Answer<Option<Principal>> {
        self.store.principal_by_identity(tenant, issuer, sub).await
    }
    async fn any_key(&self) -> Answer<bool> {
        self.store.any_key().await
    }
    async fn key_by_hash(&self, hash: &[u8; 32]) -> Answer<Option<KeyHolder>> {
        self.store.key_by_hash(hash).await
    }
    async fn key(&self, tenant: &TenantId, id: ApiKeyId) -> Answer<Option<ApiKey>> {
        self.store.key(tenant, id).await
    }
    async fn keys(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Answer<Vec<ApiKey>> {
        self.store.keys(tenant, principal, after, limit).await
    }
    async fn touch_keys(&self, uses: &[(ApiKeyId, Timestamp)]) -> Answer<()> {
        self.store.touch_keys(uses).await
    }
}

#[async_trait]
impl SignInStore for Losing {
    async fn put_sign_in(&self, sign_in: SignIn) -> Answer<()> {
        let before = self.before_sign_in.lock().unwrap().take();
        if let Some(before) = before {
            before.await;
        }
        self.store.put_sign_in(sign_in).await
    }
    async fn sign_in_by_hash(&self, hash: &[u8; 32]) -> Answer<Option<(SignIn, Principal)>> {
        self.store.sign_in_by_hash(hash).await
    }
    async fn sign_ins(&self, tenant: &TenantId, principal: &PrincipalId) -> Answer<Vec<SignIn>> {
        self.store.sign_ins(tenant, principal).await
    }
    async fn touch_sign_in(&self, id: SignInId, seen: Timestamp, expires_at: Timestamp) -> Answer<()> {
        self.store.touch_sign_in(id, seen, expires_at).await
    }
    async fn end_sign_ins(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        which: EndSignIns,
    ) -> Answer<()> {
        self.store.end_sign_ins(tenant, principal, which).await
    }
    async fn put_token(&self, token: OneTimeToken, now: Timestamp) -> Answer<()> {
        self.store.put_token(token, now).await
    }
    async fn take_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Answer<Option<OneTimeToken>> {
        self.store.take_token(hash, purpose, now).await
    }
    async fn void_tokens(&self, tenant: &TenantId, principal: &PrincipalId, purpose: &str) -> Answer<()> {
        self.store.void_tokens(tenant, principal, purpose).await
    }
    async fn read_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Answer<Option<OneTimeToken>> {
        self.store.read_token(hash, purpose, now).await
    }
    async fn forget_sign_ins(&self, now: Timestamp) -> Answer<()> {
        self.store.forget_sign_ins(now).await
    }
}

#[async_trait]
impl OutboxStore for Losing {
    async fn news(&self, limit: u32) -> Answer<Vec<News>> {
        self.store.news(limit).await
    }
    async fn post(&self, news: &[i64], notifications: Vec<Notification>) -> Answer<()> {
        self.store.post(news, notifications).await
    }
    async fn claim_notifications(
        &self,
        tenant: &TenantId,
        channel: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Answer<Vec<Notification>> {
        self.store.claim_notifications(tenant, channel, now, until, limit).await
    }
    async fn settle_notification(&self, claimed: &Notification, tried: Tried) -> Answer<bool> {
        self.store.settle_notification(claimed, tried).await
    }
    async fn retry_notification(
        &self,
        tenant: &TenantId,
        id: NotificationId,
        at: Timestamp,
    ) -> Answer<Notification> {
        self.store.retry_notification(tenant, id, at).await
    }
    async fn notifications(
        &self,
        tenant: &TenantId,
        state: Option<NotificationState>,
        after: Option<NotificationId>,
        limit: u32,
    ) -> Answer<Vec<Notification>> {
        self.store.notifications(tenant, state, after, limit).await
    }
    async fn forget_notifications(&self, before: Timestamp) -> Answer<()> {
        self.store.forget_notifications(before).await
    }
}

#[async_trait]
impl Store for Losing {
    fn engine(&self) -> &'static str {
        self.store.engine()
    }
    async fn ping(&self) -> Answer<()> {
        self.store.ping().await
    }
}

/// Makes a call while answers get lost, and checks that it ends once and well.
async fn check(tool: &str, input: Value, (begins, advances): (u32, u32), effects: u64, kinds: &[&str]) {
    let gate = TestGate::permissive().await;
    gate.losing.begins.store(begins, Ordering::SeqCst);
    gate.losing.advances.store(advances, Ordering::SeqCst);
    let (status, call) = gate.invoke(tool, input).await;
    assert_eq!((status, &call["status"]), (200, &json!("completed")), "{tool}: {call}");
    assert_eq!(gate.receiver.counts().values().sum::<u64>(), effects, "{tool}");
    assert_eq!(gate.events(&call).await, kinds, "{tool}");
    let (_, list) = gate.get("/api/v1/invocations").await;
    assert_eq!(list["invocations"].as_array().unwrap().len(), 1, "{tool}: one call is one row");
    gate.verify().await;
}

#[tokio::test]
async fn a_lost_answer_to_a_start_does_not_start_it_twice() {
    check("fixture__mutate", json!({ "effect_id": "x" }), (2, 0), 1, &["tool.started", "tool.completed"])
        .await;
}

#[tokio::test]
async fn a_lost_answer_to_an_outcome_is_found_in_the_record() {
    check("fixture__mutate", json!({ "effect_id": "x" }), (0, 2), 1, &["tool.started", "tool.completed"])
        .await;
}

#[tokio::test]
async fn a_lost_answer_to_a_whole_read_is_found_in_the_record() {
    check("core__get_current_time", json!({}), (2, 0), 0, &["tool.started", "tool.completed"]).await;
}

/// The start of a slow read gets through and every answer to it is lost: the outcome is still written.
#[tokio::test]
async fn an_outcome_is_written_after_a_start_that_was_never_confirmed() {
    let input = json!({ "milliseconds": 1_000 });
    check("fixture__slow_read", input, (9, 0), 0, &["tool.started", "tool.completed"]).await;
}

/// A worker that finds its own call overdue and no longer under way counts taking it up again as another try.
#[tokio::test]
async fn taking_up_ones_own_lost_call_is_another_try() {
    let gate = TestGate::permissive().await;
    let (_, done) = gate.invoke("fixture__counted_read", json!({ "effect_id": "first" })).await;
    let first = done["call_id"].as_str().unwrap().parse().unwrap();
    let first = gate.losing.get(&TenantId::default_tenant(), first).await.unwrap().unwrap();
    let id = InvocationId::generate();
    let opened = Opened { id, session: SessionId::from_uuid(id.uuid()), ..first.opened };
    let started = Step::Started { attempt: 1, worker: first.worker.unwrap() };
    let lost = NewCall::open(opened, &[started], first.started_at.unwrap(), SessionUse::New).unwrap();
    let Begun::Fresh(lost) = gate.losing.begin(lost).await.unwrap() else { panic!("it is a new call") };
    let by = lost.opened.actor.clone();
    let result = gate.runner.dispatch(lost, by, std::time::Duration::from_secs(10)).await.unwrap();
    assert!(result.ok);
    let (_, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
    assert_eq!(row["attempt"], 2);
    let events = gate.events(&json!({ "call_id": id.to_string() })).await;
    assert_eq!(events, ["tool.started", "tool.started", "tool.completed"]);
    gate.verify().await;
}
