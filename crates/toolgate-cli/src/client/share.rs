//! Links to one call: by which anyone may look at it for a while, or by which a waiting one is answered once.

use std::process::ExitCode;

use clap::Args;
use toolgate_api::{LinksView, NewShareView, ShareRequest, ShareView};

use super::amount::parse_seconds;
use super::ask::Confirm;
use super::change::show_gone;
use super::http::{Gate, PATIENCE};
use super::page::of;
use super::show::{self, Column};
use super::{Global, Stop};
use crate::print;

pub(super) const SHARE_EXAMPLES: &str = "\
Examples:
  toolgate invocation share inv_…                    a link that lasts a week
  toolgate invocation share inv_… --for 2h
  open \"$(toolgate invocation share inv_…)\"";

pub(super) const LINKS_EXAMPLES: &str = "\
Examples:
  toolgate invocation links inv_…                    a page for the person, or an address for the system
  open \"$(toolgate invocation links inv_…)\"";

pub(super) const SHARES_EXAMPLES: &str = "\
Examples:
  toolgate invocation shares inv_…";

pub(super) const UNSHARE_EXAMPLES: &str = "\
Examples:
  toolgate invocation unshare shr_…";

/// What to show, and for how long.
#[derive(Debug, Args)]
pub(crate) struct ShareArgs {
    /// The call's id.
    id: String,
    /// For how long, such as 2h or 7d; at most 30d. [default: 7d]
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_seconds)]
    span: Option<u64>,
}

/// Which link to take back.
#[derive(Debug, Args)]
pub(crate) struct UnshareArgs {
    /// The link's id, as `invocation shares` lists it.
    id: String,
    #[command(flatten)]
    confirm: Confirm,
}

pub(super) async fn share(args: &ShareArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", "invocations", &args.id, "shares"], &[]);
    let answer = gate.post(url, &ShareRequest { expires_in_seconds: args.span }, PATIENCE).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let made: NewShareView = answer.read()?;
    print::data(show::plain(&made.url));
    global.talk(format_args!(
        "anyone with this link sees the run until {}; it is shown this once. Take it back with `toolgate invocation unshare {}`",
        show::moment(&made.expires_at),
        show::plain(&made.id)
    ));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn links(id: &str, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", "invocations", id, "links"], &[]);
    let answer = gate.post(url, &serde_json::json!({}), PATIENCE).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let made: LinksView = answer.read()?;
    for (url, what) in [(&made.share_url, "a person answers"), (&made.callback_url, "the result is reported")]
    {
        if let Some(url) = url {
            print::data(show::plain(url));
            global.talk(format_args!("{what} there, once; the address is shown this once"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn list(id: &str, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let answer = gate.get(gate.url(&["api", "v1", "invocations", id, "shares"], &[])).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let mut body: serde_json::Value = answer.read()?;
    let shares: Vec<ShareView> = of(body["shares"].take())?;
    if shares.is_empty() {
        global.talk("no link to this run works");
        return Ok(ExitCode::SUCCESS);
    }
    let columns = ["id", "made by", "made", "ends"].map(Column::left);
    let rows: Vec<_> = shares
        .into_iter()
        .map(|share| {
            vec![share.id, share.by, show::moment(&share.created_at), show::moment(&share.expires_at)]
        })
        .collect();
    print::data(show::table(&columns, &rows));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn revoke(args: &UnshareArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Take {} back?", args.id))?;
    let answer = gate.delete(gate.url(&["api", "v1", "shares", &args.id], &[])).await?;
    Ok(show_gone(&answer, &format!("the link `{}` works no more", args.id), global))
}
