//! toolgate-store-postgres
