//! Calls to test with.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::contract::ContractVersion;
use toolgate_core::document::Expect;
use toolgate_core::event::{ChainHead, Event};
use toolgate_core::id::{InvocationId, PrincipalId, SessionId, TenantId, WorkerId};
use toolgate_core::invocation::{Invocation, Opened, Step};
use toolgate_core::port::store::{Begun, Session, Store, StoreError};
use toolgate_core::principal::Principal;
use toolgate_core::review::Review;
use toolgate_core::{AccessRules, Acting, CallError, Effect, Egress, ErrorCode, JsonText, Source, Timestamp};

pub(crate) type Shared = Arc<dyn Store>;

/// A moment later than all before it.
#[must_use]
pub fn now() -> Timestamp {
    static NEXT: AtomicI64 = AtomicI64::new(1_700_000_000_000_000);
    Timestamp::from_micros(NEXT.fetch_add(1_000, Ordering::Relaxed))
}

pub(crate) fn seconds_after(at: Timestamp, seconds: u64) -> Timestamp {
    at.plus(Duration::from_secs(seconds))
}

pub(crate) fn tenant() -> TenantId {
    TenantId::default_tenant()
}

pub(crate) fn other_tenant() -> TenantId {
    "other".parse().unwrap()
}

pub(crate) fn principal(text: &str) -> PrincipalId {
    text.parse().unwrap()
}

pub(crate) fn ada() -> PrincipalId {
    principal("user:ada")
}

/// Someone who works for nobody.
pub(crate) fn alone(principal: &PrincipalId) -> Acting {
    Acting { principal: principal.clone(), subject: None }
}

pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

