//! What calls have cost is read from its own index.

use std::time::Duration;

use toolgate_core::Timestamp;
use toolgate_core::port::store::InvocationStore;

use crate::given::*;

/// However few calls there were when the plan was made.
#[tokio::test]
async fn costs_are_summed_from_their_index() {
    let (store, client) = store_and_client().await;
    let row = begin(&store, running(opened())).await;
    let scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'invocations_spent'";
    let (tenant, actor, tool) = (&row.opened.tenant, &row.opened.actor, &row.opened.tool);
    let counting = async {
        // The server counts scans about a second after they were made.
        while client.query_one(scans, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            store.spent(tenant, Some(actor), Some(tool), Timestamp::from_micros(0)).await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), counting).await.expect("the index serves");
}
