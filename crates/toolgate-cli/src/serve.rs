//! Runs a gate: picks the parts, wires them, serves until told to stop, and drains.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolgate_app::{
    AdminKey, ApiKeySecret, App, Background, Connections, Limits, Records, Snapshots, set_up_admin,
    set_up_tools,
};
use toolgate_core::contract::{Binding, ToolContract};
use toolgate_core::port::capability::{Capabilities, Clock, SystemClock};
use toolgate_core::port::executor::HandOn;
use toolgate_core::port::store::Store;
use toolgate_core::runner::{Parts, Settings};
use toolgate_core::upstream::CommandRule;
use toolgate_core::{BoundTool, Runner};
use toolgate_egress::EgressClient;
use toolgate_policy::{AccessAuthorizer, GrantedConnections};
use toolgate_server::{Served, ServerSettings, ServerState};
use toolgate_store_postgres::PostgresStore;
use toolgate_store_sqlite::SqliteStore;

use crate::config::{Config, ToolConfig, check_hosts};
use crate::listen::parse_listen;
use crate::telemetry::{self, LogFormat};
use crate::{broker, files, mcp_door, names, notify, oauth, oidc, print, shares, upstreams};

/// How to run a gate.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen: an address and a port, `:8787` for every address of this machine, or only a port.
    #[arg(long, env = "TOOLGATE_LISTEN", default_value = "127.0.0.1:8787", value_parser = parse_listen,
          value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    store: StoreArgs,
    /// The configuration file; see docs/toolgate.example.toml.
    #[arg(long, env = "TOOLGATE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// A host name this server answers for, beside localhost and IP addresses. May be given several times.
    #[arg(long = "allow-host", env = "TOOLGATE_ALLOW_HOSTS", value_delimiter = ',', value_name = "HOST")]
    hosts: Vec<String>,
    /// How logs look.
    #[arg(long, env = "TOOLGATE_LOG_FORMAT", value_enum, default_value = "text")]
    log_format: LogFormat,
    /// How many seconds calls and connections under way get when the server is told to stop.
    #[arg(long, env = "TOOLGATE_DRAIN_SECONDS", default_value_t = 25, value_name = "SECONDS")]
    drain_seconds: u64,
    /// How many seconds a silent worker keeps its calls before another takes them over.
    #[arg(long, env = "TOOLGATE_LEASE_SECONDS", default_value_t = 30, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    lease_seconds: u64,
    /// Also offer the tools that show how calls can go wrong. Never in production.
    #[arg(long, env = "TOOLGATE_FIXTURE_TOOLS", hide = true)]
    fixture_tools: bool,
    /// Where fixture tools send their effects.
    #[arg(long, env = "TOOLGATE_FIXTURE_RECEIVER", hide = true, value_name = "URL")]
    fixture_receiver: Option<String>,
    /// Offer the fixtures of the MCP conformance suite at /mcp, to anyone on this machine. Never in production.
    #[arg(long, env = "TOOLGATE_MCP_CONFORMANCE", hide = true)]
    mcp_conformance: bool,
    /// Offer so many copies of a trivial tool, to see that nothing slows down.
    #[arg(long, env = "TOOLGATE_FIXTURE_COPIES", hide = true, default_value_t = 0)]
    fixture_copies: u32,
}

impl ServeArgs {
    /// What a gate within another command is run with.
    pub(crate) fn within(store: StoreArgs, config: Option<PathBuf>) -> anyhow::Result<Self> {
        #[derive(clap::Parser)]
        struct Bare {
            #[command(flatten)]
            args: ServeArgs,
        }
        let bare = <Bare as clap::Parser>::try_parse_from(["toolgate"])?;
        Ok(Self { store, config, ..bare.args })
    }
}

/// Which store.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    /// The folder of the embedded store.
    #[arg(long, env = "TOOLGATE_DATA", value_name = "DIR", default_value = "data")]
    pub(crate) data: PathBuf,
    /// A Postgres to use instead of the embedded store, for several servers at once.
    #[arg(long, env = "TOOLGATE_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
}

impl StoreArgs {
    /// Opens the store for this process to write.
    pub(crate) async fn open(&self) -> anyhow::Result<Arc<dyn Store>> {
        match self.database_url.as_deref().filter(|url| !url.is_empty()) {
            Some(url) => Ok(Arc::new(
                PostgresStore::connect(url).await.context("the Postgres store could not be opened")?,
            )),
            None => {
                let store = SqliteStore::open(&self.data);
                Ok(Arc::new(store.with_context(|| {
                    format!("the store in `{}` could not be opened", self.data.display())
                })?))
            }
        }
    }

