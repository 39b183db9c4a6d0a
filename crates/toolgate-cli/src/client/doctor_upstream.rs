//! The doctor's look at MCP servers and at accounts at outside services.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toolgate_api::{ConnectionView, UpstreamView};
use toolgate_broker::{Keyring, Seals, seals_of};
use toolgate_core::port::store::Store;

use super::doctor::Check;
use super::http::Gate;
use super::page::Listing;
use super::{Stop, show};
use crate::serve::StoreArgs;

/// How much is said of a server's fault.
const MOST_OF_A_FAULT: usize = 160;

/// One line for each MCP server in trouble, or one for all. Nothing for those who may not look.
pub(super) async fn check_upstreams(gate: &Gate) -> Vec<Check> {
    let servers: Vec<UpstreamView> = match all(gate, "upstreams").await {
        Ok(Some(servers)) => servers,
        Ok(None) => return Vec::new(),
        Err(stop) => return vec![Check::fail("upstreams", stop)],
    };
    let mut checks: Vec<Check> =
        servers.iter().filter(|server| server.upstream.enabled).flat_map(troubles).collect();
    if checks.is_empty() {
        let on = servers.iter().filter(|server| server.upstream.enabled).count();
        let message = match (on, servers.len()) {
            (_, 0) => "no MCP server is written down".to_owned(),
            (on, all) => format!("{on} of {all} MCP servers switched on, none in trouble"),
        };
        checks.push(Check::ok("upstreams", message));
    }
    checks
}

fn troubles(server: &UpstreamView) -> Vec<Check> {
    let (name, mut found) = (&server.name, Vec::new());
    if let Some(health) = &server.health {
        let fault = show::shortened(health.last_error.as_deref().unwrap_or("it failed"), MOST_OF_A_FAULT);
        let hint =
            format!("see `toolgate upstream show {name}`; `toolgate upstream test {name}` tries at once");
        if health.resting {
            found.push(Check::warn("upstreams", format!("`{name}` rests after faults: {fault}"), hint));
        } else if !health.connected && health.last_error.is_some() {
            found.push(Check::warn("upstreams", format!("`{name}` failed: {fault}"), hint));
        }
    }
    let count = |state: &str| server.tools.get(state).copied().unwrap_or_default();
    if count("changed") > 0 {
        let message =
            format!("`{name}` has tools that changed or moved and are on hold: {}", count("changed"));
        found.push(Check::warn("upstreams", message, "look at each with `toolgate upstream review`"));
    }
    if count("new") > 0 {
        let message = format!("`{name}` has tools that nobody has looked at: {}", count("new"));
        found.push(Check::warn("upstreams", message, "look at each with `toolgate upstream review`"));
    }
    found
}

/// One line for each service whose accounts have to be made again, or one for all.
pub(super) async fn check_connections(gate: &Gate) -> Vec<Check> {
    let connections: Vec<ConnectionView> = match all(gate, "connections").await {
        Ok(Some(connections)) => connections,
        Ok(None) => return Vec::new(),
        Err(stop) => return vec![Check::fail("accounts", stop)],
    };
    let mut dead: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for connection in &connections {
        if matches!(connection.state.as_str(), "needs_login" | "revoked") {
            dead.entry(&connection.service).or_default().push(&connection.owner);
        }
    }
    if dead.is_empty() {
        let message = match connections.len() {
            0 => "no account at an outside service".to_owned(),
            many => format!("{many} at outside services, none that has to be connected again"),
        };
        return vec![Check::ok("accounts", message)];
    }
    let of = |(service, owners): (&str, Vec<&str>)| {
        let some = owners.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = owners.len().saturating_sub(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("`{service}` has to be connected again by {some}{more}");
        Check::warn("accounts", message, format!("each with `toolgate connection connect {service}`"))
    };
    dead.into_iter().map(of).collect()
}

/// Whether the master keys at hand open what is sealed in the store.
pub(super) async fn check_seals(args: &StoreArgs, store: &dyn Store) -> Check {
    let keyring = match Keyring::open_if_there(&args.data) {
        Ok(keyring) => keyring,
        Err(cause) => return Check::fail("seals", Stop::failed(cause.to_string())),
    };
    // A database is looked at from anywhere; its key lives with the gates.
    if keyring.is_none() && store.engine() != "sqlite" {
        return Check::warn(
            "seals",
            "no master key is at hand, so nobody knows whether it opens the secrets".to_owned(),
            "give it in TOOLGATE_MASTER_KEY, or look from where a gate runs",
        );
    }
    let hint =
        "give it in TOOLGATE_MASTER_KEY (an older one in TOOLGATE_MASTER_KEYS_OLD), or put back `master.key`";
    match seals_of(store, keyring.as_ref()).await {
        Err(cause) => Check::fail("seals", Stop::failed(cause.to_string())),
        Ok(Seals { missing, .. }) if !missing.is_empty() => {
            let keys = missing.keys().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
            let secrets: usize = missing.values().sum();
            let message =
                format!("secrets sealed under a master key that is not here: {secrets} (under {keys})");
            Check::fail("seals", Stop::failed(message).hint(hint))
        }
        Ok(Seals { wanted: Some(id), .. }) => {
            let message = format!("the store is under the master key `{id}`, which is not here");
            Check::fail("seals", Stop::failed(message).hint(hint))
        }
        Ok(Seals { older, .. }) if older > 0 => Check::warn(
            "seals",
            format!("secrets still under an older master key: {older}"),
            "move them with `toolgate secrets rewrap`",
        ),
        Ok(_) => Check::ok("seals", "every secret can be opened with the master key at hand"),
    }
}

/// The whole of a list; none where the caller may not see it.
async fn all<T: DeserializeOwned>(gate: &Gate, many: &str) -> Result<Option<Vec<T>>, Stop> {
    let listing = Listing { path: &[many], items: many, ..Listing::default() };
    let items = match listing.read_all(gate).await {
        Ok(items) => items,
        Err(stop) if stop.code() == "forbidden" => return Ok(None),
        Err(stop) => return Err(stop),
    };
    let read = |item| serde_json::from_value(item).map_err(|cause| Stop::failed(cause.to_string()));
    items.into_iter().map(read).collect::<Result<_, _>>().map(Some)
}
