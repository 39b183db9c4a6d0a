//! The heart of Toolgate: what a tool promises, what a call goes through, and what is kept of it.
//!
//! No database, no HTTP, no policy engine: those are ports here and adapters elsewhere. The one way to run a tool is
//! [`Runner::execute`](runner::Runner::execute).

pub mod actor;
pub mod catalog;
pub mod change;
pub mod contract;
pub mod error;
pub mod event;
pub mod failpoint;
pub mod id;
pub mod invocation;
pub mod json;
pub mod port;
pub mod redaction;
pub mod runner;
pub mod time;

pub use actor::{AccessRules, Actor};
pub use catalog::{BoundTool, Catalog};
pub use contract::{Effect, Egress, ToolContract};
pub use error::{CallError, ErrorCode};
pub use invocation::{Approval, Invocation, Source, Status};
pub use json::JsonText;
pub use runner::{Call, CallResult, ClearedCall, Runner};
pub use time::Timestamp;