    /// Opens the store for reading only, beside a server that may be running.
    pub(crate) async fn open_to_read(&self) -> anyhow::Result<Arc<dyn Store>> {
        match self.database_url.as_deref().filter(|url| !url.is_empty()) {
            Some(_) => self.open().await,
            None => {
                let store = SqliteStore::open_read_only(&self.data);
                Ok(Arc::new(
                    store.with_context(|| {
                        format!("there is no readable store in `{}`", self.data.display())
                    })?,
                ))
            }
        }
    }
}

/// Serves until a signal says stop.
pub(crate) async fn run(args: ServeArgs) -> anyhow::Result<()> {
    let telemetry = telemetry::start(args.log_format)?;
    let result = serve(&args, telemetry.metrics.clone()).await;
    // Sending the last traces blocks.
    let _ = tokio::task::spawn_blocking(move || telemetry.finish()).await;
    result
}

async fn serve(
    args: &ServeArgs,
    metrics: metrics_exporter_prometheus::PrometheusHandle,
) -> anyhow::Result<()> {
    upstreams::close_to_others();
    let config = Config::read(args.config.as_deref())?;
    // Listen first: an address that is taken should not cost a migration.
    let listener =
        TcpListener::bind(args.listen).await.with_context(|| format!("can't listen on {}", args.listen))?;
    let address = listener.local_addr()?;
    let watched = match config.metrics.address()? {
        None => None,
        Some(at) => Some(TcpListener::bind(at).await.with_context(|| format!("can't listen on {at}"))?),
    };
    let Wired { app, runner, background, settings } = wire(args, config, address).await?;
    let stop = stop_signal()?;
    let state = ServerState::new(app.clone(), settings.clone(), Some(metrics.clone()), stop.clone());
    print::talk(format_args!("toolgate listens on http://{address}"));
    if let Some(watched) = watched {
        print::talk(format_args!("metrics are at http://{}/metrics", watched.local_addr()?));
        let router = toolgate_server::metrics_alone(metrics);
        tokio::spawn(toolgate_server::serve(watched, router, settings.clone(), stop.clone(), Duration::ZERO));
    }
    offer_set_up(&app, settings.public_url.as_deref(), address).await?;
    let patience = Duration::from_secs(args.drain_seconds);
    let stopped = stop.clone();
    let stopping = tokio::spawn(async move {
        stopped.cancelled().await;
        std::time::Instant::now()
    });
    let served =
        toolgate_server::serve(listener, toolgate_server::router(state), settings, stop, patience).await;

    // One patience for connections and calls together.
    let stopped_at = stopping.await.unwrap_or_else(|_| std::time::Instant::now());
    let drained = runner.drain(patience.saturating_sub(stopped_at.elapsed())).await;
    background.abort();
    if let Err(cause) = Background::anchor(&runner).await {
        tracing::warn!(error = %cause, "the record was not anchored on the way out");
    }
    if let Err(cause) = app.record_key_uses().await {
        tracing::warn!(error = %cause, "when keys were last used was not written on the way out");
    }
    if served == Served::CutOff || !drained {
        tracing::warn!("some calls or connections were cut off; they are looked after at the next start");
    }
    tracing::info!("stopped");
    Ok(())
}

/// Everything behind the door, ready to serve.
pub(crate) struct Wired {
    pub(crate) app: App,
    pub(crate) runner: Runner,
    pub(crate) background: tokio::task::JoinHandle<()>,
    pub(crate) settings: ServerSettings,
}

