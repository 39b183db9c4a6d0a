//! Making connections: sealing what someone gave, and logging in at a service's authorization server.

use async_trait::async_trait;

use crate::connection::{Connection, Owner, Place, SealedSecret};
use crate::error::CallError;
use crate::id::{PrincipalId, TenantId};
use crate::json::JsonText;
use crate::port::connection::{Credentials, Opened};
use crate::port::store::StoreError;

/// Knows where services are.
#[async_trait]
pub trait Services: Send + Sync {
    /// Where a service of this tenant is now; none when there is no such service.
    async fn place(&self, tenant: &TenantId, service: &str) -> Result<Option<Place>, StoreError>;
}

/// Someone who is about to log in at a service.
#[derive(Debug, Clone)]
pub struct Login {
    /// In which tenant.
    pub tenant: TenantId,
    /// Who.
    pub person: PrincipalId,
    /// At which service.
    pub service: String,
    /// For whom the connection will be.
    pub owner: Owner,
    /// Where the service is.
    pub place: Place,
    /// Where their browser comes back to.
    pub redirect_uri: String,
    /// What their browser brings back.
    pub state: String,
}

/// Someone on their way to an authorization server.
#[derive(Debug)]
pub struct Underway {
    /// Where their browser goes.
    pub url: String,
    /// What has to be remembered until it is back; what is secret in it is sealed.
    pub papers: JsonText,
}

/// Someone back from an authorization server.
#[derive(Debug)]
pub struct Returned {
    /// What was remembered.
    pub papers: JsonText,
    /// The proof to exchange; none when the server refused.
    pub code: Option<String>,
    /// What the server says where it refused: its word, not ours.
    pub refusal: Option<String>,
    /// Where the answer says it comes from.
    pub issuer: Option<String>,
}

/// Makes connections, and hands out what opens them.
#[async_trait]
pub trait Broker: Credentials {
    /// Seals a secret for a connection that is being made.
    fn seal(&self, connection: &Connection, secret: &Opened) -> Result<SealedSecret, CallError>;

    /// Finds where a person logs in at a service.
    async fn depart(&self, login: &Login) -> Result<Underway, CallError>;

    /// Makes a connection of what a person brings back. It is written by whoever asked.
    async fn arrive(
        &self,
        tenant: &TenantId,
        person: &PrincipalId,
        back: Returned,
    ) -> Result<(Connection, SealedSecret), CallError>;
}
