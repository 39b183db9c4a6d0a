//! Accounts at outside services and their sealed secrets.

use futures::future::join_all;
use toolgate_core::administration::Write;
use toolgate_core::connection::{
    ClientAuth, Connection, ConnectionKind, ConnectionState, KeyCheck, OauthAccount, Owner, SealedSecret,
};
use toolgate_core::id::ConnectionId;
use toolgate_core::port::connection_store::Renewal;
use toolgate_core::port::store::StoreError;

use crate::given::*;

fn connection(service: &str, owner: Owner) -> Connection {
    let at = now();
    Connection {
        id: ConnectionId::generate(),
        tenant: tenant(),
        service: service.to_owned(),
        owner,
        kind: ConnectionKind::Token,
        place: "https://mcp.example".to_owned(),
        state: ConnectionState::Ok,
        created_at: at,
        updated_at: at,
        last_used_at: None,
    }
}

fn oauth() -> ConnectionKind {
    ConnectionKind::Oauth(OauthAccount {
        issuer: "https://login.example".to_owned(),
        token_endpoint: "https://login.example/token".to_owned(),
        client_id: "naïve 漢字 🦀".to_owned(),
        client_auth: ClientAuth::Basic,
        redirect_uri: "https://gate.example/connections/callback".to_owned(),
        resource: "https://mcp.example/mcp".to_owned(),
        scopes: vec!["read".to_owned(), "write".to_owned()],
    })
}

fn secret(version: u64) -> SealedSecret {
    SealedSecret {
        version,
        key_id: "mk_1".to_owned(),
        wrapped: vec![0, 1, 255],
        sealed: vec![version as u8; 40],
    }
}

fn put(connection: &Connection) -> Write {
    Write::PutConnection(Box::new((connection.clone(), secret(1))))
}

fn adas() -> Owner {
    Owner::Person(ada())
}

async fn made(store: &Shared) -> Connection {
    principals(store, &[&ada()]).await;
    let connection = connection("mcp:a", adas());
    change(store, vec![put(&connection)]).await;
    connection
}

fn renewal(secret: Option<SealedSecret>, state: ConnectionState) -> Renewal {
    Renewal { secret, state, at: now() }
}

/// Every field comes back as it went in, for each kind and owner.
pub async fn a_connection_is_read_back_as_made(store: Shared) {
    principals(&store, &[&ada()]).await;
    let header = ConnectionKind::Header { name: "x-api-key".to_owned() };
    let env = ConnectionKind::Env { name: "NOTION_TOKEN".to_owned() };
    for (at, kind) in [ConnectionKind::Token, header, env, oauth()].into_iter().enumerate() {
        for owner in [Owner::Shared, adas()] {
            let connection = Connection {
                kind: kind.clone(),
                state: ConnectionState::NeedsLogin,
                last_used_at: Some(now()),
                ..connection(&format!("mcp:{at}"), owner)
            };
            change(&store, vec![put(&connection)]).await;
            let found = store.connection(&tenant(), &connection.service, &connection.owner).await.unwrap();
            assert_eq!(found, Some((connection, secret(1))));
        }
    }
    assert_eq!(store.connection(&tenant(), "mcp:9", &adas()).await.unwrap(), None);
}

/// One owner has one connection to a service: another takes its place, secret and all. Other owners' are left alone.
pub async fn a_connection_takes_the_place_of_its_owners(store: Shared) {
    let first = made(&store).await;
    let shared = connection("mcp:a", Owner::Shared);
    let second = connection("mcp:a", adas());
    change(&store, vec![put(&shared), put(&second)]).await;
    let found = store.connection(&tenant(), "mcp:a", &adas()).await.unwrap().unwrap();
    assert_eq!(found.0, second);
    assert_eq!(store.connection(&tenant(), "mcp:a", &Owner::Shared).await.unwrap().unwrap().0, shared);
    let renewed = store.renew_connection(&tenant(), first.id, 1, renewal(None, ConnectionState::Ok)).await;
    assert!(matches!(renewed, Err(StoreError::NotFound)));
}

