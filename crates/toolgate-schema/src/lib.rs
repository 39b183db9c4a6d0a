//! toolgate-schema
