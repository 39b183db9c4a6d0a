//! What every store promises.

use toolgate_store_postgres::PostgresStore;
use toolgate_testkit::shared_postgres;

async fn fresh() -> (PostgresStore, ()) {
    let url = shared_postgres().create_database().await;
    (PostgresStore::connect(&url).await.unwrap(), ())
}

toolgate_store_contract::store_contract!(fresh().await);
