//! Who is let in: who you are, and links for those who are to come.

use std::process::ExitCode;

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use toolgate_api::MeView;
use toolgate_core::id::PrincipalId;

use super::change::{Facts, show_one};
use super::http::{Gate, PATIENCE};
use super::page::words;
use super::who::parse_user;
use super::{Global, Stop, show};
use crate::print;

pub(super) const ME_EXAMPLES: &str = "\
Examples:
  toolgate me
  toolgate me --json | jq -r .principal";

pub(super) const INVITE_EXAMPLES: &str = "\
Examples:
  toolgate user invite ada
  toolgate user invite ada --json | jq -r .url";

#[derive(Debug, Args)]
pub(crate) struct InviteArgs {
    /// The user's name, or id.
    #[arg(value_parser = parse_user)]
    name: PrincipalId,
}

/// A link that works once.
#[derive(Debug, Deserialize)]
struct Invitation {
    url: String,
    expires_at: String,
}

impl Facts for MeView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("principal", self.principal.clone()),
            ("works for", self.subject.clone().unwrap_or_default()),
            ("tenant", self.tenant.clone()),
            ("roles", words(&self.roles)),
            ("rules", words(&self.rules)),
            ("scopes", if self.scopes.is_empty() { "all".to_owned() } else { self.scopes.join(", ") }),
        ]
    }
}

pub(super) async fn me(global: &Global) -> Result<ExitCode, Stop> {
    show_one::<MeView>(&["me"], global).await
}

/// The link alone on standard output.
pub(super) async fn invite(args: InviteArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", "principals", args.name.as_str(), "invite"], &[]);
    let answer = gate.post(url, &json!({}), PATIENCE).await?;
    let invitation: Invitation = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&invitation.url));
    }
    let until = show::moment(&invitation.expires_at);
    global.talk(format_args!("whoever opens it first becomes {} (until {until})", args.name));
    global.talk("hint: send it to them alone; it is not shown again");
    Ok(ExitCode::SUCCESS)
}
