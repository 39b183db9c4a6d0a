//! Who may call what: the first implementations of the gates a call passes.
//!
//! Policy is data: rules from configuration, deny by default, the strictest match wins. Knows neither storage nor
//! HTTP; time only as a rate limiter must.

mod access;
mod limit;
mod rules;

pub use access::{AccessAuthorizer, GrantedConnections};
pub use limit::LocalLimiter;
pub use rules::{BadRule, Rule, RuleDecision, RulePolicy};
