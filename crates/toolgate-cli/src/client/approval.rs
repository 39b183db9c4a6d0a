//! What waits for a person: list, show, change, ask back, pass on. Saying yes or no is in `decide`.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use toolgate_api::{EditRequest, InboxView, InvocationView, ReassignRequest, RemarkRequest};
use toolgate_core::id::{PrincipalId, Slug};

use super::ask::someone_is_there;
use super::decide::{self, ApproveArgs, RejectArgs, Seen};
use super::http::{Answer, Gate, PATIENCE};
use super::show::{self, Column};
use super::text::json_given;
use super::who::parse_user;
use super::{Global, Stop, approval_decided, approval_show, approval_walk, approval_watch, editor};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate approval list
  toolgate approval list --box mine                  made by you or for you, or given to you
  toolgate approval list --decided                   what you decided on or said yes to
  toolgate approval list --json | jq -r '.items[].id'";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate approval show inv_…
  toolgate approval show inv_… --json | jq .review.preview";

const EDIT_EXAMPLES: &str = "\
Examples:
  toolgate approval edit inv_…                       in $EDITOR
  toolgate approval edit inv_… --input '{\"amount\": 5, \"to\": \"ada\"}'
  toolgate approval edit inv_… --input @input.json";

const ASK_EXAMPLES: &str = "\
Examples:
  toolgate approval ask inv_… --text \"which customer is this for?\"
  toolgate approval ask inv_… --text \"the one in ticket 12\"      whoever made the call answers the same way";

const REASSIGN_EXAMPLES: &str = "\
Examples:
  toolgate approval reassign inv_… --to ada
  toolgate approval reassign inv_… --role approver";

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalCommand {
    /// List what waits for you: calls to decide on, and calls in doubt to settle.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        #[command(flatten)]
        which: Which,
        /// What you decided on or said yes to instead, newest first.
        #[arg(long, conflicts_with = "part")]
        decided: bool,
    },
    /// Show what a call would do, who asks, and why.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The call's id.
        id: String,
    },
    /// Say yes to a waiting call: as it is, or to another input; once, or from now on.
    #[command(after_help = decide::APPROVE_EXAMPLES)]
    Approve(Box<ApproveArgs>),
    /// Refuse a waiting call.
    #[command(after_help = decide::REJECT_EXAMPLES)]
    Reject(RejectArgs),
    /// Change the input of a waiting call without deciding. Every yes so far is void.
    #[command(after_help = EDIT_EXAMPLES)]
    Edit(EditArgs),
    /// Ask back about a waiting call, or answer.
    #[command(after_help = ASK_EXAMPLES)]
    Ask {
        /// The call's id.
        id: String,
        /// The question, or the answer.
        #[arg(long, value_name = "TEXT", required = true)]
        text: String,
    },
    /// Give a waiting call to someone else to decide on.
    #[command(after_help = REASSIGN_EXAMPLES)]
    Reassign {
        /// The call's id.
        id: String,
        /// The person: a name, or id. They must be allowed to decide.
        #[arg(long, value_name = "USER", required_unless_present = "role", value_parser = parse_user)]
        to: Option<PrincipalId>,
        /// A role instead: whoever holds it and is allowed to decide.
        #[arg(long, value_name = "ROLE", conflicts_with = "to")]
        role: Option<Slug>,
    },
    /// Go through what waits for you, one by one. On a terminal only.
    #[command(after_help = approval_walk::EXAMPLES)]
    Decide {
        #[command(flatten)]
        which: Which,
    },
    /// Follow how much waits for you.
    #[command(after_help = approval_watch::EXAMPLES)]
    Watch(approval_watch::WatchArgs),
}

/// Which part of the inbox.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Which {
    /// Which part of it.
    #[arg(long = "box", value_enum, default_value_t = Part::All)]
    part: Part,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Part {
    /// Everything.
    All,
    /// Made by you or for you, or given to you.
    Mine,
    /// The rest.
    Group,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The call's id.
    id: String,
    /// The input, as JSON, @FILE, or - for standard input; left out, your editor opens.
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    #[command(flatten)]
    seen: Seen,
}

pub(super) async fn run(command: ApprovalCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        ApprovalCommand::List { decided: true, .. } => approval_decided::list(global).await,
        ApprovalCommand::List { which, .. } => list(which, global).await,
        ApprovalCommand::Show { id } => show_call(&Gate::of(global)?, &id, global).await,
        ApprovalCommand::Approve(args) => decide::approve(*args, global).await,
        ApprovalCommand::Reject(args) => decide::reject(args, global).await,
        ApprovalCommand::Edit(args) => edit(args, global).await,
        ApprovalCommand::Ask { id, text } => {
            let gate = Gate::of(global)?;
            decide::show_decided(&ask(&gate, &id, text).await?, global)
        }
        ApprovalCommand::Reassign { id, to, role } => {
            let gate = Gate::of(global)?;
            let (to, role) = (to.map(|to| to.to_string()), role.map(|role| role.to_string()));
            let answer = say(&gate, &id, "reassign", &ReassignRequest { to, role }).await?;
            decide::show_decided(&answer, global)
        }
        ApprovalCommand::Decide { which } => approval_walk::run(which, global).await,
        ApprovalCommand::Watch(args) => approval_watch::run(args, global).await,
    }
}

