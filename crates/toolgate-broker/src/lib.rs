//! Connections to outside accounts: secrets sealed at rest, and OAuth that keeps them fresh.
