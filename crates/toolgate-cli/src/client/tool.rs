//! Tools: list and show. Calling has its own file.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::{Value, json};
use toolgate_api::{ToolListView, ToolView};

use super::http::Gate;
use super::invoke::{self, InvokeArgs};
use super::schema::{self, Field};
use super::show::{self, Column};
use super::{Global, Stop};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate tool list
  toolgate tool list --json | jq -r '.tools[].id'";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate tool show core__get_current_time
  toolgate tool show core__get_current_time --json | jq .input_schema";

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List the tools you may call.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one tool: what it is for and what it takes.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The tool's id.
        id: String,
    },
    /// Call a tool. Its flags come from its input schema.
    #[command(after_help = invoke::EXAMPLES)]
    Invoke(InvokeArgs),
}

pub(super) async fn run(command: ToolCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        ToolCommand::List => list(global).await,
        ToolCommand::Show { id } => show_tool(&id, global).await,
        ToolCommand::Invoke(args) => invoke::run(args, global).await,
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
