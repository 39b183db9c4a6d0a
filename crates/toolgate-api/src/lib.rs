//! What REST promises: bodies end in `Request`, answers in `View`. A rename inside never changes these.

mod error;
mod invocation;
mod tool;

pub use error::{DoorCode, ErrorBody, ErrorView};
pub use invocation::{
    AuditReportView, BrokenRecordView, CallView, EventView, InvocationListView, InvocationView,
    InvokeRequest, MeView, ReasonRequest, RejectRequest, SessionView, SettleRequest, SettlementWord,
    TimingView, rfc3339,
};
pub use tool::{ToolListView, ToolSummaryView, ToolView};