/// Picks the parts and wires them.
pub(crate) async fn wire(args: &ServeArgs, config: Config, address: SocketAddr) -> anyhow::Result<Wired> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store = args.store.open().await?;
    greet(set_up_admin(store.as_ref(), given_admin_key()?, clock.now()).await?);
    let fixtures = match args.mcp_conformance {
        true => Some(mcp_door::fixtures(address, store.as_ref(), clock.now()).await?),
        false => None,
    };

    let tools = bind_tools(args, &config.tools)?;
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let tools = set_up_tools(store.as_ref(), tools, &today, clock.now()).await?;
    tracing::info!(tools = tools.len(), engine = store.engine(), "ready to serve");
    let snapshots = Snapshots::new(Arc::clone(&store), tools, today, config.default_policies()?)?;
    let egress = EgressClient::new(config.egress)?;
    let keyring = broker::keyring(&args.store.data, store.as_ref()).await?;
    let sealer = mcp_door::sealer(&keyring);
    let seen_at = config.server.public_url.clone().map(public_url).transpose()?;
    let broker = broker::broker(config.connections, (&store, &clock), (keyring, egress.clone()), seen_at)?;
    let pool = upstreams::pool(&config.upstreams, egress.clone(), Arc::clone(&broker) as _);
    let snapshots =
        Arc::new(snapshots.with_upstreams(pool, CommandRule { allowed: config.upstreams.commands.clone() }));

    let lease = Duration::from_secs(args.lease_seconds);
    let runner = Runner::new(Parts {
        tools: Arc::clone(&snapshots) as _,
        policy: Arc::clone(&snapshots) as _,
        authorizer: Arc::new(AccessAuthorizer),
        connections: Arc::new(
            Connections::new(GrantedConnections::default(), Arc::clone(&snapshots))
                .with_accounts(Arc::clone(&broker) as _),
        ),
        limiter: Arc::new(Limits::new(
            Arc::clone(&store),
            Arc::clone(&snapshots),
            config.limits.calls_per_second,
        )),
        directory: Arc::new(Records::new(Arc::clone(&store), Arc::clone(&snapshots))),
        capabilities: capabilities(args, &clock)?,
        store,
        clock,
        settings: Settings { lease, ..Settings::default() },
    });
    // What an earlier process left is looked after before the first new call.
    runner.parts().store.end_foreign_leases().await?;
    let background = Background { renew_every: lease / 4, ..Background::default() };
    let app = App::new(runner.clone(), snapshots).with_providers(oidc::connect(config.oidc)?);
    let app = app.with_oauth(oauth::settings(config.oauth)?);
    let app = app.with_shares(shares::settings(&config.shares)?);
    let known_at = config.server.public_url.clone().map(public_url).transpose()?;
    let app = app.with_broker(broker);
    let app = app.with_files(files::settings(&config.files));
    let app = app.with_outbox(notify::outbox(config.notify, known_at)?);
    let background = tokio::spawn(background.run(app.clone()));

    check_hosts("--allow-host", &args.hosts)?;
    let mut settings =
        ServerSettings { hosts: [config.server.hosts, args.hosts.clone()].concat(), ..Default::default() };
    settings.max_body_bytes = config.server.max_body_bytes.unwrap_or(settings.max_body_bytes);
    settings.max_connections_per_peer =
        config.server.max_connections_per_peer.unwrap_or(settings.max_connections_per_peer);
    settings.trusted_proxies = config.server.trusted_proxies;
    settings.metrics = config.metrics.door();
    settings.public_url = config.server.public_url.map(public_url).transpose()?;
    settings.hosts.extend(settings.public_url.as_deref().and_then(host_of));
    settings.origins = mcp_door::origins(config.server.origins)?;
    settings.sealer = Some(sealer);
    settings.mcp_caller = fixtures.as_ref().map(|_| mcp_door::FIXTURE_CALLER.parse()).transpose()?;
    settings.fixtures = fixtures;
    Ok(Wired { app, runner, background, settings })
}

fn given_admin_key() -> anyhow::Result<Option<ApiKeySecret>> {
    match std::env::var("TOOLGATE_ADMIN_KEY") {
        Ok(text) if !text.is_empty() => match ApiKeySecret::given(&text) {
            Some(key) => Ok(Some(key)),
            None => bail!("TOOLGATE_ADMIN_KEY must be 32 to 512 visible ASCII characters"),
        },
        _ => Ok(None),
    }
}

fn greet(admin: AdminKey) {
    if let AdminKey::Made(key) = admin {
        print::talk("This is the first start. Your administrator key, shown only now:");
        print::talk(format_args!("\n    {}\n", key.reveal()));
        print::talk("Keep it, and `export TOOLGATE_KEY=…` to use it with the toolgate command.");
    }
}

/// Shows how the first person signs in, as long as nobody can.
async fn offer_set_up(app: &App, public_url: Option<&str>, address: SocketAddr) -> anyhow::Result<()> {
    let Some(token) = app.offer_set_up().await? else { return Ok(()) };
    let here = match address.ip().is_unspecified() {
        true => format!("http://localhost:{}", address.port()),
        false => format!("http://{address}"),
    };
    let base = public_url.unwrap_or(&here);
    print::talk("Nobody can sign in yet. Make the first administrator within a day at:");
    print::talk(format_args!("\n    {base}/set-up?token={}\n", token.reveal()));
    Ok(())
}

fn public_url(text: String) -> anyhow::Result<String> {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .map(|rest| rest.trim_end_matches('/'));
    let plain = |host: &str| {
        !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:[]".contains(&b))
    };
    if host.is_some_and(plain) {
        return Ok(text.trim_end_matches('/').to_owned());
    }
    bail!("`server.public_url` must be such as `https://tools.example.com`, without a path")
}

fn host_of(url: &str) -> Option<String> {
    let authority = url.split_once("://")?.1;
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    };
    Some(host.to_owned())
}