/// Only for people there are, and only in the change's own tenant.
pub async fn a_connection_needs_its_person_and_tenant(store: Shared) {
    let nobodys = connection("mcp:a", adas());
    assert!(matches!(try_change(&store, vec![put(&nobodys)]).await, Err(StoreError::NotFound)));
    let elsewhere = Connection { tenant: other_tenant(), ..connection("mcp:a", Owner::Shared) };
    assert!(matches!(try_change(&store, vec![put(&elsewhere)]).await, Err(StoreError::Refused(_))));
}

/// A removed connection is gone with its secret; what is not there can't be removed, nor can another tenant's.
pub async fn a_removed_connection_is_gone(store: Shared) {
    let connection = made(&store).await;
    let remove = || vec![Write::RemoveConnection { id: connection.id }];
    change(&store, remove()).await;
    assert_eq!(store.connection(&tenant(), "mcp:a", &adas()).await.unwrap(), None);
    assert_eq!(store.secrets_not_under("mk_9", 10).await.unwrap(), []);
    assert!(matches!(try_change(&store, remove()).await, Err(StoreError::NotFound)));
}

/// Another tenant sees, renews and claims nothing.
pub async fn another_tenants_connections_are_not_seen(store: Shared) {
    let connection = made(&store).await;
    let other = other_tenant();
    assert_eq!(store.connection(&other, "mcp:a", &adas()).await.unwrap(), None);
    assert_eq!(store.connections(&other, None, None, 10).await.unwrap(), []);
    assert!(!store.claim_renewal(&other, connection.id, 1, now(), now()).await.unwrap());
    let renewed = store.renew_connection(&other, connection.id, 1, renewal(None, ConnectionState::Ok)).await;
    assert!(matches!(renewed, Err(StoreError::NotFound)));
}

/// In order of id, of those owners alone, and pages never overlap.
pub async fn connections_are_listed_by_owner_and_page(store: Shared) {
    principals(&store, &[&ada(), &principal("user:bob")]).await;
    let bobs = Owner::Person(principal("user:bob"));
    let all: Vec<Connection> = [Owner::Shared, adas(), bobs]
        .into_iter()
        .flat_map(|owner| ["mcp:a", "mcp:b"].map(|service| connection(service, owner.clone())))
        .collect();
    change(&store, all.iter().map(put).collect()).await;
    assert_eq!(store.connections(&tenant(), None, None, 10).await.unwrap(), all);
    let own = [Owner::Shared, adas()];
    assert_eq!(store.connections(&tenant(), Some(&own), None, 10).await.unwrap(), all[..4]);
    assert_eq!(store.connections(&tenant(), Some(&own), Some(all[1].id), 2).await.unwrap(), all[2..4]);
    assert_eq!(store.connections(&tenant(), Some(&[]), None, 10).await.unwrap(), []);
}

/// Of all who saw the same version one renews; the others are told so, and nothing of theirs is kept.
pub async fn racing_renewals_have_one_winner(store: Shared) {
    let connection = made(&store).await;
    let tries = (0..8u8).map(|number| {
        let store = store.clone();
        let new = SealedSecret { sealed: vec![number; 9], ..secret(2) };
        async move {
            let renewal = renewal(Some(new), ConnectionState::Ok);
            (number, store.renew_connection(&tenant(), connection.id, 1, renewal).await)
        }
    });
    let ended = join_all(tries).await;
    let won: Vec<u8> = ended.iter().filter(|(_, end)| end.is_ok()).map(|(number, _)| *number).collect();
    assert_eq!(won.len(), 1, "{ended:?}");
    assert!(ended.iter().all(|(_, end)| matches!(end, Ok(()) | Err(StoreError::Conflict))));
    let (_, kept) = store.connection(&tenant(), "mcp:a", &adas()).await.unwrap().unwrap();
    assert_eq!((kept.version, kept.sealed), (2, vec![won[0]; 9]));
}

