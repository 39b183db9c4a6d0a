//! One server of one tenant: its connections, its places, and how it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::{PrincipalId, Slug, TenantId};
use toolgate_core::port::connection::Credentials;
use toolgate_core::port::upstream::Health;
use toolgate_core::time::Timestamp;
use toolgate_core::upstream::Upstream;
use toolgate_egress::EgressClient;

use crate::breaker::Breaker;
use crate::child::Stderr;
use crate::connection::Connection;
use crate::fault::{Fault, unreachable};
use crate::handler::Changed;
use crate::keys::Brokered;
use crate::opening::{Dial, Era, Way};
use crate::places::Places;
use crate::secrets::Secrets;
use crate::settings::Settings;

/// How long the stream of an older server may take to open.
const HEARD_WITHIN: Duration = Duration::from_millis(500);

/// What all servers share.
pub(crate) struct World {
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) egress: EgressClient,
    pub(crate) settings: Settings,
}

/// A server as one document describes it. Another document is another server.
pub(crate) struct Server {
    pub(crate) tenant: TenantId,
    pub(crate) name: Slug,
    pub(crate) upstream: Arc<Upstream>,
    world: Arc<World>,
    places: Places,
    /// Questions that may be open at once.
    questions: Arc<Semaphore>,
    changed: Changed,
    /// What it was shown of ours.
    pub(crate) secrets: Secrets,
    stderr: Stderr,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// One for each connection: what one person's account does to a server is nobody else's rest.
    breakers: HashMap<Option<PrincipalId>, Breaker>,
    /// The last fault, safe to show, and when it was; none once it did what was asked of it.
    last: Option<(String, Timestamp)>,
    era: Option<Era>,
    way: Option<Way>,
    protocol: Option<String>,
    typical: Option<Duration>,
    lanes: HashMap<Option<PrincipalId>, Lane>,
}

impl State {
    fn ill(&mut self, person: &Option<PrincipalId>, why: String, settings: &Settings) {
        self.note(why.clone());
        self.breakers.entry(person.clone()).or_default().ill(why, Instant::now(), settings);
    }

    fn note(&mut self, why: String) {
        self.last = Some((why, crate::breaker::now()));
    }
}

/// The connection for one person, or for all.
struct Lane {
    link: Link,
    used: Instant,
}

type Opening = Shared<BoxFuture<'static, Result<Arc<Connection>, CallError>>>;

#[derive(Clone)]
enum Link {
    Opening(Opening),
    Open(Arc<Connection>),
}

impl Server {
    pub(crate) fn new(
        tenant: TenantId,
        name: Slug,
        upstream: Arc<Upstream>,
        world: Arc<World>,
        changed: Changed,
    ) -> Self {
        let places = Places::new(upstream.concurrency, world.settings.queue_factor);
        let questions = Arc::new(Semaphore::new((upstream.concurrency / 2).max(1) as usize));
        Self {
            tenant,
            name,
            upstream,
            world,
            places,
            questions,
            changed,
            secrets: Secrets::default(),
            stderr: Stderr::default(),
            state: Mutex::default(),
        }
    }

    /// A place among the calls that run at once. So many may wait for one; the next is told.
    pub(crate) async fn place(&self) -> Result<OwnedSemaphorePermit, CallError> {
        self.places.take().await.ok_or_else(|| {
            CallError::new(ErrorCode::UpstreamFailed, format!("`{}` has as many calls as it may", self.name))
                .hint("try again later, or raise `concurrency` of the server")
        })
    }

