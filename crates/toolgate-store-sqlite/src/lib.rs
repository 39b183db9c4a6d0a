//! toolgate-store-sqlite
