//! Applications: looked up by id, and those that a tenant's managers named.

use serde_json::json;
use toolgate_core::administration::Write;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::{Slug, TenantId};
use toolgate_core::json::{digest, to_hex};
use toolgate_core::oauth::{OauthClient, OauthClientKind, OauthScope};
use toolgate_core::port::store::StoreError;
use toolgate_core::text::plain_name;
use toolgate_core::{Actor, JsonText};

use super::redirect;
use super::{DynamicRegistration, OauthCode, OauthError};
use crate::bounds;
use crate::secret::Secret;
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::OauthClient;
/// The most addresses of one application.
pub(super) const MOST_REDIRECTS: usize = 20;
/// What the ids of applications start with that named themselves.
pub(super) const DYNAMIC: &str = "dyn_";
/// The most applications of one tenant.
const MOST: usize = 2_000;

/// An application to name.
#[derive(Debug, Clone)]
pub struct NewOauthClient {
    /// Its id.
    pub id: Slug,
    /// What people call it.
    pub name: String,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// The most it may ask for; none means whatever is offered.
    pub scopes: Vec<OauthScope>,
    /// Whether it gets a secret to prove who it is.
    pub confidential: bool,
}

/// An application that was named just now.
#[derive(Debug, Clone)]
pub struct RegisteredClient {
    /// The application.
    pub client: Stored<OauthClient>,
    /// Its secret, shown here and nowhere else.
    pub secret: Option<Secret>,
}

impl App {
    /// The applications of a tenant after `after`, ordered by id, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage applications.
    pub async fn list_oauth_clients(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Stored<OauthClient>>, Option<String>), AppError> {
        self.require(actor, Area::OauthClients)?;
        let all = self.stored(actor, KIND).await?;
        Ok(part_of(all, |client: &Stored<OauthClient>| &client.name, after, limit))
    }

    /// One application.
    ///
    /// # Errors
    /// As [`App::list_oauth_clients`], and "not found".
    pub async fn read_oauth_client(&self, actor: &Actor, id: &Slug) -> Result<Stored<OauthClient>, AppError> {
        self.require(actor, Area::OauthClients)?;
        Stored::of(self.document(actor, KIND, id.as_str(), "application").await?)
    }

    /// Names an application.
    ///
    /// # Errors
    /// A conflict when there is one of this id, "invalid" for an address people can't be sent back to.
    pub async fn create_oauth_client(
        &self,
        actor: &Actor,
        new: NewOauthClient,
    ) -> Result<RegisteredClient, AppError> {
        self.require(actor, Area::OauthClients)?;
        if new.id.as_str().starts_with(DYNAMIC) {
            return Err(AppError::invalid(format!(
                "ids that start with `{DYNAMIC}` are for applications that name themselves"
            )));
        }
        check_redirects(&new.redirect_uris).map_err(|(uri, why)| {
            AppError::invalid(format!("people can't be sent back to `{uri}`: {why}")).with_hint(
                "name https addresses, http on 127.0.0.1 or localhost, or a scheme of the application's own",
            )
        })?;
        if self.stored::<OauthClient>(actor, KIND).await?.len() >= MOST {
            return Err(AppError::Conflict {
                message: format!("the tenant has {MOST} applications, the most there may be"),
            });
        }
        // Managers choose names with care, and paste them from elsewhere.
        let name = bounds::label(&plain_name(&bounds::label(&new.name)?, usize::MAX))?;
        let secret = if new.confidential { Some(Secret::generate()?) } else { None };
        let client = OauthClient {
            name,
            redirect_uris: new.redirect_uris,
            kind: OauthClientKind::Registered,
            secret_hash: secret.as_ref().map(|secret| to_hex(&secret.hash())),
            scopes: new.scopes,
        };
        let body = JsonText::from_serialize(&client).map_err(StoreError::unavailable)?;
        let summary = json!({
            "action": "oauth_client.created", "name": new.id, "title": client.name,
            "redirect_uris": client.redirect_uris, "scopes": client.scopes, "confidential": new.confidential,
        });
        let write = Write::PutDocument { kind: KIND, name: new.id.to_string(), body, expect: Expect::Absent };
        self.change(actor, summary, vec![write]).await.map_err(|cause| match cause {
            AppError::Conflict { .. } => {
                AppError::Conflict { message: "there is an application with this id already".to_owned() }
            }
            other => other,
        })?;
        let client = self.stored_one(actor, KIND, new.id.as_str()).await?;
        Ok(RegisteredClient { client, secret })
    }

    /// Takes an application away, and back whatever people let it do.
    ///
    /// # Errors
    /// "Forbidden" and "not found".
    pub async fn remove_oauth_client(&self, actor: &Actor, id: &Slug) -> Result<(), AppError> {
        self.require(actor, Area::OauthClients)?;
        let writes = vec![
            Write::RemoveDocument { kind: KIND, name: id.to_string(), expect: Expect::Anything },
            Write::RevokeOauthGrantsOf { client_id: id.to_string() },
        ];
        let summary = json!({ "action": "oauth_client.removed", "name": id });
        self.change(actor, summary, writes).await.map_err(|cause| match cause {
            AppError::NotFound { .. } => AppError::NotFound { what: "application" },
            other => other,
        })
    }

    /// The application with this id, as people of this tenant may let it in. One whose id is an address is fetched.
    pub(super) async fn oauth_client(
        &self,
        tenant: &TenantId,
        client_id: &str,
        for_whom: &[u8; 32],
    ) -> Result<OauthClient, OauthError> {
        if client_id.starts_with("https://") {
            return self.documented_client(client_id, for_whom).await;
        }
        let found = self.kept_client(tenant, client_id).await?;
        found.ok_or_else(|| OauthError::new(OauthCode::InvalidClient, "there is no application with this id"))
    }

    /// The application with this id that is kept here, by the tenant or by its own word.
    pub(super) async fn kept_client(
        &self,
        tenant: &TenantId,
        client_id: &str,
    ) -> Result<Option<OauthClient>, OauthError> {
        if client_id.starts_with(DYNAMIC) {
            // Those that named themselves while they could are not let in once they can't.
            let may = self.oauth.settings.dynamic_registration;
            if may == DynamicRegistration::Off {
                return Ok(None);
            }
            let registration = self.store().oauth_registration(client_id).await?;
            let client = registration.map(|registration| registration.client);
            return Ok(client.filter(|client| {
                may == DynamicRegistration::Any
                    || client.redirect_uris.iter().all(|uri| redirect::is_local(uri))
            }));
        }
        if client_id.parse::<Slug>().is_err() {
            return Ok(None);
        }
        let document = self.store().document(tenant, KIND, client_id).await?;
        Ok(document.map(Stored::of).transpose()?.map(|stored: Stored<OauthClient>| stored.body))
    }
}

/// Whether people can be sent to all of these, and which not, and why.
pub(super) fn check_redirects(uris: &[String]) -> Result<(), (&str, &'static str)> {
    if uris.is_empty() {
        return Err(("", "there is none"));
    }
    if uris.len() > MOST_REDIRECTS {
        return Err(("", "there are too many"));
    }
    uris.iter().try_for_each(|uri| redirect::check(uri).map_err(|why| (uri.as_str(), why)))
}

/// Whether this is the secret with this hash.
pub(super) fn is_secret(shown: &str, kept: &str) -> bool {
    use subtle::ConstantTimeEq;
    to_hex(&digest(shown.as_bytes())).as_bytes().ct_eq(kept.as_bytes()).into()
}
