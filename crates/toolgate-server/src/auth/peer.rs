//! Where a request comes from, and how many connections one address may have.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

use super::trusted_proxy::TrustedProxy;
use crate::ServerState;
use crate::error::ApiError;

/// The other end of a connection; the server leaves it on each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// The address a request comes from: the other end of the connection, or, when that is a proxy the operator trusts,
/// the last address before the trusted ones in `X-Forwarded-For`. What stands before that, anyone could have written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl Peer {
    pub(crate) fn of(extensions: &Extensions, headers: &HeaderMap, trusted: &[TrustedProxy]) -> Self {
        let direct = extensions.get::<PeerAddress>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        Self(behind(direct.to_canonical(), headers, trusted))
    }
}

impl FromRequestParts<ServerState> for Peer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, ApiError> {
        Ok(Self::of(&parts.extensions, &parts.headers, &state.settings.trusted_proxies))
    }
}

fn behind(direct: IpAddr, headers: &HeaderMap, trusted: &[TrustedProxy]) -> IpAddr {
    let mut nearest = direct;
    let values: Vec<_> = headers.get_all("x-forwarded-for").iter().collect();
    let hops = values.iter().rev().flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
    for hop in hops {
        if !trusted.iter().any(|proxy| proxy.covers(nearest)) {
            break;
        }
        // A hop that can't be read ends the trail at the proxy that sent it.
        let Some(address) = address(hop.trim()) else { break };
        nearest = address.to_canonical();
    }
    nearest
}

/// An address as proxies write it: bare, in brackets, or with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.split(']').next());
    bare.unwrap_or(text)
        .parse()
        .ok()
        .or_else(|| text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip()))
}

/// How many connections each address has.
#[derive(Debug, Clone, Default)]
pub(crate) struct PeerPlaces(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One connection's place; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct PeerPlace {
    places: PeerPlaces,
    peer: IpAddr,
}

impl PeerPlaces {
    /// A place for one more connection from this address, if it has fewer than `most`.
    pub(crate) fn take(&self, peer: IpAddr, most: usize) -> Option<PeerPlace> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(peer).or_insert(0);
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(PeerPlace { places: self.clone(), peer })
    }
}

impl Drop for PeerPlace {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(direct: &str, forwarded: &[&str], expected: &str) {
        let trusted = ["10.0.0.1", "10.0.0.2", "192.168.0.0/16"].map(|text| text.parse().unwrap());
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let found = behind(direct.parse().unwrap(), &headers, &trusted);
        assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{direct} {forwarded:?}");
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        check("192.0.2.1", &["198.51.100.1"], "192.0.2.1");
        check("10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.9, 198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.9, 198.51.100.1, 10.0.0.2"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.9", "198.51.100.1, 10.0.0.2"], "198.51.100.1");
        check("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1");
        check("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1");
        check("10.0.0.1", &["nonsense"], "10.0.0.1");
        check("10.0.0.1", &["198.51.100.1, nonsense"], "10.0.0.1");
        check("10.0.0.1", &[], "10.0.0.1");
        check("192.168.7.7", &["198.51.100.1, 192.168.1.1"], "198.51.100.1");
    }

    #[test]
    fn places_come_back() {
        let (places, peer) = (PeerPlaces::default(), IpAddr::V4(Ipv4Addr::LOCALHOST));
        let first = places.take(peer, 2).unwrap();
        let _second = places.take(peer, 2).unwrap();
        assert!(places.take(peer, 2).is_none());
        assert!(places.take(IpAddr::V4(Ipv4Addr::BROADCAST), 2).is_some());
        drop(first);
        assert!(places.take(peer, 2).is_some());
    }
}
