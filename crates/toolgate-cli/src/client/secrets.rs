//! The secrets of a store as a whole, by whoever has its master keys.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use toolgate_broker::{Keyring, rewrap_all};

use super::{Global, Stop, show};
use crate::print;
use crate::serve::StoreArgs;

const REWRAP_EXAMPLES: &str = "\
Examples:
  TOOLGATE_MASTER_KEY=$NEW TOOLGATE_MASTER_KEYS_OLD=$OLD toolgate secrets rewrap
  toolgate secrets rewrap --data data     with both keys in data/master.key, the new one in the first line

A gate on the embedded store has to be stopped first; on Postgres it can go on.";

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Wrap the keys of all secrets by the newest master key, so that older ones can be thrown away.
    #[command(after_help = REWRAP_EXAMPLES)]
    Rewrap {
        #[command(flatten)]
        store: StoreArgs,
    },
}

pub(super) async fn run(command: SecretsCommand, global: &Global) -> Result<ExitCode, Stop> {
    let SecretsCommand::Rewrap { store } = command;
    let keyring = Keyring::open(&store.data).map_err(|cause| {
        Stop::failed(format!("{:#}", anyhow::Error::from(cause))).hint("see docs/guides/connections.md")
    })?;
    let opened = store.open().await.map_err(|cause| {
        Stop::failed(format!("{cause:#}")).hint("stop the gate that uses it, or name the right store")
    })?;
    let wrapped = rewrap_all(opened.as_ref(), &keyring).await.map_err(|cause| {
        Stop::failed(format!("{:#}", anyhow::Error::from(cause)))
            .hint("give the newest key and all older ones; what is done stays done")
    })?;
    let newest = keyring.newest();
    if global.json {
        show::json(&json!({ "key": newest, "wrapped": wrapped }));
    } else {
        print::data(format_args!("{wrapped} secrets are wrapped anew; all are under {newest}"));
    }
    global.talk("older master keys are not needed any more");
    Ok(ExitCode::SUCCESS)
}
