//! Accounts at outside services: list, give a secret, log in, remove. A secret is never an argument: those are seen by
//! everyone on the machine.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use toolgate_api::{ConnectRequest, ConnectView, ConnectionView, PutConnectionRequest, SecretText};

use super::ask::Confirm;
use super::change::{Facts, moment, show_answer, show_gone};
use super::http::{Gate, PATIENCE};
use super::page::Listing;
use super::{Global, Stop, show};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate connection list";

const SET_EXAMPLES: &str = "\
Examples:
  toolgate connection set mcp:github --kind token < token.txt
  pass show notion | toolgate connection set mcp:notion --kind env --name NOTION_TOKEN
  toolgate connection set mcp:search --kind header --name x-api-key --secret-env SEARCH_KEY --shared";

const CONNECT_EXAMPLES: &str = "\
Examples:
  toolgate connection connect mcp:github
  xdg-open \"$(toolgate connection connect mcp:github)\"";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate connection remove mcp:github
  toolgate connection remove mcp:github --shared --yes
  toolgate connection remove mcp:github --owner user:ada";

#[derive(Debug, Subcommand)]
pub(crate) enum ConnectionCommand {
    /// List your own connections and the shared ones; whoever manages connections sees all.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Keep a secret for a service, from standard input or an environment variable.
    #[command(after_help = SET_EXAMPLES)]
    Set(SetArgs),
    /// Log in at a service: prints where to go with a browser that is signed in to the gate as you.
    #[command(after_help = CONNECT_EXAMPLES)]
    Connect {
        /// The service, such as mcp:github.
        service: String,
        /// For all callers.
        #[arg(long)]
        shared: bool,
    },
    /// Remove a connection and what opens it.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The service, such as mcp:github.
    service: String,
    /// How the secret is used.
    #[arg(long)]
    kind: Kind,
    /// The header or the environment variable that carries it.
    #[arg(long, value_name = "NAME", required_if_eq_any = [("kind", "header"), ("kind", "env")])]
    name: Option<String>,
    /// Read the secret from this environment variable instead of standard input.
    #[arg(long, value_name = "VARIABLE")]
    secret_env: Option<String>,
    /// For all callers.
    #[arg(long)]
    shared: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// Sent as a bearer token.
    Token,
    /// Sent as a header.
    Header,
    /// Given to a program as an environment variable.
    Env,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The service, such as mcp:github.
    service: String,
    /// The one that all callers share.
    #[arg(long, conflicts_with = "owner")]
    shared: bool,
    /// Somebody else's.
    #[arg(long, value_name = "PRINCIPAL")]
    owner: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

impl Facts for ConnectionView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("id", self.id.clone()),
            ("service", self.service.clone()),
            ("owner", self.owner.clone()),
            ("kind", how(self)),
            ("goes to", self.place.clone()),
            ("state", self.state.clone()),
            ("made", show::moment(&self.created_at)),
            ("last used", moment(self.last_used_at.as_ref())),
        ]
    }
}

pub(super) async fn run(command: ConnectionCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        ConnectionCommand::List => list(global).await,
        ConnectionCommand::Set(args) => set(args, global).await,
        ConnectionCommand::Connect { service, shared } => connect(&service, shared, global).await,
        ConnectionCommand::Remove(args) => remove(args, global).await,
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["connections"], items: "connections", ..Listing::default() };
    let row = |view: ConnectionView| {
        let (kind, used) = (how(&view), moment(view.last_used_at.as_ref()));
        vec![view.service, view.owner, kind, view.state, used, view.place]
    };
    let columns = ["service", "owner", "kind", "state", "last used", "goes to"];
    listing.show(&columns, "nothing is connected", row, global).await
}

async fn set(args: SetArgs, global: &Global) -> Result<ExitCode, Stop> {
    let secret = read_secret(args.secret_env.as_deref(), global)?;
    let gate = Gate::of(global)?;
    let kind = match args.kind {
        Kind::Token => "token",
        Kind::Header => "header",
        Kind::Env => "env",
    };
    let body = PutConnectionRequest {
        kind: kind.to_owned(),
        name: args.name,
        secret: SecretText::from(secret),
        shared: args.shared,
    };
    let url = gate.url(&["api", "v1", "connections", &args.service], &[]);
    show_answer::<ConnectionView>(&gate.put(url, &body, None).await?, global)
}

/// The address alone on standard output.
async fn connect(service: &str, shared: bool, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", "connections", service, "connect"], &[]);
    let answer = gate.post(url, &ConnectRequest { shared }, PATIENCE).await?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&answer.read::<ConnectView>()?.authorize_url));
    }
    global.talk("open it in a browser that is signed in to the gate as you, within ten minutes");
    Ok(ExitCode::SUCCESS)
}

async fn remove(args: RemoveArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let owner = if args.shared { Some("shared".to_owned()) } else { args.owner };
    let whose = owner.as_deref().unwrap_or("your own");
    let words = format!("{} ({})", show::plain(&args.service), show::plain(whose));
    args.confirm.ask(&format!("Remove the connection to {words}?"))?;
    let query: Vec<(&str, String)> = owner.into_iter().map(|owner| ("owner", owner)).collect();
    let answer = gate.delete(gate.url(&["api", "v1", "connections", &args.service], &query)).await?;
    Ok(show_gone(&answer, &format!("the connection to {words} is gone"), global))
}

fn how(view: &ConnectionView) -> String {
    match view.name.as_ref().or(view.issuer.as_ref()) {
        Some(name) => format!("{} {name}", view.kind),
        None => view.kind.clone(),
    }
}

fn read_secret(variable: Option<&str>, global: &Global) -> Result<String, Stop> {
    let text = match variable {
        Some(name) => std::env::var(name).map_err(|_| {
            Stop::usage(format!("the environment variable `{}` is not set", show::plain(name)))
                .hint("export it, or pipe the secret in")
        })?,
        None => {
            let mut input = std::io::stdin();
            if global.key_stdin || input.is_terminal() {
                return Err(Stop::usage("no secret comes in on standard input")
                    .hint("pipe the secret in, or name a variable with --secret-env"));
            }
            let mut text = String::new();
            // A secret has at most 16 KiB; more is some other file.
            let read = input.by_ref().take(1 << 20).read_to_string(&mut text);
            read.map_err(|_| {
                Stop::usage("the secret on standard input is not text").hint("pipe it in as text")
            })?;
            text
        }
    };
    // Files and `echo` end in a line break that is no part of it.
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
