//! Connections to outside accounts: secrets sealed at rest, and OAuth that keeps them fresh.
//!
//! Master keys come from outside the database ([`Keyring`]); each secret is sealed under a key of its own, bound to its
//! tenant, connection and version. The [`SecretBroker`] hands them out one call at a time and knows no tools.

mod broker;
mod contents;
mod envelope;
mod flights;
mod key_file;
mod keyring;
mod login;
mod master_key;
mod oauth;
mod refresh;

pub use broker::{BrokerParts, SecretBroker};
pub use envelope::{Belongs, EnvelopeError};
pub use keyring::{Keyring, KeyringError};
pub use master_key::{MasterKeyError, Seals, check_master_key, rewrap_all, seals_of};
pub use oauth::{ClientRegistry, KnownClient};
