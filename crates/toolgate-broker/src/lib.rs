//! Connections to outside accounts: secrets sealed at rest, and OAuth that keeps them fresh.

mod key_file;
mod keyring;

pub use keyring::{Keyring, KeyringError};
