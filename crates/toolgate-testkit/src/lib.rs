//! What tests stand on: a real Postgres in a temporary folder, a real OpenID Connect provider,
//! and a receiver that counts effects.
//!
//! Everything here is for tests only: it panics instead of returning errors, so that a test that can't be set up says
//! why and stops.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test support: a broken set-up should stop the test"
)]

mod forgetful;
mod forgetful_connection;
mod forgetful_event_list;
mod forgetful_file;
mod forgetful_oauth;
mod forgetful_share;
mod forgetful_tenant_link;
mod gate;
mod hook;
mod oidc;
mod port;
mod postgres;
mod protected_server;
mod receiver;
mod resource;

pub use forgetful::Forgetful;
pub use gate::{ADMIN_KEY, Gate, GateSetup};
pub use hook::{HookReceiver, Hooked};
pub use oidc::{OIDC_CLIENT, OIDC_PUBLIC_CLIENT, TestOidc};
pub use port::free_port;
pub use postgres::{Fsync, POSTGRES_VARIABLE, TempPostgres, TestPostgres, shared_postgres};
pub use protected_server::{ProtectedServer, ProtectedServerFaults};
pub use receiver::CountingReceiver;
pub use resource::TestResource;
