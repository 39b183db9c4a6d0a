//! MCP servers that the gate calls: add, look at, switch, remove. Their tools are reviewed in `upstream_tool`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use toolgate_api::{PutUpstreamRequest, TransportView, UpstreamRefreshView, UpstreamTestView, UpstreamView};
use toolgate_core::id::{Slug, ToolName};

use super::change::{Facts, lines, moment, show_answer, written};
use super::document::{self, Noun, RemoveArgs};
use super::http::{Answer, Gate};
use super::page::Listing;
use super::upstream_set::{self, SetArgs};
use super::upstream_tool::{AcceptArgs, RefuseArgs, ToolsArgs};
use super::{Global, Stop, show, upstream_tool};
use crate::print;

pub(super) const NOUN: Noun = Noun { one: "upstream", many: "upstreams" };

const ADD_EXAMPLES: &str = "\
None of its tools is on before it is reviewed: see `toolgate upstream review`.

Examples:
  toolgate upstream add github --at https://mcp.example.com/mcp --auth per_user
  toolgate upstream add files -- mcp-server-filesystem /srv/shared
  toolgate upstream add notes --env LOG_LEVEL=warn --auth shared -- notion-mcp-server
  toolgate upstream add orders --auth shared --no-look -- mcp-server-postgres '${PG_URL}'
  toolgate connection set mcp:orders --kind env --name PG_URL --shared";

const REVIEW_EXAMPLES: &str = "\
Without an id: what waits for review. With one: what the server says of the tool, what strikes in it, and what changed.

Examples:
  toolgate upstream review
  toolgate upstream review mcp__github__create_issue
  toolgate upstream accept mcp__github__create_issue --effect mutate --egress write
  toolgate upstream accept --all-of files --effect read --egress none";

#[derive(Debug, Subcommand)]
pub(crate) enum UpstreamCommand {
    /// Write an MCP server down and look at its tools. Nothing is switched on by this.
    #[command(after_help = ADD_EXAMPLES)]
    Add(Box<AddArgs>),
    /// Change an MCP server: its address, program, bounds or connection. What is not named stays.
    #[command(after_help = upstream_set::EXAMPLES)]
    Set(Box<SetArgs>),
    /// List the MCP servers.
    List,
    /// Show one MCP server and how it does.
    Show {
        /// Its name.
        name: Slug,
    },
    /// Connect to an MCP server and show what it has. Nothing is kept of it.
    Test {
        /// Its name.
        name: Slug,
    },
    /// Ask an MCP server for its tools again; what is new or changed waits for review.
    Refresh {
        /// Its name.
        name: Slug,
    },
    /// See what waits for review, or one tool with what changed.
    #[command(after_help = REVIEW_EXAMPLES)]
    Review {
        /// The tool.
        id: Option<ToolName>,
    },
    /// List the tools of MCP servers and where they stand.
    Tools(ToolsArgs),
    /// Accept tools as they are offered now; effect and egress are yours to say.
    Accept(AcceptArgs),
    /// Turn tools down as they are offered now.
    Refuse(RefuseArgs),
    /// Let the accepted tools of an MCP server be called.
    Enable {
        /// Its name.
        name: Slug,
    },
    /// Switch all tools of an MCP server off.
    Disable {
        /// Its name.
        name: Slug,
    },
    /// Remove an MCP server, with everything that was accepted of it.
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Its name; it stands in the ids of its tools, as in mcp__NAME__TOOL.
    name: Slug,
    /// Where an HTTP server is: its streamable endpoint, or its stream of events where it is older.
    #[arg(long, value_name = "URL", conflicts_with = "command", required_unless_present = "command")]
    at: Option<String>,
    /// A header for each request, name=value; no secrets [may be repeated]
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair, requires = "at")]
    headers: Vec<(String, String)>,
    /// An environment variable of the process, name=value; no secrets [may be repeated]
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair, requires = "command")]
    env: Vec<(String, String)>,
    /// What people call it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,
    /// How it is told who we are: one connection for all, or each person's own.
    #[arg(long, value_parser = ["none", "shared", "per_user"], default_value = "none")]
    auth: String,
    /// How long connecting and listing may take, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    connect_timeout_ms: u64,
    /// The most calls at once on one node.
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    concurrency: u32,
    /// What becomes of questions it asks in the middle of a call: refuse them, or ask the person behind the call.
    #[arg(long, value_parser = ["refuse", "ask"], default_value = "refuse")]
    questions: String,
    /// Replace one of this name.
    #[arg(long)]
    replace: bool,
    /// Do not connect to it now.
    #[arg(long)]
    no_look: bool,
    /// The program and its arguments, after --. It is never started by a shell.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn took(milliseconds: Option<u64>) -> String {
    milliseconds.map_or_else(String::new, |milliseconds| format!("{milliseconds} ms"))
}

impl Facts for UpstreamView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let upstream = &self.upstream;
        let health = self.health.as_ref();
        let state = health.map(|health| match (health.connected, health.resting) {
            (_, true) => "resting after faults",
            (true, false) => "connected",
            (false, false) => "not connected",
        });
        vec![
            ("name", self.name.clone()),
            ("title", upstream.title.clone()),
            ("reached by", reached(&upstream.transport)),
            ("switched", if upstream.enabled { "on" } else { "off" }.to_owned()),
            ("connection", upstream.auth.replace('_', " ")),
            ("at once", format!("{} calls", upstream.concurrency)),
            ("its questions", upstream.questions.clone()),
            ("connects within", format!("{} ms", upstream.connect_timeout_ms)),
            ("state here", state.unwrap_or_default().to_owned()),
            ("answers in about", took(health.and_then(|health| health.typical_ms))),
            ("protocol", health.and_then(|health| health.protocol.clone()).unwrap_or_default()),
            ("last fault", health.and_then(|health| health.last_error.clone()).unwrap_or_default()),
            ("at", moment(health.and_then(|health| health.failed_at.as_ref()))),
            ("said", health.and_then(|health| health.stderr.clone()).unwrap_or_default()),
            ("tools", counted(&self.tools)),
            ("revision", self.revision.to_string()),
            ("written", written(&self.updated_by, &self.updated_at)),
        ]
    }
}

