//! Who may call what, and how often: the gates a call passes.
//!
//! Policy is data: Cedar policies per tenant, deny by default, with kill switches, assignments and profiles around them.
//! Knows neither storage nor HTTP; time only as limits must.

mod access;
pub mod cedar;
mod gate;
mod limit;
mod meter;
mod review;

pub use access::{AccessAuthorizer, GrantedConnections};
pub use gate::{Alarm, BoundProfile, TenantGate, TenantRules};
pub use limit::{Concern, concerns, rate_used, strictest, take_places, within_budgets};
pub use meter::{Knocks, Meters, Place, Spending};
pub use review::BoundGrant;
