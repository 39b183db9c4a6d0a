//! Making a connection: which way a server is greeted, and over what.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio_util::sync::CancellationToken;
use toolgate_core::id::Slug;
use toolgate_core::upstream::{Questions, Transport};
use url::Url;

use crate::child::{Stderr, start};
use crate::direct::Direct;
use crate::door::Door;
use crate::fault::{BadAnswers, Fault};
use crate::handler::{Changed, Handler};
use crate::keys::Keys;
use crate::old_http::OldHttp;
use crate::pipe::Pipe;
use crate::settings::Settings;

/// How a server greets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Each request stands for itself.
    Modern,
    /// A handshake first.
    Legacy,
}

/// Over what a server is spoken to at its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The streamable transport, or a program's pipe.
    Usual,
    /// The transport of 2024-11-05.
    Old,
}

/// What is needed to connect.
pub(crate) struct Dial {
    pub(crate) name: Slug,
    pub(crate) transport: Transport,
    pub(crate) concurrency: u32,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) egress: toolgate_egress::EgressClient,
    pub(crate) settings: Settings,
    pub(crate) era: Option<Era>,
    /// Over what it was spoken to the last time; none when nothing is known.
    pub(crate) way: Option<Way>,
    pub(crate) stderr: Stderr,
    pub(crate) changed: Changed,
    /// What becomes of questions in the middle of a call.
    pub(crate) questions: Questions,
}

/// A connection that came about.
pub(crate) struct Opened {
    pub(crate) service: RunningService<RoleClient, Handler>,
    pub(crate) bad: BadAnswers,
    /// Ends when an older server's own stream is open.
    pub(crate) hears: Option<CancellationToken>,
    /// The short way for calls, where there is one.
    pub(crate) direct: Option<Direct>,
    pub(crate) way: Way,
}

impl Dial {
    /// Connects. The caller sets the time limit.
    pub(crate) async fn open(&self) -> Result<Opened, Fault> {
        if let (Some(Way::Old), Transport::Http { url, headers }) = (self.way, &self.transport) {
            let opened = self.attempt_old(url, headers).await;
            return opened.map_err(|unopened| unopened.into_fault(self.name.as_str()));
        }
        let opened = match self.attempt(self.era).await {
            // Of older servers some answer a question they don't know with something, or leave. They get another chance
            // to be greeted the way they know.
            Err(Unopened::Greeting(_)) if self.era.is_none() => self.attempt(Some(Era::Legacy)).await,
            opened => opened,
        };
        let opened = match (opened, &self.transport) {
            // Nothing is posted there: what is there may be a stream, as it was before 2025. Where it is not, what was
            // said first stands.
            (Err(unopened), Transport::Http { url, headers }) if unopened.is_not_there() => {
                match self.attempt_old(url, headers).await {
                    Err(Unopened::Fault(Fault::Answered(_))) => Err(unopened),
                    tried => tried,
                }
            }
            (opened, _) => opened,
        };
        opened.map_err(|unopened| unopened.into_fault(self.name.as_str()))
    }

    /// Connects over the transport of 2024-11-05.
    async fn attempt_old(&self, url: &str, headers: &BTreeMap<String, String>) -> Result<Opened, Unopened> {
        let target = self.target(url)?;
        let bad = BadAnswers::default();
        let (keys, most) = (Arc::clone(&self.keys), self.settings.largest_message);
        let door = Door::new(self.egress.http(), keys, most, bad.clone(), None);
        let custom = http_config(&target, headers, self.concurrency, most).custom_headers;
        let opened = OldHttp::open(door, &target, custom.into_iter().collect()).await;
        let transport = opened.map_err(|error| match Fault::of_http(self.name.as_str(), &error) {
            Fault::Lost(why) => Fault::NotSent(why),
            other => other,
        })?;
        let handler = Handler::new(Arc::clone(&self.changed), self.questions);
        let service = handler.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await?;
        Ok(Opened { service, bad, hears: None, direct: None, way: Way::Old })
    }

    /// Where a server is, if requests may go there.
    fn target(&self, url: &str) -> Result<Url, Fault> {
        let target = Url::parse(url).map_err(|_| Fault::NotSent("its address is none".to_owned()))?;
        self.egress.check_url(&target).map_err(|error| Fault::NotSent(error.to_string()))?;
        Ok(target)
    }

