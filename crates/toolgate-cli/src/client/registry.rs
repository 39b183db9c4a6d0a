//! Which tools are on: `tool enable`, `tool disable`, `tool reset` and `tool list --registry`.

use std::process::ExitCode;

use clap::Args;
use toolgate_api::{MeView, PutToolSettingRequest, RegistryToolView};
use toolgate_core::id::{TenantId, ToolName};

use super::ask::Confirm;
use super::change::{Facts, show_answer, show_gone};
use super::http::Gate;
use super::page::Listing;
use super::{Global, Stop};

pub(super) const ENABLE_EXAMPLES: &str = "\
Examples:
  toolgate tool enable core__get_current_time
  toolgate tool enable crm__refund --approval always_ask     on, but every call waits for a person
  toolgate tool enable crm__refund --approval by_policy      on, and policy decides again";

pub(super) const DISABLE_EXAMPLES: &str = "\
Examples:
  toolgate tool disable crm__refund";

pub(super) const RESET_EXAMPLES: &str = "\
Examples:
  toolgate tool reset crm__refund";

#[derive(Debug, Args)]
pub(crate) struct EnableArgs {
    /// The tool's id.
    id: ToolName,
    /// Whether every call waits for a person; left out, as it was.
    #[arg(long, value_name = "WHEN", value_parser = [ALWAYS_ASK, "by_policy"])]
    approval: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    /// The tool's id.
    id: ToolName,
    #[command(flatten)]
    confirm: Confirm,
}

const ALWAYS_ASK: &str = "always_ask";
const LISTING: Listing<'static> = Listing { path: &["registry"], query: Vec::new(), items: "tools" };

impl Facts for RegistryToolView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("id", self.id.clone()),
            ("title", self.title.clone()),
            ("state", state(self).to_owned()),
            ("because", self.enablement.replace('_', " ")),
            ("origin", self.origin.clone()),
            ("effect", format!("{}, egress {}", self.effect, self.egress)),
            ("approval", approval(self).to_owned()),
        ]
    }
}

const fn state(tool: &RegistryToolView) -> &'static str {
    if tool.enabled { "on" } else { "off" }
}

const fn approval(tool: &RegistryToolView) -> &'static str {
    if tool.requires_approval { "always asks" } else { "by policy" }
}

/// Lists every tool there is, on or off.
pub(super) async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let row = |tool: RegistryToolView| {
        let (state, approval) = (state(&tool).to_owned(), approval(&tool).to_owned());
        let because = tool.enablement.replace('_', " ");
        vec![tool.id, state, because, tool.origin, tool.effect, tool.egress, approval, tool.title]
    };
    let columns = ["id", "state", "because", "origin", "effect", "egress", "approval", "title"];
    LISTING.show(&columns, "there is no tool", row, global).await
}

pub(super) async fn enable(args: EnableArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let approval = match args.approval {
        Some(given) => Some(given).filter(|given| given == ALWAYS_ASK),
        None => kept_approval(&gate, &args.id).await?,
    };
    put(&gate, &args.id, true, approval, global).await
}

pub(super) async fn disable(args: SwitchArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Switch {} off?", args.id))?;
    let approval = kept_approval(&gate, &args.id).await?;
    put(&gate, &args.id, false, approval, global).await
}

pub(super) async fn reset(args: SwitchArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Let {} be as it comes?", args.id))?;
    let answer = gate.delete(gate.url(&["api", "v1", "registry", args.id.as_str()], &[])).await?;
    Ok(show_gone(&answer, &format!("`{}` is as it comes again", args.id), global))
}

/// What this tenant says of a tool's approval: a setting is written whole, and switching must not loosen it.
async fn kept_approval(gate: &Gate, id: &ToolName) -> Result<Option<String>, Stop> {
    let me: MeView = gate.get(gate.url(&["api", "v1", "me"], &[])).await?.read()?;
    let path = ["api", "v1", "registry", id.as_str()];
    let tool: RegistryToolView = gate.get(gate.url(&path, &[])).await?.read()?;
    // The default tenant's own word is the one for all tenants.
    let is_default = me.tenant == TenantId::default_tenant().as_str();
    let setting = if is_default { tool.default_setting } else { tool.setting };
    Ok(setting.and_then(|setting| setting.approval))
}

async fn put(
    gate: &Gate,
    id: &ToolName,
    enabled: bool,
    approval: Option<String>,
    global: &Global,
) -> Result<ExitCode, Stop> {
    let body = PutToolSettingRequest { enabled: Some(enabled), approval };
    let url = gate.url(&["api", "v1", "registry", id.as_str()], &[]);
    let answer = gate.put(url, &body, None).await?;
    let tool: RegistryToolView = answer.read()?;
    if tool.enabled != enabled {
        let because = tool.enablement.replace('_', " ");
        global.talk(format_args!("the tool stays {} all the same: it is {because}", state(&tool)));
    }
    show_answer::<RegistryToolView>(&answer, global)
}
