//! toolgate-store-contract
