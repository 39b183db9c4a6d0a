//! The one client for requests that leave the house.
//!
//! Addresses that are not public are refused, whether a name leads to them, a redirect does, or they are written out in
//! any spelling; the operator can allow some. There is no proxy but one that the operator names, no redirect that is not
//! checked, and a limit on everything that is waited for or read.

mod address;
mod allow;
mod client;
mod error;
mod lean;
mod policy;
mod proxy;
mod request;
mod resolve;

pub use address::is_public;
pub use allow::{Allowed, BadAllowed};
pub use client::EgressClient;
pub use error::EgressError;
pub use lean::LeanClient;
pub use policy::EgressPolicy;
pub use proxy::{BadProxy, ProxyAddress, sounds_inside};
pub use request::{EgressRequest, EgressResponse};
pub use reqwest::{Method, StatusCode, header};
pub use resolve::{Lookup, SystemLookup};
pub use url::Url;