    async fn attempt(&self, era: Option<Era>) -> Result<Opened, Unopened> {
        let handler = Handler::new(Arc::clone(&self.changed), self.questions);
        match &self.transport {
            Transport::Stdio { command, args, env } => {
                let presented =
                    self.keys.present().await.map_err(|error| Fault::Answered(Box::new(error)))?;
                let started = start(command, args, env, &presented, self.stderr.clone(), &self.settings)
                    .map_err(Fault::NotSent)?;
                let bad = BadAnswers::default();
                let pipe = Pipe::new(started, self.settings.largest_message, bad.clone());
                let service = handler.serve_with_lifecycle(pipe, self.mode(era)).await?;
                Ok(Opened { service, bad, hears: None, direct: None, way: Way::Usual })
            }
            Transport::Http { url, headers } => self.attempt_http(url, headers, handler, era).await,
        }
    }

    async fn attempt_http(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        handler: Handler,
        era: Option<Era>,
    ) -> Result<Opened, Unopened> {
        let target = self.target(url)?;
        let (most, bad) = (self.settings.largest_message, BadAnswers::default());
        let calls = (self.questions == Questions::Ask).then(|| handler.calls().clone());
        let door = Door::new(self.egress.http(), Arc::clone(&self.keys), most, bad.clone(), calls);
        let config = http_config(&target, headers, self.concurrency, most);
        let lean = self.egress.lean_to(&target);
        let direct = lean.and_then(|lean| Direct::new(door.clone(), lean, &config, self.questions));
        let hears = Some(door.hears());
        let transport = StreamableHttpClientTransport::with_client(door, config);
        let service = handler.serve_with_lifecycle(transport, self.mode(era)).await?;
        let direct = direct.filter(|_| era_of(&service) == Era::Modern);
        Ok(Opened { service, bad, hears, direct, way: Way::Usual })
    }

    fn mode(&self, era: Option<Era>) -> ClientLifecycleMode {
        let modern = || vec![ProtocolVersion::V_2026_07_28];
        match (era, &self.transport) {
            (Some(Era::Legacy), _) => ClientLifecycleMode::Initialize,
            (None, Transport::Stdio { .. }) => ClientLifecycleMode::Auto {
                preferred_versions: modern(),
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            // The library would count the time that a log-in takes against the server. The door has a limit of its own,
            // and trying the other way is cheap.
            (Some(Era::Modern), _) | (None, Transport::Http { .. }) => {
                ClientLifecycleMode::Discover { preferred_versions: modern() }
            }
        }
    }
}

/// How a server was greeted in the end.
pub(crate) fn era_of(service: &RunningService<RoleClient, Handler>) -> Era {
    let modern = service.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
    if modern { Era::Modern } else { Era::Legacy }
}

fn http_config(
    target: &Url,
    headers: &BTreeMap<String, String>,
    concurrency: u32,
    most: usize,
) -> StreamableHttpClientTransportConfig {
    let mut config = StreamableHttpClientTransportConfig::with_uri(target.as_str())
        .max_concurrent_requests(concurrency as usize);
    config.max_sse_event_size = most;
    let mut again = ExponentialBackoff::default();
    again.max_times = Some(5);
    again.max_delay = Some(Duration::from_secs(10));
    config.retry_config = Arc::new(again);
    for (name, value) in headers {
        // Documents are checked when they are written; what does not fit is not sent.
        if let (Ok(name), Ok(value)) = (name.parse(), value.parse()) {
            config.custom_headers.insert(name, value);
        }
    }
    config
}

/// Why a connection did not come about.
enum Unopened {
    Fault(Fault),
    /// What came in answer to the greeting is not what was hoped for.
    Greeting(Box<ClientInitializeError>),
    /// The library's other faults.
    Failed(Box<ClientInitializeError>),
}

impl From<Fault> for Unopened {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<ClientInitializeError> for Unopened {
    fn from(error: ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::ConflictInitResponseId(..)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
            | ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::JsonRpcError(_)
            | ClientInitializeError::NoCompatibleProtocolVersion { .. } => Self::Greeting(Box::new(error)),
            other => Self::Failed(Box::new(other)),
        }
    }
}

impl Unopened {
    /// Whether nothing that takes requests is at the address.
    fn is_not_there(&self) -> bool {
        let (Self::Greeting(error) | Self::Failed(error)) = self else { return false };
        Fault::is_not_there(error)
    }

    fn into_fault(self, server: &str) -> Fault {
        match self {
            Self::Fault(fault) => fault,
            Self::Greeting(error) | Self::Failed(error) => Fault::of_connecting(server, &error),
        }
    }
}
