//! A store that seals events as a real one would and keeps no calls: for measuring and trying what comes before the
//! commit. What managers decided is whatever it was made with.

use async_trait::async_trait;
use toolgate_core::administration::AdminChange;
use toolgate_core::change::{Change, NewCall};
use toolgate_core::document::{Document, DocumentKind, DocumentVersion};
use toolgate_core::event::{Anchor, ChainHead, Event};
use toolgate_core::id::NotificationId;
use toolgate_core::id::{
    ApiKeyId, IdempotencyKey, InvocationId, PrincipalId, PrincipalKind, SessionId, SignInId, TenantId,
    ToolName, WorkerId,
};
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

type Answer<T> = Result<T, StoreError>;

/// Keeps nothing but what it was made with: the default tenant's documents.
#[derive(Debug, Default)]
pub struct Forgetful {
    /// What the default tenant's managers decided.
    pub documents: Vec<Document>,
}

#[async_trait]
impl InvocationStore for Forgetful {
    async fn begin(&self, call: NewCall) -> Answer<Begun> {
        let mut head = ChainHead::EMPTY;
        let mut events = Vec::with_capacity(2);
        for draft in call.drafts() {
            let event = draft.clone().seal(head);
            head = event.head();
            events.push(event);
        }
        Ok(Begun::Fresh(call.written(&events)))
    }
    async fn advance(&self, _: Change) -> Answer<Invocation> {
        Err(StoreError::NotFound)
    }
    async fn find_by_key(
        &self,
        _: &TenantId,
        _: &Acting,
        _: &ToolName,
        _: &IdempotencyKey,
    ) -> Answer<Option<Invocation>> {
        Ok(None)
    }
    async fn get(&self, _: &TenantId, _: InvocationId) -> Answer<Option<Invocation>> {
        Ok(None)
    }
    async fn list(&self, _: &TenantId, _: &InvocationFilter, _: Page) -> Answer<Vec<Invocation>> {
        Ok(Vec::new())
    }
    async fn decided_by(&self, _: &TenantId, _: &PrincipalId, _: Page) -> Answer<Vec<Invocation>> {
        Ok(Vec::new())
    }
    async fn due(&self, _: Timestamp, _: u32) -> Answer<Vec<Invocation>> {
        Ok(Vec::new())
    }
    async fn renew(&self, _: WorkerId, _: &[InvocationId], _: Timestamp) -> Answer<Vec<InvocationId>> {
        Ok(Vec::new())
    }
    async fn put_off(&self, _: &Invocation, _: Timestamp) -> Answer<()> {
        Ok(())
    }
    async fn end_foreign_leases(&self) -> Answer<()> {
        Ok(())
    }
    async fn spent(
        &self,
        _: &TenantId,
        _: Option<&PrincipalId>,
        _: Option<&ToolName>,
        _: Timestamp,
    ) -> Answer<i64> {
        Ok(0)
    }
    async fn invocation_events(&self, _: &Invocation) -> Answer<Vec<Event>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl SessionStore for Forgetful {
    async fn create_session(&self, _: Session) -> Answer<()> {
        Ok(())
    }
    async fn session(&self, _: &TenantId, _: SessionId) -> Answer<Option<Session>> {
        Ok(None)
    }
    async fn session_events(&self, _: SessionId, _: i64, _: u32) -> Answer<Vec<Event>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl UsageStore for Forgetful {
    async fn usage(&self, _: &TenantId, _: &UsageQuery) -> Answer<Vec<UsageRow>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl InputSearchStore for Forgetful {
    async fn search_inputs(&self, _: &TenantId, _: InputSearch<'_>) -> Answer<Searched> {
        Ok(Searched { invocations: Vec::new(), looked_at: 0, end: None, more: false })
    }
}

#[async_trait]
impl GrantUseStore for Forgetful {
    async fn grant_uses(&self, _: &TenantId, grants: &[GrantUse]) -> Answer<Vec<u64>> {
        Ok(vec![0; grants.len()])
    }
}

#[async_trait]
impl AuditStore for Forgetful {
    async fn sessions_after(&self, _: Option<SessionId>, _: u32) -> Answer<Vec<SessionId>> {
        Ok(Vec::new())
    }
    async fn invocations_after(&self, _: Option<InvocationId>, _: u32) -> Answer<Vec<Invocation>> {
        Ok(Vec::new())
    }
    async fn anchors_after(&self, _: i64, _: u32) -> Answer<Vec<Anchor>> {
        Ok(Vec::new())
    }
    async fn write_anchor(&self, _: Timestamp, _: u32) -> Answer<usize> {
        Ok(0)
    }
}

#[async_trait]
impl ToolStore for Forgetful {
    async fn record_tools(&self, _: &TenantId, tools: Vec<ToolRow>, _: Timestamp) -> Answer<Vec<ToolRow>> {
        Ok(tools)
    }
}

#[async_trait]
impl AdminStore for Forgetful {
    async fn change(&self, _: AdminChange) -> Answer<u64> {
        Err(StoreError::NotFound)
    }
    async fn tenant(&self, id: &TenantId) -> Answer<Option<Tenant>> {
        let known = *id == TenantId::default_tenant();
        Ok(known.then(|| Tenant {
            id: id.clone(),
            title: String::new(),
            disabled: false,
            generation: 1,
            created_at: Timestamp::from_micros(0),
        }))
    }
    async fn tenants(&self, _: Option<&TenantId>, _: u32) -> Answer<Vec<Tenant>> {
        Ok(Vec::new())
    }
    async fn generations(&self, tenants: &[TenantId]) -> Answer<Vec<(TenantId, u64)>> {
        Ok(tenants.iter().map(|tenant| (tenant.clone(), 1)).collect())
    }
    async fn documents(&self, _: &TenantId) -> Answer<Vec<Document>> {
        Ok(self.documents.clone())
    }
    async fn document(&self, _: &TenantId, kind: DocumentKind, name: &str) -> Answer<Option<Document>> {
        Ok(self.documents.iter().find(|found| found.kind == kind && found.name == name).cloned())
    }
    async fn document_versions(
        &self,
        _: &TenantId,
        _: DocumentKind,
        _: &str,
        _: Option<u64>,
        _: u32,
    ) -> Answer<Vec<DocumentVersion>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl PrincipalStore for Forgetful {
    async fn principal(&self, _: &TenantId, _: &PrincipalId) -> Answer<Option<Principal>> {
        Ok(None)
    }
    async fn principals(
        &self,
        _: &TenantId,
        _: Option<PrincipalKind>,
        _: Option<&PrincipalId>,
        _: u32,
    ) -> Answer<Vec<Principal>> {
        Ok(Vec::new())
    }
    async fn password(&self, _: &TenantId, _: &PrincipalId) -> Answer<Option<String>> {
        Ok(None)
    }
    async fn anyone_signs_in(&self, _: &TenantId) -> Answer<bool> {
        Ok(false)
    }
    async fn principal_by_identity(&self, _: &TenantId, _: &str, _: &str) -> Answer<Option<Principal>> {
        Ok(None)
    }
    async fn any_key(&self) -> Answer<bool> {
        Ok(false)
    }
    async fn key_by_hash(&self, _: &[u8; 32]) -> Answer<Option<KeyHolder>> {
        Ok(None)
    }
    async fn key(&self, _: &TenantId, _: ApiKeyId) -> Answer<Option<ApiKey>> {
        Ok(None)
    }
    async fn keys(
        &self,
        _: &TenantId,
        _: Option<&PrincipalId>,
        _: Option<ApiKeyId>,
        _: u32,
    ) -> Answer<Vec<ApiKey>> {
        Ok(Vec::new())
    }
    async fn touch_keys(&self, _: &[(ApiKeyId, Timestamp)]) -> Answer<()> {
        Ok(())
    }
}

#[async_trait]
impl SignInStore for Forgetful {
    async fn put_sign_in(&self, _: SignIn) -> Answer<()> {
        Ok(())
    }
    async fn sign_in_by_hash(&self, _: &[u8; 32]) -> Answer<Option<(SignIn, Principal)>> {
        Ok(None)
    }
    async fn sign_ins(&self, _: &TenantId, _: &PrincipalId) -> Answer<Vec<SignIn>> {
        Ok(Vec::new())
    }
    async fn touch_sign_in(&self, _: SignInId, _: Timestamp, _: Timestamp) -> Answer<()> {
        Ok(())
    }
    async fn end_sign_ins(&self, _: &TenantId, _: &PrincipalId, _: EndSignIns) -> Answer<()> {
        Ok(())
    }
    async fn put_token(&self, _: OneTimeToken, _: Timestamp) -> Answer<()> {
        Ok(())
    }
    async fn take_token(&self, _: &[u8; 32], _: &str, _: Timestamp) -> Answer<Option<OneTimeToken>> {
        Ok(None)
    }
    async fn void_tokens(&self, _: &TenantId, _: &PrincipalId, _: &str) -> Answer<()> {
        Ok(())
    }
    async fn read_token(&self, _: &[u8; 32], _: &str, _: Timestamp) -> Answer<Option<OneTimeToken>> {
        Ok(None)
    }
    async fn forget_sign_ins(&self, _: Timestamp) -> Answer<()> {
        Ok(())
    }
}

#[async_trait]
impl OutboxStore for Forgetful {
    async fn news(&self, _: u32) -> Answer<Vec<News>> {
        Ok(Vec::new())
    }
    async fn post(&self, _: &[i64], _: Vec<Notification>) -> Answer<()> {
        Ok(())
    }
    async fn claim_notifications(
        &self,
        _: &TenantId,
        _: &str,
        _: Timestamp,
        _: Timestamp,
        _: u32,
    ) -> Answer<Vec<Notification>> {
        Ok(Vec::new())
    }
    async fn settle_notification(&self, _: &Notification, _: Tried) -> Answer<bool> {
        Ok(true)
    }
    async fn retry_notification(
        &self,
        _: &TenantId,
        _: NotificationId,
        _: Timestamp,
    ) -> Answer<Notification> {
        Err(StoreError::NotFound)
    }
    async fn notifications(
        &self,
        _: &TenantId,
        _: Option<NotificationState>,
        _: Option<NotificationId>,
        _: u32,
    ) -> Answer<Vec<Notification>> {
        Ok(Vec::new())
    }
    async fn forget_notifications(&self, _: Timestamp) -> Answer<()> {
        Ok(())
    }
}

#[async_trait]
impl Store for Forgetful {
    fn engine(&self) -> &'static str {
        "none"
    }
    async fn ping(&self) -> Answer<()> {
        Ok(())
    }
}
