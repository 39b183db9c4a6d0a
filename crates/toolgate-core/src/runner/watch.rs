//! Looking on while a call runs in this process.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::id::InvocationId;
use crate::json::JsonText;

/// What whoever looks on is told.
#[derive(Debug, Clone)]
pub enum Watched {
    /// The call has this id from here on.
    Began(InvocationId),
    /// The call reported this; it is in the record.
    Reported(JsonText),
}

/// Someone who looks on, and may go away. Nothing of it is kept: a call that another process takes up has no watcher.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Where it is told. A call reports so often and so much at most, which bounds what can pile up here.
    pub sender: mpsc::UnboundedSender<Watched>,
    /// Ends when nobody wants the result any more. What may run twice is stopped then; a write under way is not, since
    /// stopping it would leave its outcome in doubt.
    pub gone: CancellationToken,
}

impl Watch {
    pub(super) fn tell(&self, what: Watched) {
        // Whoever looked on may have gone.
        let _ = self.sender.send(what);
    }
}
