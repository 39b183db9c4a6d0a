//! What a server does beside answering: renew leases, look after overdue calls, anchor the record, hear of changes.

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::Runner;
use toolgate_core::port::store::StoreError;

use crate::App;

/// How often each is done.
#[derive(Debug, Clone, Copy)]
pub struct Background {
    /// Leases; well within their length.
    pub renew_every: Duration,
    /// Overdue calls.
    pub sweep_every: Duration,
    /// Anchors.
    pub anchor_every: Duration,
    /// What other nodes changed; also the longest that a revocation is not yet seen here.
    pub refresh_every: Duration,
    /// When keys were last used, and what is old enough to be forgotten.
    pub tidy_every: Duration,
    /// What people outside are told.
    pub tell_every: Duration,
    /// Compiled schemas that nothing was checked against since the last time.
    pub forget_every: Duration,
}

impl Default for Background {
    fn default() -> Self {
        Self {
            renew_every: Duration::from_secs(8),
            sweep_every: Duration::from_secs(2),
            anchor_every: Duration::from_secs(60),
            refresh_every: Duration::from_millis(250),
            tidy_every: Duration::from_secs(20),
            tell_every: Duration::from_millis(500),
            forget_every: Duration::from_secs(600),
        }
    }
}

/// One turn of a job.
type Work = std::pin::Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// How many events one anchor may cover, so that none holds the writer for long.
const ANCHOR_EVENTS: u32 = 50_000;

impl Background {
    /// Goes on until the future is dropped. Before the first call is taken, an embedded store's leases have to be
    /// ended (`end_foreign_leases`), so that what an earlier process left is looked after at once.
    pub async fn run(self, app: App) {
        let mut jobs = tokio::task::JoinSet::new();
        let mut job = |pause: Duration, what: &'static str, work: fn(App) -> Work| {
            let app = app.clone();
            jobs.spawn(async move { every(pause, || work(app.clone()), what).await });
        };
        job(self.sweep_every, "sweep", |app| Box::pin(async move { app.runner().sweep().await.map(drop) }));
        job(self.renew_every, "lease renewal", |app| {
            Box::pin(async move { app.runner().renew_leases().await })
        });
        job(self.anchor_every, "anchor", |app| Box::pin(async move { Self::anchor(app.runner()).await }));
        job(self.refresh_every, "refresh", |app| {
            Box::pin(async move {
                app.snapshots.refresh().await?;
                app.stop_through_connections().await
            })
        });
        job(self.refresh_every, "looking at MCP servers", |app| {
            Box::pin(async move { app.follow_upstreams().await })
        });
        job(self.tidy_every, "tidying", |app| Box::pin(async move { app.tidy().await }));
        job(self.forget_every, "forgetting schemas", |_| {
            Box::pin(async {
                toolgate_schema::forget_unused();
                Ok(())
            })
        });
        job(self.tell_every, "telling of news", |app| Box::pin(async move { app.tell_news().await }));
        self.send(&app).await;
        // Each goes on for ever; all end with this future.
        while jobs.join_next().await.is_some() {}
    }

    /// Each channel is sent to by a task of its own, which ends with this future.
    async fn send(self, app: &App) {
        let mut channels = tokio::task::JoinSet::new();
        for channel in &app.outbox.channels {
            let (app, channel) = (app.clone(), Arc::clone(channel));
            channels.spawn(async move {
                every(self.tell_every, || app.send_due(&channel), "sending notifications").await;
            });
        }
        while channels.join_next().await.is_some() {}
    }

    /// Anchors everything not yet anchored.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn anchor(runner: &Runner) -> Result<(), StoreError> {
        let parts = runner.parts();
        while parts.store.write_anchor(parts.clock.now(), ANCHOR_EVENTS).await? > 0 {}
        Ok(())
    }
}

impl App {
    async fn tidy(&self) -> Result<(), StoreError> {
        self.record_key_uses().await?;
        self.forget_notifications().await?;
        self.forget_oauth().await?;
        self.sweep_files(self.now()).await?;
        self.store().forget_sign_ins(self.now()).await
    }
}

async fn every<F>(pause: Duration, mut work: impl FnMut() -> F, what: &str)
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut ticks = tokio::time::interval(pause);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(cause) = work().await {
            tracing::warn!(error = %cause, "{what} failed; it will be tried again");
        }
    }
}
