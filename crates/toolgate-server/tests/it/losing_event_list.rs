//! The record as a list goes through untouched.

use async_trait::async_trait;
use toolgate_core::id::TenantId;
use toolgate_core::port::event_list::{EventFilter, EventListStore, EventNews, EventPart, EventPlace};

use super::{Answer, Losing};

#[async_trait]
impl EventListStore for Losing {
    async fn list_events(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        before: Option<EventPlace>,
        limit: u32,
    ) -> Answer<EventPart> {
        self.store.list_events(tenant, filter, before, limit).await
    }
    async fn events_since(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        after: i64,
        limit: u32,
    ) -> Answer<EventNews> {
        self.store.events_since(tenant, filter, after, limit).await
    }
    async fn newest_event(&self) -> Answer<i64> {
        self.store.newest_event().await
    }
}
