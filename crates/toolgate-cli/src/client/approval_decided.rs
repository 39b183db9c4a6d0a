//! What a person decided on or said yes to.

use std::process::ExitCode;

use toolgate_api::InvocationView;

use super::page::{Listing, word};
use super::{Global, Stop, approval_show, show};

pub(super) async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let query = vec![("box", "decided".to_owned())];
    let listing = Listing { path: &["inbox"], query, items: "items" };
    let columns = ["id", "tool", "asked by", "since", "approval", "status", "reason"];
    let row = |call: InvocationView| {
        let (asker, since) = (approval_show::asker(&call), show::moment(&call.created_at));
        // While more have to say yes, what stands there is why it waits.
        let reason = call.reason.filter(|_| call.approval != "pending");
        vec![call.id, call.tool_id, asker, since, call.approval, call.status, word(reason)]
    };
    listing.show(&columns, "you decided on nothing yet", row, global).await
}
