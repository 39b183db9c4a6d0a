//! The HTTP door: routes, limits and the loop that serves them. Knows no SQL and no rules.

mod auth;
mod door;
mod error;
mod extract;
mod health;
mod mcp;
pub mod rest;
mod serve;
mod ui;

use std::sync::Arc;

use axum::Router;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;
use toolgate_app::App;

pub use auth::{NoProxy, TrustedProxy};
pub use health::{Metrics, metrics_alone};
pub use serve::{Served, answer, serve};

/// What the doors work with. Cheap to clone: every request does, at each layer.
#[derive(Debug, Clone)]
pub struct ServerState(Arc<Shared>);

/// What all requests share.
#[derive(Debug)]
pub struct Shared {
    app: App,
    settings: ServerSettings,
    metrics: Option<PrometheusHandle>,
    closing: CancellationToken,
    mcp: mcp::McpDoor,
}

impl std::ops::Deref for ServerState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// What the operator decides about the door.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Host names this server answers for, beside `localhost` and IP addresses.
    pub hosts: Vec<String>,
    /// The largest body, in bytes.
    pub max_body_bytes: usize,
    /// How long a body may take to arrive.
    pub body_timeout: std::time::Duration,
    /// How long a request line and its headers may take to arrive.
    pub header_timeout: std::time::Duration,
    /// The most connections at once.
    pub max_connections: usize,
    /// The most connections at once from one address; trusted proxies may have more.
    pub max_connections_per_peer: usize,
    /// Proxies whose word on where a request comes from is taken.
    pub trusted_proxies: Vec<TrustedProxy>,
    /// Where browsers find this server, such as `https://tools.example.com`; none means what each request names.
    pub public_url: Option<String>,
    /// Further sites, such as `https://app.example.com`, whose pages may use the MCP door.
    pub origins: Vec<String>,
    /// What seals session ids and states of MCP clients; none means a key of this process alone.
    pub sealer: Option<toolgate_mcp::Sealer>,
    /// Offer the fixtures of the MCP conformance suite instead of tools. Never on a public address.
    pub fixtures: Option<toolgate_mcp::Fixtures>,
    /// Who everyone at the MCP door is, without showing a credential: for doors that strangers can't reach.
    pub mcp_caller: Option<toolgate_core::id::PrincipalId>,
    /// Who may read `/metrics` here.
    pub metrics: Metrics,
    /// How much of what MCP clients are told may wait to be read.
    pub unread: toolgate_mcp::UnreadLimits,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            max_body_bytes: 1 << 20,
            body_timeout: std::time::Duration::from_secs(20),
            header_timeout: std::time::Duration::from_secs(10),
            max_connections: 4096,
            max_connections_per_peer: 512,
            trusted_proxies: Vec::new(),
            public_url: None,
            origins: Vec::new(),
            sealer: None,
            fixtures: None,
            mcp_caller: None,
            metrics: Metrics::default(),
            unread: toolgate_mcp::UnreadLimits::default(),
        }
    }
}

impl ServerState {
    /// The state behind the routes. Streams end when `closing` does.
    #[must_use]
    pub fn new(
        app: App,
        settings: ServerSettings,
        metrics: Option<PrometheusHandle>,
        closing: CancellationToken,
    ) -> Self {
        let mcp = mcp::McpDoor::new(&app, &settings);
        Self(Arc::new(Shared { app, settings, metrics, closing, mcp }))
    }
}

/// All routes, with the checks every request passes.
pub fn router(state: ServerState) -> Router {
    Router::new()
        .merge(Router::from(rest::routes()))
        .merge(health::routes())
        .merge(auth::routes())
        .merge(ui::routes())
        .merge(mcp::routes(&state))
        .route(rest::DOCUMENT_PATH, axum::routing::get(rest::show_document))
        .fallback(ui::fallback)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(axum::middleware::from_fn_with_state(state.clone(), door::pass))
        .layer(tower_http::catch_panic::CatchPanicLayer::custom(error::panicked))
        .with_state(state)
}
