//! Tenants: the walls between organisations on one server.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{CreateTenantRequest, TenantCreatedView, TenantLinkView, TenantView, UpdateTenantRequest};
use toolgate_core::id::{TenantId, TenantLinkId};

use super::ask::Confirm;
use super::change::{Facts, only_yes, show_answer, show_gone, show_one};
use super::http::{Answer, Gate, PATIENCE};
use super::page::Listing;
use super::{Global, Stop, show};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate tenant list
  toolgate tenant list --json | jq -r '.tenants[].id'";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate tenant show acme";

const CREATE_EXAMPLES: &str = "\
Examples:
  ACME_KEY=$(toolgate tenant create acme --title \"Acme Ltd\")
  TOOLGATE_KEY=$ACME_KEY toolgate user list";

const UPDATE_EXAMPLES: &str = "\
Examples:
  toolgate tenant update acme --title \"Acme Limited\"";

const DISABLE_EXAMPLES: &str = "\
Examples:
  toolgate tenant disable acme";

const ENABLE_EXAMPLES: &str = "\
Examples:
  toolgate tenant enable acme";

const RECOVER_EXAMPLES: &str = "\
Examples:
  ACME_KEY=$(toolgate tenant recover acme --yes)
  TOOLGATE_KEY=$ACME_KEY toolgate key list";

const LINKS_EXAMPLES: &str = "\
Examples:
  toolgate tenant links
  toolgate tenant links --user ada";

const UNLINK_EXAMPLES: &str = "\
Examples:
  toolgate tenant unlink lnk_0193f0c2a1b27d5c8e4f6a7b8c9d0e1f";

#[derive(Debug, Subcommand)]
pub(crate) enum TenantCommand {
    /// List the tenants.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one tenant.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its slug.
        id: TenantId,
    },
    /// Make a tenant, and print the key of its first administrator. It is shown this once.
    #[command(after_help = CREATE_EXAMPLES)]
    Create {
        /// Its slug: lower-case letters, digits and -.
        id: TenantId,
        /// What people call it; left out, its slug.
        #[arg(long, value_name = "TEXT")]
        title: Option<String>,
    },
    /// Call a tenant something else.
    #[command(after_help = UPDATE_EXAMPLES)]
    Update {
        /// Its slug.
        id: TenantId,
        /// What people call it.
        #[arg(long, value_name = "TEXT", required = true)]
        title: String,
    },
    /// Let nobody of a tenant in. Nothing is lost.
    #[command(after_help = DISABLE_EXAMPLES)]
    Disable(CertainArgs),
    /// Let a tenant in again.
    #[command(after_help = ENABLE_EXAMPLES)]
    Enable {
        /// Its slug.
        id: TenantId,
    },
    /// Let a tenant in again whose keys are lost: print a new key of its user:admin. It is shown this once.
    #[command(after_help = RECOVER_EXAMPLES)]
    Recover(CertainArgs),
    /// List which users of your own tenant are linked with users of others, as one person.
    #[command(after_help = LINKS_EXAMPLES)]
    Links {
        /// Of one user, such as ada or user:ada.
        #[arg(long, value_name = "USER")]
        user: Option<String>,
    },
    /// End such a link: nobody comes or goes by it any more.
    #[command(after_help = UNLINK_EXAMPLES)]
    Unlink {
        /// Its id.
        id: TenantLinkId,
        #[command(flatten)]
        confirm: Confirm,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CertainArgs {
    /// Its slug.
    id: TenantId,
    #[command(flatten)]
    confirm: Confirm,
}

impl Facts for TenantView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("id", self.id.clone()),
            ("title", self.title.clone()),
            ("disabled", only_yes(self.disabled)),
            ("made", show::moment(&self.created_at)),
        ]
    }
}

