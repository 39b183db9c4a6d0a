//! The master key of a store.

use toolgate_broker::{Keyring, MasterKeyError, check_master_key, rewrap_all};
use toolgate_core::connection::ConnectionKind;

use crate::given::{Given, KEY};

const NEW: &str = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

fn ring(newest: &str, old: &[&str]) -> Keyring {
    Keyring::from_texts(newest, old.iter().copied(), "the test").unwrap()
}

#[tokio::test]
async fn a_store_is_under_one_master_key() {
    let given = Given::new().await;
    check_master_key(&*given.store, &ring(KEY, &[])).await.unwrap();
    check_master_key(&*given.store, &ring(KEY, &[])).await.unwrap();
    let error = check_master_key(&*given.store, &ring(NEW, &[])).await.unwrap_err();
    assert!(matches!(error, MasterKeyError::Another { .. }), "{error}");
    assert!(error.to_string().contains("TOOLGATE_MASTER_KEY"), "{error}");
    check_master_key(&*given.store, &ring(NEW, &[KEY])).await.unwrap();
}

#[tokio::test]
async fn a_rotation_leaves_nothing_under_the_old_key() {
    let given = Given::new().await;
    check_master_key(&*given.store, &ring(KEY, &[])).await.unwrap();
    let connection = given.give(ConnectionKind::Token, "s3cret").await;
    let both = ring(NEW, &[KEY]);
    assert_eq!(rewrap_all(&*given.store, &both).await.unwrap(), 1);
    assert_eq!(rewrap_all(&*given.store, &both).await.unwrap(), 0, "again is nothing");
    // The old key is worth nothing now, the new one everything.
    assert!(check_master_key(&*given.store, &ring(KEY, &[])).await.is_err());
    check_master_key(&*given.store, &ring(NEW, &[])).await.unwrap();
    let (_, sealed) = given.stored().await;
    let tenant = connection.tenant.clone();
    let belongs = toolgate_broker::Belongs { tenant: &tenant, connection: connection.id };
    let opened = ring(NEW, &[]).open_secret(belongs, &sealed).unwrap();
    assert!(String::from_utf8_lossy(&opened).contains("s3cret"));
    assert!(rewrap_all(&*given.store, &ring(KEY, &[])).await.is_err());
}
