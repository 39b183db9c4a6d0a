//! Which store to look at directly, without a server.

use std::path::PathBuf;

use clap::Args;

use crate::serve::StoreArgs;

/// A store, if one is named.
#[derive(Debug, Args)]
pub(super) struct StoreChoice {
    /// Look at the embedded store in this folder, without a server.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["database_url", "store_from_env"])]
    data: Option<PathBuf>,
    /// Look at this Postgres, without a server.
    #[arg(long, value_name = "URL", conflicts_with = "store_from_env")]
    database_url: Option<String>,
    /// Look at the store that TOOLGATE_DATABASE_URL or TOOLGATE_DATA names, without a server.
    #[arg(long)]
    store_from_env: bool,
}

impl StoreChoice {
    /// The store, if one is named. A server's own environment alone names none: the person does.
    pub(super) fn args(&self) -> Option<StoreArgs> {
        let from = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let (data, database_url) = if self.store_from_env {
            (from("TOOLGATE_DATA").map(PathBuf::from), from("TOOLGATE_DATABASE_URL"))
        } else if self.data.is_some() || self.database_url.is_some() {
            (self.data.clone(), self.database_url.clone())
        } else {
            return None;
        };
        Some(StoreArgs { data: data.unwrap_or_else(|| PathBuf::from("data")), database_url })
    }
}
