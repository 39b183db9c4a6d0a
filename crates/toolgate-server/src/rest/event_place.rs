//! Places in a tenant's record as its readers see them: sealed. The store numbers the events of all tenants in one row,
//! and how far that has come is nobody's business but the operator's.

use serde::{Deserialize, Serialize};
use toolgate_api::DoorCode;
use toolgate_core::Timestamp;
use toolgate_core::id::TenantId;
use toolgate_core::port::event_list::EventPlace;
use toolgate_mcp::{Purpose, Sealer};

use super::tool::bad;
use crate::ServerState;
use crate::error::ApiError;

/// Before every event.
pub(super) const BEGINNING: &str = "0";

/// A tenant's places.
pub(super) struct Places<'a> {
    sealer: &'a Sealer,
    tenant: &'a TenantId,
}

/// What is sealed.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    tenant: TenantId,
    /// As many digits for any number, so that the length tells nothing.
    position: String,
    at: Option<Timestamp>,
}

impl<'a> Places<'a> {
    pub(super) fn of(state: &'a ServerState, tenant: &'a TenantId) -> Self {
        Self { sealer: state.mcp.sealer(), tenant }
    }

    /// A position, as text.
    pub(super) fn position(&self, position: i64) -> Result<String, ApiError> {
        self.seal(position, None)
    }

    /// Where a list goes on, as text.
    pub(super) fn cursor(&self, place: EventPlace) -> Result<String, ApiError> {
        self.seal(place.position, Some(place.at))
    }

    /// The position that a text names.
    pub(super) fn open_position(&self, text: &str) -> Result<i64, ApiError> {
        let place = self.open(text).filter(|place| place.at.is_none());
        let position = place.and_then(|place| place.position.parse().ok());
        position.ok_or_else(|| {
            bad("`Last-Event-ID` and `after` must be the id of an event on this stream, or `newest` of a list")
                .hint("list the record again and follow it from its `newest`")
        })
    }

    /// Where the list that a cursor names goes on.
    pub(super) fn open_cursor(&self, text: &str) -> Result<EventPlace, ApiError> {
        let place = self.open(text);
        let place = place
            .and_then(|place| Some(EventPlace { at: place.at?, position: place.position.parse().ok()? }));
        place.ok_or_else(|| bad("`cursor` must be the `next_cursor` of a page"))
    }

    fn seal(&self, position: i64, at: Option<Timestamp>) -> Result<String, ApiError> {
        let place = Place { tenant: self.tenant.clone(), position: format!("{position:020}"), at };
        let sealed = self.sealer.seal(Purpose::Record, &place);
        sealed.map_err(|_| ApiError::door(DoorCode::Internal, "a place in the record could not be sealed"))
    }

    fn open(&self, text: &str) -> Option<Place> {
        let place: Place = self.sealer.open(Purpose::Record, text)?;
        (place.tenant == *self.tenant).then_some(place)
    }
}
