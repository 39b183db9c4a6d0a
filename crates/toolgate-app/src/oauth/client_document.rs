//! Applications whose id is the address of a document about them: nobody has to register them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use toolgate_core::oauth::{OauthClient, OauthClientKind};
use toolgate_core::text::plain_name;
use url::Url;

use super::client::check_redirects;
use super::{OauthCode, OauthError};
use crate::App;

/// How long a document is taken for what it said.
const FRESH: Duration = Duration::from_secs(300);
/// How long one that could not be had is not asked for again.
const ASK_AGAIN: Duration = Duration::from_secs(10);
/// The largest document, in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// The longest id.
const MOST_ID: usize = 1_000;
/// The longest name.
const MOST_NAME: usize = 120;
const MOST: usize = 1_000;

/// Documents seen a while ago.
#[derive(Debug, Default)]
pub(super) struct KnownDocuments(Mutex<HashMap<String, KnownDocument>>);

#[derive(Debug)]
struct KnownDocument {
    at: Instant,
    read: Result<OauthClient, String>,
}

/// What is read of a document; the rest is not for us.
#[derive(Debug, Deserialize)]
struct ClientDocument {
    client_id: String,
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
}

impl App {
    pub(super) async fn documented_client(
        &self,
        client_id: &str,
        for_whom: &[u8; 32],
    ) -> Result<OauthClient, OauthError> {
        let refused = |why: String| OauthError::new(OauthCode::InvalidClient, why);
        let Some(documents) = &self.oauth.settings.documents else {
            return Err(refused("ids that are addresses are not taken here".to_owned()));
        };
        check_id(client_id).map_err(|why| refused(why.to_owned()))?;
        if let Some(known) = self.oauth.documents.get(client_id) {
            return known.map_err(refused);
        }
        self.oauth.fetches.take(for_whom)?;
        let read = match documents.fetch(client_id).await {
            Ok(text) => read(client_id, &text),
            Err(why) => Err(format!("the application's document could not be fetched: {why}")),
        };
        self.oauth.documents.put(client_id, read.clone());
        read.map_err(refused)
    }
}

impl KnownDocuments {
    fn get(&self, client_id: &str) -> Option<Result<OauthClient, String>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let KnownDocument { at, read } = known.get(client_id)?;
        let lasts = if read.is_ok() { FRESH } else { ASK_AGAIN };
        (at.elapsed() < lasts).then(|| read.clone())
    }

    fn put(&self, client_id: &str, read: Result<OauthClient, String>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(client_id.to_owned(), KnownDocument { at: Instant::now(), read });
    }
}

/// Whether an address can be an application's id: one spelling, with a path, and nothing hidden in it.
fn check_id(client_id: &str) -> Result<(), &'static str> {
    let not_plain = "the application's id is not a plain https address with a path";
    let url = Url::parse(client_id).map_err(|_| not_plain)?;
    let plain = client_id.len() <= MOST_ID
        && url.scheme() == "https"
        && url.as_str() == client_id
        && url.path() != "/"
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && url.host().is_some();
    if plain { Ok(()) } else { Err(not_plain) }
}

fn read(client_id: &str, text: &str) -> Result<OauthClient, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("the application's document is larger than {MOST_BYTES} bytes"));
    }
    let document: ClientDocument = serde_json::from_str(text)
        .map_err(|_| "the application's document is not the JSON it should be".to_owned())?;
    // Else anyone could serve a document in another's name.
    if document.client_id != client_id {
        return Err("the application's document names another `client_id`".to_owned());
    }
    if document.token_endpoint_auth_method.is_some_and(|method| method != "none") {
        return Err(
            "the application's document asks for a way to prove itself that is not known here".to_owned()
        );
    }
    check_redirects(&document.redirect_uris).map_err(|(uri, why)| {
        format!("the application's document names a `redirect_uri` that can't be used, `{uri}`: {why}")
    })?;
    Ok(OauthClient {
        name: document.client_name.map_or_else(|| client_id.to_owned(), |name| shown(&name)),
        redirect_uris: document.redirect_uris,
        kind: OauthClientKind::MetadataDocument,
        secret_hash: None,
        scopes: vec![],
    })
}

/// A name that an application gave itself, as far as it can be shown.
pub(super) fn shown(name: &str) -> String {
    let shown = plain_name(name, MOST_NAME);
    if shown.is_empty() { "an application without a name".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "https://app.example/client.json";

    #[test]
    fn ids_are_plain_addresses() {
        assert!(check_id(ID).is_ok());
        for bad in [
            "https://app.example",
            "https://app.example/",
            "http://app.example/x",
            "https://app.example/a/../b",
            "https://app.example/x#y",
            "https://user@app.example/x",
            "https://APP.example/x",
            "https://app.example:443/x",
            "https:///x",
        ] {
            assert!(check_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_document_speaks_for_its_own_address_only() {
        let good = r#"{"client_id":"https://app.example/client.json","client_name":"Edi\u0007t\u200bor\u202e\u2066",
            "redirect_uris":["http://127.0.0.1/back"],"more":{"x":1}}"#;
        let client = read(ID, good).unwrap();
        assert_eq!((client.name.as_str(), client.kind), ("Editor", OauthClientKind::MetadataDocument));
        assert!(read("https://app.example/other.json", good).is_err());
        for bad in [
            "",
            "[]",
            r#"{"client_id":"https://app.example/client.json"}"#,
            r#"{"client_id":"https://app.example/client.json","redirect_uris":["javascript:x"]}"#,
            r#"{"client_id":"https://app.example/client.json","redirect_uris":["http://127.0.0.1/"],
                "token_endpoint_auth_method":"client_secret_basic"}"#,
        ] {
            assert!(read(ID, bad).is_err(), "{bad}");
        }
    }
}