fn bind_tools(args: &ServeArgs, config: &ToolConfig) -> anyhow::Result<Vec<BoundTool>> {
    let mut plugins = vec![toolgate_tools::plugin()];
    if args.fixture_tools {
        tracing::warn!("fixture tools are on: this server is for trying things, not for production");
        plugins.push(toolgate_fixtures::plugin());
    }
    if args.mcp_conformance {
        plugins.push(toolgate_fixtures::conformance::plugin());
    }
    let mut bound = Vec::new();
    let mut known = Vec::new();
    for plugin in plugins {
        for (contract, capabilities, executor) in plugin.registrable()? {
            known.push(contract.id.clone());
            // What is switched off is not even looked at: it can't keep the server from starting.
            if !config.enables(contract.id.as_str()) {
                continue;
            }
            let id = contract.id.clone();
            let tool = toolgate_schema::register(contract, capabilities, executor)
                .with_context(|| format!("the tool `{id}` could not be registered"))?;
            bound.push(tool);
        }
    }
    for (contract, executor) in tool_files(config.folder.as_deref())? {
        known.push(contract.id.clone());
        if config.enables(contract.id.as_str()) {
            let id = contract.id.clone();
            let tool = toolgate_schema::register(contract, Vec::new(), executor)
                .with_context(|| format!("the tool `{id}` could not be registered"))?;
            bound.push(tool);
        }
    }
    let known: Vec<&str> = known.iter().map(|id| id.as_str()).collect();
    for (setting, named) in
        [("enabled", config.enabled.as_deref().unwrap_or_default()), ("disabled", &config.disabled)]
    {
        for (name, meant) in names::unknown(named, &known) {
            let meant = meant.map(|id| format!("; did you mean `{id}`?")).unwrap_or_default();
            tracing::warn!("`tools.{setting}` names `{name}`, and there is no such tool{meant}");
        }
    }
    if args.fixture_copies > 0 {
        bound.extend(copies_of_the_clock(args.fixture_copies)?);
    }
    Ok(bound)
}

/// The tools that files define: those that run nothing here and wait for their results.
fn tool_files(folder: Option<&Path>) -> anyhow::Result<Vec<(ToolContract, Arc<HandOn>)>> {
    let Some(folder) = folder else { return Ok(Vec::new()) };
    let listed =
        std::fs::read_dir(folder).with_context(|| format!("`{}` can't be read", folder.display()))?;
    let mut files: Vec<PathBuf> = listed.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let contract = std::fs::read_to_string(&file)
                .map_err(anyhow::Error::from)
                .and_then(|text| Ok(toolgate_schema::parse_contract(&text)?))
                .with_context(|| format!("`{}` is not a tool", file.display()))?;
            let to = match contract.execution {
                Binding::External { .. } => "an outside system",
                Binding::Space { .. } => "someone at a screen",
                Binding::Native { .. } | Binding::Mcp { .. } => {
                    bail!("`{}`: a file can define `external` and `space` tools only", file.display())
                }
            };
            let within = contract.execution.waits().unwrap_or_default();
            Ok((contract, Arc::new(HandOn { to, within })))
        })
        .collect()
}

/// Each has schemas of its own, as tools from different hands do: nothing of them can be shared.
fn copies_of_the_clock(count: u32) -> anyhow::Result<Vec<BoundTool>> {
    let tools = toolgate_tools::plugin().registrable()?;
    let clock = tools.into_iter().find(|(contract, ..)| contract.id.as_str() == "core__get_current_time");
    let (clock, capabilities, executor) = clock.context("there is no clock")?;
    let copy = |number: u32| {
        let mut contract = clock.clone();
        contract.id = format!("fixture__copy_{number}").parse()?;
        for schema in [&mut contract.input_schema, &mut contract.output_schema] {
            let mut own = schema.to_value();
            own["$comment"] = format!("copy {number}").into();
            *schema = own.into();
        }
        Ok(toolgate_schema::register(contract, capabilities.clone(), Arc::clone(&executor))?)
    };
    (0..count).map(copy).collect()
}

fn capabilities(args: &ServeArgs, clock: &Arc<dyn Clock>) -> anyhow::Result<Capabilities> {
    let mut capabilities = Capabilities { clock: Some(Arc::clone(clock)), ..Capabilities::default() };
    if let Some(receiver) = &args.fixture_receiver {
        capabilities.http = Some(Arc::new(toolgate_fixtures::ReceiverHttp::new(receiver)?));
    }
    Ok(capabilities)
}

fn stop_signal() -> anyhow::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("told to stop; finishing what is under way");
        stopping.cancel();
    });
    Ok(stop)
}

/// Whether a folder can hold the embedded store.
pub(crate) fn can_hold_store(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let probe = folder.join(".toolgate-probe");
    std::fs::write(&probe, b"probe")?;
    std::fs::remove_file(probe)?;
    Ok(())
}
