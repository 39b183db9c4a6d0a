//! Keys: what programs come in with. The key itself is shown once, alone on standard output.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{CreateKeyRequest, KeyView, NewKeyView, RotateKeyRequest};
use toolgate_core::id::{ApiKeyId, PrincipalId};

use super::amount::{End, parse_end, parse_seconds};
use super::ask::Confirm;
use super::change::{Facts, moment, show_answer, show_one};
use super::http::{Answer, Gate, PATIENCE};
use super::page::{Listing, at, words};
use super::{Global, Stop, show};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate key list
  toolgate key list --principal agent:helper";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate key show key_…";

const CREATE_EXAMPLES: &str = "\
Scopes narrow what the key may do of what its principal may do:
  tool:core__*            see and call these tools
  effect:read             only tools with this effect: read, mutate, destructive
  rule:crm.contacts.read  of the access rules, only this one
  approve                 decide on waiting calls
  manage:keys             manage one area; `manage` alone for all of them

Examples:
  KEY=$(toolgate key create --principal agent:helper --label laptop --expires 90d)
  toolgate key create --label reading --scope effect:read --scope 'tool:core__*'
  toolgate key create --principal agent:helper --label mine --on-behalf";

const ROTATE_EXAMPLES: &str = "\
Examples:
  KEY=$(toolgate key rotate key_… --yes)
  toolgate key rotate key_… --overlap 1h      the old one works for another hour";

const REVOKE_EXAMPLES: &str = "\
Examples:
  toolgate key revoke key_…";

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// List keys, oldest first.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Of one principal.
        #[arg(long, value_name = "ID")]
        principal: Option<PrincipalId>,
    },
    /// Show everything about a key but the key itself.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The key's id, not the key.
        id: ApiKeyId,
    },
    /// Make a key, and print it. It is shown this once.
    #[command(after_help = CREATE_EXAMPLES)]
    Create(CreateArgs),
    /// Put a new key in a key's place, and print it.
    #[command(after_help = ROTATE_EXAMPLES)]
    Rotate(RotateArgs),
    /// Stop a key, and all that came from it by rotation, at once and for good.
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Who it speaks for; left out, you.
    #[arg(long, value_name = "ID")]
    principal: Option<PrincipalId>,
    /// What people call it.
    #[arg(long, value_name = "TEXT", required = true)]
    label: String,
    /// What it may do; left out, all that its principal may [may be repeated]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// When it stops working: 90d, 12h, or 2026-12-31T00:00:00Z; at most 366 days ahead.
    #[arg(long, value_name = "WHEN", value_parser = parse_end)]
    expires: Option<End>,
    /// The agent or service works for you when it uses this key.
    #[arg(long)]
    on_behalf: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RotateArgs {
    /// The key's id, not the key.
    id: ApiKeyId,
    /// For how long the old key still works, such as 1h and at most 7d; left out, it stops at once.
    #[arg(long, value_name = "SPAN", value_parser = parse_seconds)]
    overlap: Option<u64>,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The key's id, not the key.
    id: ApiKeyId,
    #[command(flatten)]
    confirm: Confirm,
}

impl Facts for KeyView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let scopes = if self.scopes.is_empty() { "all".to_owned() } else { self.scopes.join(", ") };
        vec![
            ("id", self.id.clone()),
            ("label", self.label.clone()),
            ("status", self.status.clone()),
            ("principal", self.principal.clone()),
            ("works for", self.subject.clone().unwrap_or_default()),
            ("scopes", scopes),
            ("made", format!("{} by {}", show::moment(&self.created_at), self.created_by)),
            ("expires", moment(self.expires_at.as_ref())),
            ("revoked", moment(self.revoked_at.as_ref())),
            ("last used", at(self.last_used_at.as_ref())),
            ("in place of", self.replaces.clone().unwrap_or_default()),
        ]
    }
}

pub(super) async fn run(command: KeyCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        KeyCommand::List { principal } => list(principal, global).await,
        KeyCommand::Show { id } => show_one::<KeyView>(&["keys", &id.to_string()], global).await,
        KeyCommand::Create(args) => create(args, global).await,
        KeyCommand::Rotate(args) => rotate(args, global).await,
        KeyCommand::Revoke(args) => revoke(args, global).await,
    }
}

async fn list(principal: Option<PrincipalId>, global: &Global) -> Result<ExitCode, Stop> {
    let query = principal.map(|principal| ("principal", principal.to_string())).into_iter().collect();
    let listing = Listing { path: &["keys"], query, items: "keys" };
    let columns = ["id", "principal", "status", "expires", "last used", "scopes", "label"];
    let row = |key: KeyView| {
        let (expires, used) = (at(key.expires_at.as_ref()), at(key.last_used_at.as_ref()));
        vec![key.id, key.principal, key.status, expires, used, words(&key.scopes), key.label]
    };
    listing.show(&columns, "there is no key", row, global).await
}

async fn create(args: CreateArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let (expires_in_seconds, expires_at) = match args.expires {
        Some(End::In(seconds)) => (Some(seconds), None),
        Some(End::At(moment)) => (None, Some(moment.to_string())),
        None => (None, None),
    };
    let body = CreateKeyRequest {
        principal: args.principal.map(|principal| principal.to_string()),
        label: args.label,
        scopes: args.scopes,
        expires_in_seconds,
        expires_at,
        on_behalf: args.on_behalf,
    };
    show_new(&gate.post(gate.url(&["api", "v1", "keys"], &[]), &body, PATIENCE).await?, global)
}

async fn rotate(args: RotateArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let (id, overlap) = (args.id, args.overlap.unwrap_or(0));
    if overlap == 0 {
        args.confirm.ask(&format!("Stop {id} at once and make a new key?"))?;
    }
    let url = gate.url(&["api", "v1", "keys", &id.to_string(), "rotate"], &[]);
    let body = RotateKeyRequest { overlap_seconds: overlap };
    show_new(&gate.post(url, &body, PATIENCE).await?, global)
}

async fn revoke(args: RevokeArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Revoke {} for good?", args.id))?;
    let answer = gate.delete(gate.url(&["api", "v1", "keys", &args.id.to_string()], &[])).await?;
    show_answer::<KeyView>(&answer, global)
}

/// The key alone on standard output, so that `KEY=$(toolgate key create …)` works.
fn show_new(answer: &Answer, global: &Global) -> Result<ExitCode, Stop> {
    let new: NewKeyView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&new.secret));
    }
    let until = moment(new.key.expires_at.as_ref());
    let until = if until.is_empty() { String::new() } else { format!(" until {until}") };
    let (id, principal) = (show::plain(&new.key.id), show::plain(&new.key.principal));
    global.talk(format_args!("{id} speaks for {principal}{until}"));
    global.talk("hint: keep it now; it is not stored and can't be shown again");
    Ok(ExitCode::SUCCESS)
}