/// Reads what waits, newest first.
pub(super) async fn inbox(gate: &Gate, which: Which) -> Result<Answer, Stop> {
    let part = match which.part {
        Part::All => "all",
        Part::Mine => "mine",
        Part::Group => "group",
    };
    gate.get(gate.url(&["api", "v1", "inbox"], &[("box", part.to_owned())])).await
}

async fn list(which: Which, global: &Global) -> Result<ExitCode, Stop> {
    let answer = inbox(&Gate::of(global)?, which).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let inbox: InboxView = answer.read()?;
    for connection in &inbox.connections {
        let service = show::plain(&connection.service);
        global.talk(format_args!(
            "`{service}` has to be connected again: `toolgate connection connect {service}`"
        ));
    }
    if inbox.reviews > 0 {
        global.talk(format_args!(
            "{} of MCP servers' tools to review: `toolgate upstream review`",
            inbox.reviews
        ));
    }
    if inbox.items.is_empty() {
        global.talk(if inbox.connections.is_empty() && inbox.reviews == 0 {
            "nothing waits for you"
        } else {
            "no call waits for you"
        });
        return Ok(ExitCode::SUCCESS);
    }
    let columns = ["id", "tool", "asked by", "since", "deadline", "yes", "what", "why"].map(Column::left);
    let rows: Vec<Vec<String>> = inbox.items.iter().map(row).collect();
    print::data(show::table(&columns, &rows));
    let shown = inbox.items.len() as u64;
    if inbox.count > shown {
        global.talk(format_args!("hint: these are the newest {shown} of {}", inbox.count));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(call: &InvocationView) -> Vec<String> {
    let dash = || "-".to_owned();
    let in_doubt = call.status == "in_doubt";
    let review = call.review.as_ref().filter(|_| !in_doubt);
    let what = match approval_show::summary(call) {
        _ if in_doubt => "in doubt: did it happen?".to_owned(),
        Some(summary) => show::shortened(summary, 100),
        None => show::shortened(&approval_show::input_to_run(call).to_string(), 100),
    };
    vec![
        call.id.clone(),
        call.tool_id.clone(),
        approval_show::asker(call),
        show::moment(&call.created_at),
        review.map_or_else(dash, |review| show::moment(&review.deadline)),
        review.map_or_else(dash, |review| format!("{}/{}", review.votes.len(), review.needed)),
        what,
        call.reason.as_ref().filter(|_| !in_doubt).map_or_else(dash, |why| show::shortened(why, 160)),
    ]
}

async fn show_call(gate: &Gate, id: &str, global: &Global) -> Result<ExitCode, Stop> {
    let answer = gate.get(gate.url(&["api", "v1", "invocations", id], &[])).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let call: InvocationView = answer.read()?;
    print::data(approval_show::text(&call));
    let id = show::plain(&call.id);
    if call.status == "in_doubt" {
        global.talk(format_args!(
            "hint: say what became of it with `toolgate invocation settle {id} --outcome …`"
        ));
    } else if call.approval == "pending" && call.status == "pending" {
        global.talk(format_args!(
            "hint: decide with `toolgate approval approve {id}`, or `toolgate approval reject {id} --reason …`"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn edit(args: EditArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let given = args.input.as_deref().map(|given| json_given(given, "--input", global)).transpose()?;
    let call = decide::read_call(&gate, &args.id).await?;
    let input = match given {
        Some(input) => input,
        None if someone_is_there() => in_editor(&call)?,
        None => {
            return Err(Stop::usage("there is no terminal for an editor")
                .hint("give the input with `--input`, as JSON, @FILE, or - for standard input"));
        }
    };
    let digest = args.seen.digest(&call);
    send_edit(&gate, &call.id, EditRequest { input, digest }).await?;
    show_call(&gate, &call.id, global).await
}

/// The input that would run, as a person leaves it in their editor.
pub(super) fn in_editor(call: &InvocationView) -> Result<Value, Stop> {
    let input = approval_show::input_to_run(call);
    let text = editor::edit(&format!("{}\n", show::pretty(&input)), &call.id)?;
    let changed: Value = serde_json::from_str(&text)
        .map_err(|cause| Stop::failed(format!("that is not JSON: {cause}")).hint("edit it again"))?;
    if changed == input {
        return Err(Stop::failed("nothing was changed").hint("edit the input, and save it"));
    }
    Ok(changed)
}

/// Changes the input of a waiting call.
pub(super) async fn send_edit(gate: &Gate, id: &str, body: EditRequest) -> Result<Answer, Stop> {
    say(gate, id, "edit", &body).await
}

/// Asks back, or answers.
pub(super) async fn ask(gate: &Gate, id: &str, text: String) -> Result<Answer, Stop> {
    say(gate, id, "remarks", &RemarkRequest { text }).await
}

async fn say<T: Serialize>(gate: &Gate, id: &str, word: &str, body: &T) -> Result<Answer, Stop> {
    let url = gate.url(&["api", "v1", "invocations", id, word], &[]);
    gate.post(url, body, PATIENCE).await.map_err(|stop| decide::look_again(stop, id))
}