    /// A place among the questions that are open at once; half of the calls may wait for people, and the rest may not.
    pub(crate) fn question_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.questions).try_acquire_owned().ok()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.world.settings
    }

    /// An open connection for this person, made now where there is none. All who ask meanwhile share one attempt.
    pub(crate) async fn connection(
        self: &Arc<Self>,
        person: Option<&PrincipalId>,
        rest: Rest,
    ) -> Result<Arc<Connection>, CallError> {
        match self.reach(person, rest)? {
            Link::Open(connection) => Ok(connection),
            Link::Opening(opening) => opening.await,
        }
    }

    /// The connection, or the attempt to share.
    fn reach(self: &Arc<Self>, person: Option<&PrincipalId>, rest: Rest) -> Result<Link, CallError> {
        let mut state = self.state();
        let key = person.cloned();
        if let (Rest::Respected, Some(breaker)) = (rest, state.breakers.get(&key))
            && let Some(left) = breaker.rests(Instant::now())
        {
            return Err(self.resting(breaker, left));
        }
        if let Some(lane) = state.lanes.get_mut(&key) {
            lane.used = Instant::now();
            match &lane.link {
                Link::Open(connection) if !connection.is_open() => {}
                link => return Ok(link.clone()),
            }
        }
        let opening = self.open(key.clone(), state.era, state.way);
        state.lanes.insert(key, Lane { link: Link::Opening(opening.clone()), used: Instant::now() });
        Ok(Link::Opening(opening))
    }

    /// Takes note of how a call went.
    pub(crate) fn called(&self, person: Option<&PrincipalId>, took: Duration, fault: Option<&Fault>) {
        let mut state = self.state();
        match fault {
            Some(fault) if fault.is_of_connection() => {
                let why = fault.clone().into_error(self.name.as_str()).message;
                state.ill(&person.cloned(), why, &self.world.settings);
            }
            fault => {
                state.breakers.remove(&person.cloned());
                if fault.is_none() {
                    state.last = None;
                }
                let before = state.typical.unwrap_or(took);
                state.typical = Some((before * 7 + took) / 8);
            }
        }
    }

    /// Takes note of a listing that someone asked for.
    pub(crate) fn listed(&self, person: Option<&PrincipalId>) {
        let mut state = self.state();
        state.breakers.remove(&person.cloned());
        state.last = None;
    }

    /// Refuses a tool that reads otherwise over this connection than what was accepted: it was changed behind our back,
    /// and what was accepted is not what would be called.
    pub(crate) fn check(&self, connection: &Connection, tool: &str, accepted: &str) -> Result<(), CallError> {
        if connection.offers(tool, accepted) {
            return Ok(());
        }
        (self.changed)();
        Err(CallError::new(
            ErrorCode::UpstreamFailed,
            format!("`{}` no longer offers this tool as it was accepted", self.name),
        )
        .hint("someone has to look at what it offers now"))
    }

    pub(crate) fn health(&self) -> Health {
        let state = self.state();
        let last = state.last.clone();
        Health {
            connected: state.lanes.values().any(Lane::is_open),
            resting: state.breakers.values().any(|breaker| breaker.rests(Instant::now()).is_some()),
            protocol: state.protocol.clone(),
            last_error: last.as_ref().map(|(why, _)| why.clone()),
            failed_at: last.map(|(_, at)| at),
            stderr: self.stderr.shown(),
            typical: state.typical,
        }
    }

    /// Closes connections that were not used since; answers how many are left.
    pub(crate) fn close_unused(&self, since: Instant) -> usize {
        let mut state = self.state();
        // One that is being used is held by who uses it, and ends when they are done.
        state.lanes.retain(|_, lane| lane.used > since || matches!(lane.link, Link::Opening(_)));
        state.lanes.len()
    }

    /// When each connection was last used.
    pub(crate) fn uses(&self) -> Vec<Instant> {
        self.state().lanes.values().map(|lane| lane.used).collect()
    }

    /// Lets go of one connection: calls that run over it end as they would have, later ones make another.
    pub(crate) fn renew(&self, person: Option<&PrincipalId>) {
        let mut state = self.state();
        let key = person.cloned();
        state.lanes.remove(&key);
        state.breakers.remove(&key);
    }

    /// Ends everything that is open, calls that run included.
    pub(crate) fn close(&self) {
        let lanes = std::mem::take(&mut self.state().lanes);
        for lane in lanes.into_values() {
            if let Link::Open(connection) = lane.link {
                connection.close();
            }
        }
    }

    /// Connects in a task of its own: who asked first may leave, and others still wait for it.
    fn open(self: &Arc<Self>, person: Option<PrincipalId>, era: Option<Era>, way: Option<Way>) -> Opening {
        let server = Arc::clone(self);
        let task = tokio::spawn(async move {
            let within = Duration::from_millis(server.upstream.connect_timeout_ms);
            let dial = server.dial(person.clone(), era, way);
            let attempt = tokio::time::timeout(within, greet(dial)).await;
            let fault = match attempt {
                Ok(Ok(connection)) => return Ok(server.opened(person, connection)),
                Ok(Err(fault)) => fault,
                Err(_) => Fault::NotSent(format!("it did not answer within {} ms", within.as_millis())),
            };
            Err(server.not_opened(&person, fault))
        });
        let name = self.name.clone();
        async move { task.await.unwrap_or_else(|_| Err(unreachable(name.as_str(), "connecting broke off"))) }
            .boxed()
            .shared()
    }

    fn dial(&self, person: Option<PrincipalId>, era: Option<Era>, way: Option<Way>) -> Dial {
        let keys = Brokered::new(
            Arc::clone(&self.world.credentials),
            self.tenant.clone(),
            self.name.as_str(),
            self.upstream.auth.clone(),
            person,
            self.secrets.clone(),
        );
        Dial {
            name: self.name.clone(),
            transport: self.upstream.transport.clone(),
            concurrency: self.upstream.concurrency,
            keys: Arc::new(keys),
            egress: self.world.egress.clone(),
            settings: self.world.settings.clone(),
            era,
            way,
            stderr: self.stderr.clone(),
            changed: Arc::clone(&self.changed),
            questions: self.upstream.questions,
        }
    }

    fn opened(&self, person: Option<PrincipalId>, connection: Connection) -> Arc<Connection> {
        let connection = Arc::new(connection);
        let mut state = self.state();
        state.era = Some(connection.era());
        state.way = Some(connection.way());
        state.protocol = Some(connection.protocol());
        state.lanes.insert(person, Lane { link: Link::Open(Arc::clone(&connection)), used: Instant::now() });
        drop(state);
        // A server that comes back with other tools says nothing of it.
        (self.changed)();
        connection
    }

    fn not_opened(&self, person: &Option<PrincipalId>, fault: Fault) -> CallError {
        let error = fault.into_error(self.name.as_str());
        let mut state = self.state();
        state.lanes.remove(person);
        // It may have been replaced by one that greets otherwise.
        state.era = None;
        state.way = None;
        if error.code == ErrorCode::ConnectionNeeded {
            state.note(error.message.clone());
        } else {
            state.ill(person, error.message.clone(), &self.world.settings);
        }
        tracing::warn!(tenant = %self.tenant, server = %self.name, code = %error.code, "an MCP server could not be connected to");
        error
    }

    fn resting(&self, breaker: &Breaker, left: Duration) -> CallError {
        let why = breaker.last.as_deref().unwrap_or("it failed");
        CallError::new(
            ErrorCode::UpstreamFailed,
            format!("`{}` failed too often and rests for {} s: {why}", self.name, left.as_secs() + 1),
        )
        .hint("try again after that; testing the server tries at once")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a server that rests is left to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Respected,
    Ignored,
}

impl Lane {
    fn is_open(&self) -> bool {
        matches!(&self.link, Link::Open(connection) if connection.is_open())
    }
}

/// Connects and asks for the tools: what they return is read by what they declare.
async fn greet(dial: Dial) -> Result<Connection, Fault> {
    let connection = Connection::open(dial).await?;
    connection.list().await?;
    // What a server says before the stream is open is lost. One that never opens it is not waited for.
    let _ = tokio::time::timeout(HEARD_WITHIN, connection.heard()).await;
    Ok(connection)
}
