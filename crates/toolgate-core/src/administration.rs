//! One change by someone who manages a tenant: what is written, and what the record says of it.

use serde::Serialize;

use crate::change::Change;
use crate::connection::{Connection, SealedSecret};
use crate::document::{DocumentKind, Expect};
use crate::event::{EventDraft, EventKind};
use crate::id::{
    ApiKeyId, ConnectionId, InvocationId, OauthGrantId, PrincipalId, SessionId, ShareId, TenantId,
    TenantLinkId,
};
use crate::json::{JsonText, digest};
use crate::oauth::OauthGrant;
use crate::principal::{ApiKey, Principal};
use crate::share::Share;
use crate::tenant_link::TenantLink;
use crate::time::Timestamp;

/// One thing written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A document, if what is expected of it is true.
    PutDocument {
        /// Its kind.
        kind: DocumentKind,
        /// Its name.
        name: String,
        /// What it says.
        body: JsonText,
        /// What must be true before.
        expect: Expect,
    },
    /// No document any more; one that is not there is a `NotFound`.
    RemoveDocument {
        /// Its kind.
        kind: DocumentKind,
        /// Its name.
        name: String,
        /// What must be true before.
        expect: Expect,
    },
    /// The tenant itself. `Expect::Absent` makes it, `Expect::Anything` changes one that is there, `Expect::Revision`
    /// one that still has this generation. Its generation is the store's own.
    PutTenant {
        /// What people call it.
        title: String,
        /// Whether nobody gets in.
        disabled: bool,
        /// Whether it must be new, or be there.
        expect: Expect,
    },
    /// A principal, replacing what was there. `Expect::Absent` and `Expect::Anything` are understood.
    PutPrincipal {
        /// The principal; its tenant is the change's.
        principal: Box<Principal>,
        /// What must be true before.
        expect: Expect,
    },
    /// A user's password, as an argon2id hash; none takes it away. An unknown principal is a `NotFound`.
    SetPassword {
        /// Whose.
        principal: PrincipalId,
        /// The hash in PHC form.
        hash: Option<String>,
    },
    /// Who a person at an identity provider is here. A pair that is taken is a `Conflict`, an unknown principal a
    /// `NotFound`.
    LinkIdentity {
        /// The provider.
        issuer: String,
        /// The person there.
        sub: String,
        /// The person here.
        principal: PrincipalId,
    },
    /// A new key. An unknown principal, subject or replaced key is a `NotFound`, one that was replaced before a
    /// `Conflict`, a taken id or hash is `Refused`.
    PutKey(Box<ApiKey>),
    /// A key that ends: at once or at a moment to come. Only ever earlier than it would have; unknown is a `NotFound`.
    EndKey {
        /// Which.
        id: ApiKeyId,
        /// When.
        at: Timestamp,
    },
    /// A key that ends at once, and with it every key that came from it by rotation, however far down the line. Those
    /// that were revoked before stay as they are; unknown is a `NotFound`.
    EndKeyLine {
        /// The first of the line.
        id: ApiKeyId,
    },
    /// A connection with its sealed secret, in the place of its owner's at that service. An unknown owner is a
    /// `NotFound`.
    PutConnection(Box<(Connection, SealedSecret)>),
    /// A connection that is gone, with its secret; unknown is a `NotFound`.
    RemoveConnection {
        /// Which.
        id: ConnectionId,
    },
    /// What a person let an application do. An unknown principal is a `NotFound`, a taken id is `Refused`.
    PutOauthGrant(Box<OauthGrant>),
    /// A grant that is taken back: none of its tokens works any more. One that was before stays as it is; unknown is a
    /// `NotFound`.
    RevokeOauthGrant {
        /// Which.
        id: OauthGrantId,
    },
    /// All grants of one application are taken back.
    RevokeOauthGrantsOf {
        /// The application.
        client_id: String,
    },
    /// A link to a call. An unknown call or maker is a `NotFound`, a taken id or hash is `Refused`.
    PutShare(Box<Share>),
    /// A link that is taken back. One that was before stays as it is; unknown is a `NotFound`.
    RevokeShare {
        /// Which.
        id: ShareId,
    },
    /// This tenant's half of a link with a user of another; one between the same two ends. An unknown user on either
    /// side is a `NotFound`.
    LinkTenant(Box<TenantLink>),
    /// A link that ends, from this tenant's side; unknown or ended before is a `NotFound`.
    UnlinkTenant {
        /// Which.
        id: TenantLinkId,
    },
    /// A step of a call of this tenant's, as [`InvocationStore::advance`](crate::port::store::InvocationStore::advance)
    /// takes it: a stale one is a `Conflict`.
    Advance(Box<Change>),
    /// All links of a user end that were proved here in this way. The record tells of each after the change itself.
    UnlinkTenants {
        /// Whose.
        principal: PrincipalId,
        /// The proof.
        proof: String,
    },
}

/// Writes that are made together or not at all, each tenant's in a row. The store bumps the tenant's generation and
/// appends the change to the tenant's administration session in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminChange {
    /// In which tenant.
    pub tenant: TenantId,
    /// Who.
    pub by: PrincipalId,
    /// When.
    pub at: Timestamp,
    /// What the record says of it: never a secret.
    pub summary: JsonText,
    /// What is written.
    pub writes: Vec<Write>,
}

impl AdminChange {
    /// A change with its summary: what was done to what, and the details that are safe to keep.
    #[must_use]
    pub fn new(
        tenant: TenantId,
        by: PrincipalId,
        at: Timestamp,
        summary: &impl Serialize,
        writes: Vec<Write>,
    ) -> Self {
        let summary = JsonText::from_serialize(summary)
            .unwrap_or_else(|_| JsonText::from_value(&serde_json::Value::Null));
        Self { tenant, by, at, summary, writes }
    }

    /// The event that is written with it.
    #[must_use]
    pub fn event(&self) -> EventDraft {
        self.says(self.summary.clone())
    }

    /// The event that is written after it for each link that ends by [`Write::UnlinkTenants`].
    #[must_use]
    pub fn unlinked(&self, link: &TenantLink) -> EventDraft {
        self.says(JsonText::from_value(&link.unlinked(&self.tenant)))
    }

    fn says(&self, data: JsonText) -> EventDraft {
        EventDraft {
            tenant: self.tenant.clone(),
            session: administration_session(&self.tenant),
            // Not a call; each change has an id of its own all the same.
            invocation: InvocationId::generate(),
            kind: EventKind::AdminChanged,
            actor: self.by.clone(),
            at: self.at,
            data,
        }
    }
}

/// The session whose chain holds all changes by a tenant's managers.
#[must_use]
pub fn administration_session(tenant: &TenantId) -> SessionId {
    let digest = digest(format!("toolgate.administration {tenant}").as_bytes());
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    SessionId::from_uuid(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}
