//! Applications that act for people: those that were named here, and what people let applications do.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{CreateOauthClientRequest, NewOauthClientView, OauthClientView, OauthGrantView};
use toolgate_core::id::{OauthGrantId, PrincipalId, Slug};

use super::ask::Confirm;
use super::change::{Facts, lines, only_yes, show_gone, show_one, written};
use super::http::{Gate, PATIENCE};
use super::page::{Listing, at, words};
use super::{Global, Stop, show};
use crate::print;

const CREATE_EXAMPLES: &str = "\
An application that describes itself at an https address of its own needs no `client create`: that address is its id.

Examples:
  toolgate oauth client create my-editor --name 'My editor' --redirect http://127.0.0.1/callback
  toolgate oauth client create dashboard --name Dashboard --redirect https://dash.example/back --confidential";

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate oauth client list";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate oauth client show my-editor";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate oauth client remove my-editor";

const GRANTS_EXAMPLES: &str = "\
Examples:
  toolgate oauth grant list
  toolgate oauth grant list --all";

const REVOKE_EXAMPLES: &str = "\
Examples:
  toolgate oauth grant revoke ogr_…";

#[derive(Debug, Subcommand)]
pub(crate) enum OauthCommand {
    /// Applications that were named here.
    #[command(subcommand, arg_required_else_help = true)]
    Client(ClientCommand),
    /// What people let applications do.
    #[command(subcommand, arg_required_else_help = true)]
    Grant(GrantCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Name an application, so that people can let it in. A secret, if it is to have one, is shown this once.
    #[command(after_help = CREATE_EXAMPLES)]
    Create(CreateArgs),
    /// List applications.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show an application.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its id.
        id: Slug,
    },
    /// Take an application away, and back whatever people let it do.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantCommand {
    /// List what you let applications do; with `--all` or `--principal` what others did, if you manage applications.
    #[command(after_help = GRANTS_EXAMPLES)]
    List {
        /// Of one person.
        #[arg(long, value_name = "ID", conflicts_with = "all")]
        principal: Option<PrincipalId>,
        /// Everyone's.
        #[arg(long)]
        all: bool,
    },
    /// Take back what an application was allowed: its tokens stop working at once.
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Its id, which it sends as `client_id`.
    id: Slug,
    /// What people call it.
    #[arg(long, value_name = "TEXT", required = true)]
    name: String,
    /// Where people may be sent back to; on 127.0.0.1 and localhost any port will do [may be repeated]
    #[arg(long = "redirect", value_name = "URL", required = true)]
    redirects: Vec<String>,
    /// The most it may ask for: tools, tools:read, approve; left out, all of them [may be repeated]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// It gets a secret to prove who it is. Desktop applications can't keep one.
    #[arg(long)]
    confidential: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Its id.
    id: Slug,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The grant's id.
    id: OauthGrantId,
    #[command(flatten)]
    confirm: Confirm,
}

impl Facts for OauthClientView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let scopes = if self.scopes.is_empty() { "all".to_owned() } else { self.scopes.join(", ") };
        vec![
            ("id", self.id.clone()),
            ("name", self.name.clone()),
            ("redirects", self.redirect_uris.join(", ")),
            ("scopes", scopes),
            ("has a secret", only_yes(self.confidential)),
            ("named", written(&self.created_by, &self.created_at)),
        ]
    }
}

pub(super) async fn run(command: OauthCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        OauthCommand::Client(ClientCommand::Create(args)) => create(args, global).await,
        OauthCommand::Client(ClientCommand::List) => list_clients(global).await,
        OauthCommand::Client(ClientCommand::Show { id }) => {
            show_one::<OauthClientView>(&["oauth", "clients", id.as_str()], global).await
        }
        OauthCommand::Client(ClientCommand::Remove(args)) => remove(args, global).await,
        OauthCommand::Grant(GrantCommand::List { principal, all }) => {
            list_grants(principal, all, global).await
        }
        OauthCommand::Grant(GrantCommand::Revoke(args)) => revoke(args, global).await,
    }
}

async fn create(args: CreateArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let body = CreateOauthClientRequest {
        id: args.id.to_string(),
        name: args.name,
        redirect_uris: args.redirects,
        scopes: args.scopes,
        confidential: args.confidential,
    };
    let answer = gate.post(gate.url(&["api", "v1", "oauth", "clients"], &[]), &body, PATIENCE).await?;
    let new: NewOauthClientView = answer.read()?;
    match (&new.secret, global.json) {
        (_, true) => show::json_text(&answer.text),
        // The secret alone on standard output, so that `SECRET=$(toolgate oauth client create …)` works.
        (Some(secret), false) => print::data(show::plain(secret)),
        (None, false) => print::data(lines(&new.client.facts())),
    }
    if new.secret.is_some() {
        global.talk("hint: keep the secret now; it is not stored and can't be shown again");
    }
    Ok(ExitCode::SUCCESS)
}

async fn list_clients(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["oauth", "clients"], items: "clients", ..Listing::default() };
    let columns = ["id", "name", "secret", "scopes", "redirects"];
    let row = |client: OauthClientView| {
        let secret = only_yes(client.confidential);
        vec![client.id, client.name, secret, words(&client.scopes), words(&client.redirect_uris)]
    };
    listing.show(&columns, "no application was named here", row, global).await
}

async fn remove(args: RemoveArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Take {} away, and back whatever people let it do?", args.id))?;
    let answer = gate.delete(gate.url(&["api", "v1", "oauth", "clients", args.id.as_str()], &[])).await?;
    Ok(show_gone(&answer, &format!("the application `{}` is gone", args.id), global))
}

async fn list_grants(principal: Option<PrincipalId>, all: bool, global: &Global) -> Result<ExitCode, Stop> {
    let mut query: Vec<(&str, String)> =
        principal.map(|id| ("principal", id.to_string())).into_iter().collect();
    if all {
        query.push(("all", "true".to_owned()));
    }
    let listing = Listing { path: &["oauth", "grants"], query, items: "grants" };
    let columns = ["id", "principal", "application", "scopes", "last used", "ends", "where"];
    let row = |grant: OauthGrantView| {
        let (used, ends) = (at(grant.last_used_at.as_ref()), show::moment(&grant.expires_at));
        vec![grant.id, grant.principal, grant.client_name, words(&grant.scopes), used, ends, grant.resource]
    };
    listing.show(&columns, "no application was let in", row, global).await
}

async fn revoke(args: RevokeArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Take {} back?", args.id))?;
    let answer = gate.delete(gate.url(&["api", "v1", "oauth", "grants", &args.id.to_string()], &[])).await?;
    Ok(show_gone(&answer, &format!("the grant {} is taken back", args.id), global))
}
