//! The loop that serves connections: bounded in number and in patience, and drained on the way out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::ServerSettings;
use crate::auth::{PeerAddress, PeerPlaces};
use crate::door;

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Every connection was answered to its end.
    Drained,
    /// Some were cut off when patience ran out.
    CutOff,
}

/// Answers one request without a network.
pub async fn answer(router: &Router, request: axum::extract::Request) -> axum::response::Response {
    let service = TowerToHyperService::new(router.clone());
    match service.call(request).await {
        Ok(response) => response,
        // A router can't fail.
        Err(never) => match never {},
    }
}

/// Serves until `stop` ends, then takes no more connections and waits `patience` for those there are.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    settings: ServerSettings,
    stop: CancellationToken,
    patience: Duration,
) -> Served {
    let places = Arc::new(Semaphore::new(settings.max_connections));
    let peer_places = PeerPlaces::default();
    let graceful = GracefulShutdown::new();
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(settings.header_timeout).max_buf_size(64 * 1024);
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = stop.cancelled() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        let (stream, peer): (_, SocketAddr) = match accepted {
            Ok(accepted) => accepted,
            Err(cause) => {
                // Out of files, most likely: a pause lets some go.
                tracing::warn!(error = %cause, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let peer = peer.ip().to_canonical();
        let most = match settings.trusted_proxies.iter().any(|proxy| proxy.covers(peer)) {
            true => settings.max_connections,
            false => settings.max_connections_per_peer,
        };
        let Some(peer_place) = peer_places.take(peer, most) else {
            tracing::debug!(%peer, "an address has too many connections");
            continue;
        };
        // Answers are small and wanted at once.
        let _ = stream.set_nodelay(true);
        let inner = TowerToHyperService::new(router.clone());
        let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(PeerAddress(peer));
            door::straighten(request.uri_mut());
            inner.call(request)
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            let _places = (place, peer_place);
            if let Err(cause) = connection.await {
                tracing::debug!(error = %cause, "a connection ended badly");
            }
        });
    }
    drop(listener);
    match tokio::time::timeout(patience, graceful.shutdown()).await {
        Ok(()) => Served::Drained,
        Err(_) => Served::CutOff,
    }
}
