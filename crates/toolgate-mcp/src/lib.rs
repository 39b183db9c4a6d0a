//! The Model Context Protocol as a server speaks it, without HTTP: both eras, any request on any node. It knows how
//! things are said; what may be seen and done is asked of a [`Plane`].

mod again;
mod asking;
mod batch;
mod call;
mod capability;
mod conformance;
mod content;
mod cursor;
mod era;
mod exchange;
mod form;
mod gate;
mod header;
mod jsonrpc;
mod listen;
mod offered;
mod offering;
mod open_request;
mod outbox;
mod pending;
mod plane;
mod product;
mod question;
mod report;
mod result;
mod rpc_error;
mod seal;
mod search;
mod search_mode;
mod server_question;
mod session;
mod state;
mod task;
mod thread;
mod tool;
mod unread;

pub use batch::{is_batch, parse_batch};
pub use capability::{ClientCapabilities, TASKS};
pub use conformance::Fixtures;
pub use era::{
    Client, Era, LEGACY, MODERN, SUPPORTED, is_modern, legacy_version, modern_client, unsupported,
};
pub use exchange::Exchange;
pub use gate::{McpGate, Opening};
pub use header::{Headers, ParamHeader, param_headers};
pub use jsonrpc::{Id, Malformed, Message, Notification, Request, Response, result_message};
pub use listen::Standing;
pub use offering::{Asker, OfferError, Offered, Offerings, TaskInputs};
pub use outbox::{Outbox, Told};
pub use plane::{FIXTURE, Order, Plane, PlaneError, Selection, Verdict};
pub use rpc_error::RpcError;
pub use seal::{CannotSeal, Purpose, Sealer};
pub use session::Session;
pub use thread::{LastEvent, Resumed};
pub use tool::annotations;
pub use unread::{Kept, Reader, Unread, UnreadLimits};
