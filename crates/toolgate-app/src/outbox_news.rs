//! From events to notifications. Reads what the store noted as news, and takes it away in the transaction that writes what
//! people are told of it: whatever happens in between, it is told of once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolgate_core::event::{Event, EventKind};
use toolgate_core::id::{InvocationId, NotificationId};
use toolgate_core::notification::{Notification, NotificationKind, NotificationState};
use toolgate_core::port::outbox::News;
use toolgate_core::port::store::StoreError;
use toolgate_core::{Invocation, failpoint};

use crate::App;
use crate::outbox::Channel;
use crate::outbox_message::{Message, kind_of};

/// How many news are looked at together.
const BATCH: u32 = 100;

impl App {
    /// Makes notifications of all news.
    pub(crate) async fn tell_news(&self) -> Result<(), StoreError> {
        loop {
            let news = self.store().news(BATCH).await?;
            if news.is_empty() {
                return Ok(());
            }
            let full = news.len() == BATCH as usize;
            let notifications = self.notifications_of(&news).await?;
            let numbers: Vec<i64> = news.iter().map(|news| news.number).collect();
            failpoint::hit("outbox.before_post");
            match self.store().post(&numbers, notifications).await {
                Ok(()) if full => {}
                Ok(()) => return Ok(()),
                // Another node told of them.
                Err(StoreError::Conflict) => return Ok(()),
                Err(cause) => return Err(cause),
            }
        }
    }

    async fn notifications_of(&self, news: &[News]) -> Result<Vec<Notification>, StoreError> {
        let mut rows: HashMap<InvocationId, Option<Invocation>> = HashMap::new();
        let mut notifications = Vec::new();
        for News { event, .. } in news {
            let draft = &event.draft;
            if !self.outbox.channels.iter().any(|channel| channel.tenant == draft.tenant) {
                continue;
            }
            let row = match rows.entry(draft.invocation) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    place.insert(self.store().get(&draft.tenant, draft.invocation).await?)
                }
            };
            let Some(row) = row else { continue };
            let Some(kind) = kind_of(event, row) else { continue };
            if self.let_run_beforehand(event, row).await? {
                continue;
            }
            for channel in &self.outbox.channels {
                if channel.tenant == draft.tenant && channel.kinds.contains(&kind) {
                    notifications.push(self.notification(channel, kind, event, row));
                }
            }
        }
        Ok(notifications)
    }

    fn notification(
        &self,
        channel: &Channel,
        kind: NotificationKind,
        event: &Event,
        row: &Invocation,
    ) -> Notification {
        let opened = &row.opened;
        // An event has one place in the record, so whoever tells of it gives the same key.
        let key = format!("{}.{}.{}", opened.id, event.seq, channel.name);
        let catalog = self.runner.parts().tools.of(&opened.tenant);
        let title =
            catalog.get(&opened.tool).map_or(opened.tool.as_str(), |tool| tool.contract.title.as_str());
        let public_url = self.outbox.public_url.as_deref();
        let message = Message::of(key.clone(), kind, event, row, title, public_url);
        let now = self.now();
        Notification {
            id: NotificationId::generate(),
            tenant: opened.tenant.clone(),
            channel: channel.name.clone(),
            kind,
            call: Some(opened.id),
            key,
            payload: message.to_json(),
            state: NotificationState::Waiting,
            attempts: 0,
            due_at: Some(now),
            created_at: now,
            delivered_at: None,
            last_error: None,
        }
    }

    /// Whether a standing grant answered before anyone could be asked: the record has the question and the answer, and
    /// nobody waits.
    async fn let_run_beforehand(&self, event: &Event, row: &Invocation) -> Result<bool, StoreError> {
        let by_grant = row.opened.rule.as_deref().is_some_and(|rule| rule.starts_with("grant: "));
        let place = event.seq - row.seqs.0;
        if !by_grant || place > 1 {
            return Ok(false);
        }
        let events = self.store().invocation_events(row).await?;
        let [asked, answered, ..] = events.as_slice() else { return Ok(false) };
        Ok(answered.draft.kind == EventKind::Approved && asked.draft.at == answered.draft.at)
    }
}
