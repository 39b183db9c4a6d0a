//! Tools: list and show. Calling, assigning, switching and deciding have their own files.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolgate_api::{ToolListView, ToolView};
use toolgate_core::id::PrincipalId;

use super::aliases::{self, InvocationsArgs};
use super::assignment::{self, AssignArgs, RevokeArgs};
use super::decide::{ApproveArgs, RejectArgs};
use super::http::Gate;
use super::invocation::{self, InvocationCommand};
use super::invoke::{self, InvokeArgs};
use super::registry::{self, EnableArgs, SwitchArgs};
use super::schema::{self, Field};
use super::show::{self, Column};
use super::who::parse_agent;
use super::{Global, Stop};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate tool list
  toolgate tool list --json | jq -r '.tools[].id'
  toolgate tool list --registry                      every tool there is, on or off
  toolgate tool list --assignments --agent helper    what an agent has";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate tool show core__get_current_time
  toolgate tool show core__get_current_time --json | jq .input_schema";

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List the tools you may call.
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show one tool: what it is for and what it takes.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The tool's id.
        id: String,
    },
    /// Call a tool. Its flags come from its input schema.
    #[command(after_help = invoke::EXAMPLES)]
    Invoke(InvokeArgs),
    /// Give an agent a tool, or the tools of a toolset. An agent without any has no tools.
    #[command(after_help = assignment::ASSIGN_EXAMPLES)]
    Assign(AssignArgs),
    /// Take a tool, or a toolset, from an agent. Its next call is refused.
    #[command(after_help = assignment::REVOKE_EXAMPLES)]
    Revoke(RevokeArgs),
    /// Switch a tool on in your tenant; in the default tenant, for all.
    #[command(after_help = registry::ENABLE_EXAMPLES)]
    Enable(EnableArgs),
    /// Switch a tool off in your tenant; in the default tenant, for all.
    #[command(after_help = registry::DISABLE_EXAMPLES)]
    Disable(SwitchArgs),
    /// Take back what your tenant says of a tool, so that it is as it comes.
    #[command(after_help = registry::RESET_EXAMPLES)]
    Reset(SwitchArgs),
    /// List calls, newest first. The same as `invocation list`.
    #[command(after_help = aliases::INVOCATIONS_EXAMPLES)]
    Invocations(InvocationsArgs),
    /// Let a waiting call run, and run it. The same as `approval approve`.
    #[command(after_help = aliases::APPROVE_EXAMPLES)]
    Approve(Box<ApproveArgs>),
    /// Refuse a waiting call. The same as `approval reject`.
    #[command(after_help = aliases::REJECT_EXAMPLES)]
    Reject(RejectArgs),
}

/// What to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Every tool there is, on or off, and why.
    #[arg(long, conflicts_with_all = ["assignments", "profiles", "agent"])]
    registry: bool,
    /// Which agents have which tools.
    #[arg(long, conflicts_with = "profiles")]
    assignments: bool,
    /// The profiles that tools are assigned with.
    #[arg(long)]
    profiles: bool,
    /// Of one agent: its name, or id. Alone, what it has.
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    agent: Option<PrincipalId>,
}

pub(super) async fn run(command: ToolCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        ToolCommand::List(args) => list_as_asked(args, global).await,
        ToolCommand::Show { id } => show_tool(&id, global).await,
        ToolCommand::Invoke(args) => invoke::run(args, global).await,
        ToolCommand::Assign(args) => assignment::assign(args, global).await,
        ToolCommand::Revoke(args) => assignment::revoke(args, global).await,
        ToolCommand::Enable(args) => registry::enable(args, global).await,
        ToolCommand::Disable(args) => registry::disable(args, global).await,
        ToolCommand::Reset(args) => registry::reset(args, global).await,
        ToolCommand::Invocations(args) => aliases::invocations(args, global).await,
        ToolCommand::Approve(args) => invocation::run(InvocationCommand::Approve(args), global).await,
        ToolCommand::Reject(args) => invocation::run(InvocationCommand::Reject(args), global).await,
    }
}

