//! The bare commit loop: rows and events of the same size, straight into the store, nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolgate_core::change::{NewCall, SessionUse};
use toolgate_core::contract::{ContractVersion, Effect, Egress};
use toolgate_core::id::{InvocationId, SessionId, TenantId, WorkerId};
use toolgate_core::invocation::{Opened, Source, Step};
use toolgate_core::port::capability::{Clock, SystemClock};
use toolgate_core::port::store::Store;
use toolgate_core::{JsonText, Timestamp};
use toolgate_store_postgres::PostgresStore;
use toolgate_store_sqlite::SqliteStore;

/// Commits a second for each number of tasks.
pub(crate) async fn measure(database_url: Option<&str>, tasks: &[usize]) -> anyhow::Result<Vec<f64>> {
    let folder = TempDir::new_in(".")?;
    let store: Arc<dyn Store> = match database_url {
        Some(url) => Arc::new(PostgresStore::connect(url).await?),
        None => Arc::new(SqliteStore::open(folder.path())?),
    };
    let mut found = Vec::new();
    for &tasks in tasks {
        let (done, until) = (Arc::new(AtomicU64::new(0)), Instant::now() + crate::MEASURE);
        let workers: Vec<_> = (0..tasks)
            .map(|_| {
                let (store, done) = (Arc::clone(&store), Arc::clone(&done));
                tokio::spawn(async move {
                    while Instant::now() < until {
                        store.begin(new_call()?).await?;
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        for worker in workers {
            worker.await??;
        }
        found.push(done.load(Ordering::Relaxed) as f64 / crate::MEASURE.as_secs_f64());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(found)
}

/// What the gate writes for one call of the pure tool.
pub(crate) fn new_call() -> anyhow::Result<NewCall> {
    let id = InvocationId::generate();
    let now: Timestamp = SystemClock.now();
    let opened = Opened {
        id,
        tenant: TenantId::default_tenant(),
        session: SessionId::from_uuid(id.uuid()),
        parent: None,
        tool: "core__get_current_time".parse()?,
        tool_version: Some(ContractVersion("0".repeat(64))),
        effect: Effect::Read,
        egress: Egress::None,
        idempotent: true,
        actor: "user:admin".parse()?,
        subject: None,
        key: None,
        source: Source::Api,
        input: JsonText::parse(r#"{"timezone":"Europe/Berlin"}"#)?,
        idempotency_key: None,
        request_digest: "0".repeat(64),
        rule: Some("default: reads run".to_owned()),
        approval_required: false,
        created_at: now,
    };
    let output = JsonText::parse(
        r#"{"iso":"2026-11-15T10:32:12.582+00:00","unix_ms":1794738732582,"timezone":"Europe/Berlin",
            "date":"2026-11-15","time":"10:32:12","weekday":"Sunday","utc_offset":"+01:00"}"#,
    )?;
    let steps = [
        Step::Started { attempt: 1, worker: WorkerId::generate() },
        Step::Completed { output, cost_micros: None },
    ];
    Ok(NewCall::open(opened, &steps, now, SessionUse::New)?)
}