pub(super) async fn run(command: TenantCommand, global: &Global) -> Result<ExitCode, Stop> {
    let disabled = |disabled| UpdateTenantRequest { title: None, disabled: Some(disabled) };
    match command {
        TenantCommand::List => list(global).await,
        TenantCommand::Show { id } => show_one::<TenantView>(&["tenants", id.as_str()], global).await,
        TenantCommand::Create { id, title } => create(&id, title, global).await,
        TenantCommand::Update { id, title } => {
            update(&id, &UpdateTenantRequest { title: Some(title), disabled: None }, global).await
        }
        TenantCommand::Disable(CertainArgs { id, confirm }) => {
            confirm.ask(&format!("Let nobody of the tenant {id} in?"))?;
            update(&id, &disabled(true), global).await
        }
        TenantCommand::Enable { id } => update(&id, &disabled(false), global).await,
        TenantCommand::Recover(CertainArgs { id, confirm }) => {
            confirm.ask(&format!("Make a key for the administrator of the tenant {id}?"))?;
            recover(&id, global).await
        }
        TenantCommand::Links { user } => links(user, global).await,
        TenantCommand::Unlink { id, confirm } => {
            confirm.ask(&format!("End the link {id}?"))?;
            let gate = Gate::of(global)?;
            let answer = gate.delete(gate.url(&["api", "v1", "tenant-links", &id.to_string()], &[])).await?;
            Ok(show_gone(&answer, "the link has ended; whoever came in by it is out", global))
        }
    }
}

async fn links(user: Option<String>, global: &Global) -> Result<ExitCode, Stop> {
    let whole = |user: String| if user.starts_with("user:") { user } else { format!("user:{user}") };
    let query = user.map(|user| ("principal", whole(user))).into_iter().collect();
    let listing = Listing { path: &["tenant-links"], query, items: "links" };
    let row = |link: TenantLinkView| {
        vec![link.id, link.principal, link.other_tenant, link.proof, show::moment(&link.made_at)]
    };
    let columns = ["id", "user", "linked with", "proved by", "since"];
    listing.show(&columns, "nobody is linked with another tenant", row, global).await
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["tenants"], query: Vec::new(), items: "tenants" };
    let row = |tenant: TenantView| {
        let state = if tenant.disabled { "disabled" } else { "active" };
        vec![tenant.id, state.to_owned(), show::moment(&tenant.created_at), tenant.title]
    };
    listing.show(&["id", "state", "made", "title"], "there is no tenant", row, global).await
}

/// The key alone on standard output, so that a script can keep it.
async fn create(id: &TenantId, title: Option<String>, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let body = CreateTenantRequest { id: id.to_string(), title };
    let answer = gate.post(gate.url(&["api", "v1", "tenants"], &[]), &body, PATIENCE).await?;
    show_key(&answer, global)?;
    global.talk(format_args!("the tenant `{id}` is made; this is the key of its user:admin"));
    global.talk("hint: keep it now; it is not stored and can't be shown again");
    Ok(ExitCode::SUCCESS)
}

async fn recover(id: &TenantId, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", "tenants", id.as_str(), "recover"], &[]);
    let answer = gate.post(url, &serde_json::json!({}), PATIENCE).await?;
    let recovered = show_key(&answer, global)?;
    global.talk(format_args!(
        "this is a new key of user:admin in the tenant `{id}`; earlier keys go on working"
    ));
    if recovered.tenant.disabled {
        global.talk(format_args!(
            "hint: the tenant is switched off; let it in with `toolgate tenant enable {id}`"
        ));
    }
    global.talk("hint: keep it now; it is not stored and can't be shown again");
    Ok(ExitCode::SUCCESS)
}

fn show_key(answer: &Answer, global: &Global) -> Result<TenantCreatedView, Stop> {
    let created: TenantCreatedView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&created.admin_key));
    }
    Ok(created)
}

async fn update(id: &TenantId, change: &UpdateTenantRequest, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let answer = gate.patch(gate.url(&["api", "v1", "tenants", id.as_str()], &[]), change).await?;
    show_answer::<TenantView>(&answer, global)
}