/// One at a time has the right to renew; it ends by time, by a renewal, and with the version.
pub async fn one_at_a_time_may_renew(store: Shared) {
    let connection = made(&store).await;
    let here = tenant();
    let claim = |seen: u64, at, until| store.claim_renewal(&here, connection.id, seen, at, until);
    let (begin, end) = (now(), seconds_after(now(), 60));
    let taken = join_all((0..8).map(|_| claim(1, begin, end))).await;
    assert_eq!(taken.into_iter().filter(|taken| *taken.as_ref().unwrap()).count(), 1);
    assert!(claim(1, end, seconds_after(end, 60)).await.unwrap(), "its time is over");
    store
        .renew_connection(&tenant(), connection.id, 1, renewal(Some(secret(2)), ConnectionState::Ok))
        .await
        .unwrap();
    assert!(!claim(1, begin, end).await.unwrap(), "there is a newer secret");
    assert!(claim(2, begin, end).await.unwrap(), "it was given back");
}

/// A state can change without a new secret, under the version seen alone.
pub async fn a_state_changes_under_the_version_seen(store: Shared) {
    let connection = made(&store).await;
    let renewal = || renewal(None, ConnectionState::NeedsLogin);
    let late = store.renew_connection(&tenant(), connection.id, 7, renewal()).await;
    assert!(matches!(late, Err(StoreError::Conflict)));
    store.renew_connection(&tenant(), connection.id, 1, renewal()).await.unwrap();
    let (changed, kept) = store.connection(&tenant(), "mcp:a", &adas()).await.unwrap().unwrap();
    assert_eq!((changed.state, kept), (ConnectionState::NeedsLogin, secret(1)));
    assert!(changed.updated_at > connection.updated_at);
}

/// A use is noted and never moves back.
pub async fn a_connections_last_use_never_moves_back(store: Shared) {
    let connection = made(&store).await;
    let (early, late) = (now(), now());
    for at in [early, late, early] {
        store.touch_connections(&[(connection.id, at), (ConnectionId::generate(), at)]).await.unwrap();
    }
    let (used, _) = store.connection(&tenant(), "mcp:a", &adas()).await.unwrap().unwrap();
    assert_eq!(used.last_used_at, Some(late));
    store.touch_connections(&[]).await.unwrap();
}

/// A secret's key is wrapped anew under the version seen; one that was replaced in the meantime is left alone.
pub async fn keys_are_wrapped_anew(store: Shared) {
    let connection = made(&store).await;
    assert_eq!(store.secrets_not_under("mk_1", 10).await.unwrap(), []);
    let mut found = store.secrets_not_under("mk_2", 10).await.unwrap();
    assert_eq!(found.len(), 1);
    let mut stale = found.remove(0);
    assert_eq!((&stale.tenant, stale.connection, &stale.secret), (&tenant(), connection.id, &secret(1)));
    stale.secret.key_id = "mk_2".to_owned();
    stale.secret.wrapped = vec![7];
    let mut late = stale.clone();
    late.secret.version = 9;
    store.rewrap_secret(&late).await.unwrap();
    assert_eq!(store.secrets_not_under("mk_2", 10).await.unwrap().len(), 1);
    store.rewrap_secret(&stale).await.unwrap();
    let (_, kept) = store.connection(&tenant(), "mcp:a", &adas()).await.unwrap().unwrap();
    assert_eq!(kept, stale.secret);
}

/// The first who says which master key it is says it for all; it changes only as seen.
pub async fn one_master_key_is_named(store: Shared) {
    assert_eq!(store.key_check().await.unwrap(), None);
    let check = |id: &str| KeyCheck { key_id: id.to_owned(), value: format!("value of {id}") };
    let tries = ["a", "b", "c", "d"].map(|id| store.set_key_check(None, check(id)));
    let ended = join_all(tries).await;
    assert_eq!(ended.iter().filter(|end| end.is_ok()).count(), 1, "{ended:?}");
    let first = store.key_check().await.unwrap().unwrap();
    assert!(matches!(store.set_key_check(Some("z"), check("y")).await, Err(StoreError::Conflict)));
    store.set_key_check(Some(&first.key_id), check("y")).await.unwrap();
    assert_eq!(store.key_check().await.unwrap(), Some(check("y")));
}