fn reached(transport: &TransportView) -> String {
    match transport {
        TransportView::Http { url, .. } => url.clone(),
        TransportView::Stdio { command, args, .. } => {
            std::iter::once(command).chain(args).map(String::as_str).collect::<Vec<_>>().join(" ")
        }
    }
}

fn counted(tools: &BTreeMap<String, u64>) -> String {
    let some = tools.iter().filter(|(_, count)| **count > 0);
    some.map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
}

pub(super) async fn run(command: UpstreamCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        UpstreamCommand::Add(args) => add(*args, global).await,
        UpstreamCommand::Set(args) => args.set(global).await,
        UpstreamCommand::List => list(global).await,
        UpstreamCommand::Show { name } => document::show::<UpstreamView>(NOUN, &name, global).await,
        UpstreamCommand::Test { name } => test(&name, global).await,
        UpstreamCommand::Refresh { name } => refresh(&name, global).await,
        UpstreamCommand::Review { id } => upstream_tool::review(id, global).await,
        UpstreamCommand::Tools(args) => args.list(global).await,
        UpstreamCommand::Accept(args) => args.accept(global).await,
        UpstreamCommand::Refuse(args) => args.refuse(global).await,
        UpstreamCommand::Enable { name } => {
            show_answer::<UpstreamView>(&told(&name, "enable", global).await?, global)
        }
        UpstreamCommand::Disable { name } => {
            show_answer::<UpstreamView>(&told(&name, "disable", global).await?, global)
        }
        UpstreamCommand::Remove(args) => args.remove(NOUN, global).await,
    }
}

/// Tells a server's address something, by POST.
async fn told(name: &Slug, what: &str, global: &Global) -> Result<Answer, Stop> {
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", NOUN.many, name.as_str(), what], &[]);
    gate.post(url, &json!({}), Duration::from_secs(330)).await
}

async fn add(args: AddArgs, global: &Global) -> Result<ExitCode, Stop> {
    let mut command = args.command.into_iter();
    let transport = match (args.at, command.next()) {
        (Some(url), _) => TransportView::Http { url, headers: args.headers.into_iter().collect() },
        (None, Some(program)) => TransportView::Stdio {
            command: program,
            args: command.collect(),
            env: args.env.into_iter().collect(),
        },
        (None, None) => return Err(Stop::usage("name an address with --at, or a command after --")),
    };
    let body = PutUpstreamRequest {
        title: args.title,
        transport,
        enabled: true,
        auth: args.auth,
        connect_timeout_ms: args.connect_timeout_ms,
        concurrency: args.concurrency,
        questions: args.questions,
    };
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", NOUN.many, args.name.as_str()], &[]);
    let request = gate.request(reqwest::Method::PUT, url).json(&body);
    let request = if args.replace { request } else { request.header(reqwest::header::IF_NONE_MATCH, "*") };
    let answer = gate.send(request).await?.ok()?;
    global.talk(format_args!("the upstream `{}` is written", args.name));
    if args.no_look {
        return show_answer::<UpstreamView>(&answer, global);
    }
    refresh(&args.name, global).await
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &[NOUN.many], items: NOUN.many, ..Listing::default() };
    let row = |found: UpstreamView| {
        let health = found.health.as_ref();
        let state = match health {
            _ if !found.upstream.enabled => "off",
            Some(health) if health.resting => "resting",
            Some(health) if health.connected => "connected",
            Some(health) if health.last_error.is_some() => "failing",
            _ => "idle",
        };
        vec![
            found.name,
            state.to_owned(),
            reached(&found.upstream.transport),
            found.upstream.auth,
            counted(&found.tools),
        ]
    };
    let columns = ["name", "state here", "reached by", "connection", "tools"];
    listing.show(&columns, "there is no MCP server; see `toolgate upstream add --help`", row, global).await
}

async fn test(name: &Slug, global: &Global) -> Result<ExitCode, Stop> {
    let answer = told(name, "test", global).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let found = answer.read::<UpstreamTestView>()?;
    print::data(lines(&[
        ("calls itself", found.server),
        ("protocol", found.protocol),
        ("tools", found.tools.join(", ")),
        ("left out", found.problems.join("; ")),
    ]));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn refresh(name: &Slug, global: &Global) -> Result<ExitCode, Stop> {
    let answer = told(name, "refresh", global).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let found = answer.read::<UpstreamRefreshView>()?;
    let waiting = found.new.len() + found.changed.len();
    print::data(lines(&[
        ("calls itself", found.server),
        ("protocol", found.protocol),
        ("new", found.new.join(", ")),
        ("changed", found.changed.join(", ")),
        ("gone", found.gone.join(", ")),
        ("as before", found.same.to_string()),
        ("left out", found.problems.join("; ")),
    ]));
    if waiting > 0 {
        global.talk(format_args!("{waiting} to review: `toolgate upstream review`"));
    }
    Ok(ExitCode::SUCCESS)
}
