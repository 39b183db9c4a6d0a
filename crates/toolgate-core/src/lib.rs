//! The heart of Toolgate: what a tool promises, what a call goes through, and what is kept of it.
//!
//! No database, no HTTP, no policy engine: those are ports here and adapters elsewhere. The one way to run a tool is
//! [`Runner::execute`](runner::Runner::execute).

pub mod accept;
pub mod actor;
pub mod administration;
pub mod approval_rule;
pub mod argument;
pub mod assignment;
pub mod catalog;
pub mod change;
pub mod connection;
pub mod contract;
pub mod document;
pub mod error;
pub mod event;
pub mod failpoint;
pub mod file;
pub mod file_place;
pub mod grant;
pub mod id;
pub mod input_request;
pub mod invocation;
pub mod json;
pub mod kill;
pub mod limit;
pub mod notification;
pub mod number;
pub mod oauth;
pub mod once;
pub mod output;
pub mod pattern;
pub mod port;
pub mod principal;
pub mod profile;
pub mod question;
pub mod redaction;
pub mod review;
pub mod role;
pub mod runner;
pub mod scope;
pub mod search;
pub mod share;
pub mod tenant;
pub mod tenant_link;
pub mod text;
pub mod time;
pub mod tool_setting;
pub mod toolset;
pub mod upstream;

pub use actor::{AccessRules, Acting, Actor, Credential, Subject};
pub use catalog::{BoundTool, Catalog};
pub use contract::{Effect, Egress, ToolContract};
pub use error::{CallError, ErrorCode};
pub use invocation::{Approval, Invocation, Source, Status};
pub use json::JsonText;
pub use output::ToolOutput;
pub use runner::{Call, CallResult, ClearedCall, Runner};
pub use time::Timestamp;