/// A plain call by Ada in a session of its own, for tests to change.
#[must_use]
pub fn opened() -> Opened {
    let id = InvocationId::generate();
    Opened {
        id,
        tenant: tenant(),
        session: SessionId::from_uuid(id.uuid()),
        parent: None,
        tool: "core__x".parse().unwrap(),
        tool_version: Some(ContractVersion("v1".into())),
        effect: Effect::Mutate,
        egress: Egress::None,
        idempotent: false,
        actor: ada(),
        subject: None,
        key: None,
        source: Source::Api,
        input: json(r#"{"a":1}"#),
        idempotency_key: None,
        request_digest: "digest".into(),
        rule: Some("rule".into()),
        approval_required: false,
        created_at: now(),
    }
}

pub(crate) fn opened_with(change: impl FnOnce(&mut Opened)) -> Opened {
    let mut opened = opened();
    change(&mut opened);
    opened
}

pub(crate) fn started(attempt: u32, worker: WorkerId) -> Step {
    Step::Started { attempt, worker }
}

pub(crate) fn completed(output: &str) -> Step {
    Step::Completed { output: json(output), cost_micros: None }
}

pub(crate) fn needs_approval() -> Step {
    let deadline = seconds_after(now(), 3_600);
    Step::NeedsApproval { reason: "policy asks".into(), deadline, review: Some(Box::new(review(deadline))) }
}

pub(crate) fn review(deadline: Timestamp) -> Review {
    Review {
        digest: "d1".into(),
        preview: Some(json(r#"{"summary":"would change one thing"}"#)),
        preview_failed: None,
        connection: None,
        needed: 1,
        approvers: vec!["approver".into()],
        escalate_at: None,
        escalate_to: vec!["admin".into()],
        deadline,
        assigned_to: None,
        assigned_role: None,
        votes: Vec::new(),
        remarks: Vec::new(),
        input: None,
    }
}

pub(crate) fn failure() -> CallError {
    CallError::new(ErrorCode::Execution, "it broke").hint("mend it").details(serde_json::json!({"line": 1}))
}

pub(crate) fn new_call(opened: Opened, steps: &[Step], session: SessionUse) -> NewCall {
    let at = opened.created_at;
    NewCall::open(opened, steps, at, session).unwrap()
}

/// A running call in a session of its own, not yet written.
pub(crate) fn running(opened: Opened) -> NewCall {
    new_call(opened, &[started(1, WorkerId::generate())], SessionUse::New)
}

/// Writes a call that must be new.
pub(crate) async fn begin(store: &Shared, call: NewCall) -> Invocation {
    match store.begin(call).await.unwrap() {
        Begun::Fresh(row) => row,
        Begun::Repeat(first) => panic!("the call repeats {}", first.id()),
    }
}

pub(crate) fn step(seen: &Invocation, step: &Step) -> Change {
    Change::step(seen, &seen.opened.actor, step, now()).unwrap()
}

/// Writes a step that must go through.
pub(crate) async fn advance(store: &Shared, seen: &Invocation, next: &Step) -> Invocation {
    store.advance(step(seen, next)).await.unwrap()
}

/// An empty session of Ada's.
pub(crate) async fn session(store: &Shared) -> SessionId {
    let id = SessionId::generate();
    store.create_session(labelled_session(id, &[])).await.unwrap();
    id
}

/// A session of Ada's with these labels, not yet written.
pub(crate) fn labelled_session(id: SessionId, labels: &[&str]) -> Session {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    Session { id, tenant: tenant(), owner: ada(), subject: None, labels, created_at: now() }
}

pub(crate) fn in_session(id: SessionId) -> Opened {
    opened_with(|opened| opened.session = id)
}

pub(crate) fn of_anyone() -> SessionUse {
    SessionUse::Existing { owner: None }
}

/// The call as the store has it now.
pub(crate) async fn stored(store: &Shared, row: &Invocation) -> Invocation {
    store.get(&row.opened.tenant, row.id()).await.unwrap().expect("the call is there")
}

/// The row without the chain's end, which stores do not keep.
pub(crate) fn kept(row: &Invocation) -> Invocation {
    Invocation { head: None, ..row.clone() }
}

/// All events of a session, after checking that they are one chain.
pub(crate) async fn chain(store: &Shared, session: SessionId) -> Vec<Event> {
    let events = store.session_events(session, 0, 100_000).await.unwrap();
    let mut head = ChainHead::EMPTY;
    for event in &events {
        assert_eq!(event.draft.session, session);
        head = event.verify(head).expect("the chain is whole");
    }
    events
}

/// A change of a tenant by its manager, not yet made.
pub(crate) fn change_of(tenant: TenantId, writes: Vec<Write>) -> AdminChange {
    let summary = serde_json::json!({ "action": "test", "writes": writes.len() });
    AdminChange::new(tenant, principal("user:root"), now(), &summary, writes)
}

/// Makes a change of the default tenant that must go through; returns the generation.
pub(crate) async fn change(store: &Shared, writes: Vec<Write>) -> u64 {
    store.change(change_of(tenant(), writes)).await.unwrap()
}

/// Tries a change of the default tenant.
pub(crate) async fn try_change(store: &Shared, writes: Vec<Write>) -> Result<u64, StoreError> {
    store.change(change_of(tenant(), writes)).await
}

/// Makes the other tenant, with what else is written then.
pub(crate) async fn make_other_tenant(store: &Shared, mut writes: Vec<Write>) {
    writes.insert(0, put_tenant("Other", Expect::Absent));
    assert_eq!(store.change(change_of(other_tenant(), writes)).await.unwrap(), 1);
}

pub(crate) fn put_tenant(title: &str, expect: Expect) -> Write {
    Write::PutTenant { title: title.to_owned(), disabled: false, expect }
}

/// A plain principal, not yet written.
pub(crate) fn person(tenant: TenantId, id: &PrincipalId) -> Principal {
    Principal {
        tenant,
        id: id.clone(),
        title: id.name().to_owned(),
        rules: AccessRules::default(),
        roles: Vec::new(),
        acts_for: Vec::new(),
        disabled: false,
        created_at: now(),
    }
}

pub(crate) fn put_principal(principal: &Principal) -> Write {
    Write::PutPrincipal { principal: Box::new(principal.clone()), expect: Expect::Anything }
}

/// Writes plain principals of the default tenant.
pub(crate) async fn principals(store: &Shared, ids: &[&PrincipalId]) {
    change(store, ids.iter().map(|id| put_principal(&person(tenant(), id))).collect()).await;
}

/// The tenant's generation now.
pub(crate) async fn generation(store: &Shared, tenant: &TenantId) -> u64 {
    store.tenant(tenant).await.unwrap().expect("the tenant is there").generation
}

pub(crate) fn is_conflict<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Conflict))
}

pub(crate) fn is_not_found<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::NotFound))
}

pub(crate) fn is_refused<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Refused(_)))
}

/// A small generator of numbers that look random and are the same in every run (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % bound as u64).unwrap()
    }
}