async fn list_as_asked(args: ListArgs, global: &Global) -> Result<ExitCode, Stop> {
    let agent = args.agent.as_ref();
    if args.registry {
        registry::list(global).await
    } else if args.profiles {
        assignment::list_profiles(agent, global).await
    } else if args.assignments || agent.is_some() {
        assignment::list(agent, global).await
    } else {
        list(global).await
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", "200".to_owned())];
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let answer = gate.get(gate.url(&["api", "v1", "tools"], &query)).await?;
        let page: ToolListView = answer.read()?;
        for tool in page.tools {
            let approval = if tool.requires_approval { "always asks" } else { "by policy" };
            rows.push(vec![tool.id, tool.title, tool.effect, approval.to_owned()]);
        }
        if global.json
            && let Value::Array(tools) = answer.read::<Value>()?["tools"].take()
        {
            all.extend(tools);
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if global.json {
        show::json(&json!({ "tools": all }));
    } else if rows.is_empty() {
        global.talk("there is no tool you may call");
    } else {
        let columns = ["id", "title", "effect", "approval"].map(Column::left);
        print::data(show::table(&columns, &rows));
    }
    Ok(ExitCode::SUCCESS)
}

async fn show_tool(id: &str, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let answer = gate.get(gate.url(&["api", "v1", "tools", id], &[])).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let tool: ToolView = answer.read()?;
    let summary = &tool.summary;
    print::data(format_args!("{} ({})", show::plain(&summary.title), show::plain(&summary.id)));
    print::data(format_args!("\n{}\n", show::paragraph(&summary.description)));
    let approval = if summary.requires_approval { "every call waits for a person" } else { "as policy says" };
    let repeat = if summary.idempotent || summary.effect == "read" { "yes" } else { "no" };
    for (name, text) in [
        ("effect", summary.effect.clone()),
        ("egress", summary.egress.clone()),
        ("approval", approval.to_owned()),
        ("may run twice", repeat.to_owned()),
        ("category", summary.category.clone()),
        ("permissions", listed(&tool.permissions)),
        ("also known as", listed(&tool.aliases)),
        ("time limit", format!("{} s", tool.timeout_ms as f64 / 1000.0)),
        ("version", summary.version.chars().take(12).collect()),
    ] {
        if !text.is_empty() {
            print::data(format_args!("{name:<14} {}", show::plain(&text)));
        }
    }
    print_fields("input", &schema::fields(&tool.input_schema));
    print_fields("output", &schema::fields(&tool.output_schema));
    global.talk(format_args!("hint: call it with `toolgate tool invoke {}`", show::plain(&summary.id)));
    Ok(ExitCode::SUCCESS)
}

fn listed(items: &[String]) -> String {
    items.join(", ")
}

fn print_fields(title: &str, fields: &[Field]) {
    let mut rows = Vec::new();
    add_rows("", fields, &mut rows);
    if rows.is_empty() {
        print::data(format_args!("\n{title}: no fields"));
        return;
    }
    let columns = [title, "type", "required", "default", "description"].map(Column::left);
    print::data(format_args!("\n{}", show::table(&columns, &rows)));
}

fn add_rows(before: &str, fields: &[Field], rows: &mut Vec<Vec<String>>) {
    for field in fields {
        let name = format!("{before}{}", field.name);
        let kind = field.kind.name();
        rows.push(vec![
            name.clone(),
            show::shortened(&kind, 40),
            if field.required { "yes" } else { "no" }.to_owned(),
            field
                .default
                .as_ref()
                .map_or_else(|| "-".to_owned(), |default| show::shortened(&default.to_string(), 30)),
            field.description.clone(),
        ]);
        let list = if kind.starts_with("list") { "[]" } else { "" };
        add_rows(&format!("{name}{list}."), &field.inner, rows);
    }
}
