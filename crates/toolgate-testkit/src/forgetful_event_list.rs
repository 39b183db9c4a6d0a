//! No record to list.

use async_trait::async_trait;
use toolgate_core::id::TenantId;
use toolgate_core::port::event_list::{EventFilter, EventListStore, EventNews, EventPart, EventPlace};
use toolgate_core::port::store::StoreError;

use crate::Forgetful;

#[async_trait]
impl EventListStore for Forgetful {
    async fn list_events(
        &self,
        _: &TenantId,
        _: &EventFilter,
        _: Option<EventPlace>,
        _: u32,
    ) -> Result<EventPart, StoreError> {
        Ok(EventPart::default())
    }
    async fn events_since(
        &self,
        _: &TenantId,
        _: &EventFilter,
        after: i64,
        _: u32,
    ) -> Result<EventNews, StoreError> {
        Ok(EventNews { events: Vec::new(), seen: after })
    }
    async fn newest_event(&self) -> Result<i64, StoreError> {
        Ok(0)
    }
}
